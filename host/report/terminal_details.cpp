#include <array>
#include <ostream>

#include "report/numbers.h"
#include "report/terminal_parts.h"
#include "report/text_layout.h"

namespace msprobe::report {
namespace {

using namespace result;

std::string exact_text(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return exact(*number);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return visible(*text);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  return "null";
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string side_text(const Terminal& terminal, const std::optional<Side>& side, const Row& row) {
  if (!side) return terminal.say("not there", "不存在");
  constexpr std::array<const char*, MSP_STAT_COUNT> names = {"max", "min", "mean", "norm"};
  std::string text = visible(side->dtype);
  if (side->shape) text += fmt::format(" {}", shape_text(*side->shape));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (side->statistics.mask >> i & 1) text += fmt::format("  {}: {}", names[i], exact(side->statistics.value[i]));
  }
  if (!side->checksum.empty()) text += fmt::format("  {}", visible(side->checksum));
  if (!side->scalar.empty()) text += fmt::format("  {}", visible(side->scalar));
  if (side->name != row.name) text += fmt::format("  {}", visible(side->name));
  return text;
}

void write_row(const Terminal& terminal, const Row& row) {
  const auto& say = terminal.say;
  auto& out = terminal.out;
  const auto field = [&](std::string_view label, const std::string& text) {
    if (!text.empty()) out << "    " << label << ": " << text << '\n';
  };
  out << '#' << row.index << ' ' << terminal.paint.as(row.verdict, verdict_word(say, row.verdict)) << "  "
      << visible(row.name) << '\n';
  field("step", fmt::format("{}  rank: {}  kind: {}", row.step, row.rank, dump::to_text(row.kind)));
  field("source", visible(row.source));
  field("why", row.code.empty() ? visible(row.why) : visible(row.code) + " " + visible(row.why));
  field("reference", side_text(terminal, row.reference, row));
  field("target", side_text(terminal, row.target, row));
  std::vector<std::string> parts;
  parts.push_back("error: " + (row.error ? exact(*row.error) : "null"));
  parts.push_back("threshold: " + (row.threshold ? exact(*row.threshold) : "null") +
                  (row.threshold_from.empty() ? "" : " (" + visible(row.threshold_from) + ")"));
  if (row.origin) parts.push_back(*row.origin ? "origin: true" : "origin: false");
  const auto& columns = terminal.report.columns;
  for (std::size_t i = 0; i < columns.size() && i < row.metrics.size(); ++i) {
    const bool there = !std::holds_alternative<std::monostate>(row.metrics[i]);
    if (there && !columns[i].hidden) parts.push_back(visible(columns[i].name) + ": " + exact_text(row.metrics[i]));
  }
  for (const auto& line : flow(parts, terminal.options.width - 4, 0)) out << "    " << line << '\n';
}

}  // namespace

void write_details(const Terminal& terminal) {
  for (const auto& row : terminal.report.rows) write_row(terminal, row);
}

}  // namespace msprobe::report
