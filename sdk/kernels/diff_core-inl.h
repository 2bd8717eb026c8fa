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
#include <numeric>
#include <type_traits>

#include "diff_simd.h"
#include "hwy/highway.h"
#include "widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace msprobe::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Elements that are worked on at a time: both sides widened, and read twice, stay in a first-level cache of 32 KiB.
/// Lanes of a byte count them without an overflow: 1024 in 16 lanes, or 128 in one.
constexpr std::size_t kChunk = HWY_TARGET == HWY_SCALAR ? 128 : 1024;

template <class D>
HWY_INLINE auto Total(D d, hn::Vec<D> v) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) >= 4) {
    return hn::GetLane(hn::SumOfLanes(d, v));
  } else {
    HWY_ALIGN T lanes[hn::MaxLanes(D())];
    hn::Store(v, d, lanes);
    return std::accumulate(lanes, lanes + hn::Lanes(d), std::uint32_t{0});
  }
}

template <class D>
HWY_INLINE hn::TFromD<D> Largest(D d, hn::Vec<D> v) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  return *std::max_element(lanes, lanes + hn::Lanes(d));
}

template <class D>
HWY_INLINE hn::TFromD<D> Smallest(D d, hn::Vec<D> v) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  return *std::min_element(lanes, lanes + hn::Lanes(d));
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

