#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/file.h"
#include "dump/catalogue.h"
#include "dump/formats/format.h"

namespace msprobe::dump {
namespace {

std::optional<std::int64_t> number_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// The dump.json of a rank folder; empty: none.
std::string json_in(const std::string& folder) {
  for (const std::string_view name : {"dump.json", "debug.json"}) {
    std::string path = file::join(folder, name);
    if (file::status(path).type == file::Type::file) return path;
  }
  return "";
}

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const file::Entry& entry : file::list(folder))
    if (entry.type == file::Type::folder) names.push_back(entry.name);
  std::sort(names.begin(), names.end(), natural_less);
  return names;
}

class Tree {
 public:
  std::vector<AscendPart> parts;
  std::vector<std::string> notes;

  /// The ranks in a step folder. Two dumps that claim one rank are two runs into one path: which is meant only the
  /// user can say.
  void add_step(const std::string& folder, std::int64_t step) {
    std::map<std::int64_t, std::vector<std::string>> ranks;
    for (const std::string& name : folders_in(folder)) {
      const std::optional<std::int64_t> rank = rank_number(name);
      if (!rank) continue;
      if (json_in(file::join(folder, name)).empty())
        notes.push_back(file::join(folder, name) + " has no dump.json: skipped");
      else
        ranks[*rank].push_back(name);
    }
    if (ranks.empty()) {
      if (std::string json = json_in(folder); !json.empty())
        parts.push_back({std::move(json), step, 0});
      else
        notes.push_back(folder + " is empty: skipped");
    }
    for (const auto& [rank, names] : ranks) {
      if (names.size() > 1) {
        std::string all;
        for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
        throw Error("E4004", std::to_string(names.size()) + " dumps in one folder (" + all + ")", folder,
                    "name the one that you mean, for example " + file::join(folder, names.front()));
      }
      parts.push_back({json_in(file::join(folder, names.front())), step, rank});
    }
  }
};

/// The dump.json files below a folder that is a rank, a step or a root; none: it is no tree of Ascend msprobe.
Tree find_tree(const std::string& folder) {
  Tree tree;
  const std::string here = file::absolute(folder);
  const std::string_view name = file::base_name(here), parent = file::base_name(file::folder_name(here));
  if (std::string json = json_in(folder); !json.empty()) {
    tree.parts.push_back(
        {std::move(json), step_number(name).value_or(step_number(parent).value_or(0)), rank_number(name).value_or(0)});
    return tree;
  }
  const std::vector<std::string> names = folders_in(folder);
  bool ranks = false, steps = false;
  for (const std::string& child : names) {
    ranks = ranks || rank_number(child);
    steps = steps || step_number(child);
  }
  if (steps) {
    for (const std::string& child : names)
      if (const std::optional<std::int64_t> step = step_number(child)) tree.add_step(file::join(folder, child), *step);
  } else if (ranks) {
    tree.add_step(folder, step_number(name).value_or(0));
  } else {
    // MindSpore writes what it compiles and what it interprets into two roots.
    std::vector<std::string> roots;
    for (const std::string_view child : {"graph", "pynative"})
      if (std::find(names.begin(), names.end(), child) != names.end()) {
        Tree found = find_tree(file::join(folder, child));
        if (found.parts.empty()) continue;
        roots.emplace_back(child);
        tree = std::move(found);
      }
    if (roots.size() > 1)
      throw Error("E4004", "2 dumps in one folder (graph, pynative)", folder,
                  "name the one that you mean, for example " + file::join(folder, "pynative"));
  }
  return tree;
}

/// Where a dump lies below a folder that holds none itself.
std::string hint(const std::string& folder, int depth = 0) {
  if (depth > 3) return "";
  try {
    for (const std::string& child : folders_in(folder)) {
      const std::string path = file::join(folder, child);
      if (!find_tree(path).parts.empty()) return path;
      if (std::string deeper = hint(path, depth + 1); !deeper.empty()) return deeper;
    }
  } catch (const Error&) {
  }
  return "";
}

Dump open_any(const std::string& path, const Options& options) {
  const file::Status status = file::status(path);
  if (status.type == file::Type::missing) throw file::error(ENOENT, path);
  if (status.type != file::Type::folder) {
    if (!has_suffix(path, ".json")) return open_file(path, options);
    const std::string folder(file::folder_name(file::absolute(path)));
    const std::string_view name = file::base_name(folder), parent = file::base_name(file::folder_name(folder));
    return open_ascend(
        {{path, step_number(name).value_or(step_number(parent).value_or(0)), rank_number(name).value_or(0)}}, options);
  }
  Tree tree = find_tree(path);
  if (!tree.parts.empty()) {
    Dump dump = open_ascend(tree.parts, options);
    dump.notes.insert(dump.notes.begin(), tree.notes.begin(), tree.notes.end());
    return dump;
  }
  Dump dump = open_folder(path, options);
  // The files of a dump further down are no plain files: without their dump.json they have neither order nor meaning.
  const auto of_a_dump = [](const Tensor& tensor) {
    return tensor.layer.find("dump_tensor_data/") != std::string::npos;
  };
  const bool below = std::any_of(dump.tensors.begin(), dump.tensors.end(), of_a_dump);
  if (!dump.tensors.empty() && !below) return dump;
  const std::string deeper = hint(path);
  if (!dump.tensors.empty() && deeper.empty()) return dump;
  throw Error("E4003", below ? "this is no dump itself" : "nothing to compare: no dump.json and no tensor file in it",
              path,
              deeper.empty()
                  ? "name a dump root, a step or rank folder, a dump.json, or a folder of .npy, .pt, .pth or .bin files"
                  : "there is a dump in " + deeper + ": name that folder");
}

}  // namespace

std::optional<std::int64_t> step_number(std::string_view folder) {
  return number_after(folder, "step");
}

std::optional<std::int64_t> rank_number(std::string_view folder) {
  if (const auto rank = number_after(folder, "rank")) return rank;
  if (folder == "rank" || number_after(folder, "proc") || number_after(folder, "pid")) return 0;
  return std::nullopt;
}

bool natural_less(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      std::size_t i_end = i, j_end = j, i_start = i, j_start = j;
      while (i_end < a.size() && digit(a[i_end])) ++i_end;
      while (j_end < b.size() && digit(b[j_end])) ++j_end;
      while (i_start + 1 < i_end && a[i_start] == '0') ++i_start;
      while (j_start + 1 < j_end && b[j_start] == '0') ++j_start;
      if (i_end - i_start != j_end - j_start) return i_end - i_start < j_end - j_start;
      if (const int order = a.substr(i_start, i_end - i_start).compare(b.substr(j_start, j_end - j_start)); order != 0)
        return order < 0;
      i = i_end;
      j = j_end;
      continue;
    }
    if (a[i] != b[j]) {
      if (a[i] == '/') return true;
      if (b[j] == '/') return false;
      return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
    }
    ++i;
    ++j;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;  // "x01" and "x1"
}

void parallel_for(std::size_t count, unsigned jobs, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto run = [&] {
    while (!stop.load(std::memory_order_relaxed)) {
      const std::size_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= count) return;
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        stop = true;
      }
    }
  };
  std::vector<std::thread> threads;
  try {
    for (unsigned i = 1; i < jobs && i < count; ++i) threads.emplace_back(run);
  } catch (const std::system_error&) {  // no further thread: those that there are do the work
  }
  run();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

Dump open(const std::string& path, const Options& options) {
  Dump dump = open_any(path, options);
  dump.path = path;
  return dump;
}

}  // namespace msprobe::dump
