// Blocks that are not all finite, or are to be flushed: classes are counted, and what is finite on both sides is packed
// so that the cores can work on it.
#if defined(MSPROBE_KERNELS_SIEVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MSPROBE_KERNELS_SIEVE_INL_H_
#undef MSPROBE_KERNELS_SIEVE_INL_H_
#else
#define MSPROBE_KERNELS_SIEVE_INL_H_
#endif

#include <limits>

#include "diff_core-inl.h"
#include "diff_simd.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace msprobe::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The classes of the lanes of both sides.
template <class F>
class LaneClasses {
 public:
  using D = hn::ScalableTag<F>;
  using DI = hn::RebindToSigned<D>;
  using I = hn::TFromD<DI>;
  using V = hn::Vec<DI>;
  using M = hn::Mask<DI>;

  HWY_INLINE LaneClasses(V r, V t, const SieveRules& rules)
      : r_nan_(IsNan(r)), t_nan_(IsNan(t)), r_inf_(IsInf(r)), t_inf_(IsInf(t)) {
    const DI di;
    const V sign = hn::Set(di, hwy::LimitsMin<I>());
    const V limit = hn::Set(di, static_cast<I>(BitsOf<F>(rules.saturate_limit)));
    equal_ = hn::Eq(r, t);
    saturated_ =
        rules.saturate ? hn::And(r_inf_, hn::Eq(t, hn::Or(hn::And(r, sign), limit))) : hn::MaskFromVec(hn::Zero(di));
  }

  HWY_INLINE M Finite() const { return hn::Not(hn::Or(hn::Or(r_nan_, t_nan_), hn::Or(r_inf_, t_inf_))); }

  HWY_INLINE void Count(SieveCounts& counts) const {
    const DI di;
    const M both_inf = hn::And(r_inf_, t_inf_);
    counts.nan_ref += hn::CountTrue(di, r_nan_);
    counts.nan_target += hn::CountTrue(di, t_nan_);
    counts.nan_both += hn::CountTrue(di, hn::And(r_nan_, t_nan_));
    counts.inf_ref += hn::CountTrue(di, r_inf_);
    counts.inf_target += hn::CountTrue(di, t_inf_);
    counts.inf_equal += hn::CountTrue(di, hn::And(both_inf, equal_));
    counts.inf_opposite += hn::CountTrue(di, hn::AndNot(equal_, both_inf));
    counts.saturated += hn::CountTrue(di, saturated_);
  }

 private:
  static constexpr I kInfinity =
      sizeof(F) == 8 ? static_cast<I>(std::int64_t{0x7ff} << 52) : static_cast<I>(0x7f800000);
  static HWY_INLINE V Magnitude(V bits) { return hn::And(bits, hn::Set(DI(), hwy::LimitsMax<I>())); }
  static HWY_INLINE M IsNan(V bits) { return hn::Gt(Magnitude(bits), hn::Set(DI(), kInfinity)); }
  static HWY_INLINE M IsInf(V bits) { return hn::Eq(Magnitude(bits), hn::Set(DI(), kInfinity)); }

  M r_nan_, t_nan_, r_inf_, t_inf_, equal_, saturated_;
};

/// Appends the lanes of `keep`; all are written, the next ones over those that were not to be kept. (CompressStore of
/// Highway 1.0 copies a table of 1 KiB to the stack at each call.)
template <class F, class DI = hn::RebindToSigned<hn::ScalableTag<F>>>
HWY_INLINE std::size_t Pack(hn::Mask<DI> keep, hn::Vec<hn::ScalableTag<F>> r, hn::Vec<hn::ScalableTag<F>> t,
                            hn::Vec<DI> index, F* ref, F* target, hn::TFromD<DI>* offsets) {
  const hn::ScalableTag<F> d;
  const DI di;
  if (hn::AllFalse(di, keep)) return 0;
  HWY_ALIGN F r_lanes[hn::MaxLanes(d)];
  HWY_ALIGN F t_lanes[hn::MaxLanes(d)];
  HWY_ALIGN hn::TFromD<DI> index_lanes[hn::MaxLanes(d)];
  HWY_ALIGN hn::TFromD<DI> keep_lanes[hn::MaxLanes(d)];
  hn::Store(r, d, r_lanes);
  hn::Store(t, d, t_lanes);
  hn::Store(index, di, index_lanes);
  hn::Store(hn::VecFromMask(di, keep), di, keep_lanes);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    ref[kept] = r_lanes[i];
    target[kept] = t_lanes[i];
    offsets[kept] = index_lanes[i];
    kept += keep_lanes[i] != 0;
  }
  return kept;
}

