#include "report/base64.h"

#include <cstdint>

namespace msprobe::report {

void append_base64(std::string& out, const void* bytes, std::size_t size) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto* at = static_cast<const unsigned char*>(bytes);
  const auto start = out.size();
  out.resize(start + (size + 2) / 3 * 4, '=');
  auto* to = out.data() + start;
  for (; size >= 3; size -= 3, at += 3) {
    const std::uint32_t three =
        static_cast<std::uint32_t>(at[0]) << 16 | static_cast<std::uint32_t>(at[1]) << 8 | at[2];
    for (int shift = 18; shift >= 0; shift -= 6) *to++ = digits[three >> shift & 63];
  }
  if (size == 0) return;
  const std::uint32_t rest =
      static_cast<std::uint32_t>(at[0]) << 16 | (size == 2 ? static_cast<std::uint32_t>(at[1]) << 8 : 0);
  *to++ = digits[rest >> 18 & 63];
  *to++ = digits[rest >> 12 & 63];
  if (size == 2) *to = digits[rest >> 6 & 63];
}

}  // namespace msprobe::report
