/// Exact widening of every real dtype, and rounding to f32.
#pragma once
#include <cstdint>

#include "msprobe/analyzer.h"

namespace msprobe::kernels {

/// Exact but for i64 and u64, which round to nearest even. bool: nonzero is 1. Returns false for complex and unknown
/// dtypes.
bool to_f64(msp_dtype dtype, const void* data, std::uint64_t count, double* out);
/// Rounds to nearest even where f32 is too narrow. Returns false for complex and unknown dtypes.
bool to_f32(msp_dtype dtype, const void* data, std::uint64_t count, float* out);

}  // namespace msprobe::kernels
