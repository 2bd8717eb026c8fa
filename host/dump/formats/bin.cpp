/// Raw .bin: elements without a header, dense, row-major, little-endian. dtype and shape come from the command line,
/// else from a side file `x.bin.json` or `x.json` beside `x.bin`:
///     {"dtype": "f16", "shape": [2, 6, 8]}
/// either of which may be missing; without both it is float32 of shape [count].
#include "dump/dtype_text.h"
#include "dump/formats/format.h"
#include "dump/rapidjson.h"
#include "msprobe/dtype.hpp"

namespace msprobe::dump {
namespace {

struct Description {
  std::string dtype, from;
  std::optional<std::vector<std::int64_t>> shape;
};

Error malformed(const std::string& path, const std::string& why) {
  return {"E4007", "side file of a raw tensor: " + why, path, R"(write {"dtype": "f16", "shape": [2, 3]})"};
}

bool read_side_file(const std::string& path, Description& description) {
  const file::Status status = file::status(path);
  if (status.type != file::Type::file) return false;
  if (status.size > 64 * 1024) throw malformed(path, "larger than any description can be");
  const Source source(path);
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(reinterpret_cast<const char*>(source.head().data()),
                                                 source.head().size());
  if (document.HasParseError() || !document.IsObject()) throw malformed(path, "not a JSON object");
  if (document.HasMember("dtype")) {
    if (!document["dtype"].IsString()) throw malformed(path, "dtype is not a text");
    description.dtype = document["dtype"].GetString();
  }
  if (document.HasMember("shape")) {
    if (!document["shape"].IsArray()) throw malformed(path, "shape is not a list");
    description.shape.emplace();
    for (const auto& size : document["shape"].GetArray()) {
      if (!size.IsInt64() || size.GetInt64() < 0) throw malformed(path, "shape holds something that is no size");
      description.shape->push_back(size.GetInt64());
    }
  }
  description.from = path;
  return true;
}

Layout layout_of(const Source& source, const Options& options) {
  Description description{options.dtype, "the command line", options.shape};
  if (options.dtype.empty() || !options.shape) {
    Description beside;
    const std::string& path = source.path();
    if (read_side_file(path + ".json", beside) ||
        (has_suffix(path, ".bin") && read_side_file(path.substr(0, path.size() - 4) + ".json", beside))) {
      if (options.dtype.empty() && !beside.dtype.empty()) {
        description.dtype = beside.dtype;
        description.from = beside.from;
      }
      if (!options.shape) description.shape = beside.shape;
    }
  }
  Layout layout;
  layout.dtype_text = description.dtype.empty() ? "f32" : description.dtype;
  layout.dtype = dtype_from_text(layout.dtype_text);
  if (layout.dtype == MSP_DTYPE_NONE)
    throw Error("E4009", "dtype \"" + layout.dtype_text + "\" (from " + description.from + ") is not known",
                source.path(), "use one of f64 f32 f16 bf16 f8e4m3fn f8e5m2 i8..i64 u8..u64 bool c64 c128");
  const std::uint64_t item = dtype_info(layout.dtype)->bytes;
  if (description.shape) {
    layout.shape = *description.shape;
    const std::uint64_t expected = element_count(layout.shape, source.path()) * item;
    // A side file was written with the data: less than it says was cut off. A flag was typed: it may be wrong.
    if (source.size() < expected && !options.shape) throw truncated(source.path(), expected, source.size());
    if (source.size() != expected)
      throw Error("E4010",
                  "size does not fit: shape " + shape_text(layout.shape) + " of " +
                      std::string(dtype_name(layout.dtype)) + " is " + std::to_string(expected) +
                      " bytes, the file has " + std::to_string(source.size()),
                  source.path(), "correct the dtype or shape that you gave (--dtype, --shape or the side file)");
  } else {
    if (source.size() % item != 0)
      throw Error("E4010",
                  "size does not fit: " + std::to_string(source.size()) + " bytes are no whole number of " +
                      std::string(dtype_name(layout.dtype)) + " elements of " + std::to_string(item) + " bytes",
                  source.path(),
                  "give the dtype (--dtype) or put a side file " + std::string(file::base_name(source.path())) +
                      ".json beside it");
    layout.shape = {static_cast<std::int64_t>(source.size() / item)};
  }
  return layout;
}

bool detects(const Source& source) {
  return has_suffix(source.path(), ".bin");
}

std::vector<Member> list(const Source& source, const Options& options) {
  std::vector<Member> members(1);
  members.front().layout = layout_of(source, options);
  return members;
}

std::unique_ptr<Data> open(const Source& source, std::string_view, const Options& options) {
  return make_data(source, layout_of(source, options));
}

}  // namespace

const Format bin_format{"raw .bin", detects, list, open};

}  // namespace msprobe::dump
