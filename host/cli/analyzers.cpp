#include "cli/analyzers.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "engine/multi_analysis.h"
#include "plugin/make_analysis.h"

namespace msprobe::cli {
namespace {

std::string flag_of(const plugin::OptionDescription& option) {
  std::string name = option.name;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// The analyzer's declared options, each a flag of the command line.
void add_analyzer_options(const plugin::AnalyzerDescription& analyzer, const po::options_description& options,
                          po::options_description& own) {
  for (const auto& option : analyzer.options) {
    const std::string name = flag_of(option);
    if (options.find_nothrow(name, false))
      throw Error("E5003", fmt::format("option '{}' has the name of one of msprobe's own", name), analyzer.name,
                  "tell the plugin's author");
    if (own.find_nothrow(name, false)) continue;  // one flag for two analyzers
    auto* value = po::value<std::string>();
    if (option.type == MSP_TYPE_BOOL && option.initial != "true")
      value->zero_tokens()->implicit_value("on");
    else if (option.bare)
      value->implicit_value("on", "")->value_name(option.type == MSP_TYPE_BOOL ? "[=on|off]" : "[=X]");
    else
      value->value_name("X");
    own.add_options()(name.c_str(), value, option.doc.c_str());
  }
}

plugin::OptionValues analyzer_values(const plugin::AnalyzerDescription& analyzer, const po::variables_map& values) {
  plugin::OptionValues result = plugin::default_options(analyzer);
  for (const auto& option : analyzer.options) {
    const std::string name = flag_of(option);
    if (values.count(name))
      result[option.name] = plugin::parse_option(option, values[name].as<std::string>());
    else if (option.required)
      throw Error("E6002", fmt::format("--{} is needed by {}", name, analyzer.name), "command line",
                  option.doc.empty() ? "see --help" : option.doc);
  }
  return result;
}

plugin::IsolationLimits isolation_limits(const po::variables_map& values) {
  plugin::IsolationLimits limits;
  const double seconds = number_option(values, "plugin-timeout"), gib = number_option(values, "plugin-memory");
  if (!(seconds >= 0.001 && seconds <= 1e6))
    throw Error("E6002", "the time limit must be 0.001 to 1000000 seconds", "--plugin-timeout", "leave it out for 60");
  if (!(gib <= 1e6))
    throw Error("E6002", "the memory limit is too large", "--plugin-memory", "give GiB, 0 for no limit");
  limits.milliseconds_per_pair = static_cast<int>(std::min(seconds * 1000, 2e9));
  limits.memory_bytes = static_cast<std::uint64_t>(gib * 1024 * 1024 * 1024);
  return limits;
}

plugin::Isolate isolate_option(const po::variables_map& values) {
  const std::string isolate = choice(values, "isolate", {"never", "plugins", "always"});
  return isolate == "never"    ? plugin::Isolate::never
         : isolate == "always" ? plugin::Isolate::always
                               : plugin::Isolate::plugins;
}

Strings split(const std::string& modes) {
  Strings names;
  for (std::size_t at = 0; at <= modes.size();) {
    const std::size_t comma = std::min(modes.find(',', at), modes.size());
    names.push_back(modes.substr(at, comma - at));
    at = comma + 1;
  }
  return names;
}

}  // namespace

Analyzers::Analyzers(const std::string& modes, const Strings& plugin_dirs) {
  for (const auto& name : split(modes)) {
    plugin::Found found = plugin::find(name, plugin_dirs);
    for (const auto& known : found_)
      if (known.name == found.name)
        throw Error("E6002", fmt::format("'{}' is named twice", found.name), "-m", "name it once");
    found_.push_back(std::move(found));
  }
}

void Analyzers::add_host_options(po::options_description& options) {
  options.add_options()("isolate",
                        po::value<std::string>()->default_value("plugins")->value_name("never|plugins|always"),
                        "which analyzers run in worker processes; built-in ones are no 'plugins'")(
      "plugin-timeout", po::value<std::string>()->default_value("60")->value_name("SECONDS"),
      "how long a worker process may take for a tensor")(
      "plugin-memory", po::value<std::string>()->default_value("4")->value_name("GIB"),
      "memory that a worker process may take; 0: no limit");
}

void Analyzers::add_options(po::options_description& options) const {
  po::options_description own(fmt::format("Options of {}", mode()), 80, 40);
  for (const auto& found : found_) add_analyzer_options(*found.analyzer, options, own);
  options.add(own);
}

std::string Analyzers::mode() const {
  std::string names;
  for (const auto& found : found_) names += (names.empty() ? "" : ",") + found.name;
  return names;
}

std::unique_ptr<engine::Analysis> Analyzers::make(const po::variables_map& values,
                                                  const dump::Options& dump_options) const {
  std::vector<engine::MultiAnalysis::Part> parts;
  for (const auto& found : found_)
    parts.push_back(
        {found.name, plugin::make_analysis(found, analyzer_values(*found.analyzer, values), isolate_option(values),
                                           isolation_limits(values), dump_options)});
  if (parts.size() == 1) return std::move(parts[0].analysis);
  return std::make_unique<engine::MultiAnalysis>(std::move(parts));
}

std::vector<std::pair<std::string, result::Value>> Analyzers::options(const po::variables_map& values) const {
  plugin::OptionValues all;
  for (const auto& found : found_)
    for (auto& [name, value] : analyzer_values(*found.analyzer, values)) all.emplace(name, value);
  return {all.begin(), all.end()};
}

}  // namespace msprobe::cli
