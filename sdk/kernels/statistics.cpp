#include "statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diff.h"
#include "msprobe/dtype.hpp"
#include "scalar_value.h"
#include "statistics_simd.h"

namespace msprobe::kernels {
namespace {

void merge(StatisticsPartial& all, double max, double min, long double sum, long double squares, std::uint64_t count) {
  all.max = all.any ? std::max(all.max, max) : max;
  all.min = all.any ? std::min(all.min, min) : min;
  all.sum += sum;
  all.sum_of_squares += squares;
  all.count += count;
  all.any = true;
}

/// long double holds the square of any f64, and the modulus needs no scaling.
void add_plainly(StatisticsPartial& all, const DtypeInfo& info, const void* data, std::uint32_t count) {
  const bool complex = info.dtype_class == DtypeClass::complex;
  for (std::uint32_t i = 0; i < count; ++i) {
    long double x = scalar_value(info.dtype, data, complex ? 2 * std::uint64_t{i} : i);
    long double square = x * x;
    if (complex) {
      const long double y = scalar_value(info.dtype, data, 2 * std::uint64_t{i} + 1);
      square += y * y;
      x = std::hypot(x, y);
    }
    if (std::isnan(x)) {
      ++all.nan_count;
      continue;
    }
    merge(all, static_cast<double>(x), static_cast<double>(x), x, square, 1);
  }
}

bool in_range(const LaneStatistics& s) {
  if (!std::isfinite(s.sum) || !std::isfinite(s.sum_of_squares)) return false;
  return s.sum_of_squares >= 0x1p-800 || (s.max == 0 && s.min == 0);
}

}  // namespace

void StatisticsPartial::add(msp_dtype dtype, const void* data, std::uint64_t elements) {
  const DtypeInfo* info = dtype_info(dtype);
  if (info == nullptr) return;
  extremes_only |= dtype == MSP_BOOL;
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::uint64_t i = 0; i < elements; i += block_elements) {
    const auto n = static_cast<std::uint32_t>(std::min(block_elements, elements - i));
    const unsigned char* block = bytes + i * info->bytes;
    if (info->dtype_class != DtypeClass::complex) {
      const LaneStatistics s = lane_statistics(dtype, block, n);
      if (in_range(s)) {
        merge(*this, s.max, s.min, static_cast<long double>(s.sum), static_cast<long double>(s.sum_of_squares), n);
        continue;
      }
    }
    add_plainly(*this, *info, block, n);
  }
}

void StatisticsPartial::combine(const StatisticsPartial& next) {
  if (next.any) merge(*this, next.max, next.min, next.sum, next.sum_of_squares, next.count);
  nan_count += next.nan_count;
  extremes_only |= next.extremes_only;
}

std::uint32_t StatisticsPartial::finish(double stats[MSP_STAT_COUNT]) const {
  if (!any && nan_count == 0) return 0;
  stats[MSP_STAT_MAX] = max;
  stats[MSP_STAT_MIN] = min;
  stats[MSP_STAT_MEAN] = static_cast<double>(sum / static_cast<long double>(count));
  stats[MSP_STAT_NORM] = static_cast<double>(std::sqrt(sum_of_squares));
  if (nan_count != 0) std::fill_n(stats, MSP_STAT_COUNT, std::numeric_limits<double>::quiet_NaN());
  constexpr std::uint32_t extremes = 1u << MSP_STAT_MAX | 1u << MSP_STAT_MIN;
  return extremes_only ? extremes : extremes | 1u << MSP_STAT_MEAN | 1u << MSP_STAT_NORM;
}

}  // namespace msprobe::kernels
