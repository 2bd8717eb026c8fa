#include "dump/gather.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace msprobe::dump {
namespace {

using Touched = std::function<void(std::size_t)>;

/// Files may put elements at any byte, so elements are moved as bytes, without alignment.
template <std::size_t size>
using Element = std::array<std::byte, size>;

std::size_t pages(std::uint64_t elements, std::int64_t stride, std::size_t item) {
  const std::uint64_t span = elements * static_cast<std::uint64_t>(stride) * item / 4096 + 1;
  return static_cast<std::size_t>(std::min(elements, span));
}

/// The dimensions [from, rank) of a tensor as an odometer.
template <class T>
class Walker {
 public:
  Walker(const Strided& strided, std::size_t from, const T* base) : strided_(strided), from_(from), base_(base) {}

  /// Elements [first, first + count) of the sub-tensor.
  void copy(std::uint64_t first, std::uint64_t count, T* out, const Touched& touched) {
    const std::size_t rank = strided_.shape.size();
    if (from_ == rank) {
      if (count != 0) *out = *base_;
      return;
    }
    const std::int64_t inner = strided_.shape[rank - 1], stride = strided_.strides[rank - 1];
    seek(first);
    while (count != 0) {
      const std::uint64_t run = std::min<std::uint64_t>(count, static_cast<std::uint64_t>(inner - index_[rank - 1]));
      const T* source = base_ + offset_;
      if (stride == 1) {
        std::memcpy(out, source, run * sizeof(T));
      } else {
        for (std::uint64_t i = 0; i < run; ++i) out[i] = source[static_cast<std::int64_t>(i) * stride];
      }
      touched(pages(run, stride, sizeof(T)));
      out += run;
      count -= run;
      index_[rank - 1] += static_cast<std::int64_t>(run);
      offset_ += static_cast<std::int64_t>(run) * stride;
      carry();
    }
  }

  void seek(std::uint64_t position) {
    index_.assign(strided_.shape.size(), 0);
    offset_ = 0;
    for (std::size_t d = strided_.shape.size(); d-- > from_;) {
      const auto size = static_cast<std::uint64_t>(strided_.shape[d]);
      index_[d] = static_cast<std::int64_t>(position % size);
      offset_ += index_[d] * strided_.strides[d];
      position /= size;
    }
  }

  /// To the next run of the innermost dimension.
  void next_row() {
    const std::size_t last = strided_.shape.size() - 1;
    offset_ += (strided_.shape[last] - index_[last]) * strided_.strides[last];
    index_[last] = strided_.shape[last];
    carry();
  }

  std::int64_t offset() const { return offset_; }

 private:
  void carry() {
    for (std::size_t d = strided_.shape.size() - 1; d > from_ && index_[d] == strided_.shape[d]; --d) {
      offset_ += strided_.strides[d - 1] - strided_.shape[d] * strided_.strides[d];
      index_[d] = 0;
      ++index_[d - 1];
    }
  }

