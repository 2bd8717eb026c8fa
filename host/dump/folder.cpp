/// Folders of tensor files that no tool has described, and single files.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <set>
#include <unordered_map>

#include "base/file.h"
#include "dump/catalogue.h"
#include "dump/formats/format.h"
#include "msprobe/dtype.hpp"

namespace msprobe::dump {
namespace {

constexpr std::string_view tensor_suffixes[] = {".npy", ".pt", ".pth", ".bin"};
// What lies beside tensors and need not be opened to be told apart.
constexpr std::string_view other_suffixes[] = {".json", ".txt", ".md",  ".log",  ".csv", ".xlsx", ".yaml",
                                               ".yml",  ".py",  ".pyc", ".html", ".db",  ".png",  ".sh"};

struct Found {
  std::string relative;  ///< path below the folder
  bool by_suffix;        ///< else its content decides
};

std::size_t suffix_length(std::string_view path) {
  for (const std::string_view suffix : tensor_suffixes)
    if (has_suffix(path, suffix) && file::base_name(path).size() > suffix.size()) return suffix.size();
  return 0;
}

/// Walks a folder; each real folder is visited once, so that links in circles end, and real ones first, so that a link
/// called "latest" does not take the name of what it points to.
class Walk {
 public:
  Walk(const std::string& root, Dump& dump) : root_(root), dump_(dump) {
    visit("", 0, true);
    while (!links_.empty()) {
      const std::string link = std::move(links_.front());
      links_.pop_front();
      visit(link, 0, false);
    }
    std::sort(found.begin(), found.end(),
              [](const Found& a, const Found& b) { return natural_less(a.relative, b.relative); });
  }
  std::vector<Found> found;

 private:
  void visit(const std::string& relative, int depth, bool top) {
    const std::string folder = relative.empty() ? root_ : file::join(root_, relative);
    if (depth > 200) {
      dump_.incomplete = true;
      dump_.notes.push_back(folder + ": more than 200 folders deep: skipped");
      return;
    }
    std::vector<file::Entry> entries;
    try {
      const file::Status status = file::status(folder);
      if (!visited_.insert({status.device, status.inode}).second) return;
      entries = file::list(folder);
    } catch (const Error& error) {
      if (top && relative.empty()) throw;
      dump_.incomplete = true;
      dump_.notes.push_back(folder + ": " + error.what_happened() + ": skipped");
      return;
    }
    for (const file::Entry& entry : entries) {
      std::string path = relative.empty() ? entry.name : file::join(relative, entry.name);
      if (entry.type == file::Type::folder) {
        if (entry.link)
          links_.push_back(std::move(path));
        else
          visit(path, depth + 1, false);
      } else if (entry.type == file::Type::file || entry.type == file::Type::missing) {
        const bool by_suffix = suffix_length(path) != 0;
        const bool other = std::any_of(std::begin(other_suffixes), std::end(other_suffixes),
                                       [&](std::string_view suffix) { return has_suffix(path, suffix); });
        if (by_suffix || !other) found.push_back({std::move(path), by_suffix});
      }
    }
  }

