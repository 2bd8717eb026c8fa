/// Names of modes match without regard to case; '-' and '_' are the same.
#pragma once
#include <cctype>
#include <string>
#include <string_view>

namespace msprobe::plugin {

inline std::string normalized_mode(std::string_view name) {
  std::string result;
  for (const char c : name) result += c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace msprobe::plugin
