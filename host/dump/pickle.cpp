#include "dump/pickle.h"

#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "dump/dtype_text.h"
#include "msprobe/dtype.hpp"

namespace msprobe::dump {
namespace {

using Value = PickleValue;
using Type = PickleValue::Type;

enum class Call : std::uint8_t {
  no,         // a class or constant that is only mentioned
  tensor_v2,  // (storage, offset, size, stride, requires_grad, hooks[, metadata])
  tensor_v3,  // the same with a dtype behind the hooks: storages without type
  first,      // gives back its first argument: parameters, torch.Size
  from_type,  // (function, type, arguments, state): subclasses of Tensor
  dict,
  list,
  opaque  // a value that is no tensor: torch.device
};

struct Allowed {
  std::string_view name;
  Call call;
};

// What torch.save writes around tensors. The same idea as torch's weights_only loader
// (torch/_weights_only_unpickler.py).
constexpr Allowed allowed[] = {
    {"torch._utils _rebuild_tensor", Call::tensor_v2},
    {"torch._utils _rebuild_tensor_v2", Call::tensor_v2},
    {"torch._utils _rebuild_tensor_v3", Call::tensor_v3},
    {"torch._utils _rebuild_parameter", Call::first},
    {"torch._utils _rebuild_parameter_with_state", Call::first},
    {"torch._tensor _rebuild_from_type_v2", Call::from_type},
    {"torch.nn.parameter Parameter", Call::first},
    {"torch.nn.parameter Buffer", Call::first},
    {"torch Tensor", Call::no},
    {"torch._tensor Tensor", Call::no},
    {"torch Size", Call::first},
    {"torch device", Call::opaque},
    {"torch.serialization _get_layout", Call::opaque},
    {"torch.storage UntypedStorage", Call::no},
    {"torch UntypedStorage", Call::no},
    {"torch.storage TypedStorage", Call::no},
    {"collections OrderedDict", Call::dict},
    {"collections defaultdict", Call::dict},
    {"builtins dict", Call::dict},
    {"__builtin__ dict", Call::dict},
    {"builtins set", Call::list},
    {"__builtin__ set", Call::list},
    {"builtins list", Call::list},
    {"_codecs encode", Call::opaque},
    {"builtins int", Call::no},
    {"builtins float", Call::no},
};

const Allowed* find_allowed(std::string_view name) {
  for (const Allowed& entry : allowed)
    if (entry.name == name) return &entry;
  return nullptr;
}

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  Pickle run() {
    while (step()) {
    }
    return std::move(pickle_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error("E4007", "malformed pickle: " + why + " at byte " + std::to_string(at_), path_,
                "the file is damaged: save it again with torch.save");
  }

  const std::byte* take(std::uint64_t count) {
    if (count > bytes_.size() - at_) fail("it ends too early");
    const std::byte* start = bytes_.data() + at_;
    at_ += static_cast<std::size_t>(count);
    return start;
  }
  std::uint64_t number(int width) {
    const std::byte* p = take(static_cast<std::uint64_t>(width));
    std::uint64_t value = 0;
    for (int i = 0; i < width; ++i) value |= std::to_integer<std::uint64_t>(p[i]) << (8 * i);
    return value;
  }
  std::string text(std::uint64_t count) {
    const std::byte* p = take(count);
    return {reinterpret_cast<const char*>(p), static_cast<std::size_t>(count)};
  }
  std::string line() {
    const void* end = std::memchr(bytes_.data() + at_, '\n', bytes_.size() - at_);
    if (!end) fail("a line does not end");
    const std::string value =
        text(static_cast<std::uint64_t>(static_cast<const std::byte*>(end) - (bytes_.data() + at_)));
    ++at_;
    return value;
  }

  // A value costs an opcode, so that memory stays in proportion to the file.
  Value* make(Type type) {
    pickle_.values.emplace_back();
    pickle_.values.back().type = type;
    return &pickle_.values.back();
  }
  Value* push(Type type) {
    stack_.push_back(make(type));
    return stack_.back();
  }
  void push_integer(std::int64_t value) { push(Type::integer)->integer = value; }
  void push_text(std::string value) { push(Type::text)->text = std::move(value); }
  Value* pop() {
    if (stack_.empty() || (!marks_.empty() && marks_.back() == stack_.size())) fail("its stack is empty");
    Value* value = stack_.back();
    stack_.pop_back();
    return value;
  }
  Value* top() {
    if (stack_.empty()) fail("its stack is empty");
    return stack_.back();
  }
  /// What lies above the last mark.
  std::vector<const Value*> pop_mark() {
    if (marks_.empty() || marks_.back() > stack_.size()) fail("a mark is missing");
    std::vector<const Value*> items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }
  void remember(std::uint64_t slot) {
    // Writers number their memo from 0: a larger step than the file has bytes is no honest one.
    if (slot > bytes_.size()) fail("memo number " + std::to_string(slot));
    if (slot >= memo_.size()) memo_.resize(static_cast<std::size_t>(slot) + 1);
    memo_[static_cast<std::size_t>(slot)] = top();
  }
  void recall(std::uint64_t slot) {
    if (slot >= memo_.size() || !memo_[static_cast<std::size_t>(slot)])
      fail("memo entry " + std::to_string(slot) + " does not exist");
    stack_.push_back(memo_[static_cast<std::size_t>(slot)]);
  }
  void push_tuple(std::size_t count) {
    std::vector<const Value*> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    push(Type::tuple)->items = std::move(items);
  }
  void add(Value* container, const std::vector<const Value*>& items, bool pairs) {
    if (container->type == Type::opaque) return;
    if (pairs ? container->type != Type::dict || items.size() % 2 != 0 : container->type != Type::list)
      fail("an item goes into something that is no container");
    container->items.insert(container->items.end(), items.begin(), items.end());
  }

  void push_global(const std::string& module, const std::string& name) {
    const std::string full = module + " " + name;
    Value* value = make(Type::global);
    value->text = full;
    value->dtype_text = name;
    if (module == "torch" || module == "torch.storage") {
      value->dtype = dtype_from_storage(name);
      if (value->dtype == MSP_DTYPE_NONE) value->dtype = dtype_from_text(name);
    }
    const bool torch_name =
        (module == "torch" || module == "torch.storage") && name.size() <= 40 &&
        (value->dtype != MSP_DTYPE_NONE || name.ends_with("Storage") || name.starts_with("float8_"));
    if (!torch_name && !find_allowed(full))
      throw Error("E4006", "pickle asks for " + module + "." + name + ", which is never executed", path_,
                  "save tensors, or dicts and lists of tensors, only");
    stack_.push_back(value);
  }

  std::vector<std::int64_t> integers(const Value* value) {
    if (value->type != Type::tuple && value->type != Type::list) fail("a shape is no tuple");
    if (value->items.size() > 64) fail("a shape of " + std::to_string(value->items.size()) + " dimensions");
    std::vector<std::int64_t> numbers;
    for (const Value* item : value->items) {
      if (item->type != Type::integer) fail("a shape holds something that is no number");
      numbers.push_back(item->integer);
    }
    return numbers;
  }

  void persistent_id(const Value* id) {
    // ('storage', class, key, location, numel[, view])
    if (id->type != Type::tuple || id->items.size() < 5 || id->items[0]->type != Type::text ||
        id->items[0]->text != "storage" || id->items[1]->type != Type::global || id->items[2]->type != Type::text ||
        id->items[4]->type != Type::integer)
      fail("a reference to something that is no storage");
    if (id->items[2]->text.size() > 256)
      fail("a storage with a name of " + std::to_string(id->items[2]->text.size()) + " bytes");
    const Value* storage_class = id->items[1];
    Value* storage = push(Type::storage);
    storage->text = id->items[2]->text;
    storage->integer = id->items[4]->integer;
    storage->dtype = storage_class->dtype;
    storage->dtype_text = storage_class->dtype_text;
  }

  void push_tensor(const std::vector<const Value*>& arguments, bool with_dtype) {
    if (arguments.size() < (with_dtype ? 7U : 4U) || arguments[0]->type != Type::storage ||
        arguments[1]->type != Type::integer || arguments[1]->integer < 0)
      fail("a tensor is built from something that is no storage");
    const Value* storage = arguments[0];
    Value* tensor = push(Type::tensor);
    tensor->text = storage->text;
    tensor->integer = arguments[1]->integer;
    tensor->shape = integers(arguments[2]);
    tensor->strides = integers(arguments[3]);
    tensor->dtype = storage->dtype;
    tensor->dtype_text = storage->dtype_text;
    if (with_dtype) {
      if (arguments[6]->type != Type::global) fail("a tensor has no dtype");
      tensor->dtype = arguments[6]->dtype;
      tensor->dtype_text = "torch." + arguments[6]->dtype_text;
    } else if (tensor->dtype != MSP_DTYPE_NONE) {
      tensor->dtype_text = torch_name(tensor->dtype);
    }
    if (tensor->shape.size() != tensor->strides.size()) fail("shape and strides have different lengths");
  }

  /// Copies of what the memo holds could grow with the square of the file.
  void copy_items(const Value* from, Value* to) {
    copied_ += from->items.size();
    if (copied_ > bytes_.size()) fail("it copies one list again and again");
    to->items.insert(to->items.end(), from->items.begin(), from->items.end());
  }

  void call(const Value* function, const Value* arguments) {
    if (function->type == Type::global && arguments->type == Type::tuple) {
      const Allowed* entry = find_allowed(function->text);
      const Call kind = entry ? entry->call : Call::no;
      switch (kind) {
        case Call::tensor_v2:
          return push_tensor(arguments->items, false);
        case Call::tensor_v3:
          return push_tensor(arguments->items, true);
        case Call::first:
          if (arguments->items.empty()) {
            push(Type::tuple);
          } else {
            stack_.push_back(const_cast<Value*>(arguments->items[0]));
          }
          return;
        case Call::from_type:
          // The inner function is a global that was allowed, and is never this one again: no endless descent.
          if (arguments->items.size() < 3 || arguments->items[0]->type != Type::global ||
              arguments->items[0]->text == function->text)
            fail("a tensor subclass is built from something else");
          return call(arguments->items[0], arguments->items[2]);
        case Call::dict: {
          Value* made = push(Type::dict);
          // OrderedDict of old Pythons: one list of [key, value] lists.
          if (!arguments->items.empty() && arguments->items[0]->type == Type::list)
            for (const Value* pair : arguments->items[0]->items)
              if (pair->items.size() == 2 && (pair->type == Type::list || pair->type == Type::tuple))
                copy_items(pair, made);
          return;
        }
        case Call::list: {
          Value* made = push(Type::list);
          if (!arguments->items.empty() && arguments->items[0]->type == Type::list)
            copy_items(arguments->items[0], made);
          return;
        }
        case Call::opaque:
          push(Type::opaque);
          return;
        case Call::no:
          break;
      }
      fail("it calls " + function->text);
    }
    fail("it calls something that is no function");
  }

  bool step() {
    switch (std::to_integer<unsigned char>(*take(1))) {
      case 0x80: {  // PROTO
        const std::uint64_t protocol = number(1);
        if (protocol > 5) fail("protocol " + std::to_string(protocol) + " is not known");
        break;
      }
      case '.':  // STOP
        pickle_.root = pop();
        return false;
      case 0x95:
        number(8);
        break;  // FRAME: only a hint
      case '(':
        marks_.push_back(stack_.size());
        break;
      case '0':
        if (!marks_.empty() && marks_.back() == stack_.size())
          marks_.pop_back();
        else
          pop();
        break;
      case '1':
        pop_mark();
        break;
      case '2':
        stack_.push_back(top());
        break;  // DUP
      case 'N':
        push(Type::none);
        break;
      case 0x88:
        push(Type::boolean)->integer = 1;
        break;
      case 0x89:
        push(Type::boolean);
        break;
      case 'J':
        push_integer(static_cast<std::int32_t>(number(4)));
        break;
      case 'K':
        push_integer(static_cast<std::int64_t>(number(1)));
        break;
      case 'M':
        push_integer(static_cast<std::int64_t>(number(2)));
        break;
      case 0x8a:
        long_integer(number(1));
        break;
      case 0x8b:
        long_integer(number(4));
        break;
      case 'I': {
        const std::string digits = line();
        if (digits == "01" || digits == "00")
          push(Type::boolean)->integer = digits == "01";
        else
          push_integer(std::strtoll(digits.c_str(), nullptr, 10));
        break;
      }
      case 'G': {  // BINFLOAT, big-endian
        std::uint64_t bits = __builtin_bswap64(number(8));
        Value* value = push(Type::real);
        std::memcpy(&value->real, &bits, sizeof bits);
        break;
      }
      case 'X':
        push_text(text(number(4)));
        break;
      case 0x8c:
        push_text(text(number(1)));
        break;
      case 0x8d:
        push_text(text(number(8)));
        break;
      case 'T':
        push_text(text(number(4)));
        break;
      case 'U':
        push_text(text(number(1)));
        break;
      case 'B':
        opaque_bytes(number(4));
        break;
      case 'C':
        opaque_bytes(number(1));
        break;
      case 0x8e:
        opaque_bytes(number(8));
        break;
      case 0x96:
        opaque_bytes(number(8));
        break;
      case ')':
        push(Type::tuple);
        break;
      case 0x85:
        push_tuple(1);
        break;
      case 0x86:
        push_tuple(2);
        break;
      case 0x87:
        push_tuple(3);
        break;
      case 't': {
        std::vector<const Value*> items = pop_mark();
        push(Type::tuple)->items = std::move(items);
        break;
      }
      case ']':
        push(Type::list);
        break;
      case 'l': {
        std::vector<const Value*> items = pop_mark();
        push(Type::list)->items = std::move(items);
        break;
      }
      case '}':
        push(Type::dict);
        break;
      case 'd': {
        const std::vector<const Value*> items = pop_mark();
        add(push(Type::dict), items, true);
        break;
      }
      case 'a': {
        const Value* item = pop();
        add(top(), {item}, false);
        break;
      }
      case 'e': {
        const std::vector<const Value*> items = pop_mark();
        add(top(), items, false);
        break;
      }
      case 's': {
        const Value* value = pop();
        const Value* key = pop();
        add(top(), {key, value}, true);
        break;
      }
      case 'u': {
        const std::vector<const Value*> items = pop_mark();
        add(top(), items, true);
        break;
      }
      case 0x8f:
        push(Type::list);
        break;      // EMPTY_SET
      case 0x90: {  // ADDITEMS
        const std::vector<const Value*> items = pop_mark();
        add(top(), items, false);
        break;
      }
      case 0x91: {  // FROZENSET
        std::vector<const Value*> items = pop_mark();
        push(Type::list)->items = std::move(items);
        break;
      }
      case 'q':
        remember(number(1));
        break;
      case 'r':
        remember(number(4));
        break;
      case 0x94:
        remember(memo_.size());
        break;
      case 'h':
        recall(number(1));
        break;
      case 'j':
        recall(number(4));
        break;
      case 'c': {
        const std::string module = line();
        push_global(module, line());
        break;
      }
      case 0x93: {  // STACK_GLOBAL
        const Value* name = pop();
        const Value* module = pop();
        if (name->type != Type::text || module->type != Type::text) fail("a global without a name");
        push_global(module->text, name->text);
        break;
      }
      case 'R':     // REDUCE
      case 0x81: {  // NEWOBJ
        const Value* arguments = pop();
        const Value* function = pop();
        call(function, arguments);
        break;
      }
      case 'b':  // BUILD: state of dicts (the _metadata of state dicts) and parameters, which carries no tensors of
                 // ours
        pop();
        top();
        break;
      case 'Q':
        persistent_id(pop());
        break;
      default:
        --at_;
        fail("opcode " + std::to_string(std::to_integer<int>(bytes_[at_])) + " is not one that torch.save writes");
    }
    return true;
  }

  void long_integer(std::uint64_t width) {
    const std::byte* p = take(width);
    std::uint64_t value = width != 0 && (std::to_integer<unsigned>(p[width - 1]) & 0x80) ? ~std::uint64_t{0} : 0;
    if (width > 8) {
      push(Type::opaque);  // beyond 64 bits: a seed, never a size
      return;
    }
    for (std::uint64_t i = width; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(p[i]);
    push_integer(static_cast<std::int64_t>(value));
  }

  void opaque_bytes(std::uint64_t count) {
    take(count);
    push(Type::opaque);
  }

  std::span<const std::byte> bytes_;
  const std::string& path_;
  std::size_t at_ = 0, copied_ = 0;
  std::vector<Value*> stack_;
  std::vector<std::size_t> marks_;
  std::vector<Value*> memo_;
  Pickle pickle_;
};

}  // namespace

Pickle read_pickle(std::span<const std::byte> bytes, const std::string& path) {
  return Machine(bytes, path).run();
}

}  // namespace msprobe::dump
