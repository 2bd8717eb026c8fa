/// Real numbers as complex ones, for the side of a pair that is real beside a complex one.
#pragma once
#include <cstdint>
#include <vector>

#include "convert.h"

namespace msprobe::kernels {

class RealParts {
 public:
  /// Each element and an imaginary part of 0; valid until the next call of the same.
  const void* as_f32(msp_dtype dtype, const void* data, std::uint32_t count) {
    return spread(dtype, data, count, f32_);
  }
  const void* as_f64(msp_dtype dtype, const void* data, std::uint32_t count) {
    return spread(dtype, data, count, f64_);
  }

 private:
  static bool widen(msp_dtype dtype, const void* data, std::uint32_t count, float* out) {
    return to_f32(dtype, data, count, out);
  }
  static bool widen(msp_dtype dtype, const void* data, std::uint32_t count, double* out) {
    return to_f64(dtype, data, count, out);
  }

  template <class F>
  struct Scratch {
    std::vector<F> real, parts;
  };

  template <class F>
  static const void* spread(msp_dtype dtype, const void* data, std::uint32_t count, Scratch<F>& scratch) {
    if (scratch.real.size() < count) {
      scratch.real.resize(count);
      scratch.parts.resize(2 * std::size_t{count});  // imaginary parts stay 0
    }
    const F* real = scratch.real.data();
    F* parts = scratch.parts.data();
    widen(dtype, data, count, scratch.real.data());
    for (std::uint32_t i = 0; i < count; ++i) parts[2 * i] = real[i];
    return parts;
  }

  Scratch<float> f32_;
  Scratch<double> f64_;
};

}  // namespace msprobe::kernels
