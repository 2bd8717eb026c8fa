#include <fmt/format.h>

#include <iostream>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/wrap.h"
#include "plugin/search.h"

namespace msprobe::cli {
namespace {

void print_fields(const char* title, const msp_field* const* fields) {
  if (!fields || !*fields) return;
  std::cout << "  " << title << ":\n";
  for (; *fields; ++fields) {
    const msp_field& field = **fields;
    std::string doc = field.doc ? field.doc : "";
    if (field.initial && *field.initial) doc += fmt::format(" (default {})", field.initial);
    std::cout << fmt::format("    {}\n{}\n", field.name, wrapped(doc, 80, 8));
  }
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
    std::cout << fmt::format("{:<18} {:<10} {}\n", found.name, found.plugin ? found.plugin->version : "-",
                             found.origin);
    std::cout << fmt::format("  {}\n", found.path);
    if (!found.analyzer) {
      std::cout << wrapped("cannot be used: " + found.problem, 80, 2) << '\n';
      broken = true;
      continue;
    }
    std::cout << wrapped(found.analyzer->summary ? found.analyzer->summary : "", 80, 2) << '\n';
    if (!values.count("verbose")) continue;
    print_fields("options", found.analyzer->options);
    print_fields("columns", found.analyzer->columns);
  }
  return broken ? incomplete : ok;
}

}  // namespace msprobe::cli
