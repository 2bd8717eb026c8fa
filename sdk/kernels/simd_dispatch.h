/// Calls of functions that are built once for each SIMD target, by what this machine has.
///
/// As HWY_EXPORT and HWY_DYNAMIC_DISPATCH do, with the same tables, but without Highway's shared library: that holds a
/// benchmark too, whose timer is measured when the library is loaded (nanobenchmark.cc: `static const Ticks resolution
/// = TimerResolution()`), and a program that is linked to it starts 5 to 10 ms later.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "simd_config.h"
//
#include "hwy/highway.h"

namespace msprobe::kernels {

/// Highway's bits of all targets that are built and that this machine has: lower bits are better.
std::int64_t supported_simd_targets();

/// Index of the target in use in a table of MSPROBE_EXPORT, plus 1; 0 until the first call.
extern std::atomic<std::size_t> simd_target_index;
/// Sets it to the best of `targets` and returns it.
std::size_t use_simd_targets(std::int64_t targets);

inline std::size_t table_index() {
  const std::size_t index = simd_target_index.load(std::memory_order_relaxed);
  return (index != 0 ? index : use_simd_targets(supported_simd_targets())) - 1;
}

}  // namespace msprobe::kernels

#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0
#define MSPROBE_EXPORT(function) static_assert(true)
#define MSPROBE_DISPATCH(function) HWY_STATIC_DISPATCH(function)
#else
/// The table of `function`, in the namespace around HWY_NAMESPACE.
#define MSPROBE_EXPORT(function)                                                       \
  static constexpr decltype(&HWY_STATIC_DISPATCH(function)) function##_by_target[] = { \
      HWY_CHOOSE_TARGET_LIST(function), HWY_CHOOSE_FALLBACK(function)}
#define MSPROBE_DISPATCH(function) function##_by_target[::msprobe::kernels::table_index()]
#endif
