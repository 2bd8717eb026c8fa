/// From a found analyzer to something that the engine runs: in this process, or in worker processes.
#pragma once
#include <memory>

#include "plugin/isolation/isolated_analysis.h"
#include "plugin/search.h"

namespace msprobe::plugin {

enum class Isolate { never, plugins, always };  ///< `plugins`: what does not come with msprobe

std::unique_ptr<engine::Analysis> make_analysis(const Found& found, OptionValues options, Isolate isolate,
                                                const IsolationLimits& limits, const dump::Options& dump_options);

}  // namespace msprobe::plugin