/// Rounds the magnitude in a lane, f64 or f32, to a narrower format: what its code is there.
template <class U>
class Rounding {
 public:
  using I = hwy::MakeSigned<U>;
  using F = std::conditional_t<sizeof(U) == 8, double, float>;

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

/// What the bits of a chunk say. U: the unsigned integer of the lanes, or of the stored elements.
struct BitSums {
  std::uint64_t zeros_ref = 0, zeros_target = 0, zeros_both = 0, small_ref = 0, small_target = 0, sign_flips = 0;
  std::uint64_t max_ulp = 0;
};

template <class U>
struct BitLimits {
  U ref_min_normal, target_min_normal;  // at least 1, so that zero is below
  U any_min_normal;
};

/// Distance of ordered integers. Sums reach past the sign bit of a lane, differences do not.
template <class DU, class V = hn::Vec<DU>>
HWY_INLINE V UlpDistance(DU du, V a, V b, V signs) {
  const hn::RebindToSigned<DU> di;
  const auto near = hn::Abs(hn::BitCast(di, hn::Sub(a, b)));
  const auto far = hn::BitCast(di, hn::Add(a, b));
  return hn::BitCast(du, hn::IfNegativeThenElse(hn::BitCast(di, signs), far, near));
}

/// `v` with 1 more in the lanes where magnitude < limit. Both are below the sign bit.
template <class DU, class V = hn::Vec<DU>>
HWY_INLINE V CountBelow(DU du, V v, V magnitude, hn::TFromD<DU> limit) {
  const hn::RebindToSigned<DU> di;
  const auto v_limit = hn::Set(di, static_cast<hn::TFromD<decltype(di)>>(limit));
  return hn::Sub(v, hn::BitCast(du, hn::VecFromMask(di, hn::Lt(hn::BitCast(di, magnitude), v_limit))));
}

/// The smaller of two magnitudes, their bits. There is no instruction for integers of 64 bits before AVX-512.
template <class DU, class V = hn::Vec<DU>>
HWY_INLINE V SmallerMagnitude(DU du, V a, V b) {
  if constexpr (sizeof(hn::TFromD<DU>) == 8) {
    const hn::Rebind<double, DU> df;
    return hn::BitCast(du, hn::Min(hn::BitCast(df, a), hn::BitCast(df, b)));
  } else {
    return hn::Min(a, b);
  }
}

/// With zeros and subnormals. Without (`kSmall` false) it stops short of counting them and returns false when there are
/// any: most tensors have none, and these counts are more than half of this work.
template <class U, UlpRule kUlp, bool kSmall>
HWY_NOINLINE bool BitPass(const U* HWY_RESTRICT ref, const U* HWY_RESTRICT target, std::size_t count,
                          const BitLimits<U>& limits, const Rounding<U>* rounding, BitSums& sums) {
  constexpr int top = sizeof(U) * 8 - 1;
  const hn::ScalableTag<U> du;
  const auto magnitude_bits = hn::Set(du, static_cast<U>(~(U{1} << top)));
  const auto zero = hn::Zero(du);
  auto zeros_ref = zero, zeros_target = zero, zeros_either = zero, small_ref = zero, small_target = zero;
  auto flips = zero, max_ulp = zero;
  auto smallest = magnitude_bits;
  for (std::size_t i = 0; i < count; i += hn::Lanes(du)) {
    const auto r = hn::LoadU(du, ref + i), t = hn::LoadU(du, target + i);
    const auto a = hn::And(r, magnitude_bits), b = hn::And(t, magnitude_bits);
    const auto x = hn::Xor(r, t);
    if (kSmall) {
      const auto a0 = hn::VecFromMask(du, hn::Eq(a, zero)), b0 = hn::VecFromMask(du, hn::Eq(b, zero));
      const auto either = hn::Or(a0, b0);
      zeros_ref = hn::Sub(zeros_ref, a0);
      zeros_target = hn::Sub(zeros_target, b0);
      zeros_either = hn::Sub(zeros_either, either);
      small_ref = CountBelow(du, small_ref, a, limits.ref_min_normal);
      small_target = CountBelow(du, small_target, b, limits.target_min_normal);
      flips = hn::Add(flips, hn::ShiftRight<top>(hn::AndNot(either, x)));
    } else {
      smallest = SmallerMagnitude(du, smallest, SmallerMagnitude(du, a, b));
      flips = hn::Add(flips, hn::ShiftRight<top>(x));
    }
    if constexpr (kUlp == UlpRule::direct) max_ulp = hn::Max(max_ulp, UlpDistance(du, a, b, x));
    if constexpr (kUlp == UlpRule::rounded)
      max_ulp = hn::Max(max_ulp, UlpDistance(du, (*rounding)(du, a), (*rounding)(du, b), x));
  }
  if (!kSmall && Smallest(du, smallest) < limits.any_min_normal) return false;
  sums.sign_flips = Total(du, flips);
  if (kUlp != UlpRule::none) sums.max_ulp = Largest(du, max_ulp);
  if (!kSmall) return true;
  sums.zeros_ref = Total(du, zeros_ref);
  sums.zeros_target = Total(du, zeros_target);
  sums.zeros_both = sums.zeros_ref + sums.zeros_target - Total(du, zeros_either);
  sums.small_ref = Total(du, small_ref);
  sums.small_target = Total(du, small_target);
  return true;
}

/// `expect_small` says which of the two passes is the better guess; what comes out is the same.
template <class U, UlpRule kUlp>
BitSums Bits(const U* ref, const U* target, std::size_t count, const BitLimits<U>& limits, const Rounding<U>* rounding,
             CoreHint& expect_small) {
  BitSums sums;
  if (expect_small || !BitPass<U, kUlp, false>(ref, target, count, limits, rounding, sums)) {
    BitPass<U, kUlp, true>(ref, target, count, limits, rounding, sums);
    expect_small.seen(sums.small_ref != 0 || sums.small_target != 0);
  }
  return sums;
}

/// Zeros of the reference.
enum class Zeros {
  none,
  matched,  ///< where r is zero, so is t
  mixed,
};

/// |d|/|r|, and 0 where r is zero.
template <class F, Zeros kZeros, class D, class V = hn::Vec<D>>
HWY_INLINE V Ratio(D d, V d_abs, V r_abs) {
  if constexpr (kZeros == Zeros::none) return hn::Div(d_abs, r_abs);
  // Smaller than any other r of f32, so it takes the place of zeros only; then d is zero as well.
  if constexpr (kZeros == Zeros::matched && sizeof(F) == 4) return hn::Div(d_abs, hn::Max(r_abs, hn::Set(d, 0x1p-149)));
  return hn::IfThenZeroElse(hn::Eq(r_abs, hn::Zero(d)), hn::Div(d_abs, r_abs));
}

/// Counts of ratios that are not below 0.001 and 0.005, in the lower and upper half of each lane.
template <class D>
struct Beyond {
  using I = hn::Rebind<std::int64_t, D>;

  HWY_INLINE Beyond() : counts(hn::Zero(I())) {}

  /// Where 1000 |d| is |r| exactly, the quotient is the f64 nearest to 0.001. Numbers that are not negative are in the
  /// order of their bits, and the integer units are less busy here than the others.
  HWY_INLINE void Add(hn::Vec<D> ratio) {
    const I di;
    const auto bits = hn::BitCast(di, ratio);
    const auto by_1e3 = hn::VecFromMask(di, hn::Gt(bits, hn::Set(di, BitsBelow(0.001))));
    const auto by_5e3 = hn::VecFromMask(di, hn::Gt(bits, hn::Set(di, BitsBelow(0.005))));
#if HWY_TARGET == HWY_SCALAR
    counts = hn::Sub(counts, hn::Add(by_1e3, hn::ShiftLeft<32>(by_5e3)));
#else
    const hn::Repartition<std::uint32_t, D> du32;
    const auto both = hn::OddEven(hn::BitCast(du32, by_5e3), hn::BitCast(du32, by_1e3));
    counts = hn::BitCast(di, hn::Sub(hn::BitCast(du32, counts), both));
#endif
  }

