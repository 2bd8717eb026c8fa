// The loops of diff_simd.h, for the SIMD target of the moment and lanes of f32 or f64.
#if defined(MSPROBE_KERNELS_DIFF_CORE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MSPROBE_KERNELS_DIFF_CORE_INL_H_
#undef MSPROBE_KERNELS_DIFF_CORE_INL_H_
#else
#define MSPROBE_KERNELS_DIFF_CORE_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "diff_simd.h"
#include "hwy/highway.h"
#include "widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace msprobe::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Elements that are worked on at a time: both sides widened, and read twice, stay in a first-level cache of 32 KiB.
constexpr std::size_t kChunk = 1024;

template <class D>
HWY_INLINE hn::TFromD<D> Total(D d, hn::Vec<D> v) {
  return hn::GetLane(hn::SumOfLanes(d, v));
}

template <class D>
HWY_INLINE hn::TFromD<D> Largest(D d, hn::Vec<D> v) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  return *std::max_element(lanes, lanes + hn::Lanes(d));
}

template <class D>
HWY_INLINE hn::Vec<D> LoadF64(D d, const float* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
}
template <class D>
HWY_INLINE hn::Vec<D> LoadF64(D d, const double* from) {
  return hn::LoadU(d, from);
}

template <class F>
struct LaneFormat;
template <>
struct LaneFormat<float> {
  static constexpr int mantissa_bits = 23, exponent_bits = 8;
};
template <>
struct LaneFormat<double> {
  static constexpr int mantissa_bits = 52, exponent_bits = 11;
};

template <class F>
hwy::MakeUnsigned<F> BitsOf(double value) {
  const auto narrow = static_cast<F>(value);
  hwy::MakeUnsigned<F> bits;
  std::memcpy(&bits, &narrow, sizeof(bits));
  return bits;
}

inline double PowerOfTwo(int exponent) {
  const std::uint64_t bits = static_cast<std::uint64_t>(1023 + exponent) << 52;
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Rounds the magnitude in a lane to a narrower format: what its code is there.
template <class F>
class Rounding {
 public:
  using U = hwy::MakeUnsigned<F>;
  using I = hwy::MakeSigned<F>;

  explicit Rounding(const DtypeInfo& format) {
    shift_ = LaneFormat<F>::mantissa_bits - format.mantissa_bits;
    const auto bias = [](int exponent_bits) { return (1 << (exponent_bits - 1)) - 1; };
    const U rebias = static_cast<U>(bias(LaneFormat<F>::exponent_bits) - bias(format.exponent_bits))
                     << LaneFormat<F>::mantissa_bits;
    offset_ = static_cast<U>((U{1} << (shift_ - 1)) - 1 - rebias);
    min_normal_ = BitsOf<F>(format.min_normal);
    // The sum of this and a subnormal has the format's smallest step as its own last place.
    const int lowest = 2 - (1 << (format.exponent_bits - 1));
    magic_ = static_cast<F>(PowerOfTwo(lowest - format.mantissa_bits + LaneFormat<F>::mantissa_bits));
    limit_ = ((BitsOf<F>(format.max_finite) - rebias) >> shift_) + 1;
  }

  template <class DU>
  HWY_INLINE hn::Vec<DU> operator()(DU du, hn::Vec<DU> magnitude) const {
    const hn::Rebind<F, DU> df;
    const hn::Rebind<I, DU> di;
    const auto odd = hn::And(hn::ShiftRightSame(magnitude, shift_), hn::Set(du, U{1}));
    const auto normal = hn::ShiftRightSame(hn::Add(hn::Add(magnitude, hn::Set(du, offset_)), odd), shift_);
    const auto magic = hn::Set(df, magic_);
    const auto small = hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(df, magnitude), magic)), hn::BitCast(du, magic));
    const auto is_small = hn::Lt(hn::BitCast(di, magnitude), hn::Set(di, static_cast<I>(min_normal_)));
    const auto code = hn::IfThenElse(is_small, hn::BitCast(di, small), hn::BitCast(di, normal));
    return hn::BitCast(du, hn::Min(code, hn::Set(di, static_cast<I>(limit_))));
  }

 private:
  int shift_;
  U offset_, min_normal_, limit_;
  F magic_;
};

