/// .pt and .pth of torch.save: a zip archive of `<root>/data.pkl`, `<root>/byteorder` (since 2.1) and the storages
/// `<root>/data/<key>`, stored uncompressed. Tensors in dicts and lists are members, named by their keys joined with
/// '.'. Format: pytorch.org/docs/stable/notes/serialization.html, torch/serialization.py, torch/_utils.py
#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "dump/formats/format.h"
#include "dump/pickle.h"
#include "dump/zip_directory.h"
#include "msprobe/dtype.hpp"

namespace msprobe::dump {
namespace {

// Far beyond any checkpoint; a hostile file can name one list from many others and so reach any number.
constexpr std::size_t most_visits = 1'000'000, deepest = 256, longest_names = 256 * 1024 * 1024;
constexpr std::uint64_t largest_pickle = std::uint64_t{1} << 30;

Error malformed(const Source& source, const std::string& why) {
  return {"E4007", "malformed .pt file: " + why, source.path(), "dump it again, or save it again with torch.save"};
}

class Archive {
 public:
  explicit Archive(const Source& source) : source_(source), entries_(read_zip_directory(source)) {
    const ZipMember* pickle = nullptr;
    for (const ZipMember& entry : entries_) {
      const std::string& name = entry.name;
      if (name != "data.pkl" && !name.ends_with("/data.pkl")) continue;
      if (!pickle || name.size() < pickle->name.size()) pickle = &entry;
    }
    if (!pickle) throw malformed(source, "no data.pkl in it");
    root_ = pickle->name.substr(0, pickle->name.size() - std::strlen("data.pkl"));
    if (entries_.size() > 8)
      for (const ZipMember& entry : entries_) by_name_.emplace(entry.name, &entry);
    if (const ZipMember* order = find("byteorder"); order && order->size == 3) {
      char text[3];
      source.read(stored(*order), text, sizeof text);
      big_endian_ = std::string_view(text, 3) == "big";
    }
    if (pickle->size > largest_pickle)
      throw malformed(source, "data.pkl of " + std::to_string(pickle->size) + " bytes");
    const std::uint64_t offset = stored(*pickle);
    const std::span<const std::byte> head = source.head();
    if (offset + pickle->size <= head.size()) {
      pickle_ = read_pickle(head.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(pickle->size)),
                            source.path());
    } else {
      std::vector<std::byte> bytes(static_cast<std::size_t>(pickle->size));
      source.read(offset, bytes.data(), bytes.size());
      pickle_ = read_pickle(bytes, source.path());
    }
  }

  std::vector<Member> members() {
    visit(*pickle_.root, "", 0);
    return std::move(members_);
  }

 private:
  const ZipMember* find(const std::string& name) const {
    const std::string full = root_ + name;
    if (!by_name_.empty()) {
      const auto found = by_name_.find(full);
      return found == by_name_.end() ? nullptr : found->second;
    }
    for (const ZipMember& entry : entries_)
      if (entry.name == full) return &entry;
    return nullptr;
  }

  std::uint64_t stored(const ZipMember& entry) const {
    if (entry.encrypted) throw malformed(source_, "member " + entry.name + " is encrypted");
    if (entry.method != 0 || entry.packed != entry.size)
      throw malformed(source_, "member " + entry.name + " is compressed, which torch.save never does");
    return zip_member_offset(source_, entry);
  }

  void visit(const PickleValue& value, const std::string& name, std::size_t depth) {
    if (++visits_ > most_visits || depth > deepest || names_ > longest_names)
      throw malformed(source_, "its lists and dicts are nested without end");
    using Type = PickleValue::Type;
    if (value.type == Type::tensor) {
      add(value, name);
    } else if (value.type == Type::dict) {
      for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
        const PickleValue& key = *value.items[i];
        const std::string text = key.type == Type::text      ? key.text
                                 : key.type == Type::integer ? std::to_string(key.integer)
                                                             : "item" + std::to_string(i / 2);
        descend(*value.items[i + 1], name, text, depth);
      }
    } else if (value.type == Type::list || value.type == Type::tuple) {
      for (std::size_t i = 0; i < value.items.size(); ++i) descend(*value.items[i], name, std::to_string(i), depth);
    }
  }

