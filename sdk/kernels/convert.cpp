#include "convert.h"

#include "simd_config.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convert.cpp"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "simd_dispatch.h"
#include "widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace msprobe::kernels {
namespace HWY_NAMESPACE {

bool ToF64(msp_dtype dtype, const void* data, std::uint64_t count, double* out) {
  return Widen(dtype, data, count, out);
}
bool ToF32(msp_dtype dtype, const void* data, std::uint64_t count, float* out) {
  return Widen(dtype, data, count, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace msprobe::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msprobe::kernels {

MSPROBE_EXPORT(ToF64);
MSPROBE_EXPORT(ToF32);

bool to_f64(msp_dtype dtype, const void* data, std::uint64_t count, double* out) {
  return MSPROBE_DISPATCH(ToF64)(dtype, data, count, out);
}
bool to_f32(msp_dtype dtype, const void* data, std::uint64_t count, float* out) {
  return MSPROBE_DISPATCH(ToF32)(dtype, data, count, out);
}

}  // namespace msprobe::kernels
#endif
