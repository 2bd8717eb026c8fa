/// What a run over the generated pairs gave, as lines that can be compared and sent.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "dump/dump.h"
#include "engine/analysis.h"
#include "plugin/isolation/message.h"

namespace msprobe::plugin {

struct Outcome {
  std::vector<std::string> rows;  ///< one per pair, every bit of it
  std::vector<std::string> findings;
  std::vector<std::string> failed;    ///< rows that could not be judged, with the reason
  std::vector<std::string> mistyped;  ///< values that are not of their column's type
  std::vector<std::string> complaints;
  bool partial = false;
};

/// Runs an analyzer over two dumps.
Outcome run_over(const dump::Dump& reference, const dump::Dump& target, engine::Analysis& analysis, unsigned jobs,
                 const std::function<bool()>& cancelled);

void put_outcome(MessageWriter& out, const Outcome& outcome);
Outcome get_outcome(MessageReader& in);

}  // namespace msprobe::plugin
