/// The SIMD cores: sums over one block of finite numbers in which nothing overflows. The caller looks at the sums to
/// see whether that was so; if not it throws them away and takes another route.
#pragma once
#include <cstddef>
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
  bool complex;                              ///< an element is two numbers of ref and target, its parts
  msp_dtype ref, target;                     ///< of the data; real numbers and integers
  double ref_min_normal, target_min_normal;  ///< for the counts of subnormals, by the dtype as stored; 0: none
  UlpRule ulp;
  const DtypeInfo* ulp_format;  ///< rounded
};

/// What the last blocks were like: which loop is tried first. Never what it gives. Both stay on for a while after they
/// were right, as a loop that is tried in vain costs more than one that counts nothing.
class CoreHint {
 public:
  void seen(bool yes) { left_ = yes ? 16 : left_ - (left_ != 0); }
  explicit operator bool() const { return left_ != 0; }

 private:
  int left_ = 0;
};
struct CoreHints {
  CoreHint small, beyond;
};

struct CoreSums {
  double d_sum = 0, d_square_sum = 0, r_sum = 0, r_square_sum = 0;
  double r_d_sum = 0;  ///< sum r d
  double ratio_sum = 0, max_ratio = 0;
  double max_abs = 0, zero_ref_max_abs = 0;      ///< complex: near it, by a few 2^-53
  std::uint64_t within_1e3 = 0, within_5e3 = 0;  ///< by ratio, which is 0 where r is
  std::uint64_t zeros_ref = 0, zeros_target = 0, zeros_both = 0;
  std::uint64_t small_ref = 0, small_target = 0;  ///< zeros and subnormals
  std::uint64_t sign_flips = 0, max_ulp = 0;      ///< complex: of parts
};

/// Counts, here and below, are of elements.
void core_sums(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count, CoreHints& hints,
               CoreSums& sums);

// Second looks at a block, each only where the sums call for it.

/// Lowest index with |t - r| == value, for a value that core_sums found. Complex: lowest index of the largest |t - r|.
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

// Blocks with NaN or infinities, or to be flushed. Not of complex numbers.

struct SieveRules {
  double flush_below = 0;  ///< 0: nothing is flushed
  bool saturate = false;
  double saturate_limit = 0;
};
struct SieveCounts {
  std::uint32_t kept = 0;  ///< finite on both sides
  std::uint64_t nan_ref = 0, nan_target = 0, nan_both = 0;
  std::uint64_t inf_ref = 0, inf_target = 0, inf_equal = 0, inf_opposite = 0, saturated = 0;
  std::uint64_t zeros_ref = 0, zeros_target = 0, small_ref = 0, small_target = 0;
};

/// Lanes of a block, and where in the block each was.
struct SieveScratch {
  alignas(64) std::byte ref[4096 * sizeof(double)];
  alignas(64) std::byte target[4096 * sizeof(double)];
  alignas(64) std::byte offsets[4096 * sizeof(std::int64_t)];
};

/// Widens at most 4096 elements to lanes, counts their classes and packs what is finite on both sides.
SieveCounts core_sieve(const CorePlan& plan, const SieveRules& rules, const void* ref, const void* target,
                       std::uint32_t count, SieveScratch& scratch);
/// Where the packed element `index` was.
inline std::uint32_t sieve_offset(const CorePlan& plan, const SieveScratch& scratch, std::uint64_t index) {
  if (plan.f64_lanes) return static_cast<std::uint32_t>(reinterpret_cast<const std::int64_t*>(scratch.offsets)[index]);
  return static_cast<std::uint32_t>(reinterpret_cast<const std::int32_t*>(scratch.offsets)[index]);
}

}  // namespace msprobe::kernels
