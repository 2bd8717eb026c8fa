/// From sums to metrics.
#include <algorithm>
#include <cmath>
#include <limits>

#include "diff_sums.h"

namespace msprobe::kernels {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class Writer {
 public:
  explicit Writer(msp_diff_result& result) : result_(result) {}
  void put(int metric, long double value) {
    result_.number[metric] = static_cast<double>(value);
    result_.present[metric] = 1;
  }
  void count(int metric, std::uint64_t value) { put(metric, static_cast<long double>(value)); }

 private:
  msp_diff_result& result_;
};

/// 0 over a zero reference is 0, anything else is infinite.
long double quotient(long double numerator, long double denominator) {
  if (denominator == 0) return numerator == 0 ? 0.0L : std::numeric_limits<long double>::infinity();
  return numerator / denominator;
}

/// sqrt(square) - allowance where that is positive, from the squares: without cancellation.
long double root_above(long double square, long double allowance) {
  const long double allowed = allowance * allowance;
  return square > allowed ? (square - allowed) / (std::sqrt(square) + allowance) : 0.0L;
}

void put_cosine(const Sums& s, Writer& out) {
  const bool both_zero = s.r_square_sum == 0 && s.t_square_sum == 0;
  out.put(MSP_METRIC_both_zero, both_zero);
  if (both_zero || (s.r_square_sum != 0 && s.d_square_sum == 0)) {
    out.put(MSP_METRIC_cosine, 1);
    out.put(MSP_METRIC_cosine_distance, 0);
    return;
  }
  if (s.r_square_sum == 0 || s.t_square_sum == 0) return;
  const long double cosine =
      std::clamp(s.product_sum / (std::sqrt(s.r_square_sum) * std::sqrt(s.t_square_sum)), -1.0L, 1.0L);
  out.put(MSP_METRIC_cosine, cosine);
  if (cosine <= 0) {
    out.put(MSP_METRIC_cosine_distance, 1 - cosine);
    return;
  }
  // 1 - cos = sin^2 / (1 + cos), and sin is what t - k r has across r, of t.
  const Residual& e = s.residual;
  const long double across = std::max(e.square_sum - e.with_ref * e.with_ref / s.r_square_sum, 0.0L);
  out.put(MSP_METRIC_cosine_distance, across / s.t_square_sum / (1 + cosine));
}

long double sqnr_db(const Sums& s) {
  const long double rr = s.r_square_sum, dd = s.d_square_sum;
  if (dd == 0) return std::numeric_limits<long double>::infinity();
  if (rr == 0) return -std::numeric_limits<long double>::infinity();
  // log of a number near 1 loses what the difference still has.
  if (dd < 2 * rr && 2 * rr < 4 * dd) return 10 * std::log1p((rr - dd) / dd) / std::log(10.0L);
  return 10 * std::log10(rr / dd);
}

struct Worst {
  long double square = -1;
  std::uint64_t first = 0;
};

Worst worst_block(const BlockFront& front, long double mean_square_ref) {
  Worst worst;
  for (const BlockEntry& b : front.entries()) {
    const long double square = quotient(b.d, std::max(b.r, mean_square_ref));
    if (square > worst.square || (square == worst.square && b.first < worst.first)) worst = {square, b.first};
  }
  return worst;
}

double error_of(const DiffSetup& setup, const Sums& s) {
  if (s.d_square_sum == 0) return 0;
  if (s.r_square_sum == 0) return infinity;
  const auto n = static_cast<long double>(s.count);
  // A rounding moves each part by at most eta/2; half_eta is 0 for integers.
  const long double of_one = setup.half_eta * std::sqrt(setup.complex ? 2.0L : 1.0L);
  const long double by_l2 = root_above(s.d_square_sum, std::sqrt(n) * of_one) / std::sqrt(s.r_square_sum);
  const long double by_l1 = std::max(s.d_sum - n * of_one, 0.0L) / s.r_sum;
  return static_cast<double>(std::max(by_l2, by_l1));
}

void put_counts(const ClassCounts& c, Writer& out) {
  out.count(MSP_METRIC_elements, c.elements);
  out.count(MSP_METRIC_class_mismatch, c.class_mismatch);
  if (c.class_mismatch != 0) out.count(MSP_METRIC_class_mismatch_at, c.first_mismatch);
  out.count(MSP_METRIC_nan_ref, c.nan_ref);
  out.count(MSP_METRIC_nan_target, c.nan_target);
  out.count(MSP_METRIC_nan_both, c.nan_both);
  out.count(MSP_METRIC_inf_ref, c.inf_ref);
  out.count(MSP_METRIC_inf_target, c.inf_target);
  out.count(MSP_METRIC_inf_sign_mismatch, c.inf_sign_mismatch);
  out.count(MSP_METRIC_saturated, c.saturated);
  out.count(MSP_METRIC_zeros_ref, c.zeros_ref);
  out.count(MSP_METRIC_zeros_target, c.zeros_target);
  out.count(MSP_METRIC_subnormals_ref, c.subnormals_ref);
  out.count(MSP_METRIC_subnormals_target, c.subnormals_target);
}

void put_sums(const DiffSetup& setup, const Sums& s, Writer& out) {
  const auto n = static_cast<long double>(s.count);
  const long double l2 = std::sqrt(s.d_square_sum), norm = std::sqrt(s.r_square_sum);
  out.put(MSP_METRIC_rel_l2, quotient(l2, norm));
  out.put(MSP_METRIC_rel_l1, quotient(s.d_sum, s.r_sum));
  put_cosine(s, out);
  out.put(MSP_METRIC_max_abs, s.max_abs);
  out.count(MSP_METRIC_max_abs_index, s.max_abs_index);
  out.count(MSP_METRIC_max_abs_at, s.max_abs_index);
  if (s.nonzero_ref != 0) {
    out.put(MSP_METRIC_max_rel, s.max_ratio);
    out.put(MSP_METRIC_mean_rel, s.ratio_sum / static_cast<long double>(s.nonzero_ref));
  }
  out.put(MSP_METRIC_mean_abs, s.d_sum / n);
  out.put(MSP_METRIC_rmse, l2 / std::sqrt(n));
  out.put(MSP_METRIC_l1, s.d_sum);
  out.put(MSP_METRIC_l2, l2);
  out.put(MSP_METRIC_within_1e3, static_cast<long double>(s.within_1e3) / n);
  out.put(MSP_METRIC_within_5e3, static_cast<long double>(s.within_5e3) / n);
  if (norm != 0) out.put(MSP_METRIC_norm_ratio, std::sqrt(s.t_square_sum) / norm);
  out.put(MSP_METRIC_sqnr_db, sqnr_db(s));
  if (setup.ulps) out.count(MSP_METRIC_max_ulp, s.max_ulp);
  if (!setup.integers) out.count(MSP_METRIC_outliers, s.outliers);
  out.put(MSP_METRIC_sign_flips, static_cast<long double>(s.sign_flips) / (setup.complex ? 2 * n : n));
  out.count(MSP_METRIC_zero_ref_mismatch, s.zero_ref_mismatch);
  if (s.zero_ref_mismatch != 0) out.put(MSP_METRIC_zero_ref_max_abs, s.zero_ref_max_abs);
  if (setup.close) out.count(MSP_METRIC_close_violations, s.close_violations);
}

}  // namespace

