/// Max, min, mean and norm of one tensor, by the same rules as the dumps that store them.
#pragma once
#include <cstdint>

#include "msprobe/analyzer.h"

namespace msprobe::kernels {

/// Sums of a range; combined in order of position, so the result does not depend on the number of workers.
struct StatisticsPartial {
  double max = 0, min = 0;
  long double sum = 0, sum_of_squares = 0;
  std::uint64_t count = 0, nan_count = 0;  ///< count is without NaN
  bool any = false;                        ///< an element that is not NaN
  bool extremes_only = false;              ///< bool: max and min as 0 or 1, as dumps have them

  /// Elements of `dtype`, dense little-endian. Complex: moduli. NaN anywhere: max, min, mean, norm are NaN.
  void add(msp_dtype dtype, const void* data, std::uint64_t elements);
  void combine(const StatisticsPartial& next);
  /// stats by MSP_STAT_*; returns the mask of those that exist (none for an empty tensor).
  std::uint32_t finish(double stats[MSP_STAT_COUNT]) const;
};

}  // namespace msprobe::kernels
