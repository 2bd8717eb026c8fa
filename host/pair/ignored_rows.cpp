#include "pair/ignored_rows.h"

#include <array>
#include <charconv>

namespace msprobe::pair {
namespace {

using dump::Direction;

constexpr std::string_view uninitialised = "uninitialised memory";
constexpr std::string_view overwritten = "overwritten by the call";
constexpr std::string_view receive_buffer = "receive buffer before the call";
constexpr std::string_view auxiliary = "auxiliary output of fused attention";

// Operators whose memory is not theirs to answer for. Sources: documentation of torch.empty and of the in-place fills,
// torch.distributed (output buffers come as arguments), torch_npu.npu_fusion_attention (outputs 3 and up: reserved,
// seed, offset, mask length), and aten::_scaled_dot_product_flash_attention (outputs 2 to 8: lengths, random state,
// debug mask).
constexpr std::array table{
    IgnoredRow{"empty", Direction::output, "*", uninitialised},
    IgnoredRow{"empty_like", Direction::output, "*", uninitialised},
    IgnoredRow{"empty_strided", Direction::output, "*", uninitialised},
    IgnoredRow{"empty_with_format", Direction::output, "*", uninitialised},
    IgnoredRow{"new_empty", Direction::output, "*", uninitialised},
    IgnoredRow{"new_empty_strided", Direction::output, "*", uninitialised},
    IgnoredRow{"__setitem__", Direction::output, "*", "the operator returns nothing"},
    IgnoredRow{"zero_", Direction::input, "0", overwritten},
    IgnoredRow{"fill_", Direction::input, "0", overwritten},
    IgnoredRow{"copy_", Direction::input, "0", overwritten},
    IgnoredRow{"normal_", Direction::input, "0", overwritten},
    IgnoredRow{"uniform_", Direction::input, "0", overwritten},
    IgnoredRow{"_all_gather_base", Direction::input, "0", receive_buffer},
    IgnoredRow{"all_gather_into_tensor", Direction::input, "0", receive_buffer},
    IgnoredRow{"all_gather", Direction::input, "0", receive_buffer},
    IgnoredRow{"_reduce_scatter_base", Direction::input, "0", receive_buffer},
    IgnoredRow{"reduce_scatter_tensor", Direction::input, "0", receive_buffer},
    IgnoredRow{"reduce_scatter", Direction::input, "0", receive_buffer},
    IgnoredRow{"all_to_all_single", Direction::input, "0", receive_buffer},
    IgnoredRow{"all_to_all", Direction::input, "0", receive_buffer},
    IgnoredRow{"recv", Direction::input, "0", receive_buffer},
    IgnoredRow{"irecv", Direction::input, "0", receive_buffer},
    IgnoredRow{"batch_isend_irecv", Direction::input, "*", receive_buffer},
    IgnoredRow{"npu_fusion_attention", Direction::output, "3-", auxiliary},
    IgnoredRow{"_scaled_dot_product_flash_attention", Direction::output, "2-", auxiliary},
};

/// `slot` may be nested ("0.1"): its first position counts.
bool covers(std::string_view slots, std::string_view slot) {
  if (slots == "*") return true;
  const std::string_view first = slot.substr(0, slot.find('.'));
  if (slots.back() != '-') return first == slots;
  int from = 0, position = -1;
  std::from_chars(slots.data(), slots.data() + slots.size() - 1, from);
  std::from_chars(first.data(), first.data() + first.size(), position);
  return position >= from;
}

}  // namespace

std::span<const IgnoredRow> ignored_rows() {
  return table;
}

std::string_view ignored_reason(const dump::Tensor& tensor) {
  // Scalars are arguments, never memory; backward calls of these operators return real gradients.
  if (tensor.kind == dump::Kind::scalar) return tensor.ignored_scalar ? "a device or a path" : "";
  if (tensor.phase != dump::Phase::forward) return "";
  for (const IgnoredRow& row : table)
    if (tensor.op == row.op && tensor.direction == row.direction && covers(row.slots, tensor.slot)) return row.reason;
  return "";
}

}  // namespace msprobe::pair
