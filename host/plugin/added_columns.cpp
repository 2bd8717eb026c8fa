#include "plugin/added_columns.h"

#include <algorithm>
#include <numeric>

namespace msprobe::plugin {

void sort_added_columns(std::vector<result::Column>& columns, std::size_t declared, std::size_t known,
                        std::vector<result::Row>& rows) {
  std::vector<std::size_t> from(columns.size());
  std::iota(from.begin(), from.end(), std::size_t{0});
  const auto at = [&](std::size_t i) { return from.begin() + static_cast<std::ptrdiff_t>(i); };
  std::sort(at(declared), at(known), [&](std::size_t a, std::size_t b) { return columns[a].name < columns[b].name; });
  if (std::is_sorted(from.begin(), from.end())) return;
  const std::vector<result::Column> before = columns;
  for (std::size_t i = declared; i < known; ++i) columns[i] = before[from[i]];
  for (result::Row& row : rows) {
    if (row.metrics.size() <= declared) continue;
    row.metrics.resize(columns.size());
    const auto metrics = row.metrics;
    for (std::size_t i = declared; i < known; ++i) row.metrics[i] = metrics[from[i]];
  }
}

}  // namespace msprobe::plugin
