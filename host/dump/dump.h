/// A dump as a catalogue: every tensor of every step and rank in execution order, without tensor data.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dump/tensor.h"

namespace msprobe::dump {

struct Options {
  std::string dtype;                               ///< raw .bin: dtype name; empty: from a side file, else f32
  std::optional<std::vector<std::int64_t>> shape;  ///< raw .bin: else from a side file, else [count]
  std::vector<std::pair<std::string, msp_dtype>> dtype_map;  ///< --dtype-map V2=bf16: what an opaque dtype means
  std::function<void(std::uint64_t bytes_or_files)>
      progress;       ///< called now and then while a large catalogue is read; may throw to stop
  unsigned jobs = 1;  ///< threads that may read headers
};

struct Dump {
  std::string path;                ///< as the user named it
  std::string tool;                ///< "Ascend msprobe", "files", "file"
  std::string task;                ///< "tensor", "statistics", "md5", "" where it has no such word
  std::string level;               ///< "L0", "L1", "mix"; empty: unknown
  std::string framework;           ///< "pytorch", "mindspore"; empty: unknown
  std::vector<Tensor> tensors;     ///< by (step, rank) and execution order within
  bool incomplete = false;         ///< cut off in the middle: what was complete is here
  std::vector<std::string> notes;  ///< one line each: what is missing or odd about the dump as a whole
};

/// Opens a dump root, a step folder, a rank folder, a dump.json, a folder of tensor files or one tensor file.
/// Throws Error (E1003, E1004, E4xxx) when nothing can be used: what is wrong with single tensors goes to
/// Tensor::problem.
Dump open(const std::string& path, const Options& options = {});

}  // namespace msprobe::dump