/// What the bits of a chunk say.
template <class F>
struct BitSums {
  using U = hwy::MakeUnsigned<F>;
  U zeros_ref = 0, zeros_target = 0, zeros_both = 0, small_ref = 0, small_target = 0, sign_flips = 0, max_ulp = 0;
  bool equal = false;
};

template <class F>
struct BitLimits {
  using U = hwy::MakeUnsigned<F>;
  U ref_min_normal, target_min_normal;  // at least 1, so that zero is below
  U any_min_normal;
  const Rounding<F>* rounding;
};

/// With zeros and subnormals. Without (`kSmall` false) it stops short of counting and returns false when there are any:
/// most tensors have none, and these counts are a quarter of the work.
template <class F, UlpRule kUlp, bool kSmall>
bool BitPass(const F* HWY_RESTRICT ref, const F* HWY_RESTRICT target, std::size_t count, const BitLimits<F>& limits,
             BitSums<F>& sums) {
  using U = hwy::MakeUnsigned<F>;
  using I = hwy::MakeSigned<F>;
  constexpr int top = sizeof(U) * 8 - 1;
  const hn::ScalableTag<F> df;
  const hn::Rebind<U, decltype(df)> du;
  const hn::Rebind<I, decltype(df)> di;
  const auto magnitude_bits = hn::Set(du, static_cast<U>(~(U{1} << top)));
  const auto zero = hn::Zero(du);
  const auto ref_limit = hn::Set(di, static_cast<I>(limits.ref_min_normal));
  const auto target_limit = hn::Set(di, static_cast<I>(limits.target_min_normal));
  auto zeros_ref = zero, zeros_target = zero, zeros_both = zero, small_ref = zero, small_target = zero;
  auto flips = zero, max_ulp = zero, different = zero;
  auto smallest = hn::Set(df, hwy::HighestValue<F>());
  for (std::size_t i = 0; i < count; i += hn::Lanes(df)) {
    const auto r = hn::BitCast(du, hn::LoadU(df, ref + i)), t = hn::BitCast(du, hn::LoadU(df, target + i));
    const auto a = hn::And(r, magnitude_bits), b = hn::And(t, magnitude_bits);
    const auto x = hn::Xor(r, t);
    different = hn::Or(different, x);
    if (kSmall) {
      const auto a0 = hn::VecFromMask(du, hn::Eq(a, zero)), b0 = hn::VecFromMask(du, hn::Eq(b, zero));
      zeros_ref = hn::Sub(zeros_ref, a0);
      zeros_target = hn::Sub(zeros_target, b0);
      zeros_both = hn::Sub(zeros_both, hn::And(a0, b0));
      const auto below = [&](auto v, auto limit) HWY_ATTR {
        return hn::BitCast(du, hn::VecFromMask(di, hn::Lt(hn::BitCast(di, v), limit)));
      };
      small_ref = hn::Sub(small_ref, below(a, ref_limit));
      small_target = hn::Sub(small_target, below(b, target_limit));
      flips = hn::Add(flips, hn::ShiftRight<top>(hn::AndNot(hn::Or(a0, b0), x)));
    } else {
      smallest = hn::Min(smallest, hn::Min(hn::BitCast(df, a), hn::BitCast(df, b)));
      flips = hn::Add(flips, hn::ShiftRight<top>(x));
    }
    if (kUlp != UlpRule::none) {
      const auto code_a = kUlp == UlpRule::rounded ? (*limits.rounding)(du, a) : a;
      const auto code_b = kUlp == UlpRule::rounded ? (*limits.rounding)(du, b) : b;
      // Sums reach past the sign bit of a lane, differences do not.
      const auto near = hn::Abs(hn::BitCast(di, hn::Sub(code_a, code_b)));
      const auto far = hn::BitCast(di, hn::Add(code_a, code_b));
      max_ulp = hn::Max(max_ulp, hn::BitCast(du, hn::IfNegativeThenElse(hn::BitCast(di, x), far, near)));
    }
  }
  if (!kSmall) {
    HWY_ALIGN F lanes[hn::MaxLanes(df)];
    hn::Store(smallest, df, lanes);
    if (BitsOf<F>(*std::min_element(lanes, lanes + hn::Lanes(df))) < limits.any_min_normal) return false;
  }
  sums.sign_flips = Total(du, flips);
  if (kUlp != UlpRule::none) sums.max_ulp = Largest(du, max_ulp);
  sums.equal = hn::AllTrue(du, hn::Eq(different, zero));
  if (kSmall) {
    sums.zeros_ref = Total(du, zeros_ref);
    sums.zeros_target = Total(du, zeros_target);
    sums.zeros_both = Total(du, zeros_both);
    sums.small_ref = Total(du, small_ref);
    sums.small_target = Total(du, small_target);
  }
  return true;
}

