#include "base/glob.h"

namespace msprobe {

bool glob_matches(std::string_view pattern, std::string_view text) {
  // Greedy with one way back: the last star may always take one more character.
  std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool layer_matches(std::string_view pattern, std::string_view name) {
  if (glob_matches(pattern, name)) return true;
  for (std::size_t i = 0; i < name.size(); ++i)
    if ((name[i] == '.' || name[i] == '/') && glob_matches(pattern, name.substr(i + 1))) return true;
  return false;
}

}  // namespace msprobe
