/// Text in lines of a given width.
#pragma once
#include <string>
#include <string_view>

namespace msprobe::cli {

/// Breaks at spaces; each line begins with `indent` spaces, the first too. Chinese text has no spaces and counts two
/// columns a character, so it is broken anywhere.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

}  // namespace msprobe::cli
