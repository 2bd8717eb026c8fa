// How partial results go together, and the numbers that break simpler implementations.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "diff.h"
#include "pairs.h"

namespace {

using namespace kernels_test;
using namespace msprobe::kernels;

bool same_bits(const msp_diff_result& a, const msp_diff_result& b) {
  return std::memcmp(a.number, b.number, sizeof(a.number)) == 0 &&
         std::memcmp(a.present, b.present, sizeof(a.present)) == 0 &&
         std::memcmp(&a.error, &b.error, sizeof(a.error)) == 0 &&
         std::memcmp(&a.block_test, &b.block_test, sizeof(a.block_test)) == 0 &&
         a.bit_differences == b.bit_differences && a.first_bit_difference == b.first_bit_difference;
}

/// Segments of `blocks` blocks, each added in pieces of `piece` blocks, combined in order.
msp_diff_result in_segments(const Pair& pair, std::uint64_t blocks, std::uint64_t piece) {
  const std::uint64_t r_size = msprobe::dtype_info(pair.plan.reference)->bytes;
  const std::uint64_t t_size = msprobe::dtype_info(pair.plan.target)->bytes;
  DiffPartial all;
  for (std::uint64_t s = 0; s < pair.count; s += blocks * block_elements) {
    DiffPartial part;
    const std::uint64_t end = std::min(s + blocks * block_elements, pair.count);
    for (std::uint64_t i = s; i < end; i += piece * block_elements)
      part.add(pair.plan, pair.ref.data() + i * r_size, pair.target.data() + i * t_size, i,
               std::min(piece * block_elements, end - i));
    all.combine(part);
  }
  return finish(pair.plan, all);
}

template <class T>
Pair pair_of(msp_dtype dtype, const std::vector<T>& ref, const std::vector<T>& target) {
  Pair pair = make_pair(dtype, dtype, ref.size(), Mix::close, 1);
  std::memcpy(pair.ref.data(), ref.data(), pair.ref.size());
  std::memcpy(pair.target.data(), target.data(), pair.target.size());
  return pair;
}

msp_diff_result diff(const Pair& pair) {
  return in_segments(pair, 1 << 20, 1 << 20);
}

}  // namespace

TEST_CASE("the same segments give the same bits however each is read") {
  for (const msp_dtype dtype : {MSP_F32, MSP_F8E4M3FN, MSP_C64, MSP_C128}) {
    for (const Mix mix : mixes) {
      Pair pair = make_pair(dtype, dtype, 11 * block_elements + 77, mix, 5);
      pair.plan.options.flags = MSP_DIFF_BITWISE | MSP_DIFF_CLOSE;
      const msp_diff_result whole = in_segments(pair, 4, 4);
      CHECK(same_bits(whole, in_segments(pair, 4, 1)));
      CHECK(same_bits(whole, in_segments(pair, 4, 3)));
      CHECK(same_bits(whole, in_segments(pair, 4, 4)));
    }
  }
}

TEST_CASE("the largest difference is found at its lowest index across segments") {
  std::vector<float> ref(5 * block_elements, 1.0f), target = ref;
  target[2 * block_elements + 17] = target[3 * block_elements] = 3.0f;
  const Pair pair = pair_of(MSP_F32, ref, target);
  for (const std::uint64_t blocks : {1, 2, 5})
    CHECK(in_segments(pair, blocks, 1).number[MSP_METRIC_max_abs_index] == 2 * block_elements + 17);
}

TEST_CASE("the worst block is known although the norm of the whole is not until the end") {
  // Block 1 has the larger d; block 2 the larger d/r, which counts only where the whole r is small as well.
  for (const float far : {1.0f, 1000.0f}) {
    std::vector<float> ref(4 * block_elements, 1.0f);
    for (std::size_t i = 2 * block_elements; i < 3 * block_elements; ++i) ref[i] = 0.01f;
    for (std::size_t i = 3 * block_elements; i < 4 * block_elements; ++i) ref[i] = far;
    std::vector<float> target = ref;
    for (std::size_t i = block_elements; i < 2 * block_elements; ++i) target[i] += 0.5f;
    for (std::size_t i = 2 * block_elements; i < 3 * block_elements; ++i) target[i] += 0.25f;
    const msp_diff_result result = in_segments(pair_of(MSP_F32, ref, target), 1, 1);
    CHECK(result.number[MSP_METRIC_block_error_at] == block_elements);
  }
  std::vector<float> ref(2 * block_elements, 0.0f);
  ref[0] = 1.0f;
  std::vector<float> target = ref;
  target[block_elements] = 1e-3f;
  CHECK(in_segments(pair_of(MSP_F32, ref, target), 1, 1).number[MSP_METRIC_block_error_at] == block_elements);
}

TEST_CASE("of equal blocks the first is the worst one") {
  const std::vector<float> ref(3 * block_elements, 1.0f), target(3 * block_elements, 1.5f);
  CHECK(in_segments(pair_of(MSP_F32, ref, target), 1, 1).number[MSP_METRIC_block_error_at] == 0);
}