  void descend(const PickleValue& value, const std::string& name, const std::string& key, std::size_t depth) {
    using Type = PickleValue::Type;
    if (value.type != Type::tensor && value.type != Type::dict && value.type != Type::list && value.type != Type::tuple)
      return;
    const std::string full = name.empty() ? key : name + "." + key;
    names_ += full.size();
    visit(value, full, depth + 1);
  }

  void add(const PickleValue& tensor, const std::string& name) {
    Member member;
    member.name = name;
    // {"a.b": x, "a": {"b": y}} gives one name twice.
    for (int n = 2; !taken_.insert(member.name).second; ++n) member.name = name + "#" + std::to_string(n);
    try {
      member.layout = layout_of(tensor);
    } catch (const Error& error) {
      member.problem = Problem{error.code(), error.what_happened()};
      member.layout.dtype_text = tensor.dtype_text;
      member.layout.shape = tensor.shape;
    }
    members_.push_back(std::move(member));
  }

  Layout layout_of(const PickleValue& tensor) const {
    Layout layout;
    layout.dtype = tensor.dtype;
    layout.dtype_text = tensor.dtype_text;
    if (layout.dtype == MSP_DTYPE_NONE)
      throw Error("E4009", "dtype \"" + tensor.dtype_text + "\" is not supported", source_.path(),
                  "save it as one of torch's float, integer, bool or complex dtypes");
    layout.shape = tensor.shape;
    layout.big_endian = big_endian_;
    const std::uint64_t count = element_count(layout.shape, source_.path());
    if (count == 0) return layout;
    bool dense = true;
    std::int64_t expected = 1;
    for (std::size_t d = layout.shape.size(); d-- > 0;) {
      if (layout.shape[d] != 1 && tensor.strides[d] != expected) dense = false;
      expected *= layout.shape[d];
    }
    if (!dense) layout.strides = tensor.strides;
    const ZipMember* storage = find("data/" + tensor.text);
    if (!storage) throw malformed(source_, "storage data/" + tensor.text + " is missing");
    const std::uint64_t start = stored(*storage), item = dtype_info(layout.dtype)->bytes;
    std::uint64_t skipped, last = count - 1;
    if (!dense) {
      last = 0;
      for (std::size_t d = 0; d < layout.shape.size(); ++d) {
        std::uint64_t reach;
        if (layout.strides[d] < 0 ||
            __builtin_mul_overflow(static_cast<std::uint64_t>(layout.shape[d] - 1),
                                   static_cast<std::uint64_t>(layout.strides[d]), &reach) ||
            __builtin_add_overflow(last, reach, &last))
          throw malformed(source_, "strides " + shape_text(layout.strides) + " lead outside any file");
      }
    }
    std::uint64_t needed;
    if (__builtin_add_overflow(last, static_cast<std::uint64_t>(tensor.integer), &needed) ||
        __builtin_add_overflow(needed, 1, &needed) || __builtin_mul_overflow(needed, item, &needed) ||
        __builtin_mul_overflow(static_cast<std::uint64_t>(tensor.integer), item, &skipped))
      throw malformed(source_, "a storage offset leads outside any file");
    if (needed > storage->size)
      throw Error("E4002",
                  "storage data/" + tensor.text + " is cut short: expected " + std::to_string(needed) +
                      " bytes, found " + std::to_string(storage->size),
                  source_.path(), "dump it again, or save it again with torch.save");
    layout.offset = start + skipped;
    return layout;
  }

  const Source& source_;
  std::vector<ZipMember> entries_;
  std::unordered_map<std::string_view, const ZipMember*> by_name_;
  std::string root_;
  bool big_endian_ = false;
  Pickle pickle_;
  std::vector<Member> members_;
  std::unordered_set<std::string> taken_;
  std::size_t visits_ = 0, names_ = 0;
};

/// A checkpoint of thousands of tensors is opened once per tensor: its directory and pickle are read once.
struct Checkpoint {
  file::Status status;
  std::string path;
  std::shared_ptr<const std::unordered_map<std::string, Member>> members;
};

