/// Blocks that are not all finite, or are to be flushed: their classes are counted, and what is finite on both sides is
/// packed so that the cores can work on it.
#pragma once
#include <cstdint>

#include "diff_sums.h"

namespace msprobe::kernels {

/// Packs ref and target in place and returns how many elements are left; `offsets` says where each was.
template <class F>
std::uint32_t sieve(const DiffSetup& setup, F* ref, F* target, std::uint32_t count, ClassCounts& counts,
                    std::uint16_t* offsets);

extern template std::uint32_t sieve(const DiffSetup&, float*, float*, std::uint32_t, ClassCounts&, std::uint16_t*);
extern template std::uint32_t sieve(const DiffSetup&, double*, double*, std::uint32_t, ClassCounts&, std::uint16_t*);

}  // namespace msprobe::kernels
