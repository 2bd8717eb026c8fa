#include "dump/json_stream.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <stdexcept>

#include "base/file.h"
#include "dump/rapidjson.h"

namespace msprobe::dump {
namespace {

// The reader goes down one stack frame per level. Ascend msprobe stops at 400 levels of its own.
constexpr int deepest = 1500;

/// What rapidjson wants of a stream; ends with '\0'.
class Stream {
 public:
  using Ch = char;
  Stream(const std::string& path, const std::function<void(std::uint64_t)>& progress)
      : path_(path), progress_(progress) {
    file::Status status;
    descriptor_ = file::open(path, &status);
    fill();
  }
  char Peek() const { return *at_; }
  char Take() {
    const char c = *at_;
    if (at_ != end_ && ++at_ == end_) fill();
    return c;
  }
  std::size_t Tell() const {
    return static_cast<std::size_t>(consumed_) + static_cast<std::size_t>(at_ - buffer_.get());
  }
  bool at_end() const { return at_ == end_; }

  char* PutBegin() { return nullptr; }
  void Put(char) {}
  void Flush() {}
  std::size_t PutEnd(char*) { return 0; }

 private:
  static constexpr std::size_t chunk = 256 * 1024;
  void fill() {
    if (end_) consumed_ += static_cast<std::uint64_t>(end_ - buffer_.get());
    const std::size_t got = file::read_at(descriptor_.get(), consumed_, buffer_.get(), chunk, path_);
    at_ = buffer_.get();
    end_ = at_ + got;
    *const_cast<char*>(end_) = '\0';
    if (progress_ && got != 0) progress_(got);
  }

  const std::string& path_;
  const std::function<void(std::uint64_t)>& progress_;
  file::Descriptor descriptor_;
  std::unique_ptr<char[]> buffer_ = std::make_unique<char[]>(chunk + 1);
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t consumed_ = 0;
};

class Handler {
 public:
  Handler(std::string_view nested, const std::function<void(std::string_view, const JsonNode&)>& member)
      : nested_(nested), member_(member) {}

  bool Null() { return value(JsonNode::Type::null); }
  bool Bool(bool b) { return value(JsonNode::Type::boolean, {}, b); }
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    return value(JsonNode::Type::number, keep({text, size}));
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return value(JsonNode::Type::text, keep({text, size}));
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    key_ = keep({text, size});
    return true;
  }
  bool StartObject() { return open(JsonNode::Type::object); }
  bool StartArray() { return open(JsonNode::Type::array); }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }

  bool too_deep = false, no_object = false;

 private:
  /// Depth 1 is inside the outermost object; inside the nested member it is 2.
  int report_depth() const { return in_nested_ ? 2 : 1; }

  JsonNode* make(JsonNode::Type type) {
    if (used_ == nodes_.size()) nodes_.emplace_back();
    JsonNode& node = nodes_[used_++];
    node.type = type;
    node.key = {};
    node.text = {};
    node.items.clear();
    return &node;
  }

  bool value(JsonNode::Type type, std::string_view text = {}, bool boolean = false) {
    if (depth_ == 0) return no_object = true, false;
    JsonNode* node = make(type);
    node->text = text;
    node->boolean = boolean;
    attach(node);
    return true;
  }

  void attach(JsonNode* node) {
    if (open_.empty()) {
      node->key = key_;
      report(*node);
    } else {
      if (open_.back()->type == JsonNode::Type::object) node->key = key_;
      open_.back()->items.push_back(node);
    }
  }

  void report(const JsonNode& node) {
    member_(in_nested_ ? nested_ : std::string_view(), node);
    used_ = 0;
    texts_.clear();
    text_used_ = 0;
    text_at_ = 0;
    key_ = {};
  }

