/// Texts of dumps in a terminal: how wide they are, and how they are made harmless and short.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace msprobe::report {

/// Columns of a terminal: 2 for Chinese characters, 0 for combining marks.
unsigned width_of(std::string_view text);

/// Control characters, line breaks and marks that turn the direction of writing, made visible: "\n", "\x1b", "\u202e".
/// Nothing that comes from a dump may move the cursor.
std::string visible(std::string_view text);

/// At most `width` columns, both ends kept: "Module.enc...ln2.LayerNorm".
std::string shorten_middle(std::string_view text, unsigned width);

std::string pad_right(std::string_view text, unsigned width);
std::string pad_left(std::string_view text, unsigned width);

/// Words wrapped at `width`; a single longer word gets a line of its own. Chinese text breaks between characters.
std::vector<std::string> wrap(std::string_view text, unsigned width);

}  // namespace msprobe::report
