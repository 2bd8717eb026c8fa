#include "report/json_stream.h"

#include <charconv>
#include <cmath>
#include <ostream>

#include "report/numbers.h"
#include "report/utf8.h"

namespace msprobe::report {
namespace {

constexpr std::size_t flush_at = 1 << 16;

void append_escape(std::string& out, char32_t code) {
  constexpr char digits[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += digits[code >> shift & 0xF];
}

bool is_plain(unsigned char byte, bool inside_html) {
  if (byte < 0x20 || byte >= 0x7F || byte == '"' || byte == '\\') return false;
  return !inside_html || (byte != '<' && byte != '>' && byte != '&');
}

void append_special(std::string& out, char32_t code, bool inside_html) {
  switch (code) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      break;
  }
  const bool line_separator = code == 0x2028 || code == 0x2029;
  if (code < 0x80 || (inside_html && line_separator)) {
    append_escape(out, code);
  } else {
    append_utf8(out, code);
  }
}

}  // namespace

void append_json_text(std::string& out, std::string_view text, bool inside_html) {
  out += '"';
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(static_cast<unsigned char>(text[plain]), inside_html)) ++plain;
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (!text.empty()) append_special(out, take_code_point(text), inside_html);
  }
  out += '"';
}

void JsonStream::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!filled_.empty()) {
    if (filled_.back()) buffer_ += line_ ? "," : ", ";
    filled_.back() = true;
  }
  if (line_) buffer_ += '\n';
  line_ = false;
  if (buffer_.size() >= flush_at) flush();
}

void JsonStream::open(char bracket) {
  separate();
  buffer_ += bracket;
  filled_.push_back(false);
}

void JsonStream::close(char bracket) {
  if (line_) buffer_ += '\n';
  line_ = false;
  filled_.pop_back();
  buffer_ += bracket;
}

void JsonStream::key(std::string_view name) {
  separate();
  append_json_text(buffer_, name, inside_html_);
  buffer_ += ": ";
  after_key_ = true;
}

void JsonStream::quoted_key(std::string_view name) {
  separate();
  buffer_.append(name);
  buffer_ += ": ";
  after_key_ = true;
}

void JsonStream::null() {
  raw("null");
}

void JsonStream::value(bool truth) {
  raw(truth ? "true" : "false");
}

void JsonStream::value(double number) {
  separate();
  const bool text = !std::isfinite(number);
  if (text) buffer_ += '"';
  append_exact(buffer_, number);
  if (text) buffer_ += '"';
}

void JsonStream::value(std::int64_t number) {
  char text[24];
  raw({text, std::to_chars(text, text + sizeof text, number).ptr});
}

void JsonStream::value(std::uint64_t number) {
  char text[24];
  raw({text, std::to_chars(text, text + sizeof text, number).ptr});
}

void JsonStream::value(std::string_view text) {
  separate();
  append_json_text(buffer_, text, inside_html_);
}

void JsonStream::value(const result::Value& content) {
  std::visit(
      [this](const auto& it) {
        using T = std::decay_t<decltype(it)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          null();
        } else if constexpr (std::is_same_v<T, std::string>) {
          value(std::string_view(it));
        } else {
          value(it);
        }
      },
      content);
}

void JsonStream::raw(std::string_view json) {
  separate();
  buffer_.append(json);
}

void JsonStream::text_or_null(std::string_view name, std::string_view text) {
  key(name);
  text.empty() ? null() : value(text);
}

void JsonStream::flush() {
  out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
}

}  // namespace msprobe::report
