#include <array>
#include <ostream>

#include "report/json_stream.h"
#include "report/writers.h"

namespace msprobe::report {
namespace {

using namespace result;

constexpr std::string_view schema = "msprobe.report/1";

std::string_view to_text(ColumnType type) {
  switch (type) {
    case ColumnType::f64:
      return "f64";
    case ColumnType::i64:
      return "i64";
    case ColumnType::text:
      return "text";
    case ColumnType::boolean:
      return "bool";
  }
  return "text";
}

void number_or_null(JsonStream& json, std::string_view name, std::int64_t number) {
  json.key(name);
  number < 0 ? json.null() : json.value(number);
}

void text_list(JsonStream& json, std::string_view name, const std::vector<std::string>& texts) {
  json.key(name);
  json.begin_array();
  for (const auto& text : texts) json.value(std::string_view(text));
  json.end_array();
}

void write_input(JsonStream& json, std::string_view name, const Input& input) {
  json.new_line();
  json.key(name);
  json.begin_object();
  json.member("path", input.path);
  json.text_or_null("tool", input.tool);
  json.text_or_null("task", input.task);
  json.text_or_null("level", input.level);
  json.text_or_null("framework", input.framework);
  json.member("tensors", input.tensors);
  json.member("bytes_read", input.bytes_read);
  json.member("incomplete", input.incomplete);
  text_list(json, "notes", input.notes);
  json.end_object();
}

void write_columns(JsonStream& json, const Report& report) {
  json.key("columns");
  json.begin_array();
  for (const auto& column : report.columns) {
    if (column.hidden) continue;
    json.new_line();
    json.begin_object();
    json.member("name", column.name);
    json.member("type", to_text(column.type));
    json.member("doc", column.doc);
    json.member("direction", std::int64_t{column.direction});
    json.end_object();
  }
  json.new_line();
  json.end_array();
}

/// Where a row is, in the words a script needs to find the layer.
void write_place(JsonStream& json, const Row& row) {
  json.text_or_null("phase", dump::to_text(row.phase));
  json.text_or_null("direction", dump::to_text(row.direction));
  json.text_or_null("slot", row.slot);
}

void write_first_bad(JsonStream& json, const Report& report) {
  json.key("first_bad");
  const auto index = report.summary.first_bad;
  if (!index || *index >= report.rows.size()) return json.null();
  const auto& row = report.rows[*index];
  json.begin_object();
  json.member("index", row.index);
  json.member("step", row.step);
  json.member("rank", row.rank);
  json.member("layer", row.layer);
  write_place(json, row);
  json.member("origin", row.origin);
  json.member("name", row.name);
  json.text_or_null("source", row.source);
  json.member("error", row.error);
  json.member("threshold", row.threshold);
  json.end_object();
}

void write_summary(JsonStream& json, const Report& report) {
  const auto& summary = report.summary;
  json.new_line();
  json.key("summary");
  json.begin_object();
  json.member("passed", summary.passed);
  json.member("max_error", summary.max_error);
  json.member("compared", summary.compared);
  json.member("pass", summary.pass);
  json.member("warn", summary.warn);
  json.member("fail", summary.fail);
  json.member("error", summary.error);
  json.member("skip", summary.skip);
  json.member("unmatched_reference", summary.unmatched_reference);
  json.member("unmatched_target", summary.unmatched_target);
  json.member("incomplete", summary.incomplete);
  json.member("partial", summary.partial);
  write_first_bad(json, report);
  json.end_object();
}

void write_statistics(JsonStream& json, const dump::Statistics& statistics) {
  constexpr std::array<std::string_view, MSP_STAT_COUNT> names = {"max", "min", "mean", "norm"};
  json.key("statistics");
  if (statistics.mask == 0) return json.null();
  json.begin_object();
  for (std::size_t i = 0; i < names.size(); ++i) {
    json.key(names[i]);
    (statistics.mask >> i & 1) ? json.value(statistics.value[i]) : json.null();
  }
  json.end_object();
}

void write_side(JsonStream& json, std::string_view name, const std::optional<Side>& side) {
  json.key(name);
  if (!side) return json.null();
  json.begin_object();
  json.text_or_null("dtype", side->dtype);
  json.key("shape");
  if (side->shape) {
    json.begin_array();
    for (const auto extent : *side->shape) json.value(extent);
    json.end_array();
  } else {
    json.null();
  }
  json.member("name", side->name);
  write_statistics(json, side->statistics);
  json.text_or_null("checksum", side->checksum);
  json.text_or_null("scalar", side->scalar);
  json.end_object();
}

/// Names of the visible columns, quoted once.
struct MetricKeys {
  explicit MetricKeys(const std::vector<Column>& columns) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].hidden) continue;
      std::string quoted;
      append_json_text(quoted, columns[i].name);
      keys.emplace_back(i, std::move(quoted));
    }
  }
  std::vector<std::pair<std::size_t, std::string>> keys;
};

