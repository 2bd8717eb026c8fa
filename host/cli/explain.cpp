#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iostream>

#include "base/error.h"
#include "base/error_catalogue.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/wrap.h"

namespace msprobe::cli {

int explain(const Arguments& arguments) {
  po::options_description options("Options", 80);
  options.add_options()("help,h", "this text");
  add_language(options);
  po::options_description all = options;
  all.add_options()("code", po::value<std::string>());
  const auto values = parse(arguments, all, po::positional_options_description().add("code", 1));
  if (values.count("help"))
    return print_help(
        "Usage: msprobe explain [CODE] [--lang en|zh]\n\nThe long form of an error code; without one, the list.\n",
        options);
  const bool chinese = language_of(values) == report::Language::chinese;
  if (!values.count("code")) {
    for (const ErrorEntry& entry : error_catalogue())
      std::cout << fmt::format("{}  {}\n", entry.code, chinese ? entry.title_zh : entry.title);
    return ok;
  }
  std::string code = values["code"].as<std::string>();
  std::transform(code.begin(), code.end(), code.begin(), [](unsigned char c) { return std::toupper(c); });
  const ErrorEntry* entry = find_error(code);
  if (!entry) {
    std::vector<std::string> codes;
    for (const ErrorEntry& known : error_catalogue()) codes.emplace_back(known.code);
    const auto near = nearest(code, codes, 1);
    throw Error("E6002", fmt::format("there is no error code '{}'", code), "msprobe explain",
                near.empty() ? "`msprobe explain` lists them all" : fmt::format("do you mean {}?", near[0]));
  }
  std::cout << fmt::format("{}  {}\n\n{}\n", entry->code, chinese ? entry->title_zh : entry->title,
                           wrapped(chinese ? entry->explanation_zh : entry->explanation, 78));
  return ok;
}

}  // namespace msprobe::cli