  bool open(JsonNode::Type type) {
    if (++depth_ > deepest) return too_deep = true, false;
    if (depth_ == 1) {
      if (type != JsonNode::Type::object) return no_object = true, false;
      return true;
    }
    if (depth_ == 2 && !in_nested_ && type == JsonNode::Type::object && !nested_.empty() && key_ == nested_) {
      JsonNode opened;
      opened.type = type;
      opened.key = key_;
      report(opened);
      in_nested_ = true;
      return true;
    }
    JsonNode* node = make(type);
    if (open_.empty())
      node->key = key_;
    else
      attach(node);
    open_.push_back(node);
    return true;
  }

  bool close() {
    --depth_;
    if (open_.empty()) {
      if (in_nested_ && depth_ == 1) in_nested_ = false;
      return true;
    }
    const JsonNode* node = open_.back();
    open_.pop_back();
    if (open_.empty()) report(*node);
    return true;
  }

  /// Texts of the member that is being read; their memory is used again for the next.
  std::string_view keep(std::string_view text) {
    constexpr std::size_t block = 64 * 1024;
    if (text.size() > block / 4) return texts_.emplace_back(text);
    if (text_used_ == blocks_.size()) blocks_.push_back(std::make_unique<char[]>(block));
    if (text_at_ + text.size() > block) {
      ++text_used_;
      text_at_ = 0;
      if (text_used_ == blocks_.size()) blocks_.push_back(std::make_unique<char[]>(block));
    }
    char* copy = blocks_[text_used_].get() + text_at_;
    std::memcpy(copy, text.data(), text.size());
    text_at_ += text.size();
    return {copy, text.size()};
  }

  std::string_view nested_;
  const std::function<void(std::string_view, const JsonNode&)>& member_;
  std::deque<JsonNode> nodes_;
  std::size_t used_ = 0;
  std::deque<std::string> texts_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t text_used_ = 0, text_at_ = 0;
  std::vector<JsonNode*> open_;
  std::string_view key_;
  int depth_ = 0;
  bool in_nested_ = false;
};

}  // namespace

const JsonNode* JsonNode::find(std::string_view name) const {
  for (const JsonNode* item : items)
    if (item->key == name) return item;
  return nullptr;
}

bool to_double(const JsonNode& node, double* value) {
  if (node.is(JsonNode::Type::boolean)) {
    *value = node.boolean ? 1 : 0;
    return true;
  }
  if (!node.is(JsonNode::Type::number) && !node.is(JsonNode::Type::text)) return false;
  std::string_view text = node.text;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  if (error == std::errc() && end == text.data() + text.size()) return true;  // takes nan, inf and infinity as well
  if (error == std::errc::result_out_of_range) {
    // An integer of hundreds of digits is beyond f64; a fraction below its smallest number is zero.
    const bool small = text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
    *value = small ? 0.0 : std::numeric_limits<double>::infinity();
    if (text.starts_with('-')) *value = -*value;
    return true;
  }
  return false;
}

JsonEnd read_json_members(const std::string& path, std::string_view nested,
                          const std::function<void(std::string_view, const JsonNode&)>& member,
                          const std::function<void(std::uint64_t)>& progress) {
  Stream stream(path, progress);
  // A byte order mark, which editors on Windows put in front.
  if (stream.Peek() == '\xEF') {
    for (int i = 0; i < 3; ++i) stream.Take();
  }
  Handler handler(nested, member);
  rapidjson::Reader reader;
  JsonEnd end;
  try {
    const rapidjson::ParseResult result =
        reader.Parse<rapidjson::kParseNanAndInfFlag | rapidjson::kParseNumbersAsStringsFlag |
                     rapidjson::kParseStopWhenDoneFlag>(stream, handler);
    if (!result.IsError()) return end;
    end.why = rapidjson::GetParseError_En(result.Code());
  } catch (const std::logic_error& error) {
    end.why = error.what();
  }
  end.complete = false;
  end.offset = stream.Tell();
  end.cut_off = stream.at_end() && !handler.too_deep && !handler.no_object;
  end.too_deep = handler.too_deep;
  if (handler.too_deep) end.why = "nested deeper than " + std::to_string(deepest) + " levels";
  if (handler.no_object) end.why = "it is no JSON object";
  return end;
}

}  // namespace msprobe::dump
