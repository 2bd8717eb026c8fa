/// The SIMD loop of statistics.h.
#pragma once
#include <cstdint>

#include "msprobe/analyzer.h"

namespace msprobe::kernels {

struct LaneStatistics {
  double max = 0, min = 0, sum = 0, sum_of_squares = 0;
};

/// Of at least one element of a real dtype. What is not finite, or leaves f64 when squared, shows in the sums.
LaneStatistics lane_statistics(msp_dtype dtype, const void* data, std::uint32_t count);

}  // namespace msprobe::kernels
