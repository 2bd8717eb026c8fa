#include "engine/summary.h"

#include <algorithm>

#include "engine/diagnosis.h"

namespace msprobe::engine {
namespace {

/// A layer's error is the largest of its outputs and gradients; inputs repeat the outputs of others, and plain files
/// are all there is.
bool is_headline(const result::Row& row) {
  return row.kind != dump::Kind::scalar && row.direction != dump::Direction::input;
}

}  // namespace

void summarize(result::Report& report, bool allow_unmatched, bool fail_on_warn) {
  result::Summary& summary = report.summary;
  double headline = 0, rest = 0;
  for (const result::Row& row : report.rows) {
    switch (row.verdict) {
      case result::Verdict::pass:
        ++summary.pass;
        break;
      case result::Verdict::warn:
        ++summary.warn;
        break;
      case result::Verdict::fail:
        ++summary.fail;
        break;
      case result::Verdict::error:
        ++summary.error;
        break;
      case result::Verdict::skip:
        ++summary.skip;
        break;
    }
    summary.unmatched_reference += !row.target;
    summary.unmatched_target += !row.reference;
    if (row.verdict == result::Verdict::skip || !row.error) continue;
    double& largest = is_headline(row) ? headline : rest;
    largest = std::max(largest, *row.error);
  }
  summary.compared = summary.pass + summary.warn + summary.fail;
  // 0 is a promise that everything is equal: a difference that only inputs or arguments show must not read as 0.
  if (summary.compared + summary.error > 0) summary.max_error = headline > 0 ? headline : rest;
  const bool unmatched = summary.unmatched_reference + summary.unmatched_target > 0 && !allow_unmatched;
  summary.incomplete =
      report.reference.incomplete || report.target.incomplete || summary.partial || unmatched || summary.error > 0;
  summary.passed =
      summary.compared > 0 && summary.fail == 0 && !summary.incomplete && !(fail_on_warn && summary.warn > 0);
  summary.first_bad = first_bad(report.rows);
}

}  // namespace msprobe::engine
