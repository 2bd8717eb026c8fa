/// Dumps of Ascend msprobe (PyPI mindstudio-probe 26.0): dump.json says what was called with what, in execution order;
/// construct.json which module an operator ran in, stack.json from where; dump_tensor_data/ holds the tensors of task
/// "tensor" as .pt (PyTorch) or .npy (MindSpore).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "base/file.h"
#include "dump/catalogue.h"
#include "dump/dtype_text.h"
#include "dump/formats/ascend_names.h"
#include "dump/json_stream.h"

namespace msprobe::dump {
namespace {

using Json = JsonNode::Type;

constexpr std::string_view data_folder = "dump_tensor_data";

/// What stack.json and construct.json know of one call.
struct Context {
  std::string source;
  std::string parent;
  bool in_optimizer = false;
};
using Contexts = std::unordered_map<std::string, Context>;

std::string_view text_of(const JsonNode* node) {
  return node && node->is(Json::text) ? node->text : std::string_view();
}

bool is_leaf(const JsonNode& node) {
  if (!node.is(Json::object)) return false;
  for (const JsonNode* item : node.items)
    if (item->is(Json::text) && (item->key == "type" || item->key == "class_type")) return true;
  return false;
}

/// As Python prints a float: the shortest text that reads back, never without a point or an exponent.
std::string float_text(const JsonNode& node) {
  double value = 0;
  if (!to_double(node, &value)) return std::string(node.text);
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

/// The value of a scalar in one fixed form, so that equal values are equal texts.
std::string value_text(const JsonNode& node, bool as_float) {
  switch (node.type) {
    case Json::null:
      return "null";
    case Json::boolean:
      return node.boolean ? "true" : "false";
    case Json::number: {
      const bool fraction = node.text.find_first_of(".eENI") != std::string_view::npos;
      return as_float || fraction ? float_text(node) : std::string(node.text);
    }
    case Json::text:
      return std::string(node.text);
    case Json::array:
    case Json::object: {
      const bool list = node.is(Json::array);
      std::string text = list ? "[" : "{";
      for (const JsonNode* item : node.items) {
        if (text.size() > 1) text += ", ";
        if (!list) text.append(item->key).append(": ");
        text += value_text(*item, as_float);
      }
      return text + (list ? "]" : "}");
    }
  }
  return "";
}

/// Devices and places differ between machines without any meaning.
bool is_device_or_path(std::string_view type, std::string_view value) {
  if (type.ends_with("device")) return true;
  if (type != "str") return false;
  if (value.starts_with('/') || value.starts_with("./") || value.starts_with("../") || value.starts_with("~/") ||
      (value.size() > 2 && value[1] == ':' && (value[2] == '\\' || value[2] == '/')))
    return true;
  const std::string_view device = value.substr(0, value.find(':'));
  for (const std::string_view known :
       {"cpu", "cuda", "npu", "gpu", "xpu", "mps", "meta", "privateuseone", "CPU", "GPU", "Ascend"})
    if (device == known)
      return device == value || value.find_first_not_of("0123456789", device.size() + 1) == std::string_view::npos;
  return false;
}

/// Files that are not there, and what is lost with them.
using Missing = std::vector<std::pair<std::string, std::string>>;

/// Lines of stack.json and construct.json that cannot be used are no reason to do without the dump.
class ContextReader {
 public:
  ContextReader(const std::string& folder, std::vector<std::string>& notes) : notes_(notes) {
    read(file::join(folder, "stack.json"), "where calls come from is not known",
         [&](const JsonNode& entry) { stack(entry); });
    read(file::join(folder, "construct.json"), "the modules around operators are not known",
         [&](const JsonNode& entry) { construct(entry); });
  }
  Contexts contexts;
  Missing missing;

 private:
  template <class Take>
  void read(const std::string& path, const std::string& loss, Take take) {
    try {
      if (file::status(path).type != file::Type::file) {
        missing.emplace_back(file::base_name(path), loss);
        return;
      }
      const JsonEnd end =
          read_json_members(path, "", [&](std::string_view, const JsonNode& entry) { take(entry); }, {});
      if (!end.complete)
        notes_.push_back(path + " is " + (end.cut_off ? "cut off" : "malformed") + " at byte " +
                         std::to_string(end.offset) + " (" + end.why + "): the rest of it is not used");
    } catch (const Error& error) {
      notes_.push_back(path + ": " + error.what_happened() + ": " + loss);
    }
  }

  /// New form: "0": [[names that share it], [frames]]; old form: "name": [frames]. Frames start at the innermost.
  void stack(const JsonNode& entry) {
    if (!entry.is(Json::array)) return;
    const JsonNode* frames = &entry;
    const JsonNode* names = nullptr;
    if (entry.items.size() == 2 && entry.items[0]->is(Json::array) && entry.items[1]->is(Json::array)) {
      names = entry.items[0];
      frames = entry.items[1];
    }
    Context found;
    std::string innermost;
    for (const JsonNode* item : frames->items) {
      Frame frame;
      if (!parse_frame(text_of(item), &frame)) continue;
      if (!is_library(frame.file)) {
        found.source = source_text(frame);
        break;
      }
      // Before any frame of the user's own: a loss that an optimizer calls back is no update.
      if (frame.file.find("/torch/optim/") != std::string_view::npos) found.in_optimizer = true;
      if (innermost.empty()) innermost = source_text(frame);
    }
    if (found.source.empty()) found.source = innermost;
    if (!names) {
      contexts[std::string(entry.key)] = std::move(found);
      return;
    }
    for (const JsonNode* name : names->items)
      if (name->is(Json::text)) contexts[std::string(name->text)] = found;
  }

  /// "call": "parent", null, or [parent, micro step] of Megatron.
  void construct(const JsonNode& entry) {
    const JsonNode* parent = &entry;
    if (entry.is(Json::array) && !entry.items.empty()) parent = entry.items[0];
    if (!parent->is(Json::text)) return;
    contexts[std::string(entry.key)].parent = std::string(parent->text);
  }

  std::vector<std::string>& notes_;
};

class PartReader {
 public:
  PartReader(const AscendPart& part, const Options& options) : part_(part), options_(options) {}
  Missing missing;

  Dump read() {
    folder_ = std::string(file::folder_name(file::absolute(part_.json)));
    list_data();
    // About 230 bytes of json per leaf. Room that is not used is never touched; moving 100,000 tensors is.
    const std::uint64_t leaves = file::status(part_.json).size / 230;
    dump_.tensors.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(leaves, 1'000'000)));
    ContextReader context(folder_, dump_.notes);
    contexts_ = std::move(context.contexts);
    missing = std::move(context.missing);
    const JsonEnd end = read_json_members(
        part_.json, "data",
        [&](std::string_view parent, const JsonNode& member) {
          if (parent.empty())
            header(member);
          else
            call(member);
        },
        options_.progress);
    if (!end.complete) ended_early(end);
    if (!has_data_)
      throw Error("E4008", "no dump of Ascend msprobe: \"data\" is missing", part_.json,
                  "name the dump.json of a dump, or its folder");
    if (dump_.tensors.empty()) dump_.notes.push_back(part_.json + " lists no call");
    if (dump_.task == "statistics" && checksums_) dump_.task = "md5";
    return std::move(dump_);
  }

