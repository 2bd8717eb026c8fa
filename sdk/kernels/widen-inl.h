// Exact widening of stored elements to f32 or f64, for the SIMD target of the moment.
#if defined(MSPROBE_KERNELS_WIDEN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MSPROBE_KERNELS_WIDEN_INL_H_
#undef MSPROBE_KERNELS_WIDEN_INL_H_
#else
#define MSPROBE_KERNELS_WIDEN_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "msprobe/analyzer.h"

HWY_BEFORE_NAMESPACE();
namespace msprobe::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Highway's own f16 widening makes 65536 of infinity where the CPU has no instruction for it.
#define MSPROBE_NATIVE_F16 (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)

struct FromF16 {
  using Raw = std::uint16_t;
  template <class D>
  static HWY_INLINE hn::Vec<D> Widen(D d, hn::Vec<hn::Rebind<Raw, D>> raw) {
#if MSPROBE_NATIVE_F16
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), raw));
#else
    const hn::Rebind<std::uint32_t, D> du;
    const hn::Rebind<std::int32_t, D> di;
    const auto bits = hn::PromoteTo(du, raw);
    const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffu));
    // As f32 bits this is 2^112 too small, subnormals included.
    const auto scaled = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), hn::Set(d, 0x1p112f));
    const auto special = hn::Gt(hn::BitCast(di, magnitude), hn::Set(di, 0x7bff));
    const auto top = hn::IfThenElseZero(special, hn::Set(di, 0x7f800000));
    const auto sign = hn::ShiftLeft<16>(hn::AndNot(hn::Set(du, 0x7fffu), bits));
    return hn::Or(scaled, hn::BitCast(d, hn::Or(sign, hn::BitCast(du, top))));
#endif
  }
};

struct FromBF16 {
  using Raw = std::uint16_t;
  template <class D>
  static HWY_INLINE hn::Vec<D> Widen(D d, hn::Vec<hn::Rebind<Raw, D>> raw) {
    const hn::Rebind<std::uint32_t, D> du;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, raw)));
  }
};

/// Formats of a byte, as bits of an f16 that is too small by `kScale`: 16-bit lanes take twice as many at a time as
/// f32, and the rest is one instruction where the CPU knows f16.
///
/// e5m2 is the upper byte of an f16.
struct FromE5M2 {
  static constexpr float kScale = 1;
  template <class D16>
  static HWY_INLINE hn::Vec<D16> ToF16(D16 d16, hn::Vec<hn::Rebind<std::uint8_t, D16>> raw) {
    return hn::ShiftLeft<8>(hn::PromoteTo(d16, raw));
  }
};

/// e4m3fn has the exponent bias 7, f16 has 15: the same bits are 2^8 apart, subnormals too. All ones are NaN.
struct FromE4M3 {
  static constexpr float kScale = 256;
  template <class D16>
  static HWY_INLINE hn::Vec<D16> ToF16(D16 d16, hn::Vec<hn::Rebind<std::uint8_t, D16>> raw) {
    const hn::Rebind<std::int16_t, D16> di16;
    const hn::Rebind<std::int8_t, D16> di8;
    // Copies of the sign fill the upper byte; of these only the one at the top stays.
    const auto shifted = hn::BitCast(d16, hn::ShiftLeft<7>(hn::PromoteTo(di16, hn::BitCast(di8, raw))));
    const auto magnitude = hn::And(shifted, hn::Set(d16, std::uint16_t{0x3f80}));
    const auto nan = hn::VecFromMask(d16, hn::Eq(magnitude, hn::Set(d16, std::uint16_t{0x3f80})));
    return hn::Or(hn::And(shifted, hn::Set(d16, std::uint16_t{0xbf80})),
                  hn::And(nan, hn::Set(d16, std::uint16_t{0x7e00})));
  }
};

/// An f16 that is too small by `From::kScale`.
template <class From>
struct FromScaledF16 {
  using Raw = std::uint16_t;
  template <class D>
  static HWY_INLINE hn::Vec<D> Widen(D d, hn::Vec<hn::Rebind<Raw, D>> raw) {
    const auto value = FromF16::Widen(d, raw);
    if constexpr (From::kScale == 1) return value;
    return hn::Mul(value, hn::Set(d, From::kScale));
  }
};

template <class From>
void WidenToF32(const void* HWY_RESTRICT data, std::size_t count, float* HWY_RESTRICT out) {
  using Raw = typename From::Raw;
  const hn::ScalableTag<float> d;
  const hn::Rebind<Raw, decltype(d)> d_raw;
  const std::size_t lanes = hn::Lanes(d);
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto* raw = reinterpret_cast<const Raw*>(bytes + i * sizeof(Raw));
    hn::StoreU(From::Widen(d, hn::LoadU(d_raw, raw)), d, out + i);
  }
  if (i == count) return;
  HWY_ALIGN Raw raw[hn::MaxLanes(hn::ScalableTag<float>())] = {};
  HWY_ALIGN float wide[hn::MaxLanes(hn::ScalableTag<float>())];
  std::memcpy(raw, bytes + i * sizeof(Raw), (count - i) * sizeof(Raw));
  hn::Store(From::Widen(d, hn::LoadU(d_raw, raw)), d, wide);
  std::memcpy(out + i, wide, (count - i) * sizeof(float));
}

