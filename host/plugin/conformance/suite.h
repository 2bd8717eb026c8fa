/// The conformance suite behind `msprobe plugins check FILE`.
#pragma once
#include <functional>
#include <string>

namespace msprobe::plugin {

struct Check {
  std::string name;     ///< "scale: the same rows with 8 threads"
  std::string problem;  ///< empty: it holds
};

/// Runs the analyzers of a library over generated pairs, always in other processes. Tells each check as it is known.
/// Throws Error when the pairs cannot be made or the file is not there.
void check_plugin(const std::string& path, const std::function<void(const Check&)>& tell);

}  // namespace msprobe::plugin
