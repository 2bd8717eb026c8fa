#include "plugin/description.h"

namespace msprobe::plugin {
namespace {

std::string text(const char* given) {
  return given ? given : "";
}

}  // namespace

AnalyzerDescription describe(const msp_analyzer& analyzer) {
  AnalyzerDescription description{
      .name = text(analyzer.name), .summary = text(analyzer.summary), .options = {}, .columns = {}};
  description.parallel = analyzer.threading == MSP_PARALLEL;
  description.has_finish = analyzer.finish != nullptr;
  description.accepts = analyzer.accepts;
  for (const msp_field* const* field = analyzer.options; field && *field; ++field) {
    const msp_field& f = **field;
    const bool is_switch = f.type == MSP_TYPE_BOOL;
    description.options.push_back({f.name, text(f.doc), text(f.initial), f.type, f.initial == nullptr,
                                   is_switch || (f.flags & MSP_OPTION_BARE) != 0});
  }
  for (const msp_field* const* field = analyzer.columns; field && *field; ++field) {
    const msp_field& f = **field;
    description.columns.push_back({f.name, static_cast<result::ColumnType>(f.type), text(f.doc), f.direction,
                                   (f.flags & MSP_COLUMN_HIDDEN) != 0});
  }
  return description;
}

PluginDescription describe(const Library& library) {
  PluginDescription description{library.path, library.plugin->id, library.plugin->version, {}};
  for (const msp_analyzer* analyzer : library.analyzers()) description.analyzers.push_back(describe(*analyzer));
  return description;
}

}  // namespace msprobe::plugin
