/// Reports made up for tests: small, large, and with names that try to break out of every format.
#pragma once
#include <cstddef>
#include <string>

#include "engine/result.h"

namespace msprobe::test {

/// A failing comparison of a small encoder: 12 rows, one of each verdict, NaN and Infinity, an unmatched row.
result::Report small_report();
/// Everything equal.
result::Report equal_report();
/// `count` rows with every standard metric, 8 steps, 4 ranks; the same numbers in every run.
result::Report large_report(std::size_t count);
/// Names that are markup, formulas, control characters, 300 characters, right-to-left, invalid UTF-8.
result::Report hostile_report();

/// "small", "equal", "hostile", "empty", "single", or a number of rows.
result::Report report_by_name(const std::string& name);

}  // namespace msprobe::test
