/// The ways to a catalogue; dump::open chooses one.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dump/dump.h"

namespace msprobe::dump {

/// One dump.json of a tree.
struct AscendPart {
  std::string json;
  std::int64_t step = 0, rank = 0;
};

/// A dump of Ascend msprobe; parts come in the order of step and rank.
Dump open_ascend(const std::vector<AscendPart>& parts, const Options& options);

/// Tensor files below a folder; "tool" stays empty where none was found.
Dump open_folder(const std::string& folder, const Options& options);
Dump open_file(const std::string& path, const Options& options);

/// N of "step3" or "rank0"; rank folders are also called proc<pid> or pid<pid>, which says nothing: rank 0.
std::optional<std::int64_t> step_number(std::string_view folder);
std::optional<std::int64_t> rank_number(std::string_view folder);

/// "x2" before "x10"; a folder's contents stay together.
bool natural_less(std::string_view a, std::string_view b);

/// work(0) ... work(count - 1) on up to `jobs` threads; the first exception stops the rest and is thrown.
void parallel_for(std::size_t count, unsigned jobs, const std::function<void(std::size_t)>& work);

}  // namespace msprobe::dump
