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

/// The oldest sizes that a host of this version accepts: those of ABI 1.0.
inline constexpr std::size_t plugin_size_1_0 = sizeof(msp_plugin), analyzer_size_1_0 = sizeof(msp_analyzer),
                             field_size_1_0 = sizeof(msp_field);

}  // namespace msprobe::plugin
