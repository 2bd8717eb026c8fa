/// The files of html/, built into the program by page.cmake.
#pragma once
#include <string_view>
#include <vector>

namespace msprobe::report::page {

extern const std::string_view markup, style;
/// In the order in which they are to be put together.
extern const std::vector<std::string_view> scripts;

}  // namespace msprobe::report::page
