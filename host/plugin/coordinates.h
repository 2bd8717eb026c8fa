/// Flat indices as coordinates.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace msprobe::plugin {

/// "[0, 3, 17]"; "[]" for a 0-d tensor.
std::string coordinates(std::uint64_t flat_index, const std::vector<std::int64_t>& shape);

}  // namespace msprobe::plugin
