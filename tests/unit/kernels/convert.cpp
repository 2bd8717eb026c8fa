// Conversions, exhaustively where that is possible, against a decoder that follows the definition of each format.
#include "convert.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "diff.h"
#include "msprobe/dtype.hpp"
#include "scalar_value.h"

namespace {

using namespace msprobe::kernels;

template <class T>
bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// Every code of a dtype of 8 or 16 bits, at every offset within a vector.
void check_all_codes(msp_dtype dtype) {
  const std::uint32_t bytes = msprobe::dtype_info(dtype)->bytes;
  const std::size_t count = std::size_t{1} << (8 * bytes);
  std::vector<unsigned char> data(count * bytes);
  for (std::size_t i = 0; i < count; ++i) std::memcpy(data.data() + i * bytes, &i, bytes);
  for (const std::size_t skip : {0, 1, 5}) {
    std::vector<double> wide(count - skip);
    std::vector<float> narrow(count - skip);
    REQUIRE(to_f64(dtype, data.data() + skip * bytes, count - skip, wide.data()));
    REQUIRE(to_f32(dtype, data.data() + skip * bytes, count - skip, narrow.data()));
    std::size_t wrong = 0;
    for (std::size_t i = skip; i < count; ++i) {
      const long double want = scalar_value(dtype, data.data(), i);
      wrong += !same(wide[i - skip], static_cast<double>(want)) || !same(narrow[i - skip], static_cast<float>(want));
    }
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("every code of the 8 and 16 bit dtypes widens exactly on every SIMD target") {
  for (const char* target : simd_targets()) {
    REQUIRE(force_simd_target(target));
    for (const msp_dtype dtype :
         {MSP_F16, MSP_BF16, MSP_F8E4M3FN, MSP_F8E5M2, MSP_I8, MSP_U8, MSP_I16, MSP_U16, MSP_BOOL}) {
      INFO(std::string(target), " ", std::string(msprobe::dtype_name(dtype)));
      check_all_codes(dtype);
    }
  }
  force_simd_target(nullptr);
}

TEST_CASE("f64 and integers round once, to nearest even") {
  const double doubles[] = {1 + 0x1p-24, 1 + 0x1.8p-23, 0x1p-150, 0x1.8p-149, 0x1.ffffffp127, 0x1.fffffep127, -0.0};
  float narrow[7];
  REQUIRE(to_f32(MSP_F64, doubles, 7, narrow));
  const float expected[] = {1.0f, 1 + 0x1p-22f, 0.0f, 0x1p-148f, INFINITY, 0x1.fffffep127f, -0.0f};
  for (int i = 0; i < 7; ++i) CHECK(same(narrow[i], expected[i]));

  const std::uint64_t big[] = {(std::uint64_t{1} << 53) + 1, (std::uint64_t{1} << 53) + 3, ~std::uint64_t{0}, 7, 0};
  double wide[5];
  REQUIRE(to_f64(MSP_U64, big, 5, wide));
  const double rounded[] = {0x1p53, 0x1p53 + 4, 0x1p64, 7, 0};
  for (int i = 0; i < 5; ++i) CHECK(wide[i] == rounded[i]);
  const std::int64_t low[] = {-(std::int64_t{1} << 53) - 1, std::numeric_limits<std::int64_t>::min()};
  REQUIRE(to_f64(MSP_I64, low, 2, wide));
  CHECK(wide[0] == -0x1p53);
  CHECK(wide[1] == -0x1p63);
}

TEST_CASE("complex and unknown dtypes are refused") {
  const double data[2] = {1, 2};
  double out[2];
  CHECK(!to_f64(MSP_C64, data, 1, out));
  CHECK(!to_f64(MSP_DTYPE_NONE, data, 1, out));
}
