#include "plugin/make_analysis.h"

#include "base/error.h"
#include "plugin/library.h"

namespace msprobe::plugin {

std::unique_ptr<engine::Analysis> make_analysis(const Found& found, OptionValues options, Isolate isolate,
                                                const IsolationLimits& limits, const dump::Options& dump_options) {
  if (isolate == Isolate::always || (isolate == Isolate::plugins && !found.built_in()))
    return std::make_unique<IsolatedAnalysis>(found.path, *found.analyzer, std::move(options), limits, dump_options);
  for (const msp_analyzer* analyzer : load(found.path).analyzers())
    if (analyzer->name == found.analyzer->name) return std::make_unique<PluginAnalysis>(*analyzer, std::move(options));
  throw Error("E5005", "the library no longer has the analyzer '" + found.analyzer->name + "'", found.path,
              "register it again");
}

}  // namespace msprobe::plugin
