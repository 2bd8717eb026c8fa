#include "report/overview.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace msprobe::report {
namespace {

using namespace result;

double badness(const Row& row) {
  return std::isnan(*row.error) ? std::numeric_limits<double>::infinity() : *row.error;
}

std::vector<const Row*> first_with(const Report& report, Verdict verdict, std::size_t limit) {
  std::vector<const Row*> rows;
  for (const auto& row : report.rows) {
    if (row.verdict != verdict) continue;
    rows.push_back(&row);
    if (rows.size() == limit) break;
  }
  return rows;
}

bool is_main(const Column& column) {
  return !column.hidden && column.direction != 0 &&
         (column.type == ColumnType::f64 || column.type == ColumnType::i64) && column.name != "error" &&
         column.name != "threshold";
}

}  // namespace

Outcome outcome_of(const Report& report) {
  const auto& summary = report.summary;
  if (summary.fail > 0) return Outcome::failed;
  if (summary.compared == 0) return Outcome::nothing_compared;
  if (summary.incomplete || summary.partial || summary.error > 0) {
    return summary.passed ? Outcome::passed : Outcome::incomplete;
  }
  return summary.passed ? Outcome::passed : Outcome::failed_on_warning;
}

const Row* first_bad_of(const Report& report) {
  if (report.summary.first_bad && *report.summary.first_bad < report.rows.size()) {
    return &report.rows[*report.summary.first_bad];
  }
  const auto failing = first_failing(report, 1);
  return failing.empty() ? nullptr : failing.front();
}

std::vector<const Row*> first_failing(const Report& report, std::size_t limit) {
  return first_with(report, Verdict::fail, limit);
}

std::vector<const Row*> first_unreadable(const Report& report, std::size_t limit) {
  return first_with(report, Verdict::error, limit);
}

std::vector<const Row*> worst(const Report& report, std::size_t limit) {
  std::vector<const Row*> rows;
  for (const auto& row : report.rows) {
    const bool judged = row.verdict == Verdict::pass || row.verdict == Verdict::warn || row.verdict == Verdict::fail;
    if (judged && row.error && *row.error != 0) rows.push_back(&row);
  }
  const auto keep = std::min(limit, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(keep), rows.end(),
                    [](const Row* a, const Row* b) {
                      const bool a_fails = a->verdict == Verdict::fail, b_fails = b->verdict == Verdict::fail;
                      if (a_fails != b_fails) return a_fails;
                      if (badness(*a) != badness(*b)) return badness(*a) > badness(*b);
                      return a->index < b->index;
                    });
  rows.resize(keep);
  return rows;
}

std::vector<std::size_t> main_columns(const Report& report, std::size_t limit) {
  constexpr std::array<std::string_view, 2> asked_for = {"cosine", "max_abs"};
  std::vector<std::size_t> chosen;
  const auto choose = [&](std::size_t i) {
    if (chosen.size() < limit && std::find(chosen.begin(), chosen.end(), i) == chosen.end()) chosen.push_back(i);
  };
  for (const auto name : asked_for) {
    for (std::size_t i = 0; i < report.columns.size(); ++i) {
      if (is_main(report.columns[i]) && report.columns[i].name == name) choose(i);
    }
  }
  for (std::size_t i = 0; i < report.columns.size(); ++i) {
    if (is_main(report.columns[i])) choose(i);
  }
  return chosen;
}

Extent extent_of(const Report& report) {
  Extent extent;
  for (const auto& row : report.rows) {
    extent.steps |= row.step != report.rows.front().step;
    extent.ranks |= row.rank != report.rows.front().rank;
  }
  return extent;
}

}  // namespace msprobe::report
