#include "cli/wrap.h"

#include <algorithm>

namespace msprobe::cli {
namespace {

bool is_wide(char first_byte) {
  return static_cast<unsigned char>(first_byte) >= 0xE0;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  const std::string margin(indent, ' ');
  std::string out = margin;
  std::size_t column = indent;
  bool space = false;  // seen since the last word
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      space = true;
      ++i;
      continue;
    }
    std::size_t end = is_wide(text[i]) ? std::min(i + 3, text.size()) : i;
    while (end < text.size() && !is_wide(text[i]) && text[end] != ' ' && !is_wide(text[end])) ++end;
    const std::size_t cells = is_wide(text[i]) ? 2 : end - i;
    if (column + space + cells > width && column > indent) {
      out += '\n' + margin;
      column = indent;
    } else if (space && column > indent) {
      out += ' ';
      ++column;
    }
    out += text.substr(i, end - i);
    column += cells;
    space = false;
    i = end;
  }
  return out;
}

}  // namespace msprobe::cli