 private:
  void list_data() {
    data_path_ = file::join(folder_, data_folder);
    try {
      if (file::status(data_path_).type != file::Type::folder) return;
      for (file::Entry& entry : file::list(data_path_)) files_.insert(std::move(entry.name));
    } catch (const Error& error) {
      dump_.notes.push_back(data_path_ + ": " + error.what_happened());
    }
  }

  void ended_early(const JsonEnd& end) {
    const std::string what = end.cut_off ? "is cut off" : "is malformed";
    const std::string where = part_.json;
    if (execution_index_ == 0)
      throw Error(
          "E4008",
          "dump.json " + what + " at byte " + std::to_string(end.offset) + " (" + end.why + ") before its first call",
          where, "still being written? the dump is complete after stop(): wait, or dump again");
    dump_.incomplete = true;
    dump_.notes.push_back(where + " " + what + " at byte " + std::to_string(end.offset) + " (" + end.why + "): the " +
                          std::to_string(execution_index_) + " calls before it are used, the last is " + last_call_);
  }

  void header(const JsonNode& member) {
    if (member.key == "task") dump_.task = text_of(&member);
    if (member.key == "level") dump_.level = text_of(&member);
    if (member.key == "framework") dump_.framework = text_of(&member);
    if (member.key == "data" && (member.is(Json::object) || member.is(Json::null))) has_data_ = true;
  }

