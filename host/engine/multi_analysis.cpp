#include "engine/multi_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "engine/worker.h"

namespace msprobe::engine {
namespace {

using result::Row;
using result::Verdict;

/// Worse is larger; a skip says nothing and gives way to everything.
int badness(Verdict verdict) {
  switch (verdict) {
    case Verdict::skip:
      return 0;
    case Verdict::pass:
      return 1;
    case Verdict::warn:
      return 2;
    case Verdict::error:
      return 3;
    case Verdict::fail:
      return 4;
  }
  return 0;
}

/// The row as if this part had been alone.
Row alone(const Row& row, const result::Judgement& judgement, const std::vector<std::uint32_t>& places) {
  Row result = row;
  result.verdict = judgement.verdict;
  result.why = judgement.why;
  result.error = judgement.error;
  result.threshold = judgement.threshold;
  result.analyzers.clear();
  result.metrics.clear();
  for (const std::uint32_t place : places)
    result.metrics.push_back(place < row.metrics.size() ? row.metrics[place] : result::Value());
  return result;
}

/// The row's own verdict, from those of its analyzers.
void conclude(Row& row) {
  const auto worst = std::max_element(row.analyzers.begin(), row.analyzers.end(), [](const auto& a, const auto& b) {
    return badness(a.verdict) < badness(b.verdict);
  });
  row.verdict = worst->verdict;
  row.code = worst->code;
  row.why = worst->why.empty() || worst == row.analyzers.begin() ? worst->why : worst->analyzer + ": " + worst->why;
  row.error = row.analyzers.front().error;
  row.threshold = row.analyzers.front().threshold;
}

}  // namespace

MultiAnalysis::MultiAnalysis(std::vector<Part> parts)
    : parts_(std::move(parts)), serial_(parts_.size()), places_(parts_.size()) {}

std::string MultiAnalysis::mode() const {
  std::string names;
  for (const Part& part : parts_) names += (names.empty() ? "" : ",") + part.name;
  return names;
}

bool MultiAnalysis::accepts(dump::Kind kind) const {
  return std::any_of(parts_.begin(), parts_.end(), [kind](const Part& part) { return part.analysis->accepts(kind); });
}

std::vector<result::Column> MultiAnalysis::columns() const {
  for (std::size_t part = 0; part < parts_.size(); ++part) places(part);
  const std::lock_guard lock(mutex_);
  return columns_;
}

/// Columns may come while analyzers run: each is given a place when it is first seen.
std::vector<std::uint32_t> MultiAnalysis::places(std::size_t part) const {
  const auto own = parts_[part].analysis->columns();
  const std::lock_guard lock(mutex_);
  auto& known = places_[part];
  for (std::size_t i = known.size(); i < own.size(); ++i) {
    result::Column column = own[i];
    if (part > 0) column.name = parts_[part].name + "." + column.name;
    known.push_back(static_cast<std::uint32_t>(columns_.size()));
    columns_.push_back(std::move(column));
  }
  return known;
}

void MultiAnalysis::begin(const std::vector<Planned>& plan, const std::vector<Row>& rows) {
  for (Part& part : parts_) part.analysis->begin(plan, rows);
  for (std::size_t part = 0; part < parts_.size(); ++part) places(part);
}

void MultiAnalysis::merge(std::size_t part, Row&& judged, Row& row) const {
  const auto place = places(part);
  for (std::size_t i = 0; i < judged.metrics.size() && i < place.size(); ++i) {
    if (row.metrics.size() <= place[i]) row.metrics.resize(place[i] + 1);
    row.metrics[place[i]] = std::move(judged.metrics[i]);
  }
  if (part == 0) row.threshold_from = judged.threshold_from;
  row.analyzers.push_back({parts_[part].name, judged.verdict, std::move(judged.why), std::move(judged.code),
                           judged.error, judged.threshold});
}

void MultiAnalysis::analyze(Worker& worker, const Planned& planned, Row& row) {
  row.analyzers.clear();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Analysis& analysis = *parts_[i].analysis;
    Row judged;
    judged.index = row.index;
    judged.name = row.name;
    judged.verdict = Verdict::skip;
    if (!analysis.accepts(planned.kind)) {
      judged.why = fmt::format("{} does not judge rows of kind {}", parts_[i].name, dump::to_text(planned.kind));
    } else {
      std::unique_lock lock(serial_[i], std::defer_lock);
      if (!analysis.parallel()) lock.lock();
      try {
        analysis.analyze(worker, planned, judged);
      } catch (const Error& error) {
        judged.verdict = Verdict::error;
        judged.code = error.code();
        judged.why = fmt::format("{}: {}", error.what_happened(), error.where());
        judged.error = std::numeric_limits<double>::infinity();
      }
    }
    merge(i, std::move(judged), row);
  }
  conclude(row);
}

void MultiAnalysis::finish(std::vector<Row>& rows, std::vector<result::Finding>& findings) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    std::vector<Row> own;
    own.reserve(rows.size());
    const auto place = places(i);
    for (const Row& row : rows) own.push_back(row.analyzers.empty() ? row : alone(row, row.analyzers[i], place));
    parts_[i].analysis->finish(own, findings);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (rows[r].analyzers.empty()) continue;
      rows[r].analyzers[i].verdict = own[r].verdict;
      rows[r].analyzers[i].why = own[r].why;
    }
  }
  for (Row& row : rows)
    if (!row.analyzers.empty()) conclude(row);
}

}  // namespace msprobe::engine
