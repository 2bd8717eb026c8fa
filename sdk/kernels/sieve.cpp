#include "sieve.h"

#include <cmath>

namespace msprobe::kernels {
namespace {

/// At least one of the two is not finite.
template <class F>
void count_pair(const DiffSetup& setup, F r, F t, ClassCounts& counts) {
  const bool r_nan = std::isnan(r), t_nan = std::isnan(t), r_inf = std::isinf(r), t_inf = std::isinf(t);
  counts.nan_ref += r_nan;
  counts.nan_target += t_nan;
  counts.inf_ref += r_inf;
  counts.inf_target += t_inf;
  if (r_nan && t_nan) {
    ++counts.nan_both;
  } else if (r_inf && t_inf) {
    counts.inf_sign_mismatch += r != t;
    counts.class_mismatch += r != t;
  } else if (setup.saturate && r_inf && t == std::copysign(static_cast<F>(setup.saturate_limit), r)) {
    ++counts.saturated;
  } else {
    ++counts.class_mismatch;
  }
}

}  // namespace

template <class F>
std::uint32_t sieve(const DiffSetup& setup, F* ref, F* target, std::uint32_t count, ClassCounts& counts,
                    std::uint16_t* offsets) {
  const F ref_limit = static_cast<F>(setup.ref->min_normal), target_limit = static_cast<F>(setup.target->min_normal);
  const F flush_below = setup.flush ? static_cast<F>(setup.flush_below) : F{0};
  std::uint32_t kept = 0, zeros_ref = 0, zeros_target = 0, subnormals_ref = 0, subnormals_target = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const F r = ref[i], t = target[i], a = std::fabs(r), b = std::fabs(t);
    zeros_ref += a == 0;
    zeros_target += b == 0;
    subnormals_ref += (a < ref_limit) & (a != 0);
    subnormals_target += (b < target_limit) & (b != 0);
    if (!(std::isfinite(r) && std::isfinite(t))) count_pair(setup, r, t, counts);
    // Written even when it is not kept: the next one takes its place, and no branch depends on the data.
    ref[kept] = a < flush_below ? std::copysign(F{0}, r) : r;
    target[kept] = b < flush_below ? std::copysign(F{0}, t) : t;
    offsets[kept] = static_cast<std::uint16_t>(i);
    kept += std::isfinite(r) && std::isfinite(t);
  }
  counts.zeros_ref += zeros_ref;
  counts.zeros_target += zeros_target;
  counts.subnormals_ref += subnormals_ref;
  counts.subnormals_target += subnormals_target;
  return kept;
}

template std::uint32_t sieve(const DiffSetup&, float*, float*, std::uint32_t, ClassCounts&, std::uint16_t*);
template std::uint32_t sieve(const DiffSetup&, double*, double*, std::uint32_t, ClassCounts&, std::uint16_t*);

}  // namespace msprobe::kernels
