/// Writes JSON piece by piece, so that a report of any size needs one small buffer.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"

namespace msprobe::report {

/// `inside_html`: also escapes < > & U+2028 U+2029, so that no name can end the script block it stands in.
void append_json_text(std::string& out, std::string_view text, bool inside_html = false);

class JsonStream {
 public:
  explicit JsonStream(std::ostream& out, bool inside_html = false) : out_(out), inside_html_(inside_html) {}
  ~JsonStream() { flush(); }
  JsonStream(const JsonStream&) = delete;
  JsonStream& operator=(const JsonStream&) = delete;

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  /// The next element starts on its own line: one row per line keeps reports readable for grep and diff.
  void new_line() { line_ = true; }

  void key(std::string_view name);
  /// A key that was quoted before (with append_json_text): rows repeat the same names many times.
  void quoted_key(std::string_view name);

  void null();
  void value(bool truth);
  void value(double number);  ///< not finite: as text
  void value(std::int64_t number);
  void value(std::uint64_t number);
  void value(std::string_view text);
  void value(const result::Value& value);
  void raw(std::string_view json);  ///< a complete value

  template <class T>
  void member(std::string_view name, const T& content) {
    key(name);
    value(content);
  }
  void member(std::string_view name, const char* text) { member(name, std::string_view(text)); }
  void member(std::string_view name, const std::string& text) { member(name, std::string_view(text)); }
  template <class T>
  void member(std::string_view name, const std::optional<T>& content) {
    key(name);
    content ? value(*content) : null();
  }
  /// Null when empty: what does not exist is null.
  void text_or_null(std::string_view name, std::string_view text);

  void flush();

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();  ///< comma and line break before an element

  std::ostream& out_;
  std::string buffer_;
  std::vector<bool> filled_;  ///< by depth: has an element, so that the next one needs a comma
  bool inside_html_;
  bool after_key_ = false, line_ = false;
};

}  // namespace msprobe::report
