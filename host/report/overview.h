/// What a person wants to see first of a report. Terminal and page choose alike.
#pragma once
#include <cstddef>
#include <vector>

#include "engine/result.h"

namespace msprobe::report {

enum class Outcome { passed, failed, failed_on_warning, incomplete, nothing_compared };
Outcome outcome_of(const result::Report& report);

/// The row that the verdict names; nullptr when nothing failed.
const result::Row* first_bad_of(const result::Report& report);

/// Failing rows in execution order; every one when `limit` is 0.
std::vector<const result::Row*> first_failing(const result::Report& report, std::size_t limit);
/// Rows with verdict error, in execution order.
std::vector<const result::Row*> first_unreadable(const result::Report& report, std::size_t limit);
/// Compared rows by error, largest first; NaN counts as largest. Rows that are equal (error 0) are left out.
std::vector<const result::Row*> worst(const result::Report& report, std::size_t limit);

/// Indices of the metric columns that a narrow view shows: what every engineer asks for where the analyzer has it,
/// then the first numbers that the analyzer declared to be better or worse.
std::vector<std::size_t> main_columns(const result::Report& report, std::size_t limit);

struct Extent {
  bool steps = false, ranks = false;  ///< there are several
};
Extent extent_of(const result::Report& report);

}  // namespace msprobe::report
