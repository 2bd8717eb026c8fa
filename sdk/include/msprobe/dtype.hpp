/// Facts about each dtype: name, size, unit roundoff, range. C++17, header only.
/// Formats: IEEE 754 (f64 f32 f16), bfloat16, OCP 8-bit floating point (e4m3fn, e5m2).
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "msprobe/analyzer.h"

namespace msprobe {

enum class DtypeClass : std::uint8_t { real, integer, complex };

struct DtypeInfo {
  msp_dtype dtype;
  std::string_view name;   ///< "f32", as reports show it
  std::uint32_t bytes;     ///< of one element
  DtypeClass dtype_class;  ///< bool counts as integer
  double unit_roundoff;    ///< 0 for integers; complex: of its parts
  double eta;              ///< smallest subnormal; 0 for integers
  double min_normal;       ///< smallest normal; 0 for integers
  double max_finite;       ///< largest finite value; 0 for integers
  int mantissa_bits;       ///< stored bits of the fraction
  int exponent_bits;
};

inline constexpr std::array<DtypeInfo, 18> dtype_table{{
    {MSP_F64, "f64", 8, DtypeClass::real, 0x1p-53, 0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp1023, 52, 11},
    {MSP_F32, "f32", 4, DtypeClass::real, 0x1p-24, 0x1p-149, 0x1p-126, 0x1.fffffep127, 23, 8},
    {MSP_F16, "f16", 2, DtypeClass::real, 0x1p-11, 0x1p-24, 0x1p-14, 65504.0, 10, 5},
    {MSP_BF16, "bf16", 2, DtypeClass::real, 0x1p-8, 0x1p-133, 0x1p-126, 0x1.fep127, 7, 8},
    {MSP_F8E4M3FN, "f8e4m3fn", 1, DtypeClass::real, 0x1p-4, 0x1p-9, 0x1p-6, 448.0, 3, 4},
    {MSP_F8E5M2, "f8e5m2", 1, DtypeClass::real, 0x1p-3, 0x1p-16, 0x1p-14, 57344.0, 2, 5},
    {MSP_I8, "i8", 1, DtypeClass::integer, 0, 0, 0, 0, 0, 0},
    {MSP_U8, "u8", 1, DtypeClass::integer, 0, 0, 0, 0, 0, 0},
    {MSP_I16, "i16", 2, DtypeClass::integer, 0, 0, 0, 0, 0, 0},
    {MSP_U16, "u16", 2, DtypeClass::integer, 0, 0, 0, 0, 0, 0},
    {MSP_I32, "i32", 4, DtypeClass::integer, 0, 0, 0, 0, 0, 0},
    {MSP_U32, "u32", 4, DtypeClass::integer, 0, 0, 0, 0, 0, 0},
    {MSP_I64, "i64", 8, DtypeClass::integer, 0, 0, 0, 0, 0, 0},
    {MSP_U64, "u64", 8, DtypeClass::integer, 0, 0, 0, 0, 0, 0},
    {MSP_BOOL, "bool", 1, DtypeClass::integer, 0, 0, 0, 0, 0, 0},
    {MSP_C64, "c64", 8, DtypeClass::complex, 0x1p-24, 0x1p-149, 0x1p-126, 0x1.fffffep127, 23, 8},
    {MSP_C128, "c128", 16, DtypeClass::complex, 0x1p-53, 0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp1023, 52, 11},
    {MSP_TF32, "tf32", 4, DtypeClass::real, 0x1p-11, 0x1p-136, 0x1p-126, 0x1.ffcp127, 10, 8},
}};

/// nullptr for MSP_DTYPE_NONE and for numbers from the future.
inline constexpr const DtypeInfo* dtype_info(msp_dtype dtype) {
  return dtype >= 1 && static_cast<std::size_t>(dtype) <= dtype_table.size()
             ? &dtype_table[static_cast<std::size_t>(dtype) - 1]
             : nullptr;
}

inline constexpr std::string_view dtype_name(msp_dtype dtype) {
  const DtypeInfo* info = dtype_info(dtype);
  return info ? info->name : std::string_view("unknown");
}

/// MSP_DTYPE_NONE when the name is not one of ours.
inline constexpr msp_dtype dtype_from_name(std::string_view name) {
  for (const DtypeInfo& info : dtype_table)
    if (info.name == name) return info.dtype;
  return MSP_DTYPE_NONE;
}

inline constexpr bool is_float(msp_dtype dtype) {
  const DtypeInfo* info = dtype_info(dtype);
  return info && info->dtype_class != DtypeClass::integer;
}

/// The coarser of two dtypes is the one with the larger unit roundoff; integers and NONE give way.
inline constexpr msp_dtype coarser_float(msp_dtype a, msp_dtype b) {
  if (!is_float(a)) return is_float(b) ? b : MSP_DTYPE_NONE;
  if (!is_float(b)) return a;
  return dtype_info(b)->unit_roundoff > dtype_info(a)->unit_roundoff ? b : a;
}

/// The threshold of a row when none is given: max(1e-5, 4u); 0 for integers.
inline constexpr double auto_threshold(msp_dtype noise_dtype) {
  if (!is_float(noise_dtype)) return 0.0;
  const double four_u = 4 * dtype_info(noise_dtype)->unit_roundoff;
  return four_u > 1e-5 ? four_u : 1e-5;
}

}  // namespace msprobe