TEST_CASE("squares of 1e-170 do not vanish and squares of 1e200 do not overflow") {
  for (const double scale : {1e-170, 1e-300, 1.0, 1e200, 1e300}) {
    std::vector<double> ref(5000), target(5000);
    for (std::size_t i = 0; i < ref.size(); ++i) {
      ref[i] = scale * (1 + static_cast<double>(i % 7));
      target[i] = ref[i] * 1.25;
    }
    const msp_diff_result result = diff(pair_of(MSP_F64, ref, target));
    CHECK(result.number[MSP_METRIC_rel_l2] == doctest::Approx(0.25).epsilon(1e-12));
    CHECK(result.number[MSP_METRIC_norm_ratio] == doctest::Approx(1.25).epsilon(1e-12));
    CHECK(result.number[MSP_METRIC_cosine_distance] < 1e-24);
  }
}

TEST_CASE("the largest f64 against its negative has an infinite difference and a finite ratio") {
  const double most = std::numeric_limits<double>::max();
  const msp_diff_result result = diff(pair_of<double>(MSP_F64, {most}, {-most}));
  CHECK(std::isinf(result.number[MSP_METRIC_max_abs]));
  CHECK(result.number[MSP_METRIC_rel_l2] == 2);
  CHECK(result.number[MSP_METRIC_cosine] == -1);
}

TEST_CASE("integers of 64 bits are compared exactly") {
  const std::int64_t big = std::int64_t{1} << 53;
  CHECK(diff(pair_of<std::int64_t>(MSP_I64, {big}, {big + 1})).number[MSP_METRIC_max_abs] == 1);
  const auto lowest = std::numeric_limits<std::int64_t>::min();
  const auto highest = std::numeric_limits<std::int64_t>::max();
  CHECK(diff(pair_of<std::int64_t>(MSP_I64, {lowest}, {highest})).number[MSP_METRIC_max_abs] == 0x1p64);
}

TEST_CASE("a direction is told from another however alike they are, and however long") {
  std::vector<float> ref(100000), target(ref.size());
  for (std::size_t i = 0; i < ref.size(); ++i) ref[i] = 1.0f + static_cast<float>(i % 13);
  for (const float factor : {1.0f, 2.0f, 3.0f}) {
    for (std::size_t i = 0; i < ref.size(); ++i) target[i] = factor * ref[i];
    CHECK(diff(pair_of(MSP_F32, ref, target)).number[MSP_METRIC_cosine_distance] < 1e-24);
    target[12345] += 0x1p-10f;
    long double rr = 0, tt = 0, ee = 0, re = 0;
    for (std::size_t i = 0; i < ref.size(); ++i) {
      const long double r = static_cast<long double>(ref[i]), t = static_cast<long double>(target[i]);
      const long double e = t - static_cast<long double>(factor) * r;
      rr += r * r, tt += t * t, ee += e * e, re += r * e;
    }
    const long double sine = (ee - re * re / rr) / tt;
    const double got = diff(pair_of(MSP_F32, ref, target)).number[MSP_METRIC_cosine_distance];
    CHECK(got == doctest::Approx(static_cast<double>(sine / 2)).epsilon(1e-9));
  }
}

TEST_CASE("bitwise differences count elements and name the first") {
  Pair pair = make_pair(MSP_F16, MSP_F16, 3 * block_elements, Mix::equal, 3);
  pair.plan.options.flags = MSP_DIFF_BITWISE;
  msp_diff_result result = in_segments(pair, 1, 1);
  CHECK(result.bit_differences == 0);
  CHECK(result.first_bit_difference == pair.count);
  for (const std::uint64_t i : {block_elements + 5, block_elements + 6, 2 * block_elements})
    pair.target[2 * i + 1] ^= 1;
  result = in_segments(pair, 1, 1);
  CHECK(result.bit_differences == 3);
  CHECK(result.first_bit_difference == block_elements + 5);
  for (const msp_dtype dtype : stored_dtypes()) {
    Pair other = make_pair(dtype, dtype, 100, Mix::equal, 4);
    other.plan.options.flags = MSP_DIFF_BITWISE;
    other.target[other.target.size() - 1] ^= 0x80;
    CHECK(diff(other).bit_differences == 1);
    CHECK(diff(other).first_bit_difference == 99);
  }
}

TEST_CASE("payloads of NaN and the sign of zero are bitwise differences, and nothing else") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Pair pair = pair_of<float>(MSP_F32, {0.0f, nan, 1.0f}, {-0.0f, -nan, 1.0f});
  pair.plan.options.flags = MSP_DIFF_BITWISE;
  const msp_diff_result result = diff(pair);
  CHECK(result.bit_differences == 2);
  CHECK(result.error == 0);
  CHECK(result.number[MSP_METRIC_max_ulp] == 0);
}

TEST_CASE("different dtypes differ in every element") {
  Pair pair = make_pair(MSP_F32, MSP_F16, 10, Mix::close, 3);
  pair.plan.options.flags = MSP_DIFF_BITWISE;
  CHECK(diff(pair).bit_differences == 10);
  CHECK(diff(pair).first_bit_difference == 0);
}

TEST_CASE("an empty tensor has counts and no metrics") {
  const msp_diff_result result = diff(make_pair(MSP_F32, MSP_F32, 0, Mix::close, 1));
  CHECK(result.error == 0);
  CHECK(std::isnan(result.block_test));
  CHECK(result.present[MSP_METRIC_elements]);
  CHECK(!result.present[MSP_METRIC_rel_l2]);
}
