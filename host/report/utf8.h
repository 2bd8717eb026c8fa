/// UTF-8 texts of dumps (names, paths, messages): they are data of others and may be anything.
#pragma once
#include <string>
#include <string_view>

namespace msprobe::report {

constexpr char32_t replacement = 0xFFFD;

/// Takes the first code point off `text` (not empty). An invalid byte is taken alone and gives `replacement`.
char32_t take_code_point(std::string_view& text);
void append_utf8(std::string& out, char32_t code);

/// The same text with each invalid byte replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace msprobe::report
