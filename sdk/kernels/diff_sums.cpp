#include "diff_sums.h"

#include <algorithm>
#include <cmath>

namespace msprobe::kernels {
namespace {

/// Whatever the mean square of the whole r is, `b` is not needed beside `a`.
bool rules_out(const BlockEntry& a, const BlockEntry& b) {
  if (a.first < b.first) return a.d >= b.d && a.ratio >= b.ratio;
  return a.d > b.d && a.ratio > b.ratio;
}

}  // namespace

void ClassCounts::append(const ClassCounts& next) {
  elements += next.elements;
  nan_ref += next.nan_ref;
  nan_target += next.nan_target;
  nan_both += next.nan_both;
  inf_ref += next.inf_ref;
  inf_target += next.inf_target;
  inf_sign_mismatch += next.inf_sign_mismatch;
  class_mismatch += next.class_mismatch;
  first_mismatch = std::min(first_mismatch, next.first_mismatch);
  saturated += next.saturated;
  zeros_ref += next.zeros_ref;
  zeros_target += next.zeros_target;
  subnormals_ref += next.subnormals_ref;
  subnormals_target += next.subnormals_target;
}

Residual Residual::moved(long double new_scale, long double ref_square_sum) const {
  const long double step = scale - new_scale;
  if (step == 0) return *this;
  return {new_scale, with_ref + step * ref_square_sum, square_sum + 2 * step * with_ref + step * step * ref_square_sum};
}

long double round_scale(long double scale) {
  int exponent = 0;
  const long double mantissa = std::frexp(scale, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, 20)), exponent - 20);
}

void Sums::append(const Sums& next) {
  if (next.count == 0) return;
  if (count == 0) {
    *this = next;
    return;
  }
  // The scale of the heavier side stays: its residual is the one that must not be rounded again.
  if (residual.scale != next.residual.scale) {
    const bool mine = r_square_sum >= next.r_square_sum;
    residual = mine ? residual : residual.moved(next.residual.scale, r_square_sum);
    const Residual other = next.residual.moved(residual.scale, next.r_square_sum);
    residual.with_ref += other.with_ref;
    residual.square_sum += other.square_sum;
  } else {
    residual.with_ref += next.residual.with_ref;
    residual.square_sum += next.residual.square_sum;
  }
  count += next.count;
  if (next.max_abs > max_abs) {
    max_abs = next.max_abs;
    max_abs_index = next.max_abs_index;
  }
  d_sum += next.d_sum;
  d_square_sum += next.d_square_sum;
  r_sum += next.r_sum;
  r_square_sum += next.r_square_sum;
  t_square_sum += next.t_square_sum;
  product_sum += next.product_sum;
  ratio_sum += next.ratio_sum;
  max_ratio = std::max(max_ratio, next.max_ratio);
  nonzero_ref += next.nonzero_ref;
  zero_ref_mismatch += next.zero_ref_mismatch;
  zero_ref_max_abs = std::max(zero_ref_max_abs, next.zero_ref_max_abs);
  within_1e3 += next.within_1e3;
  within_5e3 += next.within_5e3;
  outliers += next.outliers;
  sign_flips += next.sign_flips;
  close_violations += next.close_violations;
  max_ulp = std::max(max_ulp, next.max_ulp);
}

void BlockFront::add(const BlockEntry& entry) {
  const auto less_d = [](const BlockEntry& a, const BlockEntry& b) { return a.d < b.d; };
  // Of all entries with a larger D the next one has the largest D / R, so the neighbours decide.
  auto at = std::lower_bound(entries_.begin(), entries_.end(), entry, less_d);
  for (auto i = at; i != entries_.end() && i->ratio >= entry.ratio; ++i)
    if (rules_out(*i, entry)) return;
  auto from = at;
  while (from != entries_.begin() && rules_out(entry, *(from - 1))) --from;
  at = entries_.erase(from, at);
  entries_.insert(at, entry);
}

void BlockFront::append(const BlockFront& next) {
  std::vector<BlockEntry> in_order = next.entries_;
  std::sort(in_order.begin(), in_order.end(),
            [](const BlockEntry& a, const BlockEntry& b) { return a.first < b.first; });
  for (const BlockEntry& entry : in_order) add(entry);
}

void DiffSums::append(const DiffSums& next) {
  sums.append(next.sums);
  counts.append(next.counts);
  errors.append(next.errors);
  excess.append(next.excess);
  if (bit_differences == 0) first_bit_difference = next.first_bit_difference;
  bit_differences += next.bit_differences;
}

DiffSetup::DiffSetup(const DiffPlan& plan) : ref(dtype_info(plan.reference)), target(dtype_info(plan.target)) {
  const auto is_integer = [](const DtypeInfo& info) { return info.dtype_class == DtypeClass::integer; };
  const auto beside_float = [&](const DtypeInfo& info) { return is_integer(info) ? MSP_F64 : info.dtype; };
  integers = is_integer(*ref) && is_integer(*target);
  complex = ref->dtype_class == DtypeClass::complex || target->dtype_class == DtypeClass::complex;
  coarser = integers ? msp_dtype{MSP_DTYPE_NONE} : coarser_float(beside_float(*ref), beside_float(*target));
  ulps = !is_integer(*ref) && !is_integer(*target);
  half_eta = std::max(static_cast<long double>(ref->eta), static_cast<long double>(target->eta)) / 2;
  outlier_share = std::min(8 * plan.options.auto_threshold, 0.5);
  flush = (plan.options.flags & MSP_DIFF_FTZ) != 0 && !integers;
  flush_below = integers ? 0.0 : dtype_info(coarser)->min_normal;
  close = (plan.options.flags & MSP_DIFF_CLOSE) != 0;
  atol = plan.options.atol;
  rtol = plan.options.rtol;
  const DtypeInfo* limit = dtype_info(plan.options.saturate_dtype);
  saturate = (plan.options.flags & MSP_DIFF_SATURATE) != 0 && !is_integer(*target);
  saturate_limit = (limit ? limit : target)->max_finite;
}

}  // namespace msprobe::kernels
