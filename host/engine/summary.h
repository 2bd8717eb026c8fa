/// Counts and the headline of a finished run.
#pragma once
#include "engine/result.h"

namespace msprobe::engine {

/// Counts rows; `incomplete` and `partial` must be set before. first_bad needs the origins (diagnosis.h).
void summarize(result::Report& report, bool allow_unmatched, bool fail_on_warn);

}  // namespace msprobe::engine
