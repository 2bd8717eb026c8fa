/// Rows that say nothing: memory that the operator has not written yet, or that nobody reads. docs/ignored-rows.md
/// shows the table.
#pragma once
#include <span>
#include <string_view>

#include "dump/tensor.h"

namespace msprobe::pair {

struct IgnoredRow {
  std::string_view op;  ///< name of the operator
  dump::Direction direction;
  std::string_view slots;  ///< positions with commas, a range as "3-"; "*": all
  std::string_view reason;
};

std::span<const IgnoredRow> ignored_rows();

/// Empty when the row is worth judging.
std::string_view ignored_reason(const dump::Tensor& tensor);

}  // namespace msprobe::pair