  static std::int64_t BitsBelow(double limit) {
    return static_cast<std::int64_t>(BitsOf<double>(limit)) - 1;
  }

  /// Returns true where there are any.
  HWY_INLINE bool TakeFrom(CoreSums& sums) const {
    const I di;
    const auto n_1e3 = static_cast<std::uint64_t>(Total(di, hn::And(counts, hn::Set(di, 0xffffffff))));
    sums.within_1e3 -= n_1e3;
    sums.within_5e3 -= static_cast<std::uint64_t>(Total(di, hn::ShiftRight<32>(counts)));
    return n_1e3 != 0;
  }

  hn::Vec<I> counts;
};

/// The sums over values, in f64. `expect_beyond`: some ratios may be 0.001 or more, count them along the way. Without,
/// max_ratio shows whether they must be counted after all; what comes out is the same.
template <class F, Zeros kZeros, bool kBeyond>
HWY_NOINLINE void ValuePass(const F* HWY_RESTRICT ref, const F* HWY_RESTRICT target, std::size_t count, CoreSums& sums,
                            CoreHint& expect_beyond) {
  const hn::ScalableTag<double> d;
  const auto zero = hn::Zero(d);
  auto d_sum = zero, d_square_sum = zero, r_sum = zero, r_square_sum = zero, r_d_sum = zero;
  auto ratio_sum = zero, max_ratio = zero, max_abs = zero, zero_ref_max = zero;
  Beyond<decltype(d)> beyond;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto r = LoadF64(d, ref + i), t = LoadF64(d, target + i);
    const auto diff = hn::Sub(t, r);
    const auto d_abs = hn::Abs(diff), r_abs = hn::Abs(r);
    const auto ratio = Ratio<F, kZeros>(d, d_abs, r_abs);
    d_sum = hn::Add(d_sum, d_abs);
    d_square_sum = hn::MulAdd(diff, diff, d_square_sum);
    r_sum = hn::Add(r_sum, r_abs);
    r_square_sum = hn::MulAdd(r, r, r_square_sum);
    r_d_sum = hn::MulAdd(r, diff, r_d_sum);
    ratio_sum = hn::Add(ratio_sum, ratio);
    max_ratio = hn::Max(max_ratio, ratio);
    max_abs = hn::Max(max_abs, d_abs);
    if (kZeros == Zeros::mixed) zero_ref_max = hn::Max(zero_ref_max, hn::IfThenElseZero(hn::Eq(r, zero), d_abs));
    if (kBeyond) beyond.Add(ratio);
  }
  sums.d_sum += Total(d, d_sum);
  sums.d_square_sum += Total(d, d_square_sum);
  sums.r_sum += Total(d, r_sum);
  sums.r_square_sum += Total(d, r_square_sum);
  sums.r_d_sum += Total(d, r_d_sum);
  sums.ratio_sum += Total(d, ratio_sum);
  sums.max_abs = std::max(sums.max_abs, Largest(d, max_abs));
  if (kZeros == Zeros::mixed) sums.zero_ref_max_abs = std::max(sums.zero_ref_max_abs, Largest(d, zero_ref_max));
  const double largest_ratio = Largest(d, max_ratio);
  sums.max_ratio = std::max(sums.max_ratio, largest_ratio);
  sums.within_1e3 += count;
  sums.within_5e3 += count;
  if (!kBeyond && largest_ratio >= 0.001) {
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const auto r = LoadF64(d, ref + i);
      beyond.Add(Ratio<F, kZeros>(d, hn::Abs(hn::Sub(LoadF64(d, target + i), r)), hn::Abs(r)));
    }
  }
  expect_beyond.seen(beyond.TakeFrom(sums));
}

template <class F, Zeros kZeros>
void Values(const F* ref, const F* target, std::size_t count, CoreSums& sums, CoreHint& expect_beyond) {
  expect_beyond ? ValuePass<F, kZeros, true>(ref, target, count, sums, expect_beyond)
                : ValuePass<F, kZeros, false>(ref, target, count, sums, expect_beyond);
}

