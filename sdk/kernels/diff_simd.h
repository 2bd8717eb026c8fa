/// The SIMD cores: sums over one block of finite numbers in which nothing overflows. The caller looks at the sums to
/// see whether that was so; if not it throws them away and takes another route.
#pragma once
#include <cstdint>

#include "msprobe/dtype.hpp"

namespace msprobe::kernels {

/// How max_ulp comes from the bits.
enum class UlpRule : std::uint8_t {
  none,     ///< an integer side
  direct,   ///< both sides have the coarser dtype, in lanes or stored elements of its width
  rounded,  ///< lanes are wider than the coarser dtype: rounded to it first
};

struct CorePlan {
  bool f64_lanes;                            ///< else f32, where both sides fit into it
  msp_dtype ref, target;                     ///< of the data
  double ref_min_normal, target_min_normal;  ///< for the counts of subnormals, by the dtype as stored; 0: none
  UlpRule ulp;
  const DtypeInfo* ulp_format;  ///< rounded
};

/// What the last blocks were like: which loop is tried first. Never what it gives.
struct CoreHints {
  bool expect_small = false, expect_beyond = false;
};

struct CoreSums {
  double d_sum = 0, d_square_sum = 0, r_sum = 0, r_square_sum = 0;
  double r_d_sum = 0;  ///< sum r d
  double ratio_sum = 0, max_ratio = 0;
  double max_abs = 0, zero_ref_max_abs = 0;
  std::uint64_t within_1e3 = 0, within_5e3 = 0;  ///< by ratio, which is 0 where r is
  std::uint64_t zeros_ref = 0, zeros_target = 0, zeros_both = 0;
  std::uint64_t small_ref = 0, small_target = 0;  ///< zeros and subnormals
  std::uint64_t sign_flips = 0, max_ulp = 0;
};

void core_sums(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count, CoreHints& hints,
               CoreSums& sums);

// Second looks at a block, each only where the sums call for it.

/// Lowest index with |t - r| == value, for a value that core_sums found.
std::uint32_t core_find(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count, double value);
/// How many |t - r| > base + share * max(|r|, floor).
std::uint64_t core_count_above(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count,
                               double base, double share, double floor);
struct CoreProducts {
  double r_t = 0, t_t = 0;
};
CoreProducts core_products(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count);
struct CoreResidual {
  double with_ref = 0, square_sum = 0;
};
/// sum r e and sum e^2 of e = t - scale r.
CoreResidual core_residual(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count,
                           double scale);
/// Both sides as the core's lanes, f32 or f64.
void core_widen(const CorePlan& plan, msp_dtype dtype, const void* data, std::uint32_t count, void* lanes);

}  // namespace msprobe::kernels
