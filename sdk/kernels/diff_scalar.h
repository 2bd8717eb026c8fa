/// The plain path: every dtype, every value, one element at a time in long double. It takes what the SIMD cores do not
/// (complex, integers beyond 2^52, f64 so large or small that squares leave the range), and it is what they are tested
/// against.
#pragma once
#include <cstdint>

#include "diff_sums.h"

namespace msprobe::kernels {

/// One block: `count` elements, the first at flat index `first`.
void diff_block_scalar(const DiffSetup& setup, const void* reference, const void* target, std::uint64_t first,
                       std::uint32_t count, ClassCounts& counts, Sums& sums);

/// Ordered integer of |value| rounded to nearest even in `format`: overflow is one above the largest finite value.
std::uint64_t ulp_code(long double magnitude, const DtypeInfo& format);

}  // namespace msprobe::kernels
