/// What the rest of dump/ knows of a file format. One format, one file in this folder, one line in formats.cpp.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dump/data.h"
#include "dump/dump.h"
#include "dump/source.h"

namespace msprobe::dump {

/// Where the elements of a tensor lie in its file.
struct Layout {
  msp_dtype dtype = MSP_DTYPE_NONE;
  std::string dtype_text;  ///< as the file writes it
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< in elements, none negative; empty: dense row-major
  std::uint64_t offset = 0;           ///< of the first element, in bytes
  bool big_endian = false;
};

struct Member {
  std::string name;  ///< empty: the file is one tensor without a name
  Layout layout;
  std::optional<Problem> problem{};  ///< with this member alone
};

struct Format {
  std::string_view name;
  /// Content first: a format that knows its own magic bytes decides by them alone, one without looks at the suffix.
  bool (*detects)(const Source&);
  /// The tensors in the file, in its own order. Throws Error.
  std::vector<Member> (*list)(const Source&, const Options&);
  /// One of them. Throws Error.
  std::unique_ptr<Data> (*open)(const Source&, std::string_view member, const Options&);
};

extern const Format npy_format, pt_format, legacy_pt_format, bin_format;

/// Throws E4001 when no format knows the file.
const Format& detect(const Source&);
/// Nothing but the magic bytes: for files whose suffix says nothing.
bool has_known_content(const Source&);

/// Elements of a shape; throws E4007 when a dimension is negative or the product does not fit.
std::uint64_t element_count(const std::vector<std::int64_t>& shape, const std::string& path);
/// Throws E4002 unless all elements lie within the file, E4007 when the layout makes no sense.
std::unique_ptr<Data> make_data(const Source&, Layout);
/// The checks of make_data alone.
void check_layout(const Source&, const Layout&);

bool has_suffix(std::string_view path, std::string_view suffix);  ///< without regard to case
/// "[2, 3]".
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace msprobe::dump