  void call(const JsonNode& node) {
    call_name_ = node.key;
    const CallName name = parse_call_name(call_name_);
    template_ = Tensor{};
    template_.call_name = call_name_;
    template_.layer = name.layer;
    template_.module = name.module;
    template_.op = name.op;
    template_.call = name.call;
    template_.phase = name.phase;
    template_.step = part_.step;
    template_.rank = part_.rank;
    template_.execution_index = execution_index_++;
    set_context(name);
    last_call_ = call_name_;

    if (name.parameter_gradients) {
      if (node.is(Json::object))
        for (const JsonNode* parameter : node.items) {
          // One gradient per parameter, in a list of one.
          const JsonNode* value =
              parameter->is(Json::array) && parameter->items.size() == 1 ? parameter->items[0] : parameter;
          walk(*value, Direction::gradient, "", std::string(parameter->key));
        }
      return;
    }
    struct Section {
      std::string_view key, in_name;
      Direction direction;
    };
    // In the order in which a call is looked at, which is not the order of the file: parameters come last there.
    constexpr Section sections[] = {{"input_args", "input", Direction::input},
                                    {"input", "input", Direction::input},
                                    {"input_kwargs", "input", Direction::input},
                                    {"parameters", "parameters", Direction::parameter},
                                    {"output", "output", Direction::output}};
    bool known = false;
    for (const Section& section : sections)
      if (const JsonNode* values = node.is(Json::object) ? node.find(section.key) : nullptr) {
        known = true;
        if (is_leaf(*values))
          walk(*values, section.direction, section.in_name, "0");
        else
          walk_items(*values, section.direction, section.in_name, "");
      }
    if (!known) {  // saved by hand: the value is the tensor, or a list of them
      if (is_leaf(node))
        walk(node, Direction::output, "", "0");
      else
        walk_items(node, Direction::output, "", "");
    }
  }

  void set_context(const CallName& name) {
    const auto own = contexts_.find(call_name_);
    const Context* context = own == contexts_.end() ? nullptr : &own->second;
    const Context* forward = nullptr;
    if (const std::string other = forward_name(call_name_, name); !other.empty())
      if (const auto found = contexts_.find(other); found != contexts_.end()) forward = &found->second;
    if (context) template_.source = context->source;
    if (template_.source.empty() && forward) template_.source = forward->source;
    // For backward calls construct.json names the module that was left last, not the one around the call.
    const std::string* parent = forward && !forward->parent.empty() ? &forward->parent
                                : context                           ? &context->parent
                                                                    : nullptr;
    if (parent && !parent->empty() && name.module.empty()) {
      const CallName around = parse_call_name(*parent);
      template_.module = around.module.empty() ? std::string_view(*parent) : around.module;
    }
    const bool optimizer =
        (context && context->in_optimizer) || (parent && (*parent == "optimizer" || *parent == "clip_grad"));
    if (optimizer && template_.phase == Phase::forward) template_.phase = Phase::update;
  }

  void walk_items(const JsonNode& node, Direction direction, std::string_view section, const std::string& slot) {
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const JsonNode& item = *node.items[i];
      std::string below = slot.empty() ? "" : slot + ".";
      below += node.is(Json::object) ? std::string(item.key) : std::to_string(i);
      walk(item, direction, section, below);
    }
  }

  void walk(const JsonNode& node, Direction direction, std::string_view section, const std::string& slot) {
    if (node.is(Json::array) || (node.is(Json::object) && !is_leaf(node))) {
      walk_items(node, direction, section, slot);
      return;
    }
    // A communication operation of a batch: its tensor lies inside.
    if (const JsonNode* inner = node.is(Json::object) ? node.find("tensor") : nullptr;
        inner && node.find("class_type")) {
      walk(*inner, direction, section, slot + ".tensor");
      for (const std::string_view key : {"op", "peer", "tag"})
        if (const JsonNode* value = node.find(key)) walk(*value, direction, section, slot + "." + std::string(key));
      return;
    }
    Tensor& tensor = dump_.tensors.emplace_back(template_);
    tensor.direction = direction;
    tensor.slot = slot;
    tensor.name = call_name_;
    if (!section.empty()) tensor.name.append(".").append(section);
    tensor.name.append(".").append(slot);
    const JsonNode* shape = node.is(Json::object) ? node.find("shape") : nullptr;
    if (shape && shape->is(Json::array) && node.find("dtype"))
      fill_tensor(tensor, node, *shape);
    else
      fill_scalar(tensor, node);
  }

