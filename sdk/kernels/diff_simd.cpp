#include "diff_simd.h"

#include "simd_config.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "diff_simd.cpp"
#include "hwy/foreach_target.h"
//
#include "complex_core-inl.h"
#include "diff_core-inl.h"
#include "hwy/highway.h"
#include "sieve-inl.h"
#include "simd_dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace msprobe::kernels {
namespace HWY_NAMESPACE {

void CoreSumsEntry(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count, CoreHints& hints,
                   CoreSums& sums) {
  if (plan.complex) {
    plan.f64_lanes ? ComplexSumsOfLanes<double>(plan, ref, target, count, hints, sums)
                   : ComplexSumsOfLanes<float>(plan, ref, target, count, hints, sums);
    return;
  }
  plan.f64_lanes ? SumsOfLanes<double>(plan, ref, target, count, hints, sums)
                 : SumsOfLanes<float>(plan, ref, target, count, hints, sums);
}
std::uint32_t FindEntry(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count, double value) {
  if (plan.complex)
    return plan.f64_lanes ? ComplexFindOf<double>(plan, ref, target, count, value)
                          : ComplexFindOf<float>(plan, ref, target, count, value);
  return plan.f64_lanes ? FindOf<double>(plan, ref, target, count, value)
                        : FindOf<float>(plan, ref, target, count, value);
}
std::uint64_t CountAboveEntry(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count,
                              double base, double share, double floor) {
  if (plan.complex)
    return plan.f64_lanes ? ComplexCountAboveOf<double>(plan, ref, target, count, base, share, floor)
                          : ComplexCountAboveOf<float>(plan, ref, target, count, base, share, floor);
  return plan.f64_lanes ? CountAboveOf<double>(plan, ref, target, count, base, share, floor)
                        : CountAboveOf<float>(plan, ref, target, count, base, share, floor);
}
// These two go number by number.
CoreProducts ProductsEntry(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count) {
  if (plan.complex) count *= 2;
  return plan.f64_lanes ? ProductsOf<double>(plan, ref, target, count) : ProductsOf<float>(plan, ref, target, count);
}
CoreResidual ResidualEntry(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count,
                           double scale) {
  if (plan.complex) count *= 2;
  return plan.f64_lanes ? ResidualOf<double>(plan, ref, target, count, scale)
                        : ResidualOf<float>(plan, ref, target, count, scale);
}
template <class F>
SieveCounts WidenAndSieve(const CorePlan& plan, const SieveRules& rules, const void* ref, const void* target,
                          std::uint32_t count, SieveScratch& scratch) {
  auto* r = reinterpret_cast<F*>(scratch.ref);
  auto* t = reinterpret_cast<F*>(scratch.target);
  Widen(plan.ref, ref, count, r);
  Widen(plan.target, target, count, t);
  return SieveOf<F>(plan, rules, r, t, count, reinterpret_cast<hwy::MakeSigned<F>*>(scratch.offsets));
}
SieveCounts SieveEntry(const CorePlan& plan, const SieveRules& rules, const void* ref, const void* target,
                       std::uint32_t count, SieveScratch& scratch) {
  return plan.f64_lanes ? WidenAndSieve<double>(plan, rules, ref, target, count, scratch)
                        : WidenAndSieve<float>(plan, rules, ref, target, count, scratch);
}

}  // namespace HWY_NAMESPACE
}  // namespace msprobe::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msprobe::kernels {

MSPROBE_EXPORT(CoreSumsEntry);
MSPROBE_EXPORT(FindEntry);
MSPROBE_EXPORT(CountAboveEntry);
MSPROBE_EXPORT(ProductsEntry);
MSPROBE_EXPORT(ResidualEntry);
MSPROBE_EXPORT(SieveEntry);

void core_sums(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count, CoreHints& hints,
               CoreSums& sums) {
  MSPROBE_DISPATCH(CoreSumsEntry)(plan, ref, target, count, hints, sums);
}
std::uint32_t core_find(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count, double value) {
  return MSPROBE_DISPATCH(FindEntry)(plan, ref, target, count, value);
}
std::uint64_t core_count_above(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count,
                               double base, double share, double floor) {
  return MSPROBE_DISPATCH(CountAboveEntry)(plan, ref, target, count, base, share, floor);
}
CoreProducts core_products(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count) {
  return MSPROBE_DISPATCH(ProductsEntry)(plan, ref, target, count);
}
CoreResidual core_residual(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count,
                           double scale) {
  return MSPROBE_DISPATCH(ResidualEntry)(plan, ref, target, count, scale);
}
SieveCounts core_sieve(const CorePlan& plan, const SieveRules& rules, const void* ref, const void* target,
                       std::uint32_t count, SieveScratch& scratch) {
  return MSPROBE_DISPATCH(SieveEntry)(plan, rules, ref, target, count, scratch);
}

}  // namespace msprobe::kernels
#endif