  const std::string& root_;
  Dump& dump_;
  std::deque<std::string> links_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> visited_;
};

void describe(Tensor& tensor, Member&& member) {
  tensor.dtype = member.layout.dtype;
  tensor.dtype_text = std::move(member.layout.dtype_text);
  tensor.shape = std::move(member.layout.shape);
  tensor.problem = std::move(member.problem);
  tensor.member = std::move(member.name);
}

void set_name(Tensor& tensor, std::string name) {
  tensor.layer = tensor.call_name = name;
  tensor.name = std::move(name);
}

/// The tensors of one file; what is wrong with the file becomes the problem of one tensor that stands for it.
std::vector<Tensor> tensors_of(const std::string& path, std::string_view name, bool by_suffix, const Options& options) {
  std::vector<Tensor> tensors;
  try {
    const Source source(path);
    if (!by_suffix && !has_known_content(source)) return tensors;
    for (Member& member : detect(source).list(source, options)) {
      Tensor& tensor = tensors.emplace_back();
      tensor.file = path;
      describe(tensor, std::move(member));
      set_name(tensor, tensor.member.empty() ? std::string(name) : tensor.member);
    }
    if (tensors.empty()) throw Error("E4003", "no tensor in the file", path, "");
  } catch (const Error& error) {
    if (!by_suffix) return {};
    Tensor& tensor = tensors.emplace_back();
    tensor.file = path;
    set_name(tensor, std::string(name));
    tensor.problem = Problem{error.code(), error.what_happened()};
  }
  return tensors;
}

}  // namespace

Dump open_file(const std::string& path, const Options& options) {
  Dump dump;
  dump.tool = "file";
  const std::string absolute = file::absolute(path);
  const Source source(absolute);
  const std::string_view base = file::base_name(path);
  const std::string stem(base.substr(0, base.size() - suffix_length(base)));
  for (Member& member : detect(source).list(source, options)) {
    Tensor& tensor = dump.tensors.emplace_back();
    tensor.file = absolute;
    describe(tensor, std::move(member));
    set_name(tensor, tensor.member.empty() ? stem : tensor.member);
  }
  if (dump.tensors.empty())
    throw Error("E4003", "nothing to compare: no tensor in the file", path, "save tensors in it, or name another file");
  // Nothing else is in the file: an error now says more than a report with one row.
  if (const auto& problem = dump.tensors.front().problem; problem && dump.tensors.size() == 1)
    throw Error(problem->code, problem->text, path, "write the file again");
  return dump;
}

Dump open_folder(const std::string& folder, const Options& options) {
  Dump dump;
  dump.tool = "files";
  const std::string root = file::absolute(folder);
  const std::vector<Found> found = Walk(root, dump).found;

  struct Part {
    std::int64_t step = 0, rank = 0;
    std::string_view below;  ///< path below step and rank
    std::vector<Tensor> tensors;
  };
  std::vector<Part> parts(found.size());
  std::mutex mutex;
  std::uint64_t unreported = 0;
  parallel_for(found.size(), options.jobs, [&](std::size_t i) {
    Part& part = parts[i];
    part.below = found[i].relative;
    for (int level = 0; level < 2; ++level) {
      const std::size_t slash = part.below.find('/');
      if (slash == std::string_view::npos) break;
      const std::string_view first = part.below.substr(0, slash);
      if (const auto step = step_number(first))
        part.step = *step;
      else if (const auto rank = rank_number(first))
        part.rank = *rank;
      else
        break;
      part.below.remove_prefix(slash + 1);
    }
    const std::string_view name = part.below.substr(0, part.below.size() - suffix_length(part.below));
    part.tensors = tensors_of(file::join(root, found[i].relative), name, found[i].by_suffix, options);
    if (!options.progress) return;
    const std::lock_guard lock(mutex);
    if (++unreported < 256) return;
    options.progress(unreported);
    unreported = 0;
  });
  if (options.progress && unreported != 0) options.progress(unreported);

  std::vector<std::size_t> order(parts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(parts[a].step, parts[a].rank) < std::pair(parts[b].step, parts[b].rank);
  });

  // A name may come from two files (x.npy and x.pt) or from two containers: then it says which.
  std::size_t total = 0, ignored = 0;
  for (const Part& part : parts) {
    total += part.tensors.size();
    if (part.tensors.empty()) ++ignored;
  }
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    std::unordered_map<std::string_view, std::size_t> seen;
    while (end < order.size() && parts[order[end]].step == parts[order[begin]].step &&
           parts[order[end]].rank == parts[order[begin]].rank)
      ++end;
    for (std::size_t i = begin; i < end; ++i)
      for (const Tensor& tensor : parts[order[i]].tensors) ++seen[tensor.name];
    std::vector<std::pair<Tensor*, std::string>> renamed;
    for (std::size_t i = begin; i < end; ++i) {
      Part& part = parts[order[i]];
      for (Tensor& tensor : part.tensors) {
        if (seen[tensor.name] == 1) continue;
        const std::string_view container = part.below.substr(0, part.below.size() - suffix_length(part.below));
        renamed.emplace_back(
            &tensor, tensor.member.empty() ? std::string(part.below) : std::string(container) + "/" + tensor.member);
      }
    }
    if (!renamed.empty())
      dump.notes.push_back(
          std::to_string(renamed.size()) +
          " tensors share a name with another; their names now say the file: " + renamed.front().second +
          (renamed.size() > 1 ? ", " + renamed.back().second : "") + (renamed.size() > 2 ? ", ..." : ""));
    for (auto& [tensor, name] : renamed) set_name(*tensor, std::move(name));
    begin = end;
  }
  if (ignored != 0) dump.notes.push_back(std::to_string(ignored) + " files are no tensor files: ignored");

  dump.tensors.reserve(total);
  for (const std::size_t i : order) {
    Part& part = parts[i];
    for (Tensor& tensor : part.tensors) {
      tensor.step = part.step;
      tensor.rank = part.rank;
      dump.tensors.push_back(std::move(tensor));
    }
  }
  return dump;
}

}  // namespace msprobe::dump
