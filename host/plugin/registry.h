/// The user's registered plugins: ${MSPROBE_HOME:-${XDG_CONFIG_HOME:-~/.config}/msprobe}/plugins.json.
#pragma once
#include <string>
#include <vector>

namespace msprobe::plugin {

struct Registered {
  std::string name, path, kind, sha256;  ///< kind "native"
};

std::string registry_path();

/// Empty when there is no registry yet. Throws Error E5009 when it is damaged.
std::vector<Registered> read_registry();

/// Checks that the library loads, then records it under its name. The same name and path: an update. Another path:
/// Error E5004 without `force`. Written atomically under a lock, so many may register at once.
Registered register_plugin(const std::string& name, const std::string& path, bool force);

/// Throws Error E5005 when the name is not registered.
void unregister_plugin(const std::string& name);

/// SHA-256 of a file in hex. Throws Error E1003/E1004.
std::string file_sha256(const std::string& path);

}  // namespace msprobe::plugin
