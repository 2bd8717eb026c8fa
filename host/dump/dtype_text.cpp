#include "dump/dtype_text.h"

#include <array>
#include <string>
#include <utility>

#include "msprobe/dtype.hpp"

namespace msprobe::dump {
namespace {

using Named = std::pair<std::string_view, msp_dtype>;

// Lower case, without the framework's name in front.
constexpr std::array names{
    Named{"float64", MSP_F64},
    Named{"double", MSP_F64},
    Named{"fp64", MSP_F64},
    Named{"float32", MSP_F32},
    Named{"float", MSP_F32},
    Named{"fp32", MSP_F32},
    Named{"float16", MSP_F16},
    Named{"half", MSP_F16},
    Named{"fp16", MSP_F16},
    Named{"bfloat16", MSP_BF16},
    Named{"int8", MSP_I8},
    Named{"uint8", MSP_U8},
    Named{"int16", MSP_I16},
    Named{"uint16", MSP_U16},
    Named{"int32", MSP_I32},
    Named{"uint32", MSP_U32},
    Named{"int64", MSP_I64},
    Named{"uint64", MSP_U64},
    Named{"short", MSP_I16},
    Named{"int", MSP_I32},
    Named{"long", MSP_I64},
    Named{"bool", MSP_BOOL},
    Named{"bool_", MSP_BOOL},
    Named{"boolean", MSP_BOOL},
    Named{"complex64", MSP_C64},
    Named{"complex128", MSP_C128},
    Named{"cfloat", MSP_C64},
    Named{"cdouble", MSP_C128},
    Named{"float8_e4m3fn", MSP_F8E4M3FN},
    Named{"float8_e5m2", MSP_F8E5M2},
    Named{"e4m3fn", MSP_F8E4M3FN},
    Named{"float8e4m3fn", MSP_F8E4M3FN},
    Named{"float8e5m2", MSP_F8E5M2},
    Named{"e5m2", MSP_F8E5M2},
    Named{"f8e4m3", MSP_F8E4M3FN},
    Named{"fp8_e4m3", MSP_F8E4M3FN},
    Named{"fp8_e5m2", MSP_F8E5M2},
    Named{"f8_e4m3", MSP_F8E4M3FN},
    Named{"f8_e5m2", MSP_F8E5M2},
};

constexpr std::array storages{
    Named{"FloatStorage", MSP_F32},
    Named{"DoubleStorage", MSP_F64},
    Named{"HalfStorage", MSP_F16},
    Named{"BFloat16Storage", MSP_BF16},
    Named{"ByteStorage", MSP_U8},
    Named{"CharStorage", MSP_I8},
    Named{"ShortStorage", MSP_I16},
    Named{"IntStorage", MSP_I32},
    Named{"LongStorage", MSP_I64},
    Named{"BoolStorage", MSP_BOOL},
    Named{"ComplexFloatStorage", MSP_C64},
    Named{"ComplexDoubleStorage", MSP_C128},
    Named{"Float8_e4m3fnStorage", MSP_F8E4M3FN},
    Named{"Float8_e5m2Storage", MSP_F8E5M2},
};

}  // namespace

msp_dtype dtype_from_text(std::string_view text) {
  if (const std::size_t dot = text.rfind('.'); dot != std::string_view::npos) text.remove_prefix(dot + 1);
  if (text.size() > 32) return MSP_DTYPE_NONE;
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (const msp_dtype own = dtype_from_name(lower); own != MSP_DTYPE_NONE && own != MSP_TF32) return own;
  for (const auto& [name, dtype] : names)
    if (name == lower) return dtype;
  return MSP_DTYPE_NONE;
}

msp_dtype dtype_from_storage(std::string_view storage_class) {
  for (const auto& [name, dtype] : storages)
    if (name == storage_class) return dtype;
  return MSP_DTYPE_NONE;
}

std::string torch_name(msp_dtype dtype) {
  // The first name of each dtype above is the one that torch uses.
  for (const auto& [name, named] : names)
    if (named == dtype) return "torch." + std::string(name);
  return "torch." + std::string(dtype_name(dtype));
}

}  // namespace msprobe::dump
