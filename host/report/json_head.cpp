#include "report/json_head.h"

#include <string_view>

namespace msprobe::report {
namespace {

using namespace result;

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
  write_json_place(json, row);
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

}  // namespace

void write_json_place(JsonStream& json, const Row& row) {
  json.text_or_null("phase", dump::to_text(row.phase));
  json.text_or_null("direction", dump::to_text(row.direction));
  json.text_or_null("slot", row.slot);
}

void write_json_findings(JsonStream& json, const Report& report) {
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

void write_json_head(JsonStream& json, const Report& report) {
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
}

}  // namespace msprobe::report
