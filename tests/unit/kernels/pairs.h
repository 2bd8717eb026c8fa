/// Pairs of arrays for the kernels' tests: every dtype, every class of values, and memory that ends where they end.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "diff.h"
#include "msprobe/dtype.hpp"

namespace kernels_test {

inline std::vector<msp_dtype> stored_dtypes() {
  std::vector<msp_dtype> all;
  for (const msprobe::DtypeInfo& info : msprobe::dtype_table)
    if (info.dtype != MSP_TF32) all.push_back(info.dtype);
  return all;
}

/// Bytes whose last one is followed by a page that may not be touched.
class GuardedBytes {
 public:
  explicit GuardedBytes(const std::vector<unsigned char>& bytes) : size_(bytes.size()) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t pages = (size_ + page - 1) / page + 1;
    mapped_ = (pages + 1) * page;
    base_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED) throw std::runtime_error("mmap");
    unsigned char* guard = static_cast<unsigned char*>(base_) + pages * page;
    mprotect(guard, page, PROT_NONE);
    data_ = guard - size_;
    if (size_ != 0) std::memcpy(data_, bytes.data(), size_);
  }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  ~GuardedBytes() { munmap(base_, mapped_); }
  const unsigned char* data() const { return data_; }

 private:
  std::size_t size_, mapped_;
  void* base_;
  unsigned char* data_;
};

/// What values a pair has.
enum class Mix {
  close,     ///< normal numbers and a small relative error
  zeros,     ///< half of both sides zero
  any_bits,  ///< every class: NaN, infinities, subnormals, extremes
  tiny,      ///< subnormals and the smallest normals
  lost,      ///< the target is zero or far smaller
  twice,     ///< the target is about 2 x
  equal,     ///< the same bytes where the dtypes are the same
  zero_ref,  ///< the reference is zero here and there, the target is not
};
inline constexpr Mix mixes[] = {Mix::close, Mix::zeros, Mix::any_bits, Mix::tiny,
                                Mix::lost,  Mix::twice, Mix::equal,    Mix::zero_ref};

/// Truncates to a float format of at most 16 bits; the tests need values of it, not the nearest ones.
inline std::uint16_t small_float(double x, const msprobe::DtypeInfo& info) {
  const double magnitude = std::fmin(std::fabs(x), info.max_finite);
  const int lowest = 2 - (1 << (info.exponent_bits - 1));
  const int exponent = magnitude == 0 ? lowest : std::max(std::ilogb(magnitude), lowest);
  const auto mantissa = static_cast<unsigned>(std::ldexp(magnitude, info.mantissa_bits - exponent));
  const unsigned code = (static_cast<unsigned>(exponent - lowest) << info.mantissa_bits) + mantissa;
  return static_cast<std::uint16_t>(code | (std::signbit(x) ? 1u << (info.exponent_bits + info.mantissa_bits) : 0u));
}

inline void store_part(msp_dtype dtype, double x, unsigned char* out) {
  const auto put = [out](auto value) { std::memcpy(out, &value, sizeof(value)); };
  switch (dtype) {
    case MSP_F64:
    case MSP_C128:
      put(x);
      break;
    case MSP_F32:
    case MSP_C64:
      put(static_cast<float>(x));
      break;
    case MSP_F16:
    case MSP_BF16:
      put(small_float(x, *msprobe::dtype_info(dtype)));
      break;
    case MSP_F8E4M3FN:
    case MSP_F8E5M2:
      put(static_cast<std::uint8_t>(small_float(x, *msprobe::dtype_info(dtype))));
      break;
    case MSP_I8:
      put(static_cast<std::int8_t>(std::fmod(x * 40, 128)));
      break;
    case MSP_U8:
      put(static_cast<std::uint8_t>(std::fmod(std::fabs(x) * 40, 256)));
      break;
    case MSP_I16:
      put(static_cast<std::int16_t>(std::fmod(x * 4000, 32768)));
      break;
    case MSP_U16:
      put(static_cast<std::uint16_t>(std::fmod(std::fabs(x) * 4000, 65536)));
      break;
    case MSP_I32:
      put(static_cast<std::int32_t>(std::fmod(x * 4e6, 0x1p31)));
      break;
    case MSP_U32:
      put(static_cast<std::uint32_t>(std::fmod(std::fabs(x) * 4e6, 0x1p32)));
      break;
    case MSP_I64:
      put(static_cast<std::int64_t>(std::fmod(x * 4e10, 0x1p62)));
      break;
    case MSP_U64:
      put(static_cast<std::uint64_t>(std::fmod(std::fabs(x) * 4e10, 0x1p63)));
      break;
    default:
      put(static_cast<std::uint8_t>(x > 0));
      break;
  }
}

