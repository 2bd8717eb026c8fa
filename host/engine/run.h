/// Runs one analyzer over all pairs of two dumps and makes the report.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "dump/dump.h"
#include "engine/analysis.h"
#include "engine/limits.h"
#include "engine/result.h"
#include "pair/pair.h"

namespace msprobe::engine {

struct Options {
  unsigned jobs = 1;
  bool progress = false;                   ///< a status line on the terminal
  bool fail_on_warn = false;               ///< a warning is enough not to pass
  bool allow_unmatched = false;            ///< unmatched rows do not make the result incomplete
  std::optional<double> error_threshold;   ///< nothing: each row's own ("auto")
  msp_dtype noise_dtype = MSP_DTYPE_NONE;  ///< instead of the coarsest dtype upstream
  std::vector<Limit> limits;
  dump::Options dump;
  std::function<bool()> cancelled = [] { return false; };
};

/// Fills columns, rows, findings, summary and the inputs of the report; command, start and options are the caller's
/// business. Rows that were not reached when `cancelled` says so are skipped and the summary is marked partial.
result::Report run(const dump::Dump& reference, const dump::Dump& target, const pair::Pairing& pairing,
                   Analysis& analysis, const Options& options);

}  // namespace msprobe::engine
