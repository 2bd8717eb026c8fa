#include "plugin/library.h"

#include <fmt/format.h>

#include <boost/dll/shared_library.hpp>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "plugin/elf.h"
#include "plugin/plain_text.h"
#include "plugin/process_state.h"
#include "plugin/struct_sizes.h"

namespace msprobe::plugin {
namespace {

constexpr std::uint32_t most_analyzers = 64, most_fields = 4096, longest_text = 16384;

[[noreturn]] void bad(const std::string& path, const std::string& what) {
  throw Error("E5003", "the plugin describes itself wrongly: " + what, path,
              "tell its author; `msprobe plugins` lists what works");
}

void check_size(std::uint32_t size, std::uint32_t least, const std::string& path, const std::string& what) {
  if (size < least) bad(path, fmt::format("{} has struct_size {}, at least {} is needed", what, size, least));
  if (size > largest_struct) bad(path, fmt::format("{} has struct_size {}, which makes no sense", what, size));
}

/// Text that may be missing.
void check_words(const char* text, const std::string& path, const std::string& what) {
  if (text && (::strnlen(text, longest_text + 1) > longest_text || !is_plain_text(text)))
    bad(path, what + " is no plain text (UTF-8 without control characters)");
}

void check_text(const char* text, const std::string& path, const std::string& what) {
  if (!text || !*text) bad(path, what + " is missing");
  check_words(text, path, what);
}

void check_fields(const msp_field* const* fields, const std::string& path, const std::string& what) {
  if (!fields) return;
  std::set<std::string> names;
  for (std::uint32_t i = 0; fields[i]; ++i) {
    if (i >= most_fields) bad(path, fmt::format("more than {} {}s", most_fields, what));
    const msp_field& field = *fields[i];
    check_size(field.struct_size, field_size_1_0, path, fmt::format("{} {}", what, i));
    check_text(field.name, path, fmt::format("the name of {} {}", what, i));
    check_words(field.doc, path, fmt::format("the doc of {} '{}'", what, field.name));
    check_words(field.initial, path, fmt::format("the default of {} '{}'", what, field.name));
    if (field.type < MSP_TYPE_F64 || field.type > MSP_TYPE_BOOL)
      bad(path, fmt::format("{} '{}' has type {}", what, field.name, field.type));
    if (!names.insert(field.name).second) bad(path, fmt::format("two {}s are called '{}'", what, field.name));
  }
}

void check_analyzer(const msp_analyzer* analyzer, const std::string& path, std::set<std::string>& names) {
  if (!analyzer) bad(path, "an analyzer is NULL");
  check_size(analyzer->struct_size, analyzer_size_1_0, path, "an analyzer");
  check_text(analyzer->name, path, "the name of an analyzer");
  check_words(analyzer->summary, path, fmt::format("the summary of analyzer '{}'", analyzer->name));
  if (!names.insert(analyzer->name).second) bad(path, fmt::format("two analyzers are called '{}'", analyzer->name));
  if (analyzer->threading > MSP_SERIAL)
    bad(path, fmt::format("analyzer '{}' has threading {}", analyzer->name, analyzer->threading));
  if (!analyzer->create || !analyzer->analyze_pair || !analyzer->destroy)
    bad(path, fmt::format("analyzer '{}' lacks one of create, analyze_pair, destroy", analyzer->name));
  check_fields(analyzer->options, path, "option");
  check_fields(analyzer->columns, path, "column");
}

void check_plugin(const msp_plugin& plugin, const std::string& path) {
  check_size(plugin.struct_size, plugin_size_1_0, path, "the plugin");
  if (plugin.min_host_minor > MSP_ABI_MINOR)
    throw Error("E3005",
                fmt::format("the plugin needs plugin interface 1.{}, this msprobe has 1.{}", plugin.min_host_minor,
                            MSP_ABI_MINOR),
                path, "upgrade msprobe, or take an older build of the plugin");
  check_text(plugin.id, path, "the id");
  check_text(plugin.version, path, "the version");
  if (plugin.analyzer_count == 0 || plugin.analyzer_count > most_analyzers || !plugin.analyzers)
    bad(path, fmt::format("it has {} analyzers", plugin.analyzer_count));
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < plugin.analyzer_count; ++i) check_analyzer(plugin.analyzers[i], path, names);
}

void check_symbols(const ElfLook& look, const std::string& path) {
  if (!look.is_elf)
    throw Error("E5002", fmt::format("this is no plugin: {}", look.why_not), path,
                "give the path of a shared library (.so)");
  if (!look.has_table) return;  // stripped of its section headers: the loader will tell
  for (const std::string& symbol : look.plugin_symbols)
    if (symbol == MSP_PLUGIN_SYMBOL) return;
  if (!look.plugin_symbols.empty())
    throw Error("E3005",
                fmt::format("the plugin has {}, this msprobe needs {}", as_plain_text(look.plugin_symbols[0]),
                            MSP_PLUGIN_SYMBOL),
                path, "upgrade msprobe, or take a build of the plugin for this version");
  throw Error("E5002", fmt::format("this is no plugin: it has no symbol {}", MSP_PLUGIN_SYMBOL), path,
              "build it against msprobe/analyzer.h and export the symbol");
}

}  // namespace

std::vector<const msp_analyzer*> Library::analyzers() const {
  return {plugin->analyzers, plugin->analyzers + plugin->analyzer_count};
}

Library load(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path absolute = std::filesystem::absolute(path, failed);
  check_symbols(look_at_elf(absolute), absolute);

  // Never unloaded, so it is left to live: see Library.
  auto* library = new boost::dll::shared_library();
  const ProcessState before;
  try {
    library->load(absolute.c_str(), boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
  } catch (const std::exception& error) {
    before.put_back();
    delete library;
    throw Error("E5001", fmt::format("the plugin cannot be loaded: {}", as_plain_text(error.what())), absolute,
                "install what it needs, or build it again");
  }
  before.put_back();  // a plugin linked with -ffast-math sets flush-to-zero at dlopen, and threads would inherit it
  if (!library->has(MSP_PLUGIN_SYMBOL))
    throw Error("E5002", fmt::format("this is no plugin: it has no symbol {}", MSP_PLUGIN_SYMBOL), absolute,
                "build it against msprobe/analyzer.h and export the symbol");
  Library result{absolute, &library->get<const msp_plugin>(MSP_PLUGIN_SYMBOL)};
  check_plugin(*result.plugin, absolute);
  return result;
}

}  // namespace msprobe::plugin
