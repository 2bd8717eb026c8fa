#include <array>

#include "dump/formats/format.h"
#include "msprobe/dtype.hpp"

namespace msprobe::dump {
namespace {

// The order matters only for .bin, which has no magic and takes what is left.
constexpr std::array<const Format*, 4> formats{&npy_format, &pt_format, &legacy_pt_format, &bin_format};

}  // namespace

const Format& detect(const Source& source) {
  for (const Format* format : formats)
    if (format->detects(source)) return *format;
  if (source.size() == 0) throw truncated(source.path(), 1, 0);
  throw Error("E4001", "not a tensor file of a known format", source.path(),
              "known are .npy, .pt and .pth of torch.save, and raw .bin");
}

bool has_known_content(const Source& source) {
  for (const Format* format : formats)
    if (format != &bin_format && format != &legacy_pt_format && format->detects(source)) return true;
  return false;
}

std::uint64_t element_count(const std::vector<std::int64_t>& shape, const std::string& path) {
  std::uint64_t count = 1;
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0)
      throw Error("E4007", "negative dimension in shape " + shape_text(shape), path, "write the file again");
    if (size == 0) empty = true;
  }
  if (empty) return 0;
  // 2^59 elements of 16 bytes are 2^63 bytes, more than any file has.
  for (const std::int64_t size : shape)
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(size), &count) || count > (std::uint64_t{1} << 59))
      throw Error("E4007", "shape " + shape_text(shape) + " is larger than any file can be", path,
                  "the header is damaged: write the file again");
  return count;
}

void check_layout(const Source& source, const Layout& layout) {
  const std::uint64_t count = element_count(layout.shape, source.path());
  if (count == 0) return;
  std::uint64_t span = count;
  if (!layout.strides.empty()) {
    span = 1;
    for (std::size_t d = 0; d < layout.shape.size(); ++d) {
      std::uint64_t reach;
      if (layout.strides[d] < 0 ||
          __builtin_mul_overflow(static_cast<std::uint64_t>(layout.shape[d] - 1),
                                 static_cast<std::uint64_t>(layout.strides[d]), &reach) ||
          __builtin_add_overflow(span, reach, &span) || span > (std::uint64_t{1} << 59))
        throw Error("E4007", "strides " + shape_text(layout.strides) + " lead outside any file", source.path(),
                    "the file is damaged: write it again");
    }
  }
  const std::uint64_t bytes = span * dtype_info(layout.dtype)->bytes;
  if (layout.offset > source.size() || bytes > source.size() - layout.offset)
    throw truncated(source.path(), layout.offset + bytes, source.size());
}

bool has_suffix(std::string_view path, std::string_view suffix) {
  if (path.size() < suffix.size()) return false;
  path.remove_prefix(path.size() - suffix.size());
  for (std::size_t i = 0; i < suffix.size(); ++i)
    if ((path[i] | ((path[i] >= 'A' && path[i] <= 'Z') ? 0x20 : 0)) != suffix[i]) return false;
  return true;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

}  // namespace msprobe::dump
