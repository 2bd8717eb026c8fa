/// From rows with verdicts to what a tired engineer wants to know: where the error was born, and what to fix first.
///
/// It needs verdicts and errors only, so every analyzer gets it, whoever wrote it.
#pragma once
#include <optional>
#include <vector>

#include "engine/result.h"

namespace msprobe::engine {

/// Sets Row::origin of every failing row: true when the inputs and parameters of its call are clean (error at most a
/// tenth of the call's worst output, no class mismatch), or when it is a parameter, input or scalar that no earlier
/// failure explains; null when the dump does not hold the inputs.
void mark_origins(std::vector<result::Row>& rows);

/// The first failing row by (step, execution index, rank) and place in its call; origins before rows that pass an error
/// on.
std::optional<std::uint64_t> first_bad(const std::vector<result::Row>& rows);

/// Preconditions (inputs, weights, settings, dtypes differ at the first step; two different networks), then origins,
/// then what the analyzer found, then the rest.
std::vector<result::Finding> diagnose(const result::Report& report, std::vector<result::Finding> from_analyzer);

}  // namespace msprobe::engine
