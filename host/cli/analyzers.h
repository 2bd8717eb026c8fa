/// The analyzers that -m names: their options as flags of the command line, and the analysis that runs them.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/option_values.h"
#include "dump/dump.h"
#include "engine/analysis.h"
#include "plugin/plugin_analysis.h"
#include "plugin/search.h"

namespace msprobe::cli {

class Analyzers {
 public:
  /// `modes`: names or paths with commas between them. Throws what plugin::find throws; Error E6002 for a name twice.
  Analyzers(const std::string& modes, const Strings& plugin_dirs);

  /// Adds --isolate, --plugin-timeout and --plugin-memory.
  static void add_host_options(po::options_description& options);
  /// Adds the flags of each analyzer; a flag that two of them have is one flag for both.
  void add_options(po::options_description& options) const;

  /// Creates what runs them: one analysis, or several as one.
  std::unique_ptr<engine::Analysis> make(const po::variables_map& values, const dump::Options& dump_options) const;

  std::string mode() const;
  /// What the analyzers were told, for the report.
  std::vector<std::pair<std::string, result::Value>> options(const po::variables_map& values) const;

 private:
  std::vector<plugin::Found> found_;
};

}  // namespace msprobe::cli
