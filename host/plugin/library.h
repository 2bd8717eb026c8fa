/// Loads a plugin library and checks its constant data before anything in it is called.
#pragma once
#include <string>
#include <vector>

#include "msprobe/analyzer.h"

namespace msprobe::plugin {

/// A loaded library. It stays loaded until the process ends: thread-local destructors and running threads may need it.
struct Library {
  std::string path;  ///< absolute
  const msp_plugin* plugin = nullptr;
  std::vector<const msp_analyzer*> analyzers() const;
};

/// Throws Error: E5001 (the loader's text), E5002 (no plugin), E5003 (bad description), E3005 (another version).
Library load(const std::string& path);

}  // namespace msprobe::plugin
