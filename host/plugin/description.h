/// What a plugin says of itself, as values: read from its constant data once, in a process that it cannot harm.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/result.h"
#include "plugin/library.h"

namespace msprobe::plugin {

struct OptionDescription {
  std::string name, doc, initial;
  std::uint32_t type = MSP_TYPE_TEXT;
  bool required = false;  ///< no initial value: the user must give one
  bool bare = false;      ///< may be given without a value
};

struct AnalyzerDescription {
  std::string name, summary;
  bool parallel = true, has_finish = false;
  std::uint32_t accepts = 0;
  std::vector<OptionDescription> options;
  std::vector<result::Column> columns;
};

struct PluginDescription {
  std::string path, id, version;
  std::vector<AnalyzerDescription> analyzers;
};

AnalyzerDescription describe(const msp_analyzer& analyzer);
PluginDescription describe(const Library& library);

/// Loads the library in a child process with a time limit and reads its description: constructors of an unknown library
/// run where they can do no harm. Throws what load() throws, E5010 when it crashes or exits, E5011 when it does not
/// return in time.
PluginDescription probe(const std::string& path);

}  // namespace msprobe::plugin
