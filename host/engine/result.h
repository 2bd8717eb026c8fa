/// The one result model. Every output format is a view of it; the JSON form (docs/report-schema.md) is its full one.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "dump/tensor.h"

namespace msprobe::result {

/// Null, number, integer, truth value or text. Non-finite numbers are kept as such.
using Value = std::variant<std::monostate, double, std::int64_t, bool, std::string>;

enum class ColumnType : std::uint8_t {
  f64 = MSP_TYPE_F64,
  i64 = MSP_TYPE_I64,
  text = MSP_TYPE_TEXT,
  boolean = MSP_TYPE_BOOL
};

/// Declared by the analyzer; reports show any analyzer's columns without knowing it.
struct Column {
  std::string name;
  ColumnType type = ColumnType::f64;
  std::string doc;
  int direction = 0;  ///< 1 larger is worse, -1 smaller is worse, 0 neither
  bool hidden = false;
};

enum class Verdict : std::uint8_t { pass = MSP_PASS, warn = MSP_WARN, fail = MSP_FAIL, skip = MSP_SKIP, error };
constexpr std::string_view to_text(Verdict verdict) {
  constexpr std::string_view names[] = {"pass", "warn", "fail", "skip", "error"};
  return names[static_cast<std::size_t>(verdict)];
}

/// One side of a row, as its dump describes it.
struct Side {
  std::string name;   ///< full name on this side
  std::string dtype;  ///< "f32"; the dump's own word where we have none
  std::optional<std::vector<std::int64_t>> shape;
  dump::Statistics statistics;
  std::string checksum;  ///< "crc32:0f3a..."; empty: none
  std::string scalar;    ///< "float 1e-05"; empty: not a scalar
};

/// What one of several analyzers says of a row.
struct Judgement {
  std::string analyzer;
  Verdict verdict = Verdict::skip;
  std::string why, code;
  std::optional<double> error, threshold;
};

struct Row {
  std::uint64_t index = 0;
  std::int64_t step = 0, rank = 0, call = -1, execution_index = -1;
  std::string name, call_name, layer, module, op, slot, source;
  dump::Kind kind = dump::Kind::tensor;
  dump::Phase phase = dump::Phase::none;
  dump::Direction direction = dump::Direction::none;
  std::optional<Side> reference, target;
  Verdict verdict = Verdict::skip;
  std::string why;
  std::string code;  ///< "E4002" with verdict error
  std::optional<double> threshold;
  std::string threshold_from;  ///< "auto: bf16 upstream", "--error-threshold"
  std::optional<double> error;
  std::optional<bool> origin;        ///< failing rows: born here, passed on, or not to be told (null)
  std::vector<Judgement> analyzers;  ///< with several modes at once, in their order; else empty
  std::vector<Value> metrics;        ///< by Report::columns; may be shorter: the rest is null
};

struct Finding {
  Verdict level = Verdict::pass;  ///< fail, warn, or pass for plain information
  std::string code;               ///< stable key: "precondition.weights", "origin", "incomplete"
  std::string text, text_zh;      ///< one or two sentences; text_zh may be empty
  std::vector<std::uint64_t> rows;
};

struct Summary {
  bool passed = false;
  std::optional<double> max_error;
  std::uint64_t compared = 0, pass = 0, warn = 0, fail = 0, error = 0, skip = 0;
  std::uint64_t unmatched_reference = 0, unmatched_target = 0;
  bool incomplete = false;                 ///< a dump was cut off, rows are unmatched or unreadable
  bool partial = false;                    ///< interrupted: the rows after this were not compared
  std::optional<std::uint64_t> first_bad;  ///< index of the row
};

struct Input {
  std::string path, tool, task, level, framework;
  std::uint64_t tensors = 0, bytes_read = 0;
  bool incomplete = false;
  std::vector<std::string> notes;
};

struct Report {
  std::string version, mode;
  std::vector<std::string> command;
  std::string started;  ///< UTC, "2026-12-01T12:00:00Z"
  double seconds = 0;   ///< wall time of the run
  Input reference, target;
  std::vector<std::pair<std::string, Value>> options;  ///< what the verdicts depend on
  std::vector<Column> columns;
  Summary summary;
  std::vector<Row> rows;
  std::vector<Finding> findings;
};

}  // namespace msprobe::result