  void fill_scalar(Tensor& tensor, const JsonNode& node) {
    tensor.kind = Kind::scalar;
    if (!node.is(Json::object)) {
      switch (node.type) {
        case Json::boolean:
          tensor.scalar = "bool ";
          break;
        case Json::number:
          tensor.scalar = node.text.find_first_of(".eENI") == std::string_view::npos ? "int " : "float ";
          break;
        case Json::text:
          tensor.scalar = "str ";
          break;
        default:
          break;
      }
      tensor.scalar += value_text(node, false);
      tensor.ignored_scalar = node.is(Json::text) && is_device_or_path("str", node.text);
      return;
    }
    const JsonNode* type_node = node.find("type");
    const std::string_view type = text_of(type_node ? type_node : node.find("class_type"));
    tensor.scalar = type;
    const bool as_float = type.find("float") != std::string_view::npos && !type.ends_with("dtype");
    const JsonNode* value = node.find("value");
    if (!value) value = node.find("format");       // torch.memory_format
    if (!value) value = node.find("group_ranks");  // a process group; its id differs from run to run
    if (value) {
      tensor.scalar += " " + value_text(*value, as_float);
      tensor.ignored_scalar = is_device_or_path(type, text_of(value));
    } else {
      for (const JsonNode* item : node.items)
        if (item->key != "type" && item->key != "class_type")
          tensor.scalar.append(" ").append(item->key).append("=").append(value_text(*item, as_float));
      tensor.ignored_scalar = is_device_or_path(type, "");
    }
  }

  void fill_tensor(Tensor& tensor, const JsonNode& node, const JsonNode& shape) {
    for (const JsonNode* item : node.items) {
      if (item->key == "dtype") {
        tensor.dtype_text = text_of(item);
        tensor.dtype = dtype_from_text(tensor.dtype_text);
      } else if (item->key == "Max") {
        statistic(tensor, *item, MSP_STAT_MAX);
      } else if (item->key == "Min") {
        statistic(tensor, *item, MSP_STAT_MIN);
      } else if (item->key == "Mean") {
        statistic(tensor, *item, MSP_STAT_MEAN);
      } else if (item->key == "Norm") {
        statistic(tensor, *item, MSP_STAT_NORM);
      } else if (item->key == "md5" && item->is(Json::text) && !item->text.empty()) {
        // "md5" is the name of the field whatever the algorithm: CRC-32, xor, or (MindSpore graphs) a true MD5.
        tensor.checksum = item->text;
        tensor.checksum_kind = item->text.starts_with("0x") ? "xor" : item->text.size() == 8 ? "crc32" : "md5";
        checksums_ = true;
      } else if (item->key == "type" && dump_.framework.empty()) {
        // Older files do not name the framework.
        if (text_of(item).starts_with("torch.")) dump_.framework = "pytorch";
        if (text_of(item).starts_with("mindspore.")) dump_.framework = "mindspore";
      }
    }
    tensor.shape.reserve(shape.items.size());
    for (const JsonNode* size : shape.items) {
      std::int64_t value = -1;
      if (size->is(Json::number)) std::from_chars(size->text.data(), size->text.data() + size->text.size(), value);
      tensor.shape.push_back(value);
    }
    const std::string_view data_name = text_of(node.find("data_name"));
    if (!data_name.empty()) {
      tensor.kind = Kind::tensor;
      set_file(tensor, data_name);
    } else if (tensor.statistics.mask != 0 || tensor.checksum.empty()) {
      tensor.kind = Kind::statistics;
    } else {
      tensor.kind = Kind::checksum;
    }
  }

