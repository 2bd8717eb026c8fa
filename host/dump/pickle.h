/// Reads what torch.save pickles, and executes nothing: globals are names from a short list, calls to them build values
/// of this file, and any other name is refused. Opcodes: CPython's Lib/pickletools.py, protocols 2 to 5.
#pragma once
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dump/tensor.h"

namespace msprobe::dump {

struct PickleValue {
  enum class Type : std::uint8_t {
    none,
    boolean,
    integer,
    real,
    text,
    tuple,
    list,
    dict,
    global,
    storage,
    tensor,
    opaque
  };
  Type type = Type::none;
  std::int64_t integer = 0;               ///< boolean, integer; tensor: offset in elements; storage: its numel
  double real = 0;                        ///< real
  std::string text;                       ///< text; global: "module name"; storage: key of its member
  std::vector<const PickleValue*> items;  ///< tuple, list; dict: key, value, key, value...
  msp_dtype dtype = MSP_DTYPE_NONE;       ///< storage, tensor, global of a dtype; NONE: bytes without type
  std::string dtype_text;
  std::vector<std::int64_t> shape, strides;  ///< tensor
};

/// Values live as long as this; they may form cycles.
struct Pickle {
  std::deque<PickleValue> values;
  const PickleValue* root = nullptr;
};

/// Throws E4006 for a name that is not on the list, E4007 for everything malformed.
Pickle read_pickle(std::span<const std::byte> bytes, const std::string& path);

}  // namespace msprobe::dump
