/// Every error code with its long form, in English and Chinese. `msprobe explain CODE` and docs/errors.md are views of it.
#pragma once
#include <span>
#include <string_view>

namespace msprobe {

struct ErrorEntry {
  std::string_view code;
  std::string_view title, explanation;        ///< English
  std::string_view title_zh, explanation_zh;  ///< Chinese
};

std::span<const ErrorEntry> error_catalogue();

/// nullptr for an unknown code.
const ErrorEntry* find_error(std::string_view code);

}  // namespace msprobe
