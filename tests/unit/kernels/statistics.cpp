#include "statistics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "diff.h"
#include "pairs.h"
#include "scalar_value.h"

namespace {

using namespace kernels_test;
using namespace msprobe::kernels;

struct Stats {
  double value[MSP_STAT_COUNT] = {};
  std::uint32_t mask = 0;
};

Stats statistics(msp_dtype dtype, const void* data, std::uint64_t count) {
  StatisticsPartial partial;
  partial.add(dtype, data, count);
  Stats stats;
  stats.mask = partial.finish(stats.value);
  return stats;
}

constexpr std::uint32_t all_four = 15, extremes = 1u << MSP_STAT_MAX | 1u << MSP_STAT_MIN;

}  // namespace

TEST_CASE("statistics of every dtype are those of its values, on every SIMD target and at any length") {
  for (const msp_dtype dtype : stored_dtypes()) {
    for (const std::uint64_t n : {1, 2, 3, 7, 8, 9, 31, 100, 1024, 1027, 4096, 9001}) {
      const Pair pair = make_pair(dtype, dtype, n, n % 2 ? Mix::close : Mix::zeros, n);
      const GuardedBytes data(pair.ref);
      const bool complex = dtype == MSP_C64 || dtype == MSP_C128;
      long double max = -INFINITY, min = INFINITY, sum = 0, squares = 0, magnitude = 0;
      for (std::uint64_t i = 0; i < n; ++i) {
        long double x = scalar_value(dtype, pair.ref.data(), complex ? 2 * i : i);
        if (complex) x = std::hypot(x, scalar_value(dtype, pair.ref.data(), 2 * i + 1));
        max = std::max(max, x), min = std::min(min, x), sum += x, squares += x * x, magnitude += std::fabs(x);
      }
      for (const char* target : simd_targets()) {
        REQUIRE(force_simd_target(target));
        INFO(std::string(target), " ", std::string(msprobe::dtype_name(dtype)), " x ", n);
        const Stats stats = statistics(dtype, data.data(), n);
        CHECK(stats.mask == (dtype == MSP_BOOL ? extremes : all_four));
        CHECK(stats.value[MSP_STAT_MAX] == static_cast<double>(max));
        CHECK(stats.value[MSP_STAT_MIN] == static_cast<double>(min));
        if (dtype == MSP_BOOL) continue;
        const auto count = static_cast<double>(n);
        CHECK(std::fabs(stats.value[MSP_STAT_MEAN] - static_cast<double>(sum) / count) <=
              1e-12 * static_cast<double>(magnitude) / count);
        CHECK(stats.value[MSP_STAT_NORM] == doctest::Approx(static_cast<double>(std::sqrt(squares))).epsilon(1e-12));
      }
    }
  }
  force_simd_target(nullptr);
}

TEST_CASE("a NaN anywhere is in all four, an infinity in those it belongs to") {
  std::vector<float> data(10000, 1.0f);
  data[7777] = std::numeric_limits<float>::infinity();
  Stats stats = statistics(MSP_F32, data.data(), data.size());
  CHECK(std::isinf(stats.value[MSP_STAT_MAX]));
  CHECK(stats.value[MSP_STAT_MIN] == 1);
  CHECK(std::isinf(stats.value[MSP_STAT_MEAN]));
  CHECK(std::isinf(stats.value[MSP_STAT_NORM]));
  data[1] = std::numeric_limits<float>::quiet_NaN();
  stats = statistics(MSP_F32, data.data(), data.size());
  CHECK(stats.mask == all_four);
  for (const double value : stats.value) CHECK(std::isnan(value));
}

TEST_CASE("norms neither vanish nor overflow before they must") {
  for (const double scale : {1e-170, 1e-310, 1e200}) {
    const std::vector<double> data(4, scale);
    CHECK(statistics(MSP_F64, data.data(), 4).value[MSP_STAT_NORM] == doctest::Approx(2 * scale).epsilon(1e-12));
  }
}

TEST_CASE("an empty tensor has no statistics") {
  CHECK(statistics(MSP_F32, nullptr, 0).mask == 0);
}

TEST_CASE("ranges combined in order are the whole") {
  const Pair pair = make_pair(MSP_F32, MSP_F32, 20000, Mix::close, 1);
  StatisticsPartial first, second;
  first.add(MSP_F32, pair.ref.data(), 8192);
  second.add(MSP_F32, pair.ref.data() + 4 * 8192, 20000 - 8192);
  first.combine(second);
  double got[MSP_STAT_COUNT];
  first.finish(got);
  const Stats whole = statistics(MSP_F32, pair.ref.data(), 20000);
  CHECK(got[MSP_STAT_MAX] == whole.value[MSP_STAT_MAX]);
  CHECK(got[MSP_STAT_NORM] == doctest::Approx(whole.value[MSP_STAT_NORM]).epsilon(1e-14));
}