/// Both sides have the same bits: what ValuePass would give, since all its other terms are 0.
template <class F>
void EqualValues(const F* HWY_RESTRICT ref, std::size_t count, CoreSums& sums) {
  const hn::ScalableTag<double> d;
  auto r_sum = hn::Zero(d), r_square_sum = hn::Zero(d);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto r = LoadF64(d, ref + i);
    r_sum = hn::Add(r_sum, hn::Abs(r));
    r_square_sum = hn::MulAdd(r, r, r_square_sum);
  }
  sums.r_sum += Total(d, r_sum);
  sums.r_square_sum += Total(d, r_square_sum);
  sums.within_1e3 += count;
  sums.within_5e3 += count;
}

/// A part of a block: its lanes, and the stored elements that they were made of.
template <class F>
struct Chunk {
  const F *ref, *target;  ///< the same pointer where all lanes are equal
  const void *raw_ref, *raw_target;
  std::size_t count;
  std::size_t fill;  ///< how many zeros at the end are none of the block's elements
};

/// Walks a block in chunks of lanes: in place where the data has them already, else widened. The last few elements are
/// copied and filled up with zeros on both sides.
template <class F, class Visit>
HWY_INLINE void ForChunks(const CorePlan& plan, const void* ref, const void* target, std::size_t count,
                          const Visit& visit) {
  constexpr msp_dtype in_place = sizeof(F) == 4 ? MSP_F32 : MSP_F64;
  // Stored elements of 8 and 16 bits are looked at in whole vectors too.
  constexpr std::size_t most = hn::MaxLanes(hn::ScalableTag<std::uint8_t>());
  const std::size_t unit = hn::Lanes(hn::ScalableTag<std::uint8_t>());
  HWY_ALIGN F ref_lanes[kChunk];
  HWY_ALIGN F target_lanes[kChunk];
  const auto* r = static_cast<const unsigned char*>(ref);
  const auto* t = static_cast<const unsigned char*>(target);
  const std::size_t r_size = dtype_info(plan.ref)->bytes, t_size = dtype_info(plan.target)->bytes;
  const auto lanes_of = [](msp_dtype dtype, const void* data, std::size_t n, F* lanes) {
    if (dtype == in_place) return static_cast<const F*>(data);
    Widen(dtype, data, n, lanes);
    return static_cast<const F*>(lanes);
  };
  const auto chunk_of = [&](const void* raw_r, const void* raw_t, std::size_t n, std::size_t fill) {
    const F* r_lanes = lanes_of(plan.ref, raw_r, n, ref_lanes);
    const F* t_lanes = r_lanes;
    if (plan.ref == plan.target) {
      if (std::memcmp(raw_r, raw_t, n * r_size) != 0) t_lanes = lanes_of(plan.target, raw_t, n, target_lanes);
    } else {
      t_lanes = lanes_of(plan.target, raw_t, n, target_lanes);
      if (std::memcmp(r_lanes, t_lanes, n * sizeof(F)) == 0) t_lanes = r_lanes;
    }
    return Chunk<F>{r_lanes, t_lanes, raw_r, raw_t, n, fill};
  };
  const std::size_t whole = count / unit * unit;
  for (std::size_t i = 0; i < whole; i += kChunk) {
    const std::size_t n = HWY_MIN(kChunk, whole - i);
    visit(chunk_of(r + i * r_size, t + i * t_size, n, 0));
  }
  if (whole == count) return;
  const std::size_t rest = count - whole;
  HWY_ALIGN unsigned char ref_rest[most * sizeof(double)] = {};
  HWY_ALIGN unsigned char target_rest[most * sizeof(double)] = {};
  std::memcpy(ref_rest, r + whole * r_size, rest * r_size);
  std::memcpy(target_rest, t + whole * t_size, rest * t_size);
  visit(chunk_of(ref_rest, target_rest, unit, unit - rest));
}

