/// Elements whose bytes differ.
#pragma once
#include <cstdint>

namespace msprobe::kernels {

struct BitDifferences {
  std::uint64_t count = 0;
  std::uint64_t first = 0;  ///< where count is not 0
};

/// Of two ranges of `elements` elements of `bytes` bytes each.
BitDifferences bit_differences(const void* a, const void* b, std::uint64_t elements, std::uint32_t bytes);

}  // namespace msprobe::kernels