  static void statistic(Tensor& tensor, const JsonNode& node, int which) {
    double value = 0;
    if (!to_double(node, &value)) return;
    tensor.statistics.mask |= 1U << which;
    tensor.statistics.value[static_cast<std::size_t>(which)] = value;
  }

  void set_file(Tensor& tensor, std::string_view data_name) {
    if (data_name == "-1") {
      tensor.problem = Problem{"E4005", "saving this tensor failed when it was dumped (data_name -1)"};
      return;
    }
    const bool leaves = data_name.starts_with('/') || data_name == ".." || data_name.starts_with("../") ||
                        data_name.find("/../") != std::string_view::npos || data_name.ends_with("/..") ||
                        data_name.find('\0') != std::string_view::npos;
    if (leaves) {
      tensor.problem = Problem{"E4013", "data_name leads outside the dump: " + std::string(data_name.substr(0, 200))};
      return;
    }
    std::string_view stem = data_name;
    if (const std::size_t dot = stem.rfind('.'); dot != std::string_view::npos && dot > 0) stem = stem.substr(0, dot);
    tensor.name = stem;
    tensor.file = file::join(data_path_, data_name);
    const bool there = data_name.find('/') == std::string_view::npos
                           ? files_.count(std::string(data_name)) != 0
                           : file::status(tensor.file).type == file::Type::file;
    if (!there) {
      tensor.problem =
          Problem{"E4005", "file " + std::string(data_name) + " is missing in " + std::string(data_folder)};
    }
  }

  const AscendPart& part_;
  const Options& options_;
  std::string folder_, data_path_, call_name_, last_call_;
  std::unordered_set<std::string> files_;
  Contexts contexts_;
  Dump dump_;
  Tensor template_;
  std::int64_t execution_index_ = 0;
  bool has_data_ = false, checksums_ = false;
};

}  // namespace

Dump open_ascend(const std::vector<AscendPart>& parts, const Options& options) {
  std::vector<AscendPart> ordered = parts;
  std::sort(ordered.begin(), ordered.end(), [](const AscendPart& a, const AscendPart& b) {
    return std::pair(a.step, a.rank) < std::pair(b.step, b.rank);
  });
  std::vector<std::optional<Dump>> dumps(ordered.size());
  std::vector<std::optional<Error>> failures(ordered.size());
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, std::size_t> missing;
  Options own = options;
  if (options.progress)
    own.progress = [&](std::uint64_t bytes) {
      const std::lock_guard lock(mutex);
      options.progress(bytes);
    };
  parallel_for(ordered.size(), options.jobs, [&](std::size_t i) {
    try {
      PartReader reader(ordered[i], own);
      dumps[i] = reader.read();
      const std::lock_guard lock(mutex);
      for (auto& absent : reader.missing) ++missing[std::move(absent)];
    } catch (const Error& error) {
      failures[i] = error;
    }
  });

  Dump all;
  all.tool = "Ascend msprobe";
  bool any = false;
  std::size_t total = 0;
  for (const auto& dump : dumps)
    if (dump) total += dump->tensors.size();
  if (ordered.size() > 1) all.tensors.reserve(total);
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    if (!dumps[i]) {
      all.incomplete = true;
      all.notes.push_back(failures[i]->where() + ": " + failures[i]->what_happened() + ": this rank is left out");
      continue;
    }
    any = true;
    Dump& dump = *dumps[i];
    if (all.task.empty()) all.task = dump.task;
    if (all.level.empty()) all.level = dump.level;
    if (all.framework.empty()) all.framework = dump.framework;
    all.incomplete = all.incomplete || dump.incomplete;
    all.notes.insert(all.notes.end(), dump.notes.begin(), dump.notes.end());
    if (ordered.size() == 1)
      all.tensors = std::move(dump.tensors);
    else
      std::move(dump.tensors.begin(), dump.tensors.end(), std::back_inserter(all.tensors));
  }
  if (!any) throw *failures.front();
  // One line for a hundred ranks.
  for (const auto& [absent, folders] : missing) {
    std::string note = absent.first + " is missing";
    if (ordered.size() > 1)
      note += " in " + std::to_string(folders) + " of " + std::to_string(ordered.size()) + " rank folders";
    all.notes.push_back(note + ": " + absent.second);
  }
  return all;
}

}  // namespace msprobe::dump
