// The loops of diff_simd.h over interleaved real and imaginary parts. What goes part by part (products, ulps, signs) is
// left to diff_core-inl.h; here is what needs both parts of an element: moduli, zeros, subnormals.
#if defined(MSPROBE_KERNELS_COMPLEX_CORE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MSPROBE_KERNELS_COMPLEX_CORE_INL_H_
#undef MSPROBE_KERNELS_COMPLEX_CORE_INL_H_
#else
#define MSPROBE_KERNELS_COMPLEX_CORE_INL_H_
#endif

#include <limits>

#include "diff_core-inl.h"
#include "diff_simd.h"
#include "hwy/highway.h"
#include "scalar_value.h"

HWY_BEFORE_NAMESPACE();
namespace msprobe::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Parts in f64 whose squares, and those of their differences (which may be 2^-53 of them), keep all their bits; a zero
/// is no smaller part. f32 cannot leave this range.
constexpr double kSmallestPart = 0x1p-450;

template <class D, class V = hn::Vec<D>>
HWY_INLINE void LoadParts(D d, const float* from, V& re, V& im) {
  const hn::Rebind<float, D> d32;
  hn::Vec<decltype(d32)> narrow_re, narrow_im;
  hn::LoadInterleaved2(d32, from, narrow_re, narrow_im);
  re = hn::PromoteTo(d, narrow_re);
  im = hn::PromoteTo(d, narrow_im);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE void LoadParts(D d, const double* from, V& re, V& im) {
  hn::LoadInterleaved2(d, from, re, im);
}

/// |r|^2 and |d|^2 of as many elements as there are lanes. Returns their terms of sum r d.
template <class F, class D, class V = hn::Vec<D>>
HWY_INLINE V SquaresAt(D d, const F* ref, const F* target, V& r_square, V& d_square) {
  V r_re, r_im, t_re, t_im;
  LoadParts(d, ref, r_re, r_im);
  LoadParts(d, target, t_re, t_im);
  const V d_re = hn::Sub(t_re, r_re), d_im = hn::Sub(t_im, r_im);
  r_square = hn::MulAdd(r_im, r_im, hn::Mul(r_re, r_re));
  d_square = hn::MulAdd(d_im, d_im, hn::Mul(d_re, d_re));
  return hn::MulAdd(r_im, d_im, hn::Mul(r_re, d_re));
}

/// `parts` parts of each side. Sums of |d|, |r| and their ratio: three long instructions, beside which counting costs
/// nothing.
template <class F>
HWY_NOINLINE void ComplexValues(const F* HWY_RESTRICT ref, const F* HWY_RESTRICT target, std::size_t parts,
                                CoreSums& sums) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::int64_t, decltype(d)> di;
  const auto zero = hn::Zero(d);
  auto d_sum = zero, d_square_sum = zero, r_sum = zero, r_square_sum = zero, r_d_sum = zero;
  auto ratio_sum = zero, max_ratio = zero, max_abs = zero, zero_ref_max = zero;
  auto beyond_1e3 = hn::Zero(di), beyond_5e3 = hn::Zero(di);
  for (std::size_t i = 0; i < parts; i += 2 * hn::Lanes(d)) {
    auto r_square = zero, d_square = zero;
    const auto r_d = SquaresAt(d, ref + i, target + i, r_square, d_square);
    const auto d_abs = hn::Sqrt(d_square), r_abs = hn::Sqrt(r_square);
    const auto no_ref = hn::Eq(r_square, zero);
    const auto ratio = hn::IfThenZeroElse(no_ref, hn::Div(d_abs, r_abs));
    d_sum = hn::Add(d_sum, d_abs);
    d_square_sum = hn::Add(d_square_sum, d_square);
    r_sum = hn::Add(r_sum, r_abs);
    r_square_sum = hn::Add(r_square_sum, r_square);
    r_d_sum = hn::Add(r_d_sum, r_d);
    ratio_sum = hn::Add(ratio_sum, ratio);
    max_ratio = hn::Max(max_ratio, ratio);
    max_abs = hn::Max(max_abs, d_abs);
    zero_ref_max = hn::Max(zero_ref_max, hn::IfThenElseZero(no_ref, d_abs));
    // By squares, which show equality where roots are rounded. r = 0 counts as within, see CoreSums.
    const auto r_limit = hn::IfThenElse(no_ref, hn::Set(d, std::numeric_limits<double>::infinity()), r_square);
    const auto by_1e3 = hn::VecFromMask(d, hn::Ge(hn::Mul(hn::Set(d, 1e6), d_square), r_limit));
    const auto by_5e3 = hn::VecFromMask(d, hn::Ge(hn::Mul(hn::Set(d, 4e4), d_square), r_limit));
    beyond_1e3 = hn::Sub(beyond_1e3, hn::BitCast(di, by_1e3));
    beyond_5e3 = hn::Sub(beyond_5e3, hn::BitCast(di, by_5e3));
  }
  sums.d_sum += Total(d, d_sum);
  sums.d_square_sum += Total(d, d_square_sum);
  sums.r_sum += Total(d, r_sum);
  sums.r_square_sum += Total(d, r_square_sum);
  sums.r_d_sum += Total(d, r_d_sum);
  sums.ratio_sum += Total(d, ratio_sum);
  sums.max_ratio = std::max(sums.max_ratio, static_cast<double>(Largest(d, max_ratio)));
  sums.max_abs = std::max(sums.max_abs, static_cast<double>(Largest(d, max_abs)));
  sums.zero_ref_max_abs = std::max(sums.zero_ref_max_abs, static_cast<double>(Largest(d, zero_ref_max)));
  sums.within_1e3 += parts / 2 - static_cast<std::uint64_t>(Total(di, beyond_1e3));
  sums.within_5e3 += parts / 2 - static_cast<std::uint64_t>(Total(di, beyond_5e3));
}

