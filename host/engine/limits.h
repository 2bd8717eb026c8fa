/// Limits of single layers, from a file: pattern, metric, limit; the first match wins.
#pragma once
#include <string>
#include <vector>

#include "engine/result.h"

namespace msprobe::engine {

struct Limit {
  std::string pattern;  ///< glob of the layer (base/glob.h)
  std::string metric;   ///< a column, or "error": then it takes the place of the row's threshold
  double limit = 0;
  std::string source;  ///< "limits.json rule 3"
};

/// JSON: [{"layer": "conv*", "metric": "rel_l2", "limit": 1e-3}, ...]; metric is "error" when absent. Throws Error
/// E6003.
std::vector<Limit> read_limits(const std::string& path);

/// The first rule for this row's layer, or the module around it, and this metric; nullptr: none.
const Limit* find_limit(const std::vector<Limit>& limits, const result::Row& row, std::string_view metric);

/// A warning for each rule whose pattern matches no row.
std::vector<result::Finding> unused_limits(const std::vector<Limit>& limits, const std::vector<result::Row>& rows);

/// Throws Error E6003 when a rule names a metric that is no numeric column of the analyzer.
void check_limits(const std::vector<Limit>& limits, const std::vector<result::Column>& columns);

/// Fails a row that was judged and whose metric is beyond its limit (above, or below where smaller is worse).
void apply_limits(const std::vector<Limit>& limits, const std::vector<result::Column>& columns, result::Row& row);

}  // namespace msprobe::engine
