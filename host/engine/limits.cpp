#include "engine/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/glob.h"
#include "base/nearest.h"

namespace msprobe::engine {
namespace {

[[noreturn]] void bad(const std::string& what, const std::string& where) {
  throw Error("E6003", what, where, R"(write a list of {"layer": "conv*", "metric": "error", "limit": 1e-3})");
}

Limit read_rule(const nlohmann::json& rule, const std::string& where) {
  if (!rule.is_object()) bad("a rule is not an object", where);
  static const std::vector<std::string> known{"layer", "metric", "limit"};
  for (const auto& [key, value] : rule.items())
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      const auto near = nearest(key, known, 1);
      bad(fmt::format("unknown key '{}'{}", key, near.empty() ? "" : fmt::format(" (do you mean '{}'?)", near[0])),
          where);
    }
  if (!rule.contains("layer") || !rule["layer"].is_string()) bad("a rule has no layer pattern", where);
  if (!rule.contains("limit") || !rule["limit"].is_number()) bad("a rule has no number as its limit", where);
  if (rule.contains("metric") && !rule["metric"].is_string()) bad("the metric of a rule is not a name", where);
  return {rule["layer"], rule.value("metric", "error"), rule["limit"], where};
}

/// NaN for what is null or no number: no limit holds it.
double number_of(const result::Value& value) {
  if (const double* number = std::get_if<double>(&value)) return *number;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::vector<Limit> read_limits(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown))
    bad("the threshold file is no regular file", path);  // a pipe would be waited for
  std::ifstream file(path);
  if (!file) throw Error("E1003", "the threshold file cannot be read", path, "check the path and its permissions");
  nlohmann::json rules;
  try {
    rules = nlohmann::json::parse(file);
  } catch (const nlohmann::json::exception& error) {
    bad("the threshold file is not JSON", fmt::format("{} ({})", path, error.what()));
  }
  if (!rules.is_array()) bad("the threshold file holds no list", path);
  std::vector<Limit> limits;
  for (const auto& rule : rules) limits.push_back(read_rule(rule, fmt::format("{} rule {}", path, limits.size() + 1)));
  return limits;
}

namespace {

bool matches(const Limit& limit, const result::Row& row) {
  return layer_matches(limit.pattern, row.layer) || (!row.module.empty() && layer_matches(limit.pattern, row.module));
}

}  // namespace

const Limit* find_limit(const std::vector<Limit>& limits, const result::Row& row, std::string_view metric) {
  for (const Limit& limit : limits)
    if (limit.metric == metric && matches(limit, row)) return &limit;
  return nullptr;
}

std::vector<result::Finding> unused_limits(const std::vector<Limit>& limits, const std::vector<result::Row>& rows) {
  std::vector<result::Finding> findings;
  for (const Limit& limit : limits)
    if (std::none_of(rows.begin(), rows.end(), [&](const result::Row& row) { return matches(limit, row); }))
      findings.push_back({result::Verdict::warn,
                          "limits.unused",
                          fmt::format("{} matches no layer: '{}'.", limit.source, limit.pattern),
                          fmt::format("{} 没有匹配任何层：“{}”。", limit.source, limit.pattern),
                          {}});
  return findings;
}

void check_limits(const std::vector<Limit>& limits, const std::vector<result::Column>& columns) {
  std::vector<std::string> names{"error"};
  for (const auto& column : columns)
    if (column.type == result::ColumnType::f64 || column.type == result::ColumnType::i64) names.push_back(column.name);
  for (const Limit& limit : limits) {
    if (std::find(names.begin(), names.end(), limit.metric) != names.end()) continue;
    const auto near = nearest(limit.metric, names, 1);
    throw Error("E6003", fmt::format("unknown metric '{}'", limit.metric), limit.source,
                near.empty() ? "see `msprobe plugins -v` for the columns" : fmt::format("do you mean '{}'?", near[0]));
  }
}

void apply_limits(const std::vector<Limit>& limits, const std::vector<result::Column>& columns, result::Row& row) {
  if (row.verdict == result::Verdict::skip || row.verdict == result::Verdict::error) return;
  for (std::size_t i = 0; i < columns.size() && i < row.metrics.size(); ++i) {
    const Limit* limit = find_limit(limits, row, columns[i].name);
    if (!limit) continue;
    const double value = number_of(row.metrics[i]);
    const bool holds = columns[i].direction < 0 ? value >= limit->limit : value <= limit->limit;
    if (holds || std::holds_alternative<std::monostate>(row.metrics[i])) continue;
    const auto text = fmt::format("{} {} {} {} ({})", columns[i].name, value, columns[i].direction < 0 ? "<" : ">",
                                  limit->limit, limit->source);
    row.why = row.verdict == result::Verdict::fail ? row.why + "; " + text : text;
    row.verdict = result::Verdict::fail;
  }
}

}  // namespace msprobe::engine
