/// Included before any Highway header: what of it is used.
#pragma once

// Which instruction sets are built. Each costs code and time to compile, so those that bring these kernels nothing over
// their neighbours are left out (SSSE3), and those whose vectors have no size and cannot be members of a class (SVE).
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

// A failed assertion of a debug build would call Highway's library, which is not linked (see simd_dispatch.h).
#define HWY_IS_DEBUG_BUILD 0