/// The sums over values, in f64. `kZeros`: some r are zero.
template <class F, bool kZeros>
void ValuePass(const F* HWY_RESTRICT ref, const F* HWY_RESTRICT target, std::size_t count, CoreSums& sums) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::int64_t, decltype(d)> di;
  const auto zero = hn::Zero(d);
  const auto limit_1e3 = hn::Set(d, 0.001), limit_5e3 = hn::Set(d, 0.005);
  auto d_sum = zero, d_square_sum = zero, r_sum = zero, r_square_sum = zero, r_d_sum = zero;
  auto ratio_sum = zero, max_ratio = zero, max_abs = zero, zero_ref_max = zero;
  auto within_1e3 = hn::Zero(di), within_5e3 = hn::Zero(di);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto r = LoadF64(d, ref + i), t = LoadF64(d, target + i);
    const auto diff = hn::Sub(t, r);
    const auto d_abs = hn::Abs(diff), r_abs = hn::Abs(r);
    d_sum = hn::Add(d_sum, d_abs);
    d_square_sum = hn::MulAdd(diff, diff, d_square_sum);
    r_sum = hn::Add(r_sum, r_abs);
    r_square_sum = hn::MulAdd(r, r, r_square_sum);
    r_d_sum = hn::MulAdd(r, diff, r_d_sum);
    max_abs = hn::Max(max_abs, d_abs);
    auto ratio = hn::Div(d_abs, r_abs);
    if (kZeros) {
      const auto r_zero = hn::Eq(r, zero);
      ratio = hn::IfThenZeroElse(r_zero, ratio);
      zero_ref_max = hn::Max(zero_ref_max, hn::IfThenElseZero(r_zero, d_abs));
    }
    ratio_sum = hn::Add(ratio_sum, ratio);
    max_ratio = hn::Max(max_ratio, ratio);
    // Where 1000 |d| is |r| exactly, the quotient is the f64 nearest to 0.001 and not below it.
    within_1e3 = hn::Sub(within_1e3, hn::BitCast(di, hn::VecFromMask(d, hn::Lt(ratio, limit_1e3))));
    within_5e3 = hn::Sub(within_5e3, hn::BitCast(di, hn::VecFromMask(d, hn::Lt(ratio, limit_5e3))));
  }
  sums.d_sum += Total(d, d_sum);
  sums.d_square_sum += Total(d, d_square_sum);
  sums.r_sum += Total(d, r_sum);
  sums.r_square_sum += Total(d, r_square_sum);
  sums.r_d_sum += Total(d, r_d_sum);
  sums.ratio_sum += Total(d, ratio_sum);
  sums.max_ratio = std::max(sums.max_ratio, Largest(d, max_ratio));
  sums.max_abs = std::max(sums.max_abs, Largest(d, max_abs));
  sums.within_1e3 += static_cast<std::uint64_t>(Total(di, within_1e3));
  sums.within_5e3 += static_cast<std::uint64_t>(Total(di, within_5e3));
  if (kZeros) sums.zero_ref_max_abs = std::max(sums.zero_ref_max_abs, Largest(d, zero_ref_max));
}

/// Both sides have the same bits: what ValuePass would give, since all its other terms are 0.
template <class F>
void EqualPass(const F* HWY_RESTRICT ref, std::size_t count, CoreSums& sums) {
  const hn::ScalableTag<double> d;
  auto r_sum = hn::Zero(d), r_square_sum = hn::Zero(d), d_sum = hn::Zero(d);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto r = LoadF64(d, ref + i);
    r_sum = hn::Add(r_sum, hn::Abs(r));
    r_square_sum = hn::MulAdd(r, r, r_square_sum);
    // Not finite where r is not, so that such a block is still found out.
    d_sum = hn::Add(d_sum, hn::Sub(r, r));
  }
  sums.r_sum += Total(d, r_sum);
  sums.r_square_sum += Total(d, r_square_sum);
  sums.d_square_sum += Total(d, d_sum);
  sums.within_1e3 += count;
  sums.within_5e3 += count;
}