/// Both sides have the same bits: what ComplexValues would give, since all its other terms are 0.
template <class F>
void EqualComplexValues(const F* HWY_RESTRICT ref, std::size_t parts, CoreSums& sums) {
  const hn::ScalableTag<double> d;
  auto r_sum = hn::Zero(d), r_square_sum = hn::Zero(d);
  for (std::size_t i = 0; i < parts; i += 2 * hn::Lanes(d)) {
    auto re = hn::Zero(d), im = hn::Zero(d);
    LoadParts(d, ref + i, re, im);
    const auto r_square = hn::MulAdd(im, im, hn::Mul(re, re));
    r_sum = hn::Add(r_sum, hn::Sqrt(r_square));
    r_square_sum = hn::Add(r_square_sum, r_square);
  }
  sums.r_sum += Total(d, r_sum);
  sums.r_square_sum += Total(d, r_square_sum);
  sums.within_1e3 += parts / 2;
  sums.within_5e3 += parts / 2;
}

/// An element is zero when both parts are, and subnormal when one part is. Returns false when a part is too small for
/// f64 to square it.
template <class U, class F = typename Rounding<U>::F>
HWY_NOINLINE bool ComplexSmall(const U* HWY_RESTRICT ref, const U* HWY_RESTRICT target, std::size_t parts,
                               const BitLimits<U>& limits, CoreSums& sums) {
  const hn::ScalableTag<U> du;
  const auto magnitude_bits = hn::Set(du, static_cast<U>(~(U{1} << (sizeof(U) * 8 - 1))));
  const auto zero = hn::Zero(du), one = hn::Set(du, U{1});
  auto zeros_ref = zero, zeros_target = zero, zeros_both = zero, small_ref = zero, small_target = zero, tiny = zero;
  // Of one side: counts, and returns all ones where both parts are zero.
  const auto side = [&](const U* from, U min_normal, hn::Vec<decltype(du)>& small) HWY_ATTR {
    auto re = zero, im = zero;
    hn::LoadInterleaved2(du, from, re, im);
    re = hn::And(re, magnitude_bits);
    im = hn::And(im, magnitude_bits);
    // Zero less one is the largest number: what is left below are subnormals.
    const auto below = [&](hn::Vec<decltype(du)> x, U limit) HWY_ATTR {
      const auto less_one = hn::And(hn::Sub(x, one), magnitude_bits);
      return CountBelow(du, zero, less_one, static_cast<U>(limit - 1));
    };
    const auto is_zero = hn::VecFromMask(du, hn::Eq(hn::Or(re, im), zero));
    const auto is_subnormal = hn::Or(below(re, min_normal), below(im, min_normal));
    small = hn::Add(small, hn::Or(is_subnormal, hn::And(is_zero, one)));
    if constexpr (sizeof(U) == 8) {
      const U smallest = BitsOf<F>(kSmallestPart);
      tiny = hn::Or(tiny, hn::Or(below(re, smallest), below(im, smallest)));
    }
    return is_zero;
  };
  for (std::size_t i = 0; i < parts; i += 2 * hn::Lanes(du)) {
    const auto r0 = side(ref + i, limits.ref_min_normal, small_ref);
    const auto t0 = side(target + i, limits.target_min_normal, small_target);
    zeros_ref = hn::Sub(zeros_ref, r0);
    zeros_target = hn::Sub(zeros_target, t0);
    zeros_both = hn::Sub(zeros_both, hn::And(r0, t0));
  }
  sums.zeros_ref += Total(du, zeros_ref);
  sums.zeros_target += Total(du, zeros_target);
  sums.zeros_both += Total(du, zeros_both);
  sums.small_ref += Total(du, small_ref);
  sums.small_target += Total(du, small_target);
  return hn::AllTrue(du, hn::Eq(tiny, zero));
}