template <class From>
void WidenBytesToF32(const void* HWY_RESTRICT data, std::size_t count, float* HWY_RESTRICT out) {
  constexpr std::size_t step = 512;
  const hn::ScalableTag<std::uint16_t> d16;
  const hn::Rebind<std::uint8_t, decltype(d16)> d8;
  const std::size_t lanes = hn::Lanes(d16);
  HWY_ALIGN std::uint16_t halves[step];
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  for (std::size_t at = 0; at < count; at += step) {
    const std::size_t n = HWY_MIN(step, count - at);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) hn::Store(From::ToF16(d16, hn::LoadU(d8, bytes + at + i)), d16, halves + i);
    if (i < n) {
      HWY_ALIGN std::uint8_t rest[hn::MaxLanes(hn::ScalableTag<std::uint16_t>())] = {};
      std::memcpy(rest, bytes + at + i, n - i);
      hn::Store(From::ToF16(d16, hn::LoadU(d8, rest)), d16, halves + i);
    }
    WidenToF32<FromScaledF16<From>>(halves, n, out + at);
  }
}

/// Numbers that C++ converts itself: integers, f32 to f64 and back. Compilers vectorise the loop.
template <class Raw, class Out>
void Convert(const void* HWY_RESTRICT data, std::size_t count, Out* HWY_RESTRICT out) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < count; ++i) {
    Raw raw;
    std::memcpy(&raw, bytes + i * sizeof(Raw), sizeof(Raw));
    out[i] = static_cast<Out>(raw);
  }
}

template <class Out>
void ConvertBool(const void* HWY_RESTRICT data, std::size_t count, Out* HWY_RESTRICT out) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < count; ++i) out[i] = bytes[i] != 0 ? Out{1} : Out{0};
}

template <class Out>
bool WidenInteger(msp_dtype dtype, const void* data, std::size_t count, Out* out) {
  switch (dtype) {
    case MSP_I8:
      Convert<std::int8_t>(data, count, out);
      return true;
    case MSP_U8:
      Convert<std::uint8_t>(data, count, out);
      return true;
    case MSP_I16:
      Convert<std::int16_t>(data, count, out);
      return true;
    case MSP_U16:
      Convert<std::uint16_t>(data, count, out);
      return true;
    case MSP_I32:
      Convert<std::int32_t>(data, count, out);
      return true;
    case MSP_U32:
      Convert<std::uint32_t>(data, count, out);
      return true;
    case MSP_I64:
      Convert<std::int64_t>(data, count, out);
      return true;
    case MSP_U64:
      Convert<std::uint64_t>(data, count, out);
      return true;
    case MSP_BOOL:
      ConvertBool(data, count, out);
      return true;
    default:
      return false;
  }
}

/// Rounds to nearest even where f32 is too narrow.
inline bool Widen(msp_dtype dtype, const void* data, std::size_t count, float* out) {
  switch (dtype) {
    case MSP_F64:
      Convert<double>(data, count, out);
      return true;
    case MSP_F32:
      std::memcpy(out, data, count * sizeof(float));
      return true;
    case MSP_F16:
      WidenToF32<FromF16>(data, count, out);
      return true;
    case MSP_BF16:
      WidenToF32<FromBF16>(data, count, out);
      return true;
    case MSP_F8E4M3FN:
      WidenBytesToF32<FromE4M3>(data, count, out);
      return true;
    case MSP_F8E5M2:
      WidenBytesToF32<FromE5M2>(data, count, out);
      return true;
    default:
      return WidenInteger(dtype, data, count, out);
  }
}

inline bool Widen(msp_dtype dtype, const void* data, std::size_t count, double* out) {
  switch (dtype) {
    case MSP_F64:
      std::memcpy(out, data, count * sizeof(double));
      return true;
    case MSP_F32:
      Convert<float>(data, count, out);
      return true;
    case MSP_F16:
    case MSP_BF16:
    case MSP_F8E4M3FN:
    case MSP_F8E5M2: {
      constexpr std::size_t step = 512;
      HWY_ALIGN float wide[step];
      const auto* bytes = static_cast<const unsigned char*>(data);
      const std::size_t size = dtype == MSP_F16 || dtype == MSP_BF16 ? 2 : 1;
      for (std::size_t i = 0; i < count; i += step) {
        const std::size_t part = HWY_MIN(step, count - i);
        Widen(dtype, bytes + i * size, part, wide);
        Convert<float>(wide, part, out + i);
      }
      return true;
    }
    default:
      return WidenInteger(dtype, data, count, out);
  }
}

#undef MSPROBE_NATIVE_F16

}  // namespace HWY_NAMESPACE
}  // namespace msprobe::kernels
HWY_AFTER_NAMESPACE();

#endif
