/// The nearest of some names: for typing mistakes and for tensors that only one side has.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace msprobe {

/// Up to `most` names that need few edits (at most a third of the length), nearest first, then by order in `names`.
std::vector<std::string> nearest(std::string_view wanted, std::span<const std::string> names, std::size_t most = 2);

}  // namespace msprobe
