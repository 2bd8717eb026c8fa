/// Globs of layer names, as dump_config.json and threshold files use them.
#pragma once
#include <string_view>

namespace msprobe {

/// `*` (any text, separators too) and `?` (one character) against the whole text.
bool glob_matches(std::string_view pattern, std::string_view text);

/// The same on the full name and on every suffix after a '.' or '/': "conv*" finds "layer1.conv2".
bool layer_matches(std::string_view pattern, std::string_view name);

}  // namespace msprobe
