#include "report/text_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/utf8.h"

namespace msprobe::report {
namespace {

struct Range {
  char32_t first, last;
};

template <std::size_t n>
bool is_in(const std::array<Range, n>& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [&](Range r) { return code >= r.first && code <= r.last; });
}

/// Own tables and not wcwidth(): the result must not depend on the user's locale.
constexpr std::array<Range, 13> wide = {{{0x1100, 0x115F},
                                         {0x2E80, 0x303E},
                                         {0x3041, 0x33FF},
                                         {0x3400, 0x4DBF},
                                         {0x4E00, 0x9FFF},
                                         {0xA000, 0xA4CF},
                                         {0xAC00, 0xD7A3},
                                         {0xF900, 0xFAFF},
                                         {0xFE30, 0xFE6F},
                                         {0xFF01, 0xFF60},
                                         {0xFFE0, 0xFFE6},
                                         {0x1F300, 0x1FAFF},
                                         {0x20000, 0x3FFFD}}};
constexpr std::array<Range, 12> combining = {{{0x0300, 0x036F},
                                              {0x0483, 0x0489},
                                              {0x0591, 0x05BD},
                                              {0x064B, 0x065F},
                                              {0x093C, 0x094D},
                                              {0x0E31, 0x0E3A},
                                              {0x1AB0, 0x1AFF},
                                              {0x1DC0, 0x1DFF},
                                              {0x20D0, 0x20FF},
                                              {0x302A, 0x302D},
                                              {0xFE00, 0xFE0F},
                                              {0xFE20, 0xFE2F}}};
/// Invisible characters: zero width, line and paragraph ends, changes of the direction of writing.
constexpr std::array<Range, 8> hidden = {{{0x00AD, 0x00AD},
                                          {0x061C, 0x061C},
                                          {0x180E, 0x180E},
                                          {0x200B, 0x200F},
                                          {0x2028, 0x202E},
                                          {0x2060, 0x206F},
                                          {0xFEFF, 0xFEFF},
                                          {0xFFF9, 0xFFFB}}};

unsigned width_of(char32_t code) {
  if (code < 0x300) return 1;
  return is_in(combining, code) || is_in(hidden, code) ? 0 : is_in(wide, code) ? 2 : 1;
}

std::string escaped(char32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return code < 0x100 ? fmt::format("\\x{:02x}", code + 0U) : fmt::format("\\u{:04x}", code + 0U);
  }
}

struct Glyph {
  std::string_view bytes;
  unsigned width;
};

/// A base character with the combining marks that follow it: never cut apart.
std::vector<Glyph> glyphs_of(std::string_view text) {
  std::vector<Glyph> glyphs;
  while (!text.empty()) {
    auto rest = text;
    const auto width = width_of(take_code_point(rest));
    const auto size = text.size() - rest.size();
    if (width == 0 && !glyphs.empty()) {
      auto& last = glyphs.back().bytes;
      last = {last.data(), last.size() + size};
    } else {
      glyphs.push_back({text.substr(0, size), width});
    }
    text = rest;
  }
  return glyphs;
}

/// How many glyphs from `first` on fit into `width`.
template <class It>
It fit(It first, It last, unsigned width) {
  for (; first != last && first->width <= width; ++first) width -= first->width;
  return first;
}

}  // namespace

unsigned width_of(std::string_view text) {
  unsigned width = 0;
  while (!text.empty()) width += width_of(take_code_point(text));
  return width;
}

std::string visible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto code = take_code_point(text);
    const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    if (control || is_in(hidden, code)) {
      out += escaped(code);
    } else {
      append_utf8(out, code);
    }
  }
  return out;
}

std::string shorten_middle(std::string_view text, unsigned width) {
  constexpr std::string_view gap = "...";
  if (width_of(text) <= width) return std::string(text);
  if (width <= gap.size()) return std::string(gap.substr(0, width));
  const auto room = width - static_cast<unsigned>(gap.size());
  // The end of a name says which layer it is, the beginning only where: it gets the larger part.
  const auto glyphs = glyphs_of(text);
  const auto tail_first = fit(glyphs.rbegin(), glyphs.rend(), room - room * 2 / 5).base();
  const auto head_last = fit(glyphs.begin(), tail_first, room * 2 / 5);
  std::string out;
  for (auto it = glyphs.begin(); it != head_last; ++it) out.append(it->bytes);
  out.append(gap);
  for (auto it = tail_first; it != glyphs.end(); ++it) out.append(it->bytes);
  return out;
}

std::string pad_right(std::string_view text, unsigned width) {
  const auto used = width_of(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string pad_left(std::string_view text, unsigned width) {
  const auto used = width_of(text);
  return std::string(used < width ? width - used : 0, ' ') + std::string(text);
}

namespace {

/// What must stay on one line: a word, or one wide character.
std::vector<Glyph> pieces_of(std::string_view text) {
  std::vector<Glyph> pieces;
  bool joins = false;
  for (const auto& glyph : glyphs_of(text)) {
    const bool breaks = glyph.bytes == " " || glyph.width == 2;
    if (joins && !breaks) {
      auto& last = pieces.back();
      last = {{last.bytes.data(), last.bytes.size() + glyph.bytes.size()}, last.width + glyph.width};
    } else {
      pieces.push_back(glyph);
    }
    joins = !breaks;
  }
  return pieces;
}

}  // namespace

std::vector<std::string> wrap(std::string_view text, unsigned width) {
  std::vector<std::string> lines(1);
  unsigned used = 0;
  const auto trim = [&] { lines.back().erase(lines.back().find_last_not_of(' ') + 1); };
  for (const auto& piece : pieces_of(text)) {
    if (used > 0 && used + piece.width > width) {
      trim();
      lines.emplace_back();
      used = 0;
    }
    if (used == 0 && piece.bytes == " ") continue;
    lines.back().append(piece.bytes);
    used += piece.width;
  }
  trim();
  return lines;
}

}  // namespace msprobe::report