void DiffPartial::finish(const DiffPlan& plan, msp_diff_result& result) const {
  const DiffSetup setup(plan);
  const Sums& s = sums_->sums;
  result.shapes_differ = 0;
  std::fill(std::begin(result.number), std::end(result.number), 0.0);
  std::fill(std::begin(result.present), std::end(result.present), std::uint8_t{0});
  Writer out(result);
  put_counts(sums_->counts, out);
  result.error = 0;
  result.block_test = std::numeric_limits<double>::quiet_NaN();
  if (s.count != 0) {
    put_sums(setup, s, out);
    const long double mean_square = s.r_square_sum / static_cast<long double>(s.count);
    const Worst worst = worst_block(sums_->errors, mean_square);
    out.put(MSP_METRIC_block_error, std::sqrt(worst.square));
    out.count(MSP_METRIC_block_error_at, worst.first);
    result.error = error_of(setup, s);
    // No allowance where the reference is all zero.
    result.block_test = s.r_square_sum == 0
                            ? (s.d_square_sum == 0 ? 0.0 : infinity)
                            : static_cast<double>(std::sqrt(worst_block(sums_->excess, mean_square).square));
  }
  if (sums_->counts.class_mismatch != 0) result.error = infinity;
  result.bit_differences = sums_->bit_differences;
  result.first_bit_difference = sums_->bit_differences ? sums_->first_bit_difference : sums_->counts.elements;
}

}  // namespace msprobe::kernels
