/// One element at a time, by the definition of its format. Slow and plain: the SIMD conversions are tested against it.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "msprobe/analyzer.h"

namespace msprobe::kernels {

template <class T>
T load(const void* data, std::uint64_t index) {
  T value;
  std::memcpy(&value, static_cast<const unsigned char*>(data) + index * sizeof(T), sizeof(T));
  return value;
}

/// A binary format of at most 16 bits. Without infinities (e4m3fn) only the code of all ones is NaN.
inline float decode_small_float(unsigned bits, int exponent_bits, int mantissa_bits, bool infinities) {
  const unsigned mantissa = bits & ((1u << mantissa_bits) - 1);
  const int exponent = static_cast<int>(bits >> mantissa_bits & ((1u << exponent_bits) - 1));
  const bool negative = bits >> (mantissa_bits + exponent_bits) & 1;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const bool top = exponent == (1 << exponent_bits) - 1;
  float magnitude;
  if (top && infinities) {
    magnitude = mantissa ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  } else if (top && mantissa == (1u << mantissa_bits) - 1) {
    magnitude = std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissa_bits);
  } else {
    magnitude = std::ldexp(static_cast<float>(mantissa | 1u << mantissa_bits), exponent - bias - mantissa_bits);
  }
  return negative ? -magnitude : magnitude;
}

/// Exact where long double has 64 bits of mantissa. `index` counts parts: a complex element has two.
inline long double scalar_value(msp_dtype dtype, const void* data, std::uint64_t index) {
  switch (dtype) {
    case MSP_F64:
    case MSP_C128:
      return static_cast<long double>(load<double>(data, index));
    case MSP_F32:
    case MSP_C64:
      return static_cast<long double>(load<float>(data, index));
    case MSP_F16:
      return static_cast<long double>(decode_small_float(load<std::uint16_t>(data, index), 5, 10, true));
    case MSP_BF16:
      return static_cast<long double>(decode_small_float(load<std::uint16_t>(data, index), 8, 7, true));
    case MSP_F8E4M3FN:
      return static_cast<long double>(decode_small_float(load<std::uint8_t>(data, index), 4, 3, false));
    case MSP_F8E5M2:
      return static_cast<long double>(decode_small_float(load<std::uint8_t>(data, index), 5, 2, true));
    case MSP_I8:
      return static_cast<long double>(load<std::int8_t>(data, index));
    case MSP_U8:
      return static_cast<long double>(load<std::uint8_t>(data, index));
    case MSP_I16:
      return static_cast<long double>(load<std::int16_t>(data, index));
    case MSP_U16:
      return static_cast<long double>(load<std::uint16_t>(data, index));
    case MSP_I32:
      return static_cast<long double>(load<std::int32_t>(data, index));
    case MSP_U32:
      return static_cast<long double>(load<std::uint32_t>(data, index));
    case MSP_I64:
      return static_cast<long double>(load<std::int64_t>(data, index));
    case MSP_U64:
      return static_cast<long double>(load<std::uint64_t>(data, index));
    case MSP_BOOL:
      return load<std::uint8_t>(data, index) != 0;
    default:
      return std::numeric_limits<long double>::quiet_NaN();
  }
}

}  // namespace msprobe::kernels
