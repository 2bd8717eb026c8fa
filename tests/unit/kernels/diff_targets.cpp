// The SIMD cores against the plain path, element for element the same pairs.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "diff.h"
#include "diff_scalar.h"
#include "diff_sums.h"
#include "pairs.h"

namespace {

using namespace kernels_test;
using namespace msprobe::kernels;

struct Expected {
  Sums sums;
  ClassCounts counts;
};

/// Blocks of the plain path, appended in order.
Expected plainly(const Pair& pair) {
  const DiffSetup setup(pair.plan);
  Expected all;
  for (std::uint64_t i = 0; i < pair.count; i += block_elements) {
    const auto n = static_cast<std::uint32_t>(std::min(block_elements, pair.count - i));
    Sums block;
    ClassCounts counts;
    diff_block_scalar(setup, pair.ref.data() + i * setup.ref->bytes, pair.target.data() + i * setup.target->bytes, i, n,
                      counts, block);
    all.sums.append(block);
    all.counts.append(counts);
  }
  return all;
}

/// Within 1e-12 of the terms' magnitudes, or the same infinity.
bool near(double got, long double want, long double magnitude) {
  const auto rounded = static_cast<double>(want);
  if (got == rounded) return true;
  return std::isfinite(rounded) && std::fabs(static_cast<long double>(got) - want) <= 1e-12L * std::fabs(magnitude);
}

/// |d| of an element in f64. Two differences that only long double tells apart are equal for a core: it names the
/// first.
double difference_at(const Pair& pair, std::uint64_t index) {
  DiffPlan plan = pair.plan;
  plan.options.flags &= MSP_DIFF_FTZ;
  Sums sums;
  ClassCounts counts;
  const DiffSetup setup(plan);
  diff_block_scalar(setup, pair.ref.data() + index * setup.ref->bytes, pair.target.data() + index * setup.target->bytes,
                    0, 1, counts, sums);
  return static_cast<double>(sums.max_abs);
}

void check_same(const Pair& pair, const msp_diff_result& got, const Expected& want) {
  const auto number = [&](int metric) { return got.number[metric]; };
  const auto count = [&](int metric) { return static_cast<std::uint64_t>(got.number[metric]); };
  const ClassCounts& c = want.counts;
  CHECK(count(MSP_METRIC_elements) == c.elements);
  CHECK(count(MSP_METRIC_nan_ref) == c.nan_ref);
  CHECK(count(MSP_METRIC_nan_target) == c.nan_target);
  CHECK(count(MSP_METRIC_nan_both) == c.nan_both);
  CHECK(count(MSP_METRIC_inf_ref) == c.inf_ref);
  CHECK(count(MSP_METRIC_inf_target) == c.inf_target);
  CHECK(count(MSP_METRIC_inf_sign_mismatch) == c.inf_sign_mismatch);
  CHECK(count(MSP_METRIC_class_mismatch) == c.class_mismatch);
  CHECK(count(MSP_METRIC_saturated) == c.saturated);
  CHECK(count(MSP_METRIC_zeros_ref) == c.zeros_ref);
  CHECK(count(MSP_METRIC_zeros_target) == c.zeros_target);
  CHECK(count(MSP_METRIC_subnormals_ref) == c.subnormals_ref);
  CHECK(count(MSP_METRIC_subnormals_target) == c.subnormals_target);

  const Sums& s = want.sums;
  REQUIRE(static_cast<bool>(got.present[MSP_METRIC_max_abs]) == (s.count != 0));
  if (s.count == 0) return;
  const auto n = static_cast<long double>(s.count);
  CHECK(number(MSP_METRIC_max_abs) == static_cast<double>(s.max_abs));
  CHECK(difference_at(pair, count(MSP_METRIC_max_abs_index)) == static_cast<double>(s.max_abs));
  CHECK(count(MSP_METRIC_max_abs_index) <= s.max_abs_index);
  CHECK(near(number(MSP_METRIC_l1), s.d_sum, s.d_sum));
  CHECK(near(number(MSP_METRIC_l2), std::sqrt(s.d_square_sum), std::sqrt(s.d_square_sum)));
  if (s.r_sum != 0) CHECK(near(number(MSP_METRIC_rel_l1), s.d_sum / s.r_sum, s.d_sum / s.r_sum));
  if (s.nonzero_ref != 0) {
    CHECK(near(number(MSP_METRIC_max_rel), s.max_ratio, s.max_ratio));
    const long double mean = s.ratio_sum / static_cast<long double>(s.nonzero_ref);
    CHECK(near(number(MSP_METRIC_mean_rel), mean, mean));
  }
  CHECK(number(MSP_METRIC_within_1e3) == static_cast<double>(static_cast<long double>(s.within_1e3) / n));
  CHECK(number(MSP_METRIC_within_5e3) == static_cast<double>(static_cast<long double>(s.within_5e3) / n));
  if (got.present[MSP_METRIC_cosine]) {
    const long double norms = std::sqrt(s.r_square_sum) * std::sqrt(s.t_square_sum);
    if (s.t_square_sum != 0 && s.r_square_sum != 0 && s.d_square_sum != 0)
      CHECK(near(number(MSP_METRIC_cosine), s.product_sum / norms, 1));
    const long double ratio = std::sqrt(s.t_square_sum) / std::sqrt(s.r_square_sum);
    if (s.r_square_sum != 0) CHECK(near(number(MSP_METRIC_norm_ratio), ratio, ratio));
  }
  if (got.present[MSP_METRIC_max_ulp]) CHECK(number(MSP_METRIC_max_ulp) == static_cast<double>(s.max_ulp));
  if (got.present[MSP_METRIC_outliers]) CHECK(count(MSP_METRIC_outliers) == s.outliers);
  const auto parts = DiffSetup(pair.plan).complex ? 2 * n : n;
  CHECK(number(MSP_METRIC_sign_flips) == static_cast<double>(static_cast<long double>(s.sign_flips) / parts));
  CHECK(count(MSP_METRIC_zero_ref_mismatch) == s.zero_ref_mismatch);
  if (s.zero_ref_mismatch != 0) {
    CHECK(near(number(MSP_METRIC_zero_ref_max_abs), s.zero_ref_max_abs, s.zero_ref_max_abs));
    // Only a modulus is rounded on the way.
    if (!DiffSetup(pair.plan).complex)
      CHECK(number(MSP_METRIC_zero_ref_max_abs) == static_cast<double>(s.zero_ref_max_abs));
  }
  if (got.present[MSP_METRIC_close_violations]) CHECK(count(MSP_METRIC_close_violations) == s.close_violations);
}

/// Every target on `pair`, in memory that ends with a guard page on both sides (so at any alignment the size gives).
void check_on_all_targets(const Pair& pair) {
  const Expected want = plainly(pair);
  const GuardedBytes ref(pair.ref), target(pair.target);
  for (const char* name : simd_targets()) {
    REQUIRE(force_simd_target(name));
    INFO(std::string(name), " ", std::string(msprobe::dtype_name(pair.plan.reference)), " ",
         std::string(msprobe::dtype_name(pair.plan.target)), " x ", pair.count);
    DiffPartial partial;
    partial.add(pair.plan, ref.data(), target.data(), 0, pair.count);
    check_same(pair, finish(pair.plan, partial), want);
  }
  force_simd_target(nullptr);
}

}  // namespace

