#include "base/nearest.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace msprobe {
namespace {

/// Levenshtein distance, or `limit` + 1 as soon as it must be larger.
std::size_t edits(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference > limit) return limit + 1;
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i), best = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
      best = std::min(best, row[j]);
    }
    if (best > limit) return limit + 1;
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> nearest(std::string_view wanted, std::span<const std::string> names, std::size_t most) {
  std::vector<std::pair<std::size_t, std::size_t>> found;  // distance, position
  const std::size_t limit = std::max<std::size_t>(2, wanted.size() / 3);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t distance = edits(wanted, names[i], limit);
    if (distance <= limit) found.emplace_back(distance, i);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> result;
  for (const auto& [distance, i] : found)
    if (result.size() < most) result.push_back(names[i]);
  return result;
}

}  // namespace msprobe
