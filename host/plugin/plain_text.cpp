#include "plugin/plain_text.h"

#include <cstdint>

namespace msprobe::plugin {
namespace {

/// Bytes of the character at the start of `text`; 0: none that may be shown.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t size = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (first < 0xc2 || size == 0 || text.size() < size) return 0;
  std::uint32_t code = first & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || code < 0xa0) return 0;
  return size;
}

}  // namespace

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = character(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string as_plain_text(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t size = character(text);
    if (size == 0)
      plain += '?';
    else
      plain += text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return plain;
}

}  // namespace msprobe::plugin
