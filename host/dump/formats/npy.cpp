/// NumPy's .npy, versions 1 to 3: magic, version, length of the header, the header as the text of a Python dict, data.
/// Format: numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include <cctype>
#include <charconv>
#include <cstring>

#include "dump/dtype_text.h"
#include "dump/formats/format.h"
#include "msprobe/dtype.hpp"

namespace msprobe::dump {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
// numpy itself trusts headers up to 10 kB; structured dtypes are larger, but none that is ours.
constexpr std::uint64_t longest_header = 16 * 1024 * 1024;

Error malformed(const Source& source, const std::string& why) {
  return {"E4007", "malformed .npy header: " + why, source.path(), "write the file again with numpy.save"};
}

struct Header {
  std::string descr;
  bool structured = false, fortran = false;
  std::vector<std::int64_t> shape;
};

/// The part of Python's literals that headers are made of. Keys come in any order, spaces anywhere, and Python 2 wrote
/// long integers as 3L.
class Parser {
 public:
  Parser(const Source& source, std::string_view text) : source_(source), text_(text) {}

  Header parse() {
    Header header;
    bool descr = false, fortran = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        descr = true;
        if (peek() == '[' || peek() == '(') {
          header.structured = true;
          header.descr = skip_list();
        } else {
          header.descr = string();
        }
      } else if (key == "fortran_order") {
        fortran = true;
        header.fortran = boolean();
      } else if (key == "shape") {
        shape = true;
        header.shape = tuple();
      } else {
        fail("unknown key " + key.substr(0, 40));
      }
      if (!accept(',') && peek() != '}') fail("a comma is missing");
    }
    if (!descr || !fortran || !shape) fail("descr, fortran_order or shape is missing");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw malformed(source_, why); }

  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("expected ") + c);
  }

  std::string string() {
    char quote = peek();
    if (quote == 'u' || quote == 'b') {
      ++at_;
      quote = peek();
    }
    if (quote != '\'' && quote != '"') fail("expected a quoted text");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a quote is not closed");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }

  bool boolean() {
    peek();
    if (text_.substr(at_, 4) == "True") return at_ += 4, true;
    if (text_.substr(at_, 5) == "False") return at_ += 5, false;
    fail("expected True or False");
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    const char close = accept('[') ? ']' : (expect('('), ')');
    while (!accept(close)) {
      peek();
      std::int64_t value = 0;
      const char* begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
      if (error != std::errc() || value < 0) fail("shape holds something that is no size");
      at_ += static_cast<std::size_t>(end - begin);
      if (peek() == 'L') ++at_;
      values.push_back(value);
      if (!accept(',') && peek() != close) fail("a comma is missing");
    }
    return values;
  }

  /// A structured dtype: only its text is wanted, for the message.
  std::string skip_list() {
    const std::size_t start = at_;
    int depth = 0;
    for (char quote = '\0'; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quote != '\0') {
        if (c == quote) quote = '\0';
      } else if (c == '\'' || c == '"') {
        quote = c;
      } else if (c == '[' || c == '(') {
        ++depth;
      } else if ((c == ']' || c == ')') && --depth == 0) {
        ++at_;
        return std::string(text_.substr(start, std::min<std::size_t>(at_ - start, 60)));
      }
    }
    fail("a bracket is not closed");
  }

  const Source& source_;
  std::string_view text_;
  std::size_t at_ = 0;
};

