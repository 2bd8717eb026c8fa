#include "report/csv_cell.h"

#include <charconv>

#include "report/utf8.h"

namespace msprobe::report {
namespace {

/// What spreadsheets drop before they look at the first character.
bool is_skipped(char32_t code) {
  switch (code) {
    case ' ':
    case '"':
    case '\'':
    case 0xA0:
    case 0x3000:
    case 0xFEFF:
      return true;
    default:
      return code >= 0x2000 && code <= 0x200F;
  }
}

bool starts_formula(char32_t code) {
  switch (code) {
    case '=':
    case '+':
    case '-':
    case '@':
    case '\t':
    case '\r':
    case '\n':
    case 0xFF1D:  // fullwidth = + - @
    case 0xFF0B:
    case 0xFF0D:
    case 0xFF20:
      return true;
    default:
      return false;
  }
}

bool is_plain_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // from_chars also takes "-inf" and "-nan(...)", which a spreadsheet does not.
  return error == std::errc() && end == text.data() + text.size() &&
         text.find_first_not_of("+-.0123456789eE") == text.npos;
}

bool needs_quotes(std::string_view text) {
  // Semicolon and tab separate cells in the spreadsheets of some countries.
  return text.find_first_of(",;\t\r\n\"") != text.npos || text.starts_with(' ') || text.ends_with(' ');
}

}  // namespace

bool looks_like_formula(std::string_view text) {
  const bool number = is_plain_number(text);
  while (!number && !text.empty()) {
    const auto code = take_code_point(text);
    if (starts_formula(code)) return true;
    if (!is_skipped(code)) return false;
  }
  return false;
}

void append_csv_text(std::string& out, std::string_view raw) {
  std::string text = valid_utf8(raw);
  if (looks_like_formula(text)) text.insert(0, 1, '\'');
  if (!needs_quotes(text)) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace msprobe::report