/// Walks a block in chunks of lanes: in place where the data has them already, else widened. The last chunk is filled
/// up with zeros on both sides; `visit` gets (ref, target, count, of it fill).
template <class F, class Visit>
HWY_INLINE void ForChunks(const CorePlan& plan, const void* ref, const void* target, std::size_t count,
                          const Visit& visit) {
  constexpr msp_dtype in_place = sizeof(F) == 4 ? MSP_F32 : MSP_F64;
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<F>());
  HWY_ALIGN F ref_buffer[kChunk];
  HWY_ALIGN F target_buffer[kChunk];
  const auto* r = static_cast<const unsigned char*>(ref);
  const auto* t = static_cast<const unsigned char*>(target);
  const std::size_t r_size = dtype_info(plan.ref)->bytes, t_size = dtype_info(plan.target)->bytes;
  const auto lanes_at = [&](msp_dtype dtype, const unsigned char* data, std::size_t n, bool copy, F* buffer) {
    if (dtype == in_place && !copy) return reinterpret_cast<const F*>(data);
    Widen(dtype, data, n, buffer);
    return static_cast<const F*>(buffer);
  };
  for (std::size_t i = 0; i < count; i += kChunk) {
    const std::size_t n = HWY_MIN(kChunk, count - i), whole = n / lanes * lanes, rest = n - whole;
    if (whole != 0) {
      const F* a = lanes_at(plan.ref, r + i * r_size, whole, false, ref_buffer);
      const F* b = lanes_at(plan.target, t + i * t_size, whole, false, target_buffer);
      visit(a, b, whole, std::size_t{0});
    }
    if (rest != 0) {
      std::fill_n(ref_buffer, lanes, F{0});
      std::fill_n(target_buffer, lanes, F{0});
      const F* a = lanes_at(plan.ref, r + (i + whole) * r_size, rest, true, ref_buffer);
      const F* b = lanes_at(plan.target, t + (i + whole) * t_size, rest, true, target_buffer);
      visit(a, b, lanes, lanes - rest);
    }
  }
}

template <class F, UlpRule kUlp>
void SumsOf(const CorePlan& plan, const void* ref, const void* target, std::size_t count, CoreSums& sums) {
  const auto limit = [](double min_normal) { return std::max(BitsOf<F>(min_normal), hwy::MakeUnsigned<F>{1}); };
  // With kUlp other than `rounded` the format is not looked at; any narrow one will do.
  const Rounding<F> rounding(kUlp == UlpRule::rounded ? *plan.ulp_format : *dtype_info(MSP_F16));
  BitLimits<F> limits{limit(plan.ref_min_normal), limit(plan.target_min_normal), 0, &rounding};
  limits.any_min_normal = std::max(limits.ref_min_normal, limits.target_min_normal);
  bool expect_small = false;
  ForChunks<F>(plan, ref, target, count, [&](const F* r, const F* t, std::size_t n, std::size_t fill) {
    BitSums<F> bits;
    if (expect_small || !BitPass<F, kUlp, false>(r, t, n, limits, bits)) {
      BitPass<F, kUlp, true>(r, t, n, limits, bits);
      expect_small = bits.small_ref != 0 || bits.small_target != 0;
    }
    if (bits.equal) {
      EqualPass(r, n, sums);
    } else if (bits.zeros_ref != 0) {
      ValuePass<F, true>(r, t, n, sums);
    } else {
      ValuePass<F, false>(r, t, n, sums);
    }
    sums.zeros_ref += bits.zeros_ref - fill;
    sums.zeros_target += bits.zeros_target - fill;
    sums.zeros_both += bits.zeros_both - fill;
    sums.small_ref += bits.small_ref - fill;
    sums.small_target += bits.small_target - fill;
    sums.sign_flips += bits.sign_flips;
    sums.within_1e3 -= fill;
    sums.within_5e3 -= fill;
    sums.max_ulp = std::max(sums.max_ulp, std::uint64_t{bits.max_ulp});
  });
  if (kUlp == UlpRule::direct) sums.max_ulp >>= plan.ulp_shift;
}