/// Sums over `count` elements. Where a part is too small, d_square_sum becomes NaN: the caller takes another route.
template <class F, UlpRule kUlp>
void ComplexSumsOf(const CorePlan& plan, const void* ref, const void* target, std::size_t count, CoreHints& hints,
                   CoreSums& sums) {
  using U = hwy::MakeUnsigned<F>;
  const auto limit = [](double min_normal) { return std::max(BitsOf<F>(min_normal), U{1}); };
  BitLimits<U> limits{limit(plan.ref_min_normal), limit(plan.target_min_normal), 0};
  limits.any_min_normal = std::max(limits.ref_min_normal, limits.target_min_normal);
  // Parts below this are looked at again.
  if constexpr (sizeof(F) == 8) limits.any_min_normal = std::max(limits.any_min_normal, BitsOf<F>(kSmallestPart));
  const BitLimits<U> any{limits.any_min_normal, limits.any_min_normal, limits.any_min_normal};
  const Rounding<U> rounding(kUlp == UlpRule::rounded ? *plan.ulp_format : *dtype_info(MSP_F8E5M2));
  ForChunks<F>(plan, ref, target, 2 * count, [&](const Chunk<F>& chunk) {
    const auto* bits_r = reinterpret_cast<const U*>(chunk.ref);
    const auto* bits_t = reinterpret_cast<const U*>(chunk.target);
    CoreHints apart;
    CoreHints& now = chunk.fill != 0 ? apart : hints;
    BitSums bits;
    if (chunk.ref == chunk.target) {
      bits = Bits<U, UlpRule::none>(bits_r, bits_t, chunk.count, any, &rounding, now.small);
      EqualComplexValues(chunk.ref, chunk.count, sums);
    } else {
      bits = Bits<U, kUlp>(bits_r, bits_t, chunk.count, any, &rounding, now.small);
      ComplexValues(chunk.ref, chunk.target, chunk.count, sums);
    }
    sums.sign_flips += bits.sign_flips;
    sums.max_ulp = std::max(sums.max_ulp, bits.max_ulp);
    if (bits.small_ref + bits.small_target != 0 && !ComplexSmall(bits_r, bits_t, chunk.count, limits, sums))
      sums.d_square_sum = std::numeric_limits<double>::quiet_NaN();
    // Zeros that fill the last vectors are in all of these.
    const std::size_t fill = chunk.fill / 2;
    for (std::uint64_t* n : {&sums.zeros_ref, &sums.zeros_target, &sums.zeros_both, &sums.small_ref, &sums.small_target,
                             &sums.within_1e3, &sums.within_5e3})
      *n -= fill;
  });
}