  const Strided& strided_;
  std::size_t from_;
  const T* base_;
  std::vector<std::int64_t> index_;
  std::int64_t offset_ = 0;
};

/// Whole rows of dimension `fast` (the one whose elements lie closest together), which is not the innermost one. A tile
/// is one cache line wide in both directions, so that every line that is loaded is used up, and goes through a small
/// buffer: with rows a power of two apart, writing 16 of them at once would fight for the same cache set.
template <class T>
void transpose(const Strided& strided, std::size_t fast, const T* base, std::uint64_t rows, std::uint64_t row_size,
               T* out, const Touched& touched) {
  constexpr std::uint64_t tile = 64 / sizeof(T);
  const std::size_t last = strided.shape.size() - 1;
  const auto inner = static_cast<std::uint64_t>(strided.shape[last]);
  const std::int64_t column_stride = strided.strides[last], row_stride = strided.strides[fast];
  for (std::uint64_t row = 0; row < rows; row += tile) {
    const std::uint64_t height = std::min(tile, rows - row);
    const T* source = base + static_cast<std::int64_t>(row) * row_stride;
    Walker<T> walker(strided, fast + 1, source);
    walker.seek(0);
    for (std::uint64_t start = 0; start < row_size; start += inner) {
      for (std::uint64_t column = 0; column < inner; column += tile) {
        const std::uint64_t width = std::min(tile, inner - column);
        std::array<std::array<T, tile>, tile> buffer;
        for (std::uint64_t c = 0; c < width; ++c) {
          const T* from = source + walker.offset() + static_cast<std::int64_t>(column + c) * column_stride;
          if (row_stride == 1) {
            for (std::uint64_t r = 0; r < height; ++r) buffer[r][c] = from[r];
          } else {
            for (std::uint64_t r = 0; r < height; ++r) buffer[r][c] = from[static_cast<std::int64_t>(r) * row_stride];
          }
        }
        for (std::uint64_t r = 0; r < height; ++r)
          std::memcpy(out + (row + r) * row_size + start + column, buffer[r].data(), width * sizeof(T));
        touched(pages(width, column_stride, sizeof(T)));
      }
      walker.next_row();
    }
  }
}

/// Elements [first, first + count) of the sub-tensor of the dimensions [from, rank).
template <class T>
void gather_typed(const Strided& strided, std::size_t from, const T* base, std::uint64_t first, std::uint64_t count,
                  T* out, const Touched& touched) {
  const std::size_t rank = strided.shape.size();
  std::size_t fast = rank == 0 ? 0 : rank - 1;
  for (std::size_t d = rank; d-- > from;)
    if (strided.strides[d] != 0 && (strided.strides[fast] == 0 || strided.strides[d] < strided.strides[fast])) fast = d;
  if (rank < from + 2 || fast == rank - 1) {
    Walker<T>(strided, from, base).copy(first, count, out, touched);
    return;
  }
  std::uint64_t row_size = 1;
  for (std::size_t d = fast + 1; d < rank; ++d) row_size *= static_cast<std::uint64_t>(strided.shape[d]);
  const auto rows_in_block = static_cast<std::uint64_t>(strided.shape[fast]);
  while (count != 0) {
    std::uint64_t row = first / row_size;
    const std::uint64_t column = first % row_size, row_in_block = row % rows_in_block;
    row /= rows_in_block;
    const T* start = base + static_cast<std::int64_t>(row_in_block) * strided.strides[fast];
    for (std::size_t d = fast; d-- > from;) {
      start += static_cast<std::int64_t>(row % static_cast<std::uint64_t>(strided.shape[d])) * strided.strides[d];
      row /= static_cast<std::uint64_t>(strided.shape[d]);
    }
    const std::uint64_t rows = std::min(rows_in_block - row_in_block, count / row_size);
    std::uint64_t done;
    if (column != 0 || rows < 2) {
      // Within one row the next closest dimension decides how to go.
      done = std::min(count, row_size - column);
      gather_typed(strided, fast + 1, start, column, done, out, touched);
    } else {
      transpose(strided, fast, start, rows, row_size, out, touched);
      done = rows * row_size;
    }
    first += done;
    count -= done;
    out += done;
  }
}

template <class T>
void swap_words(std::byte* data, std::uint64_t words) {
  for (std::uint64_t i = 0; i < words; ++i) {
    T word;
    std::memcpy(&word, data + i * sizeof(T), sizeof(T));
    if constexpr (sizeof(T) == 2)
      word = __builtin_bswap16(word);
    else if constexpr (sizeof(T) == 4)
      word = __builtin_bswap32(word);
    else
      word = __builtin_bswap64(word);
    std::memcpy(data + i * sizeof(T), &word, sizeof(T));
  }
}

}  // namespace

Strided simplify(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides) {
  Strided result;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (!result.shape.empty() && result.strides.back() == shape[d] * strides[d]) {
      result.shape.back() *= shape[d];
      result.strides.back() = strides[d];
    } else {
      result.shape.push_back(shape[d]);
      result.strides.push_back(strides[d]);
    }
  }
  return result;
}

void gather(const Strided& strided, std::size_t item, const std::byte* base, std::uint64_t first, std::uint64_t count,
            std::byte* out, const Touched& touched) {
  const auto run = [&]<std::size_t size>(std::integral_constant<std::size_t, size>) {
    using T = Element<size>;
    gather_typed(strided, 0, reinterpret_cast<const T*>(base), first, count, reinterpret_cast<T*>(out), touched);
  };
  switch (item) {
    case 1:
      return run(std::integral_constant<std::size_t, 1>{});
    case 2:
      return run(std::integral_constant<std::size_t, 2>{});
    case 4:
      return run(std::integral_constant<std::size_t, 4>{});
    case 8:
      return run(std::integral_constant<std::size_t, 8>{});
    default:
      return run(std::integral_constant<std::size_t, 16>{});
  }
}

void swap_bytes(std::byte* data, std::size_t word, std::uint64_t words) {
  if (word == 2)
    swap_words<std::uint16_t>(data, words);
  else if (word == 4)
    swap_words<std::uint32_t>(data, words);
  else if (word == 8)
    swap_words<std::uint64_t>(data, words);
}

}  // namespace msprobe::dump
