/// Text from a plugin or a damaged file, before it is shown to anyone.
#pragma once
#include <string>
#include <string_view>

namespace msprobe::plugin {

/// UTF-8 without control characters.
bool is_plain_text(std::string_view text);

/// The same text with '?' for every byte that would not be plain.
std::string as_plain_text(std::string_view text);

}  // namespace msprobe::plugin
