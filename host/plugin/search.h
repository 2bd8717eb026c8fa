/// Where `-m NAME` finds its analyzer: an explicit path, the registry, --plugin-dir, MSPROBE_PLUGIN_PATH, the built-in
/// folder relative to the program; never the working directory.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "plugin/description.h"

namespace msprobe::plugin {

struct Found {
  std::string name;    ///< what -m takes
  std::string origin;  ///< "built in", "registered", "--plugin-dir", "MSPROBE_PLUGIN_PATH", "path"
  std::string path;
  std::string version;                          ///< of the plugin
  std::optional<AnalyzerDescription> analyzer;  ///< nothing: see problem
  std::string problem;                          ///< why it cannot be used: "E5006: ..."

  bool built_in() const { return origin == "built in"; }
};

/// Every analyzer that can be named. What cannot be loaded is listed with its problem.
std::vector<Found> list(const std::vector<std::string>& plugin_dirs);

/// Throws Error E5005 (unknown, with the nearest names), E5007 (two things claim the name), or what loading it throws.
Found find(const std::string& mode, const std::vector<std::string>& plugin_dirs);

/// Throws Error E5004 when a built-in analyzer has this name: registering another would leave `-m` without an answer.
void refuse_built_in_name(const std::string& name);

}  // namespace msprobe::plugin
