#include "plugin/coordinates.h"

#include <fmt/ranges.h>

namespace msprobe::plugin {

std::string coordinates(std::uint64_t flat_index, const std::vector<std::int64_t>& shape) {
  std::vector<std::uint64_t> places(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    const auto size = static_cast<std::uint64_t>(shape[i] > 0 ? shape[i] : 1);
    places[i] = flat_index % size;
    flat_index /= size;
  }
  return fmt::format("[{}]", fmt::join(places, ", "));
}

}  // namespace msprobe::plugin