TEST_CASE("every SIMD target agrees with the plain path for every pair of dtypes and kind of values") {
  std::uint64_t seed = 1;
  for (const msp_dtype ref : stored_dtypes()) {
    for (const msp_dtype target : stored_dtypes()) {
      for (const Mix mix : mixes) {
        Pair pair = make_pair(ref, target, 1 + seed * 7919 % 1500, mix, seed);
        pair.plan.options.atol = 1e-3;
        pair.plan.options.rtol = 1e-3;
        if (seed % 2 == 0) pair.plan.options.flags |= MSP_DIFF_CLOSE;
        if (seed % 3 == 0) pair.plan.options.flags |= MSP_DIFF_FTZ;
        if (seed % 5 == 0) pair.plan.options.flags |= MSP_DIFF_SATURATE;
        CAPTURE(static_cast<int>(mix));
        check_on_all_targets(pair);
        ++seed;
      }
    }
  }
}

TEST_CASE("no length or alignment loses an element or touches a byte outside") {
  for (const auto& [ref, target] : {std::pair{MSP_F32, MSP_F32},
                                    {MSP_F16, MSP_F16},
                                    {MSP_BF16, MSP_BF16},
                                    {MSP_F64, MSP_F64},
                                    {MSP_F32, MSP_BF16},
                                    {MSP_F16, MSP_F8E4M3FN},
                                    {MSP_F64, MSP_F32},
                                    {MSP_I32, MSP_U8},
                                    {MSP_I64, MSP_I64},
                                    {MSP_C64, MSP_C64},
                                    {MSP_C128, MSP_C64},
                                    {MSP_F16, MSP_C64}}) {
    for (std::uint64_t n = 0; n <= 130; ++n) check_on_all_targets(make_pair(ref, target, n, Mix::close, n + 1));
    for (const std::uint64_t n : {1023, 1025, 4095, 4096, 4097, 4111, 65535, 65536, 65537})
      check_on_all_targets(make_pair(ref, target, n, n % 2 ? Mix::zeros : Mix::any_bits, n));
  }
}

