/// Rows, columns and findings as messages.
#pragma once
#include "base/error.h"
#include "plugin/isolation/message.h"

namespace msprobe::plugin {

enum class Request : std::uint8_t { analyze, finish };
enum class Reply : std::uint8_t { done, failed, cancelled };

inline result::Verdict get_verdict(MessageReader& in) {
  const auto verdict = in.get<std::uint8_t>();
  if (verdict > static_cast<std::uint8_t>(result::Verdict::error)) throw BadMessage("it has no such verdict");
  return static_cast<result::Verdict>(verdict);
}

inline void put_error(MessageWriter& out, const Error& error) {
  out.put(std::string_view(error.code())).put(std::string_view(error.what_happened()));
  out.put(std::string_view(error.where())).put(std::string_view(error.what_to_do()));
}

inline Error get_error(MessageReader& in) {
  std::string code = in.text(), what = in.text(), where = in.text(), to_do = in.text();
  return {std::move(code), std::move(what), std::move(where), std::move(to_do)};
}

/// What an analyzer says of a row.
inline void put_judgement(MessageWriter& out, const result::Row& row) {
  out.put(static_cast<std::uint8_t>(row.verdict)).put(row.error).put(row.threshold);
  out.put(std::string_view(row.why)).put(std::string_view(row.threshold_from));
  out.put<std::uint64_t>(row.metrics.size());
  for (const auto& value : row.metrics) out.put(value);
}

inline void get_judgement(MessageReader& in, result::Row& row) {
  row.verdict = get_verdict(in);
  row.error = in.number();
  row.threshold = in.number();
  row.why = in.text();
  row.threshold_from = in.text();
  row.metrics.resize(in.count());
  for (auto& value : row.metrics) value = in.value();
}

inline void put_columns(MessageWriter& out, const std::vector<result::Column>& columns, std::size_t from) {
  out.put<std::uint64_t>(columns.size() - from);
  for (std::size_t i = from; i < columns.size(); ++i) {
    const auto& column = columns[i];
    out.put(std::string_view(column.name)).put(std::string_view(column.doc));
    out.put(static_cast<std::uint8_t>(column.type))
        .put<std::int32_t>(column.direction)
        .put<std::uint8_t>(column.hidden);
  }
}

inline result::Column get_column(MessageReader& in) {
  result::Column column;
  column.name = in.text();
  column.doc = in.text();
  const auto type = in.get<std::uint8_t>();
  if (type < MSP_TYPE_F64 || type > MSP_TYPE_BOOL) throw BadMessage("it has no such column type");
  column.type = static_cast<result::ColumnType>(type);
  column.direction = in.get<std::int32_t>();
  column.hidden = in.get<std::uint8_t>() != 0;
  return column;
}

/// Verdict and reason of the rows that `finish` changed.
inline void put_amended(MessageWriter& out, const std::vector<result::Row>& before,
                        const std::vector<result::Row>& after) {
  std::vector<std::size_t> amended;
  for (std::size_t i = 0; i < after.size(); ++i)
    if (after[i].verdict != before[i].verdict || after[i].why != before[i].why) amended.push_back(i);
  out.put<std::uint64_t>(amended.size());
  for (const std::size_t i : amended)
    out.put<std::uint64_t>(i).put(static_cast<std::uint8_t>(after[i].verdict)).put(std::string_view(after[i].why));
}

inline void get_amended(MessageReader& in, std::vector<result::Row>& rows) {
  for (auto left = in.count(); left > 0; --left) {
    const auto index = in.get<std::uint64_t>();
    if (index >= rows.size()) throw BadMessage("it has no such row");
    rows[index].verdict = get_verdict(in);
    rows[index].why = in.text();
  }
}

inline void put_findings(MessageWriter& out, const std::vector<result::Finding>& findings) {
  out.put<std::uint64_t>(findings.size());
  for (const auto& finding : findings) {
    out.put(static_cast<std::uint8_t>(finding.level));
    out.put(std::string_view(finding.code)).put(std::string_view(finding.text));
    out.put<std::uint64_t>(finding.rows.size());
    for (const auto row : finding.rows) out.put(row);
  }
}

inline void get_findings(MessageReader& in, std::uint64_t row_count, std::vector<result::Finding>& findings) {
  for (auto left = in.count(); left > 0; --left) {
    result::Finding finding;
    finding.level = get_verdict(in);
    finding.code = in.text();
    finding.text = in.text();
    finding.rows.resize(in.count());
    for (auto& row : finding.rows)
      if ((row = in.get<std::uint64_t>()) >= row_count) throw BadMessage("it has no such row");
    findings.push_back(std::move(finding));
  }
}

}  // namespace msprobe::plugin
