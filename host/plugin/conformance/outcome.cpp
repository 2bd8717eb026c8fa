#include "plugin/conformance/outcome.h"

#include <fmt/format.h>

#include "engine/run.h"

namespace msprobe::plugin {
namespace {

std::string text_of(const std::optional<double>& number) {
  return number ? fmt::format("{:a}", *number) : "-";
}

std::string text_of(const result::Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{:a}", *number);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return "null";
}

bool fits(const result::Value& value, result::ColumnType type) {
  switch (value.index()) {
    case 1:
      return type == result::ColumnType::f64;
    case 2:
      return type == result::ColumnType::i64;
    case 3:
      return type == result::ColumnType::boolean;
    case 4:
      return type == result::ColumnType::text;
    default:
      return true;
  }
}

/// Dtypes without kernel are the host's matter, and sides of different shapes cannot be read as blocks; what is lost is
/// the analyzer's.
bool is_the_analyzers_fault(const result::Row& row) {
  if (row.verdict != result::Verdict::error || !row.code.starts_with("E50")) return false;
  return row.code != "E5008" || row.reference->shape == row.target->shape;
}

}  // namespace

Outcome run_over(const dump::Dump& reference, const dump::Dump& target, engine::Analysis& analysis, unsigned jobs,
                 const std::function<bool()>& cancelled) {
  engine::Options options;
  options.jobs = jobs;
  options.cancelled = cancelled;
  const auto report = engine::run(reference, target, pair::match(reference, target), analysis, options);
  Outcome outcome;
  outcome.partial = report.summary.partial;
  for (const auto& row : report.rows) {
    std::string line = fmt::format("{}: {} error {} threshold {} '{}'", row.name, result::to_text(row.verdict),
                                   text_of(row.error), text_of(row.threshold), row.why);
    for (std::size_t i = 0; i < row.metrics.size(); ++i) {
      const auto& column = report.columns.at(i);
      if (row.metrics[i].index() != 0) line += fmt::format(" {}={}", column.name, text_of(row.metrics[i]));
      if (!fits(row.metrics[i], column.type))
        outcome.mistyped.push_back(fmt::format("{}: {} = {}", row.name, column.name, text_of(row.metrics[i])));
    }
    outcome.rows.push_back(std::move(line));
    if (is_the_analyzers_fault(row)) outcome.failed.push_back(fmt::format("{}: {}: {}", row.name, row.code, row.why));
  }
  for (const auto& finding : report.findings)
    outcome.findings.push_back(fmt::format("{}: {}", finding.code, finding.text));
  return outcome;
}

namespace {

void put_lines(MessageWriter& out, const std::vector<std::string>& lines) {
  out.put<std::uint64_t>(lines.size());
  for (const std::string& line : lines) out.put(std::string_view(line));
}

std::vector<std::string> get_lines(MessageReader& in) {
  std::vector<std::string> lines(in.count());
  for (std::string& line : lines) line = in.text();
  return lines;
}

}  // namespace

void put_outcome(MessageWriter& out, const Outcome& outcome) {
  out.put<std::uint8_t>(outcome.partial);
  for (const auto* lines : {&outcome.rows, &outcome.findings, &outcome.failed, &outcome.mistyped, &outcome.complaints})
    put_lines(out, *lines);
}

Outcome get_outcome(MessageReader& in) {
  Outcome outcome;
  outcome.partial = in.get<std::uint8_t>() != 0;
  for (auto* lines : {&outcome.rows, &outcome.findings, &outcome.failed, &outcome.mistyped, &outcome.complaints})
    *lines = get_lines(in);
  return outcome;
}

}  // namespace msprobe::plugin
