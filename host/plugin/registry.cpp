#include "plugin/registry.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/nearest.h"
#include "plugin/description.h"
#include "plugin/mode_name.h"
#include "plugin/plain_text.h"
#include "plugin/registry_lock.h"

namespace msprobe::plugin {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* schema = "msprobe.plugins/1";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

[[noreturn]] void throw_not_written(const std::string& path, int error) {
  throw Error(error == ENOSPC || error == EDQUOT || error == EFBIG ? "E1001" : "E1002",
              fmt::format("the plugin registry cannot be written: {}", std::strerror(error)), path,
              "free some space, or set MSPROBE_HOME to a folder that you may write");
}

/// Writes beside and renames when all is on disk: a crash leaves the old registry or the new one.
void replace_file(const std::string& path, const std::string& content) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) throw_not_written(path, errno);
  bool good = true;
  for (std::size_t done = 0; good && done < content.size();) {
    const ssize_t written = ::write(file, content.data() + done, content.size() - done);
    good = written > 0 || (written < 0 && errno == EINTR);
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  good = good && ::fsync(file) == 0;
  const int error = errno;
  ::close(file);
  if (good && ::rename(temporary.c_str(), path.c_str()) == 0) return;
  const int last = good ? errno : error;
  ::unlink(temporary.c_str());
  throw_not_written(path, last);
}

void write_registry(const std::string& path, const std::vector<Registered>& entries) {
  ordered_json root{{"schema", schema}, {"plugins", ordered_json::array()}};
  for (const Registered& entry : entries)
    root["plugins"].push_back(
        {{"name", entry.name}, {"path", entry.path}, {"kind", entry.kind}, {"sha256", entry.sha256}});
  replace_file(path, root.dump(1) + '\n');
}

/// Changes the registry under its lock.
template <class Change>
void change_registry(const Change& change) {
  const std::string path = registry_path();
  std::error_code failed;
  fs::create_directories(fs::path(path).parent_path(), failed);
  if (failed)
    throw Error("E1002", fmt::format("the folder of the registry cannot be made: {}", failed.message()),
                fs::path(path).parent_path(), "set MSPROBE_HOME to a folder that you may write");
  const RegistryLock lock(path);
  auto entries = read_registry();
  change(entries);
  write_registry(path, entries);
}

}  // namespace

std::string registry_path() {
  if (const auto home = environment("MSPROBE_HOME"); !home.empty()) return home + "/plugins.json";
  if (const auto config = environment("XDG_CONFIG_HOME"); !config.empty()) return config + "/msprobe/plugins.json";
  return environment("HOME") + "/.config/msprobe/plugins.json";
}

std::vector<Registered> read_registry() {
  const std::string path = registry_path();
  std::error_code unknown;
  const auto kind = fs::status(path, unknown).type();
  std::ifstream file;
  if (kind == fs::file_type::regular || kind == fs::file_type::not_found)
    file.open(path);  // a pipe would be waited for
  const auto damaged = [&](const std::string& how) {
    return Error("E5009", fmt::format("the plugin registry is damaged ({})", as_plain_text(how)), path,
                 "mend or remove the file, then register again");
  };
  if (kind != fs::file_type::regular && kind != fs::file_type::not_found && kind != fs::file_type::none)
    throw damaged("it is no regular file");
  if (!file.is_open()) {
    // Only what is not there is empty: what may not be read must not be overwritten.
    if (errno == ENOENT || errno == ENOTDIR) return {};
    throw Error("E1004", fmt::format("the plugin registry cannot be read: {}", std::strerror(errno)), path,
                "check its permissions, or set MSPROBE_HOME");
  }
  try {
    const auto root = nlohmann::json::parse(file);
    const std::string version = root.at("schema");
    if (version.starts_with("msprobe.plugins/") && version != schema)
      throw Error("E3005", fmt::format("the plugin registry is of schema {}, this msprobe knows {}", version, schema),
                  path, "upgrade msprobe, or set MSPROBE_HOME to another folder");
    if (version != schema) throw damaged("its schema is no msprobe.plugins");
    std::vector<Registered> entries;
    for (const auto& entry : root.at("plugins")) {
      entries.push_back({entry.at("name"), entry.at("path"), entry.at("kind"), entry.at("sha256")});
      if (entries.back().name.empty() || entries.back().sha256.size() != 64)
        throw damaged(fmt::format("entry {} has no name or no SHA-256", entries.size()));
    }
    return entries;
  } catch (const nlohmann::json::exception& error) {
    throw damaged(error.what());
  }
}

Registered register_plugin(const std::string& name, const std::string& path, bool force) {
  const std::string wanted = normalized_mode(name);
  if (wanted.empty() || wanted.find_first_of("/\\,") != std::string::npos)
    throw Error("E6002", fmt::format("'{}' cannot be the name of a plugin", name), "-n",
                "use letters, digits, '_' and '-'");
  const PluginDescription plugin = probe(path);
  Registered entry{wanted, plugin.path, "native", file_sha256(plugin.path)};
  change_registry([&](std::vector<Registered>& entries) {
    const auto known =
        std::find_if(entries.begin(), entries.end(), [&](const Registered& e) { return e.name == entry.name; });
    if (known == entries.end()) {
      entries.push_back(entry);
      return;
    }
    if (known->path != entry.path && !force)
      throw Error("E5004", fmt::format("'{}' is registered already", entry.name), known->path,
                  "take another name, or --force to replace it");
    *known = entry;
  });
  return entry;
}

void unregister_plugin(const std::string& name) {
  const std::string wanted = normalized_mode(name);
  change_registry([&](std::vector<Registered>& entries) {
    const auto removed =
        std::remove_if(entries.begin(), entries.end(), [&](const Registered& e) { return e.name == wanted; });
    if (removed == entries.end()) {
      std::vector<std::string> names;
      for (const Registered& e : entries) names.push_back(e.name);
      const auto near = nearest(wanted, names, 1);
      throw Error("E5005", fmt::format("no plugin '{}' is registered", name), registry_path(),
                  near.empty() ? "see `msprobe plugins`" : fmt::format("do you mean '{}'?", near[0]));
    }
    entries.erase(removed, entries.end());
  });
}

std::string file_sha256(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("E1003", "the file cannot be read", path, "check the path and its permissions");
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  EVP_DigestInit_ex(context, EVP_sha256(), nullptr);
  std::vector<char> block(1 << 16);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())), file.gcount() > 0)
    EVP_DigestUpdate(context, block.data(), static_cast<std::size_t>(file.gcount()));
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(context, digest, &size);
  EVP_MD_CTX_free(context);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace msprobe::plugin
