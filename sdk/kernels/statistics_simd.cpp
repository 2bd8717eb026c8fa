#include "statistics_simd.h"

#include <algorithm>

#include "msprobe/dtype.hpp"
#include "simd_config.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "statistics_simd.cpp"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "simd_dispatch.h"
#include "widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace msprobe::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// `count` is a multiple of the lanes of f64.
template <class F>
HWY_INLINE void AddStatistics(const F* HWY_RESTRICT data, std::size_t count, LaneStatistics& out) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<F, decltype(d)> df;
  // Two chains: an addition takes longer than the loads and conversions of one vector.
  auto max = hn::Set(d, out.max), min = hn::Set(d, out.min);
  auto sum = hn::Zero(d), squares = sum, sum2 = sum, squares2 = sum;
  const auto load = [&](std::size_t i) HWY_ATTR {
    const auto raw = hn::LoadU(df, data + i);
    if constexpr (sizeof(F) == 4) {
      return hn::PromoteTo(d, raw);
    } else {
      return raw;
    }
  };
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto x = load(i), y = load(i + lanes);
    max = hn::Max(max, hn::Max(x, y));
    min = hn::Min(min, hn::Min(x, y));
    sum = hn::Add(sum, x);
    sum2 = hn::Add(sum2, y);
    squares = hn::MulAdd(x, x, squares);
    squares2 = hn::MulAdd(y, y, squares2);
  }
  for (; i < count; i += lanes) {
    const auto x = load(i);
    max = hn::Max(max, x);
    min = hn::Min(min, x);
    sum = hn::Add(sum, x);
    squares = hn::MulAdd(x, x, squares);
  }
  out.sum += hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, sum2)));
  out.sum_of_squares += hn::GetLane(hn::SumOfLanes(d, hn::Add(squares, squares2)));
  out.max = hn::GetLane(hn::MaxOfLanes(d, max));
  out.min = hn::GetLane(hn::MinOfLanes(d, min));
}

template <class F>
LaneStatistics Statistics(msp_dtype dtype, const void* data, std::size_t count) {
  constexpr std::size_t step = 1024;
  constexpr msp_dtype in_place = sizeof(F) == 4 ? MSP_F32 : MSP_F64;
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<double>());
  const std::size_t size = dtype_info(dtype)->bytes;
  const auto* bytes = static_cast<const unsigned char*>(data);
  HWY_ALIGN F buffer[step];
  Widen(dtype, data, 1, buffer);
  LaneStatistics out;
  out.max = out.min = static_cast<double>(buffer[0]);
  for (std::size_t i = 0; i < count; i += step) {
    const std::size_t n = HWY_MIN(step, count - i), whole = n / lanes * lanes;
    const unsigned char* at = bytes + i * size;
    if (dtype == in_place) {
      AddStatistics(reinterpret_cast<const F*>(at), whole, out);
    } else {
      Widen(dtype, at, whole, buffer);
      AddStatistics(static_cast<const F*>(buffer), whole, out);
    }
    if (n == whole) continue;
    Widen(dtype, at + whole * size, n - whole, buffer);
    for (std::size_t k = 0; k < n - whole; ++k) {
      const auto x = static_cast<double>(buffer[k]);
      out.max = std::max(out.max, x);
      out.min = std::min(out.min, x);
      out.sum += x;
      out.sum_of_squares += x * x;
    }
  }
  return out;
}

LaneStatistics StatisticsEntry(msp_dtype dtype, const void* data, std::uint32_t count) {
  const bool narrow = dtype_info(dtype)->dtype_class == DtypeClass::real && dtype != MSP_F64;
  return narrow ? Statistics<float>(dtype, data, count) : Statistics<double>(dtype, data, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace msprobe::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msprobe::kernels {

MSPROBE_EXPORT(StatisticsEntry);

LaneStatistics lane_statistics(msp_dtype dtype, const void* data, std::uint32_t count) {
  return MSPROBE_DISPATCH(StatisticsEntry)(dtype, data, count);
}

}  // namespace msprobe::kernels
#endif