TEST_CASE("a pointer may have any alignment") {
  for (std::size_t shift = 1; shift < 16; ++shift) {
    for (const msp_dtype dtype : {MSP_F32, MSP_F16, MSP_F64, MSP_I64, MSP_C128}) {
      const Pair pair = make_pair(dtype, dtype, 333, Mix::close, shift);
      std::vector<unsigned char> ref(pair.ref.size() + shift), target(pair.target.size() + 16 - shift);
      std::memcpy(ref.data() + shift, pair.ref.data(), pair.ref.size());
      std::memcpy(target.data() + 16 - shift, pair.target.data(), pair.target.size());
      DiffPartial partial;
      partial.add(pair.plan, ref.data() + shift, target.data() + 16 - shift, 0, pair.count);
      check_same(pair, finish(pair.plan, partial), plainly(pair));
    }
  }
}

TEST_CASE("parts of complex numbers whose squares leave f64 beside others") {
  for (const double scale : {1e-310, 1e-200, 1e-150, 1e-136, 1e-135, 1e-100, 1e100, 1e170, 1e300}) {
    Pair pair = make_pair(MSP_C128, MSP_C128, 9000, Mix::close, 11);
    const double r[] = {3 * scale, 0}, t[] = {3 * scale, 1e-9 * scale};
    std::memcpy(pair.ref.data() + 16 * 5000, r, sizeof(r));
    std::memcpy(pair.target.data() + 16 * 5000, t, sizeof(t));
    CAPTURE(scale);
    check_on_all_targets(pair);
  }
}

TEST_CASE("of complex differences that f64 takes for equal the largest is found, of equal ones the first") {
  // |(1 + 2^-30, 2^-30)| is larger than |(1 + 2^-30, 0)| by 2^-61.
  const double u = 0x1p-30;
  Pair pair = make_pair(MSP_C128, MSP_C128, 9000, Mix::equal, 12);
  std::memset(pair.ref.data(), 0, pair.ref.size());
  std::memset(pair.target.data(), 0, pair.target.size());
  const auto put = [&](std::uint64_t index, double re, double im) {
    const double parts[] = {re, im};
    std::memcpy(pair.target.data() + 16 * index, parts, sizeof(parts));
  };
  const auto largest = [&] {
    DiffPartial partial;
    partial.add(pair.plan, pair.ref.data(), pair.target.data(), 0, pair.count);
    return static_cast<std::uint64_t>(finish(pair.plan, partial).number[MSP_METRIC_max_abs_index]);
  };
  put(1, 1 + u, 0);
  put(20, 1 + u, 0x1p-32);
  put(300, -1 - u, u);
  put(301, u, 1 + u);
  put(4100, 1 + u, u);
  for (const char* name : simd_targets()) {
    REQUIRE(force_simd_target(name));
    CHECK(largest() == 300);
  }
  force_simd_target(nullptr);
  put(8500, 1 + u, 2 * u);
  CHECK(largest() == 8500);
}
