#include "report/utf8.h"

namespace msprobe::report {
namespace {

struct Form {
  unsigned extra;         ///< continuation bytes
  char32_t bits, lowest;  ///< payload of the first byte; what shorter forms can say is invalid here
};

bool form_of(unsigned char first, Form& form) {
  if (first >= 0xC2 && first <= 0xDF) {
    form = {1, static_cast<char32_t>(first & 0x1F), 0x80};
  } else if (first >= 0xE0 && first <= 0xEF) {
    form = {2, static_cast<char32_t>(first & 0x0F), 0x800};
  } else if (first >= 0xF0 && first <= 0xF4) {
    form = {3, static_cast<char32_t>(first & 0x07), 0x10000};
  } else {
    return false;
  }
  return true;
}

}  // namespace

char32_t take_code_point(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  Form form{};
  if (first < 0x80 || !form_of(first, form) || text.size() <= form.extra) {
    text.remove_prefix(1);
    return first < 0x80 ? first : replacement;
  }
  char32_t code = form.bits;
  for (unsigned i = 1; i <= form.extra; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) {
      text.remove_prefix(1);
      return replacement;
    }
    code = code << 6 | (byte & 0x3F);
  }
  if (code < form.lowest || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
    text.remove_prefix(1);
    return replacement;
  }
  text.remove_prefix(form.extra + 1);
  return code;
}

void append_utf8(std::string& out, char32_t code) {
  const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    tail(12), tail(6), tail(0);
  }
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) append_utf8(out, take_code_point(text));
  return out;
}

}  // namespace msprobe::report
