#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/wrap.h"
#include "plugin/conformance/suite.h"
#include "plugin/search.h"

namespace msprobe::cli {
namespace {

using nlohmann::ordered_json;

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

void print(const plugin::Found& found, bool details) {
  std::cout << fmt::format("{:<18} {:<10} {}\n", found.name, found.analyzer ? found.version : "-", found.origin);
  std::cout << fmt::format("  {}\n", found.path);
  if (!found.analyzer) {
    std::cout << wrapped("cannot be used: " + found.problem, 80, 2) << '\n';
    return;
  }
  std::cout << wrapped(found.analyzer->summary, 80, 2) << '\n';
  if (details) print_details(*found.analyzer);
}

const char* type_name(std::uint32_t type) {
  return type == MSP_TYPE_F64 ? "f64" : type == MSP_TYPE_I64 ? "i64" : type == MSP_TYPE_BOOL ? "bool" : "text";
}

/// docs/abi.md describes it: schema msprobe.plugin-list/1.
ordered_json as_json(const plugin::Found& found) {
  ordered_json entry{{"name", found.name}, {"origin", found.origin}, {"path", found.path}};
  entry["problem"] = found.analyzer ? ordered_json() : ordered_json(found.problem);
  if (!found.analyzer) return entry;
  const auto& analyzer = *found.analyzer;
  entry["version"] = found.version;
  entry["analyzer"] = analyzer.name;
  entry["summary"] = analyzer.summary;
  entry["parallel"] = analyzer.parallel;
  entry["accepts"] = ordered_json::array();
  for (const auto kind : {dump::Kind::tensor, dump::Kind::statistics, dump::Kind::checksum, dump::Kind::scalar})
    if (analyzer.accepts >> static_cast<unsigned>(kind) & 1u) entry["accepts"].push_back(dump::to_text(kind));
  entry["options"] = ordered_json::array();
  for (const auto& option : analyzer.options)
    entry["options"].push_back({{"name", option.name},
                                {"type", type_name(option.type)},
                                {"default", option.initial.empty() ? ordered_json() : ordered_json(option.initial)},
                                {"required", option.required},
                                {"doc", option.doc}});
  entry["columns"] = ordered_json::array();
  for (const auto& column : analyzer.columns)
    entry["columns"].push_back({{"name", column.name},
                                {"type", type_name(static_cast<std::uint32_t>(column.type))},
                                {"doc", column.doc},
                                {"direction", column.direction},
                                {"hidden", column.hidden}});
  return entry;
}

int check(const Arguments& arguments) {
  po::options_description options("Options", 80);
  options.add_options()("file", po::value<std::string>()->value_name("FILE"), "the library (.so)")("help,h",
                                                                                                   "this text");
  po::positional_options_description positional;
  positional.add("file", 1);
  const auto values = parse(arguments, options, positional);
  if (values.count("help"))
    return print_help(
        "Usage: msprobe plugins check FILE\n\nRuns the analyzers of a library over generated pairs and tells what does "
        "not hold.\nExit code: 0 all holds, 1 a check failed, 2 it could not start.\n",
        options);
  if (!values.count("file"))
    throw Error("E6002", "the file is missing", "command line", "msprobe plugins check lib.so");
  unsigned checks = 0, bad = 0;
  plugin::check_plugin(values["file"].as<std::string>(), [&](const plugin::Check& check) {
    ++checks;
    bad += !check.problem.empty();
    std::cout << (check.problem.empty() ? fmt::format("ok    {}\n", check.name)
                                        : fmt::format("FAIL  {}: {}\n", check.name, check.problem))
              << std::flush;
  });
  std::cout << fmt::format("{} checks, {} failed\n", checks, bad);
  return bad > 0 ? failed : ok;
}

}  // namespace

int plugins(const Arguments& arguments) {
  if (!arguments.empty() && arguments[0] == "check") return check({arguments.begin() + 1, arguments.end()});
  po::options_description options("Options", 80);
  options.add_options()("verbose,v", "options and columns of each analyzer too")("json", "everything as JSON")(
      "plugin-dir", po::value<std::vector<std::string>>()->value_name("DIR"), "look here too; repeatable")("help,h",
                                                                                                           "this text");
  const auto values = parse(arguments, options);
  if (values.count("help"))
    return print_help(
        "Usage: msprobe plugins [-v | --json]\n       msprobe plugins check FILE\n\nLists the analyzers that -m can "
        "name, and where each comes from. `check` runs the\nanalyzers of a library over generated pairs.\n",
        options);
  const auto folders =
      values.count("plugin-dir") ? values["plugin-dir"].as<std::vector<std::string>>() : std::vector<std::string>{};
  const auto all = plugin::list(folders);
  if (values.count("json")) {
    ordered_json root{
        {"schema", "msprobe.plugin-list/1"}, {"msprobe", MSPROBE_VERSION}, {"plugins", ordered_json::array()}};
    for (const plugin::Found& found : all) root["plugins"].push_back(as_json(found));
    std::cout << root.dump(1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
  } else {
    for (const plugin::Found& found : all) print(found, values.count("verbose") > 0);
  }
  for (const plugin::Found& found : all)
    if (!found.analyzer) return incomplete;
  return ok;
}

}  // namespace msprobe::cli
