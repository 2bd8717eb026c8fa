#include "plugin/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/nearest.h"
#include "plugin/library.h"
#include "plugin/mode_name.h"
#include "plugin/registry.h"

namespace msprobe::plugin {
namespace {

namespace fs = std::filesystem;

/// A library that can be named, not loaded yet.
struct Candidate {
  std::string origin, path;
  std::string registered_name;  ///< empty: the analyzers' own names count
  std::string sha256;
};

/// The same layout in the build tree and installed: bin/msprobe, lib/msprobe/plugins/*.so.
fs::path built_in_folder() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return program.parent_path().parent_path() / "lib/msprobe/plugins";
}

void add_folder(const fs::path& folder, const std::string& origin, std::vector<Candidate>& candidates) {
  std::error_code failed;
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (entry.path().extension() == ".so") paths.push_back(fs::absolute(entry.path()));
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) candidates.push_back({origin, path, "", ""});
}

std::vector<Candidate> candidates_of(const std::vector<std::string>& plugin_dirs) {
  std::vector<Candidate> candidates;
  for (const Registered& entry : read_registry())
    candidates.push_back({"registered", entry.path, entry.name, entry.sha256});
  for (const std::string& folder : plugin_dirs) {
    if (!fs::is_directory(folder))
      throw Error("E1003", "this is no folder", folder, "give --plugin-dir a folder with plugins");
    add_folder(folder, "--plugin-dir", candidates);
  }
  if (const char* path = std::getenv("MSPROBE_PLUGIN_PATH"))
    for (std::string_view rest = path; !rest.empty();) {
      const std::size_t colon = std::min(rest.find(':'), rest.size());
      if (colon > 0) add_folder(rest.substr(0, colon), "MSPROBE_PLUGIN_PATH", candidates);
      rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
  add_folder(built_in_folder(), "built in", candidates);
  return candidates;
}

/// Looks into a candidate; each analyzer under each name that -m takes for it. What does not come with msprobe is
/// loaded in a child.
std::vector<Found> look_into(const Candidate& candidate) {
  if (!candidate.sha256.empty() && file_sha256(candidate.path) != candidate.sha256)
    throw Error(
        "E5006", "the plugin has changed since it was registered", candidate.path,
        fmt::format("if you trust it: msprobe register_plugin -p {} -n {}", candidate.path, candidate.registered_name));
  const PluginDescription plugin =
      candidate.origin == "built in" ? describe(load(candidate.path)) : probe(candidate.path);
  std::vector<Found> found;
  for (const AnalyzerDescription& analyzer : plugin.analyzers) {
    const std::string& registered = candidate.registered_name;
    const auto add = [&](const std::string& name) {
      found.push_back({name, candidate.origin, plugin.path, plugin.version, analyzer, ""});
    };
    if (registered.empty()) {
      add(analyzer.name);
      continue;
    }
    if (found.empty()) add(registered);
    if (plugin.analyzers.size() > 1) add(registered + "/" + analyzer.name);
  }
  return found;
}

bool is_path(const std::string& mode) {
  return mode.ends_with(".so") || (mode.find('/') != std::string::npos && fs::exists(mode));
}

/// What cannot be loaded comes with its problem.
std::vector<Found> look_into_all(const std::vector<Candidate>& candidates) {
  std::vector<Found> all;
  for (const Candidate& candidate : candidates) {
    try {
      for (Found& found : look_into(candidate)) all.push_back(std::move(found));
    } catch (const Error& error) {
      const std::string name =
          candidate.registered_name.empty() ? fs::path(candidate.path).stem().string() : candidate.registered_name;
      all.push_back({name, candidate.origin, candidate.path, "", std::nullopt, error.what()});
    }
  }
  return all;
}

}  // namespace

std::vector<Found> list(const std::vector<std::string>& plugin_dirs) {
  return look_into_all(candidates_of(plugin_dirs));
}

void refuse_built_in_name(const std::string& name) {
  std::vector<Candidate> candidates;
  add_folder(built_in_folder(), "built in", candidates);
  for (const Candidate& candidate : candidates)
    for (const Found& found : look_into(candidate))
      if (normalized_mode(found.name) == normalized_mode(name))
        throw Error("E5004", fmt::format("'{}' is the name of a built-in analyzer", found.name), found.path,
                    "take another name");
}

namespace {

/// A registered library has no other names than its own: there is no need to load what cannot be meant.
bool may_be_called(const Candidate& candidate, const std::string& wanted) {
  const std::string name = normalized_mode(candidate.registered_name);
  return name.empty() || name == wanted || wanted.starts_with(name + "/");
}

}  // namespace

Found find(const std::string& mode, const std::vector<std::string>& plugin_dirs) {
  if (is_path(mode)) return look_into({"path", fs::absolute(mode), "", ""}).front();
  const std::string wanted = normalized_mode(mode);
  std::vector<Candidate> candidates = candidates_of(plugin_dirs);
  std::vector<Found> claims;
  std::vector<std::string> names;
  for (const Candidate& candidate : candidates)
    if (!may_be_called(candidate, wanted)) names.push_back(normalized_mode(candidate.registered_name));
  std::erase_if(candidates, [&](const Candidate& c) { return !may_be_called(c, wanted); });
  for (Found& found : look_into_all(candidates)) {
    names.push_back(normalized_mode(found.name));
    const bool same_file =
        std::any_of(claims.begin(), claims.end(), [&](const Found& f) { return f.path == found.path; });
    if (normalized_mode(found.name) == wanted && !same_file) claims.push_back(std::move(found));
  }
  if (claims.empty()) {
    const auto near = nearest(wanted, names, 1);
    throw Error(
        "E5005", fmt::format("no analyzer is called '{}'", mode), "-m",
        near.empty() ? fmt::format("there is: {}", fmt::join(names, ", ")) : fmt::format("do you mean '{}'?", near[0]));
  }
  if (claims.size() > 1)
    throw Error("E5007", fmt::format("two plugins claim the name '{}'", mode),
                claims[0].path + " and " + claims[1].path, "name one by its path, or unregister one");
  if (!claims[0].analyzer) {
    // Say again what loading it says, with its own code.
    for (const Candidate& candidate : candidates)
      if (candidate.path == claims[0].path) return look_into(candidate).front();
  }
  return claims[0];
}

}  // namespace msprobe::plugin
