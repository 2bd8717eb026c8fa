/// Sizes of the ABI's growing structs in its first release: the least that is accepted, for ever. Numbers, not sizeof:
/// today's structs grow.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "msprobe/analyzer.h"

namespace msprobe::plugin {

inline constexpr std::uint32_t plugin_size_1_0 = 40, analyzer_size_1_0 = 88, field_size_1_0 = 40, block_size_1_0 = 40,
                               diff_options_size_1_0 = 40, diff_result_size_1_0 = 616;

/// No struct of this interface will ever be as large: beyond it a size is damaged.
inline constexpr std::uint32_t largest_struct = 65536;

static_assert(sizeof(msp_plugin) >= plugin_size_1_0 && sizeof(msp_analyzer) >= analyzer_size_1_0);
static_assert(sizeof(msp_field) >= field_size_1_0 && sizeof(msp_block) >= block_size_1_0);
static_assert(sizeof(msp_diff_options) >= diff_options_size_1_0 && sizeof(msp_diff_result) >= diff_result_size_1_0);

/// A struct that the other side made, as today's: what it does not have is zero.
template <class Struct>
Struct read_struct(const Struct& given) {
  Struct today{};
  std::memcpy(&today, &given, std::min<std::size_t>(given.struct_size, sizeof(Struct)));
  today.struct_size = sizeof(Struct);
  return today;
}

/// Fills a struct that the other side made, no further than it goes; its struct_size stays.
template <class Struct>
void write_struct(const Struct& today, Struct& given) {
  const std::uint32_t size = given.struct_size;
  std::memcpy(&given, &today, std::min<std::size_t>(size, sizeof(Struct)));
  given.struct_size = size;
}

}  // namespace msprobe::plugin
