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

/// The flag that a user may have meant: one that begins so, else the nearest.
std::string meant(const std::string& flag, const po::options_description& options) {
  std::vector<std::string> names;
  for (const auto& option : options.options()) names.push_back("--" + option->long_name());
  for (const auto& name : names)
    if (flag.size() > 3 && name.starts_with(flag)) return name;
  const auto near = nearest(flag, names, 1);
  return near.empty() ? "" : near[0];
}

[[noreturn]] void throw_unknown(const std::string& given, const po::options_description& options) {
  const std::string flag = given.substr(0, given.find('='));
  const std::string name = meant(flag, options);
  throw Error("E6001", fmt::format("unknown option '{}'", flag), "command line",
              name.empty() ? "see --help" : fmt::format("do you mean {}?", name));
}

}  // namespace

po::variables_map parse(const Arguments& arguments, const po::options_description& options,
                        const po::positional_options_description& positional) {
  try {
    return store(po::command_line_parser(arguments).options(options).positional(positional).style(style).run());
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
