#include "report/numbers.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace msprobe::report {

void append_exact(std::string& out, double value) {
  if (value == 0 && std::signbit(value)) {
    out += "-0.0";  // "-0" is read back as an integer, which has no sign
  } else if (std::isfinite(value)) {
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    out.append(text.data(), end);
  } else {
    out += std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  }
}

std::string exact(double value) {
  std::string out;
  append_exact(out, value);
  return out;
}

std::string brief(double value, int digits) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const double size = std::abs(value);
  // A cosine of 0.99999 must not look perfect: seven digits there, cut and not rounded.
  if (size < 1 && size > 0.99) {
    const auto cut = fmt::format("{:.7f}", std::trunc(size * 1e7) / 1e7);
    const auto last = cut.find_last_not_of('0');
    return fmt::format("{}{}", value < 0 ? "-" : "", std::string_view(cut).substr(0, last + 1));
  }
  if (size >= 1e3 && size < 1e7 && std::trunc(value) == value) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}g}", value, digits);
}

TwoNumbers brief_pair(double first, double second) {
  for (int digits = 3; digits < 17; ++digits) {
    TwoNumbers texts{brief(first, digits), brief(second, digits)};
    if (texts.first != texts.second || first == second) return texts;
  }
  return {exact(first), exact(second)};
}

std::string grouped(unsigned long long count) {
  auto text = std::to_string(count);
  for (auto at = static_cast<long>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

}  // namespace msprobe::report
