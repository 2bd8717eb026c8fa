/// How Ascend msprobe (PyPI mindstudio-probe) names calls, and how it writes call stacks.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "dump/tensor.h"

namespace msprobe::dump {

struct CallName {
  std::string_view layer;   ///< "Module.blocks.0.ln2.LayerNorm", "Functional.layer_norm"
  std::string_view module;  ///< "Module.blocks.0.ln2"; empty: an operator
  std::string_view op;      ///< "LayerNorm", "layer_norm"
  std::int64_t call = 0;
  Phase phase = Phase::none;
  bool parameter_gradients = false;
  bool debug = false;  ///< saved by hand: PrecisionDebugger.save
};

/// Views into `name`. Operators write {Prefix}.{op}.{call}.{phase}, modules {Module|Cell}.{path}.{Class}.{phase}.{call}
/// and {Module|Cell}.{path}.{Class}.parameters_grad[.{call}]; a name of no known form is its own layer.
CallName parse_call_name(std::string_view name);

/// The name of the forward call to which a backward call or a gradient belongs.
std::string forward_name(std::string_view name, const CallName& parsed);

struct Frame {
  std::string_view file, function;
  std::string_view line;
};

/// "File /m/train.py, line 12, in step, \n y = x + 1"; false: not of this form.
bool parse_frame(std::string_view text, Frame* frame);
/// Inside a framework or another installed package.
bool is_library(std::string_view file);
/// "models.py:41 in forward".
std::string source_text(const Frame& frame);

}  // namespace msprobe::dump
