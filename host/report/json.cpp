#include <array>
#include <ostream>

#include "report/json_head.h"
#include "report/json_stream.h"
#include "report/writers.h"

namespace msprobe::report {
namespace {

using namespace result;

constexpr std::string_view schema = "msprobe.report/1";

void number_or_null(JsonStream& json, std::string_view name, std::int64_t number) {
  json.key(name);
  number < 0 ? json.null() : json.value(number);
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

/// With several modes at once: what each says.
void write_analyzers(JsonStream& json, const Row& row) {
  if (row.analyzers.empty()) return;
  json.key("analyzers");
  json.begin_object();
  for (const auto& judgement : row.analyzers) {
    json.key(judgement.analyzer);
    json.begin_object();
    json.member("verdict", to_text(judgement.verdict));
    json.text_or_null("why", judgement.why);
    json.text_or_null("code", judgement.code);
    json.member("threshold", judgement.threshold);
    json.member("error", judgement.error);
    json.end_object();
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
  write_json_place(json, row);
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
  write_analyzers(json, row);
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

}  // namespace

void write_json(const Report& report, std::ostream& out) {
  {
    JsonStream json(out);
    json.begin_object();
    json.member("schema", schema);
    write_json_head(json, report);
    write_rows(json, report);
    write_json_findings(json, report);
    json.end_object();
  }
  out << '\n';
}

}  // namespace msprobe::report
