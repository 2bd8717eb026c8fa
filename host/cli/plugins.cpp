#include <fmt/format.h>

#include <iostream>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/wrap.h"
#include "plugin/search.h"

namespace msprobe::cli {
namespace {

void print_field(const std::string& name, const std::string& doc) {
  std::cout << fmt::format("    {}\n{}\n", name, wrapped(doc, 80, 8));
}

void print_details(const plugin::AnalyzerDescription& analyzer) {
  if (!analyzer.options.empty()) std::cout << "  options:\n";
  for (const auto& option : analyzer.options)
    print_field(option.name, option.doc + (option.initial.empty() ? "" : fmt::format(" (default {})", option.initial)));
  if (!analyzer.columns.empty()) std::cout << "  columns:\n";
  for (const auto& column : analyzer.columns) print_field(column.name, column.doc);
}

}  // namespace

int plugins(const Arguments& arguments) {
  po::options_description options("Options", 80);
  options.add_options()("verbose,v", "options and columns of each analyzer too")(
      "plugin-dir", po::value<std::vector<std::string>>()->value_name("DIR"), "look here too; repeatable")("help,h",
                                                                                                           "this text");
  const auto values = parse(arguments, options);
  if (values.count("help"))
    return print_help(
        "Usage: msprobe plugins [-v]\n\nLists the analyzers that -m can name, and where each comes from.\n", options);
  const auto folders =
      values.count("plugin-dir") ? values["plugin-dir"].as<std::vector<std::string>>() : std::vector<std::string>{};
  bool broken = false;
  for (const plugin::Found& found : plugin::list(folders)) {
    std::cout << fmt::format("{:<18} {:<10} {}\n", found.name, found.analyzer ? found.version : "-", found.origin);
    std::cout << fmt::format("  {}\n", found.path);
    if (!found.analyzer) {
      std::cout << wrapped("cannot be used: " + found.problem, 80, 2) << '\n';
      broken = true;
      continue;
    }
    std::cout << wrapped(found.analyzer->summary, 80, 2) << '\n';
    if (!values.count("verbose")) continue;
    print_details(*found.analyzer);
  }
  return broken ? incomplete : ok;
}

}  // namespace msprobe::cli
