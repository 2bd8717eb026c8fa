/// The names that frameworks and files give to dtypes.
#pragma once
#include <string>
#include <string_view>

#include "dump/tensor.h"

namespace msprobe::dump {

/// "torch.bfloat16", "Float32", "mindspore.float16", "float8_e4m3fn", "half", "f32"...: MSP_DTYPE_NONE when unknown.
msp_dtype dtype_from_text(std::string_view text);

/// A dtype as torch calls its storages: "FloatStorage" and so on; MSP_DTYPE_NONE when unknown.
msp_dtype dtype_from_storage(std::string_view storage_class);

/// "torch.float32".
std::string torch_name(msp_dtype dtype);

}  // namespace msprobe::dump
