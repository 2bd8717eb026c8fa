/// What a catalogue says of one tensor, before any of its bytes is read.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "msprobe/analyzer.h"

namespace msprobe::dump {

enum class Kind : std::uint8_t {
  tensor = MSP_KIND_TENSOR,
  statistics = MSP_KIND_STATISTICS,
  checksum = MSP_KIND_CHECKSUM,
  scalar = MSP_KIND_SCALAR
};
enum class Phase : std::uint8_t { none, forward, backward, update };
/// In the order in which the tensors of one call are looked at.
enum class Direction : std::uint8_t { none, input, parameter, output, gradient };

std::string_view to_text(Kind kind);
std::string_view to_text(Phase phase);
std::string_view to_text(Direction direction);

struct Statistics {
  std::uint32_t mask = 0;                      ///< 1 << MSP_STAT_*
  std::array<double, MSP_STAT_COUNT> value{};  ///< max, min, mean, norm
};

/// Something wrong with one tensor that does not stop the run: its row gets verdict error.
struct Problem {
  std::string code, text;  ///< "E4002", "file is cut short: expected 512 bytes, found 100 (still being written?)"
};

struct Tensor {
  std::string name;  ///< full name, as the dump writes it: "Module.blocks.0.ln2.LayerNorm.forward.0.output.0"
  std::string
      call_name;  ///< the dump's name of the call: "Module.blocks.0.ln2.LayerNorm.forward.0"; a plain file: the name
  std::string
      layer;  ///< "Module.blocks.0.ln2.LayerNorm", "Functional.layer_norm"; a plain file: relative path without suffix
  std::string module;  ///< around an operator, or the module itself: "Module.blocks.0.ln2"
  std::string op;      ///< "LayerNorm", "layer_norm"; empty for plain files
  std::string slot;    ///< "0", "0.1", "weight"; empty for plain files
  std::string source;  ///< "models.py:41 in forward"; empty: unknown
  std::int64_t step = 0, rank = 0;
  std::int64_t call = -1;             ///< n-th call of the layer in a step; -1: plain file
  std::int64_t execution_index = -1;  ///< of the call within its step and rank
  Phase phase = Phase::none;
  Direction direction = Direction::none;
  Kind kind = Kind::tensor;

  msp_dtype dtype = MSP_DTYPE_NONE;
  std::string dtype_text;  ///< as the dump writes it: "torch.bfloat16"
  std::vector<std::int64_t> shape;
  Statistics statistics;
  std::string checksum_kind, checksum;
  std::string scalar;           ///< type and value of a scalar: "float 1e-05"
  bool ignored_scalar = false;  ///< devices and paths: shown, never judged

  std::string file;    ///< absolute path of the bytes; empty: none
  std::string member;  ///< within a container; empty: the file is the tensor
  std::optional<Problem> problem;
};

}  // namespace msprobe::dump
