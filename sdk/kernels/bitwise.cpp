#include "bitwise.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace msprobe::kernels {
namespace {

struct Bits128 {
  std::array<std::uint64_t, 2> half;
  bool operator!=(const Bits128& other) const { return half != other.half; }
};

template <class T>
BitDifferences differences(const unsigned char* a, const unsigned char* b, std::uint64_t elements) {
  const auto differ = [&](std::uint64_t i) {
    T x, y;
    std::memcpy(&x, a + i * sizeof(T), sizeof(T));
    std::memcpy(&y, b + i * sizeof(T), sizeof(T));
    return x != y;
  };
  BitDifferences out;
  while (out.first < elements && !differ(out.first)) ++out.first;
  std::uint64_t count = 0;
  for (std::uint64_t i = out.first; i < elements; ++i) count += differ(i);
  out.count = count;
  return out;
}

}  // namespace

BitDifferences bit_differences(const void* a, const void* b, std::uint64_t elements, std::uint32_t bytes) {
  if (std::memcmp(a, b, elements * bytes) == 0) return {};
  const auto* x = static_cast<const unsigned char*>(a);
  const auto* y = static_cast<const unsigned char*>(b);
  switch (bytes) {
    case 1:
      return differences<std::uint8_t>(x, y, elements);
    case 2:
      return differences<std::uint16_t>(x, y, elements);
    case 4:
      return differences<std::uint32_t>(x, y, elements);
    case 8:
      return differences<std::uint64_t>(x, y, elements);
    default:
      return differences<Bits128>(x, y, elements);
  }
}

}  // namespace msprobe::kernels