/// Packs `count` lanes of both sides in place; there is room for whole vectors. `offsets` says where each was.
template <class F>
SieveCounts SieveOf(const CorePlan& plan, const SieveRules& rules, F* ref, F* target, std::size_t count,
                    hwy::MakeSigned<F>* offsets) {
  using U = hwy::MakeUnsigned<F>;
  using I = hwy::MakeSigned<F>;
  const hn::ScalableTag<F> d;
  const hn::RebindToSigned<decltype(d)> di;
  const std::size_t lanes = hn::Lanes(d), padded = (count + lanes - 1) / lanes * lanes;
  // What fills the last vector is out of C and counted as NaN on both sides; that is taken back below.
  std::fill(ref + count, ref + padded, std::numeric_limits<F>::quiet_NaN());
  std::fill(target + count, target + padded, std::numeric_limits<F>::quiet_NaN());

  const auto limit = [](double min_normal) { return std::max(BitsOf<F>(min_normal), U{1}); };
  const BitLimits<U> limits{limit(plan.ref_min_normal), limit(plan.target_min_normal), 0};
  BitSums bits;
  BitPass<U, UlpRule::none, true>(reinterpret_cast<const U*>(ref), reinterpret_cast<const U*>(target), padded, limits,
                                  nullptr, bits);
  SieveCounts counts;
  counts.zeros_ref = bits.zeros_ref;
  counts.zeros_target = bits.zeros_target;
  counts.small_ref = bits.small_ref;
  counts.small_target = bits.small_target;

  const auto below = hn::Set(d, static_cast<F>(rules.flush_below));
  const auto sign = hn::BitCast(d, hn::Set(di, hwy::LimitsMin<I>()));
  auto index = hn::Iota(di, I{0});
  std::size_t kept = 0;
  for (std::size_t i = 0; i < padded; i += lanes) {
    auto r = hn::LoadU(d, ref + i), t = hn::LoadU(d, target + i);
    const LaneClasses<F> classes(hn::BitCast(di, r), hn::BitCast(di, t), rules);
    const auto finite = classes.Finite();
    r = hn::IfThenElse(hn::Lt(hn::Abs(r), below), hn::And(r, sign), r);
    t = hn::IfThenElse(hn::Lt(hn::Abs(t), below), hn::And(t, sign), t);
    // In place: never ahead of what has been read.
    if (hn::AllTrue(di, finite)) {
      hn::StoreU(r, d, ref + kept);
      hn::StoreU(t, d, target + kept);
      hn::StoreU(index, di, offsets + kept);
      kept += lanes;
    } else {
      classes.Count(counts);
      kept += Pack<F>(finite, r, t, index, ref + kept, target + kept, offsets + kept);
    }
    index = hn::Add(index, hn::Set(di, static_cast<I>(lanes)));
  }
  const std::size_t fill = padded - count;
  counts.nan_ref -= fill;
  counts.nan_target -= fill;
  counts.nan_both -= fill;
  counts.kept = static_cast<std::uint32_t>(kept);
  return counts;
}

}  // namespace HWY_NAMESPACE
}  // namespace msprobe::kernels
HWY_AFTER_NAMESPACE();

#endif