template <class F>
void ComplexSumsOfLanes(const CorePlan& plan, const void* ref, const void* target, std::size_t count, CoreHints& hints,
                        CoreSums& sums) {
  switch (plan.ulp) {
    case UlpRule::none:
      return ComplexSumsOf<F, UlpRule::none>(plan, ref, target, count, hints, sums);
    case UlpRule::direct:
      return ComplexSumsOf<F, UlpRule::direct>(plan, ref, target, count, hints, sums);
    case UlpRule::rounded:
      return ComplexSumsOf<F, UlpRule::rounded>(plan, ref, target, count, hints, sums);
  }
}

template <class F>
std::uint32_t ComplexFindOf(const CorePlan& plan, const void* ref, const void* target, std::size_t count,
                            double value) {
  const hn::ScalableTag<double> d;
  // Moduli that f64 may have rounded to `value` or above; long double tells them apart.
  const auto limit = hn::Set(d, value * value * (1 - 0x1p-48));
  // Data in place may have any alignment.
  const auto part_distance = [](const F* r, const F* t, std::size_t i) {
    return static_cast<long double>(load<F>(t, i)) - static_cast<long double>(load<F>(r, i));
  };
  std::size_t at = 0, seen = 0;
  long double largest = -1;
  ForChunks<F>(plan, ref, target, 2 * count, [&](const Chunk<F>& chunk) {
    const F *r = chunk.ref, *t = chunk.target;
    for (std::size_t i = 0; i < chunk.count; i += 2 * hn::Lanes(d)) {
      auto r_square = limit, d_square = limit;
      SquaresAt(d, r + i, t + i, r_square, d_square);
      if (hn::AllFalse(d, hn::Ge(d_square, limit))) continue;
      for (std::size_t j = i; j < i + 2 * hn::Lanes(d); j += 2) {
        const long double re = part_distance(r, t, j), im = part_distance(r, t, j + 1);
        const long double square = re * re + im * im;
        if (square > largest) at = (seen + j) / 2, largest = square;
      }
    }
    seen += chunk.count - chunk.fill;
  });
  return static_cast<std::uint32_t>(at);
}

template <class F>
std::uint64_t ComplexCountAboveOf(const CorePlan& plan, const void* ref, const void* target, std::size_t count,
                                  double base, double share, double floor) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::int64_t, decltype(d)> di;
  const auto v_base = hn::Set(d, base), v_share = hn::Set(d, share), v_floor = hn::Set(d, floor);
  std::uint64_t above = 0;
  ForChunks<F>(plan, ref, target, 2 * count, [&](const Chunk<F>& chunk) {
    const F *r = chunk.ref, *t = chunk.target;
    const std::size_t n = chunk.count, fill = chunk.fill / 2;
    auto sum = hn::Zero(di);
    for (std::size_t i = 0; i < n; i += 2 * hn::Lanes(d)) {
      auto r_square = v_base, d_square = v_base;
      SquaresAt(d, r + i, t + i, r_square, d_square);
      const auto limit = hn::Add(v_base, hn::Mul(v_share, hn::Max(hn::Sqrt(r_square), v_floor)));
      sum = hn::Sub(sum, hn::BitCast(di, hn::VecFromMask(d, hn::Gt(hn::Sqrt(d_square), limit))));
    }
    above += static_cast<std::uint64_t>(Total(di, sum));
    if (0 > base + share * floor) above -= fill;
  });
  return above;
}

}  // namespace HWY_NAMESPACE
}  // namespace msprobe::kernels
HWY_AFTER_NAMESPACE();

#endif
