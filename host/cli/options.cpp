#include "cli/options.h"

#include <fmt/format.h>

#include <cstdlib>
#include <iostream>

#include "base/error.h"
#include "base/nearest.h"

namespace msprobe::cli {
namespace {

constexpr int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;

po::variables_map store(const po::parsed_options& parsed) {
  po::variables_map values;
  po::store(parsed, values);
  po::notify(values);
  return values;
}

[[noreturn]] void throw_unknown(const std::string& name, const po::options_description& options) {
  std::vector<std::string> names;
  for (const auto& option : options.options()) names.push_back("--" + option->long_name());
  const auto near = nearest(name, names, 1);
  throw Error("E6001", fmt::format("unknown option '{}'", name), "command line",
              near.empty() ? "see --help" : fmt::format("do you mean {}?", near[0]));
}

}  // namespace

po::variables_map parse(const Arguments& arguments, const po::options_description& options) {
  try {
    return store(po::command_line_parser(arguments).options(options).positional({}).style(style).run());
  } catch (const po::unknown_option& error) {
    throw_unknown(error.get_option_name(), options);
  } catch (const po::too_many_positional_options_error&) {
    std::string stray;
    for (const auto& option :
         po::command_line_parser(arguments).options(options).style(style).allow_unregistered().run().options)
      if (option.position_key >= 0 && !option.value.empty() && stray.empty()) stray = option.value[0];
    throw Error("E6001", fmt::format("'{}' belongs to no option", stray), "command line", "see --help");
  } catch (const po::required_option& error) {
    throw Error("E6002", fmt::format("{} is needed", error.get_option_name()), "command line", "see --help");
  } catch (const po::error& error) {
    throw Error("E6002", error.what(), "command line", "see --help");
  }
}

po::variables_map parse_known(const Arguments& arguments, const po::options_description& options) {
  try {
    return store(po::command_line_parser(arguments).options(options).style(style).allow_unregistered().run());
  } catch (const po::error& error) {
    throw Error("E6002", error.what(), "command line", "see --help");
  }
}

int print_help(const std::string& usage, const po::options_description& options) {
  std::cout << usage << "\n" << options;
  return ok;
}

void add_language(po::options_description& options) {
  options.add_options()("lang", po::value<std::string>()->value_name("en|zh"),
                        "language of texts (default: by the environment)");
}

report::Language language_of(const po::variables_map& values) {
  if (values.count("lang")) {
    const auto& language = values["lang"].as<std::string>();
    if (language == "en") return report::Language::english;
    if (language == "zh") return report::Language::chinese;
    throw Error("E6002", fmt::format("'{}' is no language of msprobe", language), "--lang", "use en or zh");
  }
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"})
    if (const char* value = std::getenv(name); value && *value)
      return std::string_view(value).starts_with("zh") ? report::Language::chinese : report::Language::english;
  return report::Language::english;
}

}  // namespace msprobe::cli
