#include "diff_simd.h"

#include "simd_config.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "diff_simd.cpp"
#include "hwy/foreach_target.h"
//
#include "diff_core-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace msprobe::kernels {
namespace HWY_NAMESPACE {

void CoreSumsEntry(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count, CoreHints& hints,
                   CoreSums& sums) {
  plan.f64_lanes ? SumsOfLanes<double>(plan, ref, target, count, hints, sums)
                 : SumsOfLanes<float>(plan, ref, target, count, hints, sums);
}
std::uint32_t FindEntry(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count, double value) {
  return plan.f64_lanes ? FindOf<double>(plan, ref, target, count, value)
                        : FindOf<float>(plan, ref, target, count, value);
}
std::uint64_t CountAboveEntry(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count,
                              double base, double share, double floor) {
  return plan.f64_lanes ? CountAboveOf<double>(plan, ref, target, count, base, share, floor)
                        : CountAboveOf<float>(plan, ref, target, count, base, share, floor);
}
CoreProducts ProductsEntry(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count) {
  return plan.f64_lanes ? ProductsOf<double>(plan, ref, target, count) : ProductsOf<float>(plan, ref, target, count);
}
CoreResidual ResidualEntry(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count,
                           double scale) {
  return plan.f64_lanes ? ResidualOf<double>(plan, ref, target, count, scale)
                        : ResidualOf<float>(plan, ref, target, count, scale);
}
void WidenEntry(const CorePlan& plan, msp_dtype dtype, const void* data, std::uint32_t count, void* lanes) {
  plan.f64_lanes ? Widen(dtype, data, count, static_cast<double*>(lanes))
                 : Widen(dtype, data, count, static_cast<float*>(lanes));
}

}  // namespace HWY_NAMESPACE
}  // namespace msprobe::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msprobe::kernels {

HWY_EXPORT(CoreSumsEntry);
HWY_EXPORT(FindEntry);
HWY_EXPORT(CountAboveEntry);
HWY_EXPORT(ProductsEntry);
HWY_EXPORT(ResidualEntry);
HWY_EXPORT(WidenEntry);

void core_sums(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count, CoreHints& hints,
               CoreSums& sums) {
  HWY_DYNAMIC_DISPATCH(CoreSumsEntry)(plan, ref, target, count, hints, sums);
}
std::uint32_t core_find(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count, double value) {
  return HWY_DYNAMIC_DISPATCH(FindEntry)(plan, ref, target, count, value);
}
std::uint64_t core_count_above(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count,
                               double base, double share, double floor) {
  return HWY_DYNAMIC_DISPATCH(CountAboveEntry)(plan, ref, target, count, base, share, floor);
}
CoreProducts core_products(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count) {
  return HWY_DYNAMIC_DISPATCH(ProductsEntry)(plan, ref, target, count);
}
CoreResidual core_residual(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count,
                           double scale) {
  return HWY_DYNAMIC_DISPATCH(ResidualEntry)(plan, ref, target, count, scale);
}
void core_widen(const CorePlan& plan, msp_dtype dtype, const void* data, std::uint32_t count, void* lanes) {
  HWY_DYNAMIC_DISPATCH(WidenEntry)(plan, dtype, data, count, lanes);
}

}  // namespace msprobe::kernels
#endif