/// U: of the lanes, or of stored elements of the same dtype on both sides.
template <class F, class U, UlpRule kUlp>
void SumsOf(const CorePlan& plan, const void* ref, const void* target, std::size_t count, CoreHints& hints,
            CoreSums& sums) {
  constexpr bool stored = sizeof(U) != sizeof(F);
  const auto limit = [&](msp_dtype dtype, double min_normal) {
    if (min_normal == 0) return U{1};
    if constexpr (stored) return static_cast<U>(U{1} << dtype_info(dtype)->mantissa_bits);
    return static_cast<U>(BitsOf<F>(min_normal));
  };
  BitLimits<U> limits{limit(plan.ref, plan.ref_min_normal), limit(plan.target, plan.target_min_normal), 0};
  limits.any_min_normal = std::max(limits.ref_min_normal, limits.target_min_normal);
  // Where nothing is rounded the format is not looked at; any narrow one will do.
  const Rounding<U> rounding(kUlp == UlpRule::rounded ? *plan.ulp_format : *dtype_info(MSP_F8E5M2));
  ForChunks<F>(plan, ref, target, count, [&](const Chunk<F>& chunk) {
    const std::size_t n = chunk.count;
    const auto* bits_r = static_cast<const U*>(stored ? chunk.raw_ref : static_cast<const void*>(chunk.ref));
    const auto* bits_t = static_cast<const U*>(stored ? chunk.raw_target : static_cast<const void*>(chunk.target));
    // The last elements have zeros of ours beside them, which say nothing about the next block.
    CoreHints apart;
    CoreHints& now = chunk.fill != 0 ? apart : hints;
    BitSums bits;
    if (chunk.ref == chunk.target) {
      bits = Bits<U, UlpRule::none>(bits_r, bits_t, n, limits, &rounding, now.small);
      EqualValues(chunk.ref, n, sums);
    } else {
      bits = Bits<U, kUlp>(bits_r, bits_t, n, limits, &rounding, now.small);
      if (bits.zeros_ref == 0) {
        Values<F, Zeros::none>(chunk.ref, chunk.target, n, sums, now.beyond);
      } else if (bits.zeros_ref == bits.zeros_both) {
        Values<F, Zeros::matched>(chunk.ref, chunk.target, n, sums, now.beyond);
      } else {
        Values<F, Zeros::mixed>(chunk.ref, chunk.target, n, sums, now.beyond);
      }
    }
    sums.zeros_ref += bits.zeros_ref - chunk.fill;
    sums.zeros_target += bits.zeros_target - chunk.fill;
    sums.zeros_both += bits.zeros_both - chunk.fill;
    sums.small_ref += bits.small_ref - chunk.fill;
    sums.small_target += bits.small_target - chunk.fill;
    sums.sign_flips += bits.sign_flips;
    sums.within_1e3 -= chunk.fill;
    sums.within_5e3 -= chunk.fill;
    sums.max_ulp = std::max(sums.max_ulp, bits.max_ulp);
  });
}

template <class F>
void SumsOfLanes(const CorePlan& plan, const void* ref, const void* target, std::size_t count, CoreHints& hints,
                 CoreSums& sums) {
  using U = hwy::MakeUnsigned<F>;
  if constexpr (sizeof(F) == 4) {
    // Of narrow floats, the bits as stored.
    const std::uint32_t bytes = plan.ulp == UlpRule::direct ? dtype_info(plan.ref)->bytes : sizeof(F);
    if (bytes == 1) return SumsOf<F, std::uint8_t, UlpRule::direct>(plan, ref, target, count, hints, sums);
    if (bytes == 2) return SumsOf<F, std::uint16_t, UlpRule::direct>(plan, ref, target, count, hints, sums);
  }
  switch (plan.ulp) {
    case UlpRule::none:
      return SumsOf<F, U, UlpRule::none>(plan, ref, target, count, hints, sums);
    case UlpRule::direct:
      return SumsOf<F, U, UlpRule::direct>(plan, ref, target, count, hints, sums);
    case UlpRule::rounded:
      return SumsOf<F, U, UlpRule::rounded>(plan, ref, target, count, hints, sums);
  }
}

template <class F>
std::uint32_t FindOf(const CorePlan& plan, const void* ref, const void* target, std::size_t count, double value) {
  const hn::ScalableTag<double> d;
  const auto wanted = hn::Set(d, value);
  std::size_t at = count, seen = 0;
  ForChunks<F>(plan, ref, target, count, [&](const Chunk<F>& chunk) {
    const F *r = chunk.ref, *t = chunk.target;
    const std::size_t n = chunk.count, fill = chunk.fill;
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
  ForChunks<F>(plan, ref, target, count, [&](const Chunk<F>& chunk) {
    const F *r = chunk.ref, *t = chunk.target;
    const std::size_t n = chunk.count, fill = chunk.fill;
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
  ForChunks<F>(plan, ref, target, count, [&](const Chunk<F>& chunk) {
    const F *r = chunk.ref, *t = chunk.target;
    const std::size_t n = chunk.count;
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
  ForChunks<F>(plan, ref, target, count, [&](const Chunk<F>& chunk) {
    const F *r = chunk.ref, *t = chunk.target;
    const std::size_t n = chunk.count;
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
