/// Which tensor of the target answers which tensor of the reference.
#pragma once
#include <string>
#include <vector>

#include "dump/dump.h"

namespace msprobe::pair {

struct Pair {
  const dump::Tensor* reference = nullptr;  ///< nullptr: only the target has it
  const dump::Tensor* target = nullptr;     ///< nullptr: only the reference has it
  std::string note;                         ///< unmatched: why, and the nearest names on the other side
  std::string ignored;  ///< why this row says nothing (uninitialised memory, a device name); empty: it is judged
  msp_dtype noise_dtype = MSP_DTYPE_NONE;  ///< coarsest float dtype on either side, in this row or upstream of it

  const dump::Tensor& any() const { return reference ? *reference : *target; }
};

struct Pairing {
  std::vector<Pair> pairs;         ///< execution order of the reference; rows that only the target has come last
  std::vector<std::string> notes;  ///< what a reader must know: steps or ranks of different numbers were paired
};

struct Options {
  bool ignore = true;  ///< use the table of rows that say nothing (ignored_rows.h)
};

/// Pairs by the exact key (step, rank, layer, call, phase, direction, slot); the n-th of equal keys answers the n-th.
/// Nothing is dropped, nothing is matched by likeness. Both dumps must outlive the result.
Pairing match(const dump::Dump& reference, const dump::Dump& target, const Options& options = {});

}  // namespace msprobe::pair
