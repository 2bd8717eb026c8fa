#include <algorithm>
#include <array>
#include <ostream>

#include "report/csv_cell.h"
#include "report/numbers.h"
#include "report/writers.h"

namespace msprobe::report {
namespace {

using namespace result;

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // without it Excel takes UTF-8 for the local code page
constexpr std::string_view line_end = "\r\n";

/// The columns of every report, before those of the analyzer; write_row fills them in this order.
constexpr std::array<std::string_view, 36> fixed = {"index",
                                                    "step",
                                                    "rank",
                                                    "name",
                                                    "target_name",
                                                    "kind",
                                                    "layer",
                                                    "module",
                                                    "op",
                                                    "call",
                                                    "execution_index",
                                                    "phase",
                                                    "direction",
                                                    "slot",
                                                    "source",
                                                    "verdict",
                                                    "why",
                                                    "code",
                                                    "error",
                                                    "threshold",
                                                    "threshold_from",
                                                    "origin",
                                                    "reference_dtype",
                                                    "reference_shape",
                                                    "reference_max",
                                                    "reference_min",
                                                    "reference_mean",
                                                    "reference_norm",
                                                    "reference_value",
                                                    "target_dtype",
                                                    "target_shape",
                                                    "target_max",
                                                    "target_min",
                                                    "target_mean",
                                                    "target_norm",
                                                    "target_value"};

class Line {
 public:
  void text(std::string_view content) {
    separate();
    append_csv_text(line_, content);
  }
  void number(std::int64_t content) {
    separate();
    line_ += std::to_string(content);
  }
  void number(double content) {
    separate();
    append_exact(line_, content);
  }
  void nothing() { separate(); }
  void truth(bool content) {
    separate();
    line_ += content ? "true" : "false";
  }
  template <class T>
  void maybe(const std::optional<T>& content) {
    if (!content) return nothing();
    if constexpr (std::is_same_v<T, bool>) {
      truth(*content);
    } else {
      number(*content);
    }
  }
  void counted(std::int64_t content) { content < 0 ? nothing() : number(content); }
  void value(const Value& content) {
    if (const auto* real = std::get_if<double>(&content)) return number(*real);
    if (const auto* whole = std::get_if<std::int64_t>(&content)) return number(*whole);
    if (const auto* yes = std::get_if<bool>(&content)) return truth(*yes);
    if (const auto* words = std::get_if<std::string>(&content)) return text(*words);
    nothing();
  }
  void write(std::ostream& out) {
    line_ += line_end;
    out.write(line_.data(), static_cast<std::streamsize>(line_.size()));
    line_.clear();
    first_ = true;
  }

 private:
  void separate() {
    if (!first_) line_ += ',';
    first_ = false;
  }
  std::string line_;
  bool first_ = true;
};

void write_side(Line& line, const std::optional<Side>& side) {
  std::string shape;
  if (side && side->shape) {
    for (const auto extent : *side->shape) shape += (shape.empty() ? "[" : ", ") + std::to_string(extent);
    shape = shape.empty() ? "[]" : shape + "]";
  }
  line.text(side ? side->dtype : "");
  line.text(shape);
  for (unsigned i = 0; i < MSP_STAT_COUNT; ++i) {
    const bool known = side && (side->statistics.mask >> i & 1);
    known ? line.number(side->statistics.value[i]) : line.nothing();
  }
  line.text(!side ? "" : side->scalar.empty() ? side->checksum : side->scalar);
}

void write_row(Line& line, const Row& row, const std::vector<std::size_t>& metrics) {
  line.number(static_cast<std::int64_t>(row.index));
  line.number(row.step);
  line.number(row.rank);
  line.text(row.name);
  line.text(row.target ? row.target->name : "");
  line.text(dump::to_text(row.kind));
  line.text(row.layer);
  line.text(row.module);
  line.text(row.op);
  line.counted(row.call);
  line.counted(row.execution_index);
  line.text(dump::to_text(row.phase));
  line.text(dump::to_text(row.direction));
  line.text(row.slot);
  line.text(row.source);
  line.text(to_text(row.verdict));
  line.text(row.why);
  line.text(row.code);
  line.maybe(row.error);
  line.maybe(row.threshold);
  line.text(row.threshold_from);
  line.maybe(row.origin);
  write_side(line, row.reference);
  write_side(line, row.target);
  for (const auto i : metrics) i < row.metrics.size() ? line.value(row.metrics[i]) : line.nothing();
}

/// A metric must not be taken for a fixed column of the same name.
std::string title_of(const Column& column) {
  const bool taken = std::find(fixed.begin(), fixed.end(), column.name) != fixed.end();
  return taken ? "metrics." + column.name : column.name;
}

}  // namespace

void write_csv(const Report& report, std::ostream& out) {
  out << byte_order_mark;
  Line line;
  for (const auto title : fixed) line.text(title);
  std::vector<std::size_t> metrics;
  for (std::size_t i = 0; i < report.columns.size(); ++i) {
    if (report.columns[i].hidden) continue;
    metrics.push_back(i);
    line.text(title_of(report.columns[i]));
  }
  line.write(out);
  for (const auto& row : report.rows) {
    write_row(line, row, metrics);
    line.write(out);
  }
}

}  // namespace msprobe::report
