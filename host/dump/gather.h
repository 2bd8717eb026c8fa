/// Copies a strided tensor into dense row-major order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace msprobe::dump {

/// Dimensions of size 1 are gone and neighbours that lie together are merged; strides count elements.
struct Strided {
  std::vector<std::int64_t> shape, strides;
};

/// Of a tensor that has elements: no dimension is 0.
Strided simplify(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides);

/// Elements [first, first + count) in row-major order, from memory that starts at the first element. `item` is 1, 2, 4,
/// 8 or 16 bytes. `touched` is told the number of pages it has visited, so that a mapping may be kept small.
void gather(const Strided& strided, std::size_t item, const std::byte* base, std::uint64_t first, std::uint64_t count,
            std::byte* out, const std::function<void(std::size_t pages)>& touched);

/// In place: `word` is 2, 4 or 8 bytes (the parts of a complex number one by one).
void swap_bytes(std::byte* data, std::size_t word, std::uint64_t words);

}  // namespace msprobe::dump
