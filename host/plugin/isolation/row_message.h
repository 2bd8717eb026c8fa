/// Rows, columns and findings as messages.
#pragma once
#include "base/error.h"
#include "plugin/isolation/message.h"

namespace msprobe::plugin {

enum class Request : std::uint8_t { analyze, finish };
enum class Reply : std::uint8_t { done, failed, cancelled };

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
  const auto verdict = in.get<std::uint8_t>();
  if (verdict > static_cast<std::uint8_t>(result::Verdict::error))
    throw std::runtime_error("a verdict of a worker makes no sense");
  row.verdict = static_cast<result::Verdict>(verdict);
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
  column.type = static_cast<result::ColumnType>(in.get<std::uint8_t>());
  column.direction = in.get<std::int32_t>();
  column.hidden = in.get<std::uint8_t>() != 0;
  return column;
}

}  // namespace msprobe::plugin