struct Pair {
  msprobe::kernels::DiffPlan plan{};
  std::uint64_t count = 0;
  std::vector<unsigned char> ref, target;
};

inline Pair make_pair(msp_dtype ref, msp_dtype target, std::uint64_t count, Mix mix, std::uint64_t seed) {
  using msprobe::dtype_info;
  Pair pair;
  pair.count = count;
  pair.plan.reference = ref;
  pair.plan.target = target;
  pair.plan.options.struct_size = sizeof(pair.plan.options);
  pair.plan.options.auto_threshold = msprobe::auto_threshold(msprobe::coarser_float(ref, target));
  const auto& r_info = *dtype_info(ref);
  const auto& t_info = *dtype_info(target);
  pair.ref.resize(count * r_info.bytes);
  pair.target.resize(count * t_info.bytes);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const auto parts = [](const msprobe::DtypeInfo& info) {
    return info.dtype_class == msprobe::DtypeClass::complex ? 2u : 1u;
  };
  const double u = std::max({r_info.unit_roundoff, t_info.unit_roundoff, 1e-7});
  const double tiny = std::max({r_info.min_normal, t_info.min_normal, 1e-300});
  for (std::uint64_t i = 0; i < 2 * count; ++i) {  // parts, of which real numbers take the first
    double x = normal(random);
    double y = x * (1 + 2 * u * normal(random));
    const bool coin = random() & 1;
    switch (mix) {
      case Mix::zeros:
        x = coin ? 0 : x, y = coin ? -0.0 : y;
        break;
      case Mix::tiny:
        x *= tiny, y = x + tiny * u * normal(random);
        break;
      case Mix::lost:
        y = coin ? 0 : y * 0x1p-6;
        break;
      case Mix::twice:
        y *= 2;
        break;
      case Mix::zero_ref:
        x = random() % 8 ? x : 0;
        break;
      case Mix::equal:
        y = x;
        break;
      default:
        break;
    }
    const auto store = [i](const msprobe::DtypeInfo& info, std::uint32_t n, double value,
                           std::vector<unsigned char>& out) {
      const std::uint32_t size = info.bytes / n;
      if (n == 2) {
        store_part(info.dtype, value, out.data() + i * size);
      } else if (i % 2 == 0) {
        store_part(info.dtype, value, out.data() + i / 2 * size);
      }
    };

    store(r_info, parts(r_info), x, pair.ref);
    store(t_info, parts(t_info), y, pair.target);
  }
  if (mix == Mix::any_bits) {
    // Random bits, half of them equal on both sides; then some values of each class.
    for (std::vector<unsigned char>* bytes : {&pair.ref, &pair.target})
      for (unsigned char& byte : *bytes) byte = static_cast<unsigned char>(random());
    if (ref == target)
      for (std::uint64_t i = 0; i < count; ++i)
        if (random() & 1)
          std::memcpy(pair.target.data() + i * r_info.bytes, pair.ref.data() + i * r_info.bytes, r_info.bytes);
    const auto classes = [&](const msprobe::DtypeInfo& info, std::vector<unsigned char>& bytes) {
      if (info.dtype_class != msprobe::DtypeClass::real || info.bytes < 2) return;
      const std::uint64_t infinity = ((std::uint64_t{1} << info.exponent_bits) - 1) << info.mantissa_bits;
      const std::uint64_t sign = std::uint64_t{1} << (info.bytes * 8 - 1);
      const std::uint64_t values[] = {0, sign, infinity, infinity | sign, infinity | 1, infinity - 1, 1, sign | 1};
      for (std::uint64_t i = 0; i < count; ++i)
        if (random() % 3 == 0) std::memcpy(bytes.data() + i * info.bytes, &values[random() % 8], info.bytes);
    };
    classes(r_info, pair.ref);
    classes(t_info, pair.target);
  }
  return pair;
}

inline msp_diff_result finish(const msprobe::kernels::DiffPlan& plan, const msprobe::kernels::DiffPartial& partial) {
  msp_diff_result result{};
  result.struct_size = sizeof(result);
  partial.finish(plan, result);
  return result;
}

}  // namespace kernels_test