/// dtype and byte order of a descr such as "<f4". User's words first: --dtype-map V2=bf16.
void set_dtype(const Source& source, const Header& header, const Options& options, Layout& layout) {
  const std::string& descr = header.descr;
  if (header.structured)
    throw Error("E4006", "structured arrays are not tensors: dtype " + descr, source.path(),
                "save one field at a time");
  std::string_view type = descr;
  char order = '|';
  if (!type.empty() && std::string_view("<>|=").find(type.front()) != std::string_view::npos) {
    order = type.front();
    type.remove_prefix(1);
  }
  layout.dtype_text = descr;
  layout.big_endian = order == '>';
  std::uint64_t size = 0;
  if (type.size() > 1) std::from_chars(type.data() + 1, type.data() + type.size(), size);
  for (const auto& [name, dtype] : options.dtype_map) {
    if (name != descr && name != type) continue;
    if (size != 0 && dtype_info(dtype)->bytes != size)
      throw Error("E4010",
                  "--dtype-map " + name + "=" + std::string(dtype_name(dtype)) + ": " + std::to_string(size) +
                      " bytes against " + std::to_string(dtype_info(dtype)->bytes),
                  source.path(), "map it to a dtype of the same size");
    layout.dtype = dtype;
    return;
  }
  const auto is = [&](std::string_view name) { return type == name; };
  if (is("f8"))
    layout.dtype = MSP_F64;
  else if (is("f4"))
    layout.dtype = MSP_F32;
  else if (is("f2"))
    layout.dtype = MSP_F16;
  else if (is("i1"))
    layout.dtype = MSP_I8;
  else if (is("i2"))
    layout.dtype = MSP_I16;
  else if (is("i4"))
    layout.dtype = MSP_I32;
  else if (is("i8"))
    layout.dtype = MSP_I64;
  else if (is("u1"))
    layout.dtype = MSP_U8;
  else if (is("u2"))
    layout.dtype = MSP_U16;
  else if (is("u4"))
    layout.dtype = MSP_U32;
  else if (is("u8"))
    layout.dtype = MSP_U64;
  else if (is("b1") || is("?"))
    layout.dtype = MSP_BOOL;
  else if (is("c8"))
    layout.dtype = MSP_C64;
  else if (is("c16"))
    layout.dtype = MSP_C128;
  // numpy has no bf16 of its own: ml_dtypes writes it as two opaque bytes, the older bfloat16 package as g2.
  else if (is("V2") || is("g2") || is("E2"))
    layout.dtype = MSP_BF16;
  else if (type.size() > 2 && (type.starts_with("bfloat") || type.starts_with("float") || type.starts_with("int") ||
                               type.starts_with("uint") || type.starts_with("bool") || type.starts_with("complex")))
    layout.dtype = dtype_from_text(type);
  if (layout.dtype != MSP_DTYPE_NONE) return;
  if (type.starts_with("O"))
    throw Error("E4006", "object arrays hold pickled Python objects, which are never executed", source.path(),
                "save plain numbers: numpy.save(path, array.astype(float))");
  const bool opaque = type.starts_with("V") || is("f1");
  throw Error("E4009", "dtype \"" + descr.substr(0, 60) + "\" is not supported", source.path(),
              opaque ? "say what it means, for example --dtype-map " + std::string(type) + "=f8e4m3fn"
                     : std::string("save numbers: f64 f32 f16 bf16 fp8, integers, bool or complex"));
}

Layout layout_of(const Source& source, const Options& options) {
  const std::span<const std::byte> head = source.head();
  const auto byte = [&](std::size_t i) { return static_cast<std::uint64_t>(head[i]); };
  if (source.size() < 10) throw truncated(source.path(), 10, source.size());
  const std::uint64_t version = byte(6);
  if (version < 1 || version > 3) throw malformed(source, "version " + std::to_string(version) + " is not known");
  std::uint64_t length = byte(8) | byte(9) << 8, start = 10;
  if (version > 1) {
    if (source.size() < 12) throw truncated(source.path(), 12, source.size());
    length |= byte(10) << 16 | byte(11) << 24;
    start = 12;
  }
  if (start + length > source.size()) throw truncated(source.path(), start + length, source.size());
  if (length > longest_header) throw malformed(source, "header of " + std::to_string(length) + " bytes");
  Header header;
  if (start + length <= head.size()) {
    header = Parser(source, {reinterpret_cast<const char*>(head.data()) + start, length}).parse();
  } else {
    std::string text(length, '\0');
    source.read(start, text.data(), length);
    header = Parser(source, text).parse();
  }
  Layout layout;
  set_dtype(source, header, options, layout);
  layout.offset = start + length;
  layout.shape = std::move(header.shape);
  // Counting first: then the products below cannot overflow.
  if (header.fortran && layout.shape.size() > 1 && element_count(layout.shape, source.path()) != 0) {
    std::int64_t stride = 1;
    for (const std::int64_t size : layout.shape) {
      layout.strides.push_back(stride);
      stride *= size;
    }
  }
  return layout;
}

bool detects(const Source& source) {
  const std::span<const std::byte> head = source.head();
  if (head.size() >= magic.size()) return std::memcmp(head.data(), magic.data(), magic.size()) == 0;
  return has_suffix(source.path(), ".npy");
}

std::vector<Member> list(const Source& source, const Options& options) {
  std::vector<Member> members(1);
  members.front().layout = layout_of(source, options);
  check_layout(source, members.front().layout);
  return members;
}

std::unique_ptr<Data> open(const Source& source, std::string_view, const Options& options) {
  return make_data(source, layout_of(source, options));
}

}  // namespace

const Format npy_format{".npy", detects, list, open};

}  // namespace msprobe::dump