std::shared_ptr<const std::unordered_map<std::string, Member>> checkpoint(const Source& source) {
  static std::mutex mutex;
  static std::vector<Checkpoint> recent;
  const file::Status& status = source.file()->status;
  const auto same = [&](const Checkpoint& c) {
    return c.path == source.path() && c.status.inode == status.inode && c.status.device == status.device &&
           c.status.size == status.size && c.status.modified_ns == status.modified_ns;
  };
  {
    const std::lock_guard lock(mutex);
    const auto found = std::find_if(recent.begin(), recent.end(), same);
    if (found != recent.end()) return found->members;
  }
  auto members = std::make_shared<std::unordered_map<std::string, Member>>();
  for (Member& member : Archive(source).members()) {
    std::string name = member.name;
    members->emplace(std::move(name), std::move(member));
  }
  const std::lock_guard lock(mutex);
  if (recent.size() >= 4) recent.erase(recent.begin());
  recent.push_back({status, source.path(), members});
  return members;
}

bool detects(const Source& source) {
  const bool suffix = has_suffix(source.path(), ".pt") || has_suffix(source.path(), ".pth");
  if (!looks_like_zip(source)) return suffix && source.size() < 4;
  if (suffix) return true;
  // torch writes data.pkl first; other archives (.npz) start with something else.
  const std::span<const std::byte> head = source.head();
  if (head.size() < 30) return false;
  const std::size_t length = std::to_integer<std::size_t>(head[26]) | std::to_integer<std::size_t>(head[27]) << 8;
  return head.size() >= 30 + length &&
         std::string_view(reinterpret_cast<const char*>(head.data()) + 30, length).ends_with("data.pkl");
}

std::vector<Member> list(const Source& source, const Options&) {
  return Archive(source).members();
}

std::unique_ptr<Data> open_member(const Source& source, const Member& member) {
  if (member.problem)
    throw Error(member.problem->code, member.problem->text, source.path(),
                "dump it again, or save it again with torch.save");
  return make_data(source, member.layout);
}

std::unique_ptr<Data> open(const Source& source, std::string_view name, const Options&) {
  if (!name.empty()) {
    const auto members = checkpoint(source);
    const auto found = members->find(std::string(name));
    if (found == members->end())
      throw Error("E4012", "tensor " + std::string(name) + " is no longer in the file", source.path(),
                  "it was changed while it was read: compare again");
    return open_member(source, found->second);
  }
  const std::vector<Member> members = Archive(source).members();
  if (members.empty()) throw Error("E4003", "no tensor in the file", source.path(), "save a tensor with torch.save");
  if (members.size() > 1)
    throw Error("E4007", "one tensor was expected, the file holds " + std::to_string(members.size()), source.path(),
                "save one tensor per file, or name the file itself as the dump");
  return open_member(source, members.front());
}

constexpr unsigned char legacy_magic[] = {0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c,
                                          0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};

bool detects_legacy(const Source& source) {
  const std::span<const std::byte> head = source.head();
  if (head.size() >= sizeof legacy_magic && std::memcmp(head.data(), legacy_magic, sizeof legacy_magic) == 0)
    return true;
  const bool suffix = has_suffix(source.path(), ".pt") || has_suffix(source.path(), ".pth");
  return suffix && !head.empty() && head[0] == std::byte{0x80};
}

[[noreturn]] void refuse_legacy(const Source& source) {
  throw Error("E4001", "a .pt file of the old form (before torch 1.6, or without zip), which is not read",
              source.path(), "convert it once: torch.save(torch.load(path), path)");
}

std::vector<Member> list_legacy(const Source& source, const Options&) {
  refuse_legacy(source);
}

std::unique_ptr<Data> open_legacy(const Source& source, std::string_view, const Options&) {
  refuse_legacy(source);
}

}  // namespace

const Format pt_format{".pt", detects, list, open};
const Format legacy_pt_format{".pt (old form)", detects_legacy, list_legacy, open_legacy};

}  // namespace msprobe::dump
