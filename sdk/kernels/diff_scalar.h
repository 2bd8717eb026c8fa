/// The plain path: every dtype, every value, one element at a time in long double. It takes what the SIMD cores do not
/// (complex blocks that are not finite or are to be flushed, integers beyond 2^52, values so large or small that their
/// squares leave f64), and it is what they are tested against.
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