void write_metrics(JsonStream& json, const Row& row, const MetricKeys& columns) {
  json.key("metrics");
  json.begin_object();
  for (const auto& [index, key] : columns.keys) {
    json.quoted_key(key);
    index < row.metrics.size() ? json.value(row.metrics[index]) : json.null();
  }
  json.end_object();
}

void write_row(JsonStream& json, const Row& row, const MetricKeys& columns) {
  json.new_line();
  json.begin_object();
  json.member("index", row.index);
  json.member("step", row.step);
  json.member("rank", row.rank);
  json.member("name", row.name);
  json.member("kind", dump::to_text(row.kind));
  json.member("layer", row.layer);
  json.text_or_null("module", row.module);
  json.text_or_null("op", row.op);
  number_or_null(json, "call", row.call);
  json.text_or_null("call_name", row.call_name);
  number_or_null(json, "execution_index", row.execution_index);
  write_place(json, row);
  json.text_or_null("source", row.source);
  write_side(json, "reference", row.reference);
  write_side(json, "target", row.target);
  json.member("verdict", to_text(row.verdict));
  json.text_or_null("why", row.why);
  json.text_or_null("code", row.code);
  json.member("threshold", row.threshold);
  json.text_or_null("threshold_from", row.threshold_from);
  json.member("error", row.error);
  json.member("origin", row.origin);
  write_metrics(json, row, columns);
  json.end_object();
}

void write_rows(JsonStream& json, const Report& report) {
  const MetricKeys columns(report.columns);
  json.new_line();
  json.key("rows");
  json.begin_array();
  for (const auto& row : report.rows) write_row(json, row, columns);
  json.new_line();
  json.end_array();
}

void write_findings(JsonStream& json, const Report& report) {
  json.new_line();
  json.key("findings");
  json.begin_array();
  for (const auto& finding : report.findings) {
    json.new_line();
    json.begin_object();
    json.member("level", to_text(finding.level));
    json.text_or_null("code", finding.code);
    json.member("text", finding.text);
    json.text_or_null("text_zh", finding.text_zh);
    json.key("rows");
    json.begin_array();
    for (const auto row : finding.rows) json.value(row);
    json.end_array();
    json.end_object();
  }
  json.new_line();
  json.end_array();
}

}  // namespace

void write_json(const Report& report, std::ostream& out) {
  {
    JsonStream json(out);
    json.begin_object();
    json.member("schema", schema);
    json.member("msprobe", report.version);
    json.member("mode", report.mode);
    text_list(json, "command", report.command);
    json.member("started", report.started);
    json.member("seconds", report.seconds);
    json.new_line();
    json.key("inputs");
    json.begin_object();
    write_input(json, "reference", report.reference);
    write_input(json, "target", report.target);
    json.end_object();
    json.new_line();
    json.key("options");
    json.begin_object();
    for (const auto& [name, value] : report.options) json.member(name, value);
    json.end_object();
    json.new_line();
    write_columns(json, report);
    write_summary(json, report);
    write_rows(json, report);
    write_findings(json, report);
    json.end_object();
  }
  out << '\n';
}

}  // namespace msprobe::report
