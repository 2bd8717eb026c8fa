/// Included before any Highway header: which instruction sets are built. Each costs code and time to compile, so those
/// that bring these kernels nothing over their neighbours are left out.
#pragma once
#define HWY_DISABLED_TARGETS HWY_SSSE3