template <class F>
void SumsOfLanes(const CorePlan& plan, const void* ref, const void* target, std::size_t count, CoreSums& sums) {
  switch (plan.ulp) {
    case UlpRule::none:
      return SumsOf<F, UlpRule::none>(plan, ref, target, count, sums);
    case UlpRule::direct:
      return SumsOf<F, UlpRule::direct>(plan, ref, target, count, sums);
    case UlpRule::rounded:
      return SumsOf<F, UlpRule::rounded>(plan, ref, target, count, sums);
  }
}

template <class F>
std::uint32_t FindOf(const CorePlan& plan, const void* ref, const void* target, std::size_t count, double value) {
  const hn::ScalableTag<double> d;
  const auto wanted = hn::Set(d, value);
  std::size_t at = count, seen = 0;
  ForChunks<F>(plan, ref, target, count, [&](const F* r, const F* t, std::size_t n, std::size_t fill) {
    for (std::size_t i = 0; at == count && i < n; i += hn::Lanes(d)) {
      const auto hit = hn::Eq(hn::Abs(hn::Sub(LoadF64(d, t + i), LoadF64(d, r + i))), wanted);
      const auto lane = hn::FindFirstTrue(d, hit);
      if (lane >= 0) at = seen + i + static_cast<std::size_t>(lane);
    }
    seen += n - fill;
  });
  return static_cast<std::uint32_t>(at);
}

template <class F>
std::uint64_t CountAboveOf(const CorePlan& plan, const void* ref, const void* target, std::size_t count, double base,
                           double share, double floor) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::int64_t, decltype(d)> di;
  const auto v_base = hn::Set(d, base), v_share = hn::Set(d, share), v_floor = hn::Set(d, floor);
  std::uint64_t above = 0;
  ForChunks<F>(plan, ref, target, count, [&](const F* r, const F* t, std::size_t n, std::size_t fill) {
    auto sum = hn::Zero(di);
    for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
      const auto vr = LoadF64(d, r + i);
      const auto limit = hn::Add(v_base, hn::Mul(v_share, hn::Max(hn::Abs(vr), v_floor)));
      const auto hit = hn::Gt(hn::Abs(hn::Sub(LoadF64(d, t + i), vr)), limit);
      sum = hn::Sub(sum, hn::BitCast(di, hn::VecFromMask(d, hit)));
    }
    above += static_cast<std::uint64_t>(Total(di, sum));
    if (0 > base + share * floor) above -= fill;
  });
  return above;
}

template <class F>
CoreProducts ProductsOf(const CorePlan& plan, const void* ref, const void* target, std::size_t count) {
  const hn::ScalableTag<double> d;
  CoreProducts sums;
  ForChunks<F>(plan, ref, target, count, [&](const F* r, const F* t, std::size_t n, std::size_t) {
    auto r_t = hn::Zero(d), t_t = hn::Zero(d);
    for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
      const auto vr = LoadF64(d, r + i), vt = LoadF64(d, t + i);
      r_t = hn::MulAdd(vr, vt, r_t);
      t_t = hn::MulAdd(vt, vt, t_t);
    }
    sums.r_t += Total(d, r_t);
    sums.t_t += Total(d, t_t);
  });
  return sums;
}

template <class F>
CoreResidual ResidualOf(const CorePlan& plan, const void* ref, const void* target, std::size_t count, double scale) {
  const hn::ScalableTag<double> d;
  const auto k = hn::Set(d, scale);
  CoreResidual sums;
  ForChunks<F>(plan, ref, target, count, [&](const F* r, const F* t, std::size_t n, std::size_t) {
    auto with_ref = hn::Zero(d), square_sum = hn::Zero(d);
    for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
      const auto vr = LoadF64(d, r + i);
      const auto e = hn::NegMulAdd(k, vr, LoadF64(d, t + i));
      with_ref = hn::MulAdd(vr, e, with_ref);
      square_sum = hn::MulAdd(e, e, square_sum);
    }
    sums.with_ref += Total(d, with_ref);
    sums.square_sum += Total(d, square_sum);
  });
  return sums;
}

}  // namespace HWY_NAMESPACE
}  // namespace msprobe::kernels
HWY_AFTER_NAMESPACE();

#endif
