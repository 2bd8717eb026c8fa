#include "plugin/conformance/pairs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "msprobe/dtype.hpp"

namespace msprobe::plugin {
namespace {

namespace fs = std::filesystem;
using Shape = std::vector<std::int64_t>;
using Bytes = std::vector<std::uint8_t>;

enum class Values { ordinary, any_bits };

/// Bits of one real number: near 1 when ordinary; else anything, NaN and infinities often.
std::uint64_t real_bits(const DtypeInfo& info, Values values, std::mt19937_64& random) {
  std::uint64_t bits = random();
  if (values == Values::any_bits) {
    const std::uint64_t exponent = ((std::uint64_t{1} << info.exponent_bits) - 1) << info.mantissa_bits;
    const std::uint64_t kind = random() % 4;
    return kind == 0   ? bits | exponent
           : kind == 1 ? (bits | exponent) >> info.mantissa_bits << info.mantissa_bits
                       : bits;
  }
  const std::uint64_t bias = (std::uint64_t{1} << (info.exponent_bits - 1)) - 1;
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << info.mantissa_bits) - 1);
  const std::uint64_t exponent = bias - 2 + (bits >> 60);
  const std::uint64_t sign = bits >> 59 & 1;
  return mantissa | exponent << info.mantissa_bits | sign << (info.mantissa_bits + info.exponent_bits);
}

void append_element(Bytes& bytes, const DtypeInfo& info, Values values, std::mt19937_64& random) {
  const std::uint32_t parts = info.dtype_class == DtypeClass::complex ? 2 : 1;
  for (std::uint32_t part = 0; part < parts; ++part) {
    std::uint64_t bits = random();
    if (info.dtype == MSP_BOOL) bits &= 1;
    if (info.dtype_class != DtypeClass::integer) bits = real_bits(info, values, random);
    const auto* raw = reinterpret_cast<const std::uint8_t*>(&bits);  // little-endian, as the files are
    bytes.insert(bytes.end(), raw, raw + info.bytes / parts);
  }
}

std::uint64_t count_of(const Shape& shape) {
  std::uint64_t count = 1;
  for (const auto size : shape) count *= static_cast<std::uint64_t>(size);
  return count;
}

Bytes tensor(const DtypeInfo& info, const Shape& shape, Values values, std::mt19937_64& random) {
  Bytes bytes;
  for (std::uint64_t i = count_of(shape); i > 0; --i) append_element(bytes, info, values, random);
  return bytes;
}

/// The same but for every fifth element or so.
Bytes changed(const Bytes& bytes, const DtypeInfo& info, Values values, std::mt19937_64& random) {
  Bytes other = bytes, element;
  for (std::size_t at = 0; at < other.size(); at += info.bytes) {
    if (random() % 5 != 0) continue;
    element.clear();
    append_element(element, info, values, random);
    std::memcpy(other.data() + at, element.data(), element.size());
  }
  return other;
}

void write(const fs::path& folder, const std::string& name, const DtypeInfo& info, const Shape& shape,
           const Bytes& bytes) {
  const fs::path path = folder / (name + ".bin");
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  std::ofstream side(path.string() + ".json");
  side << fmt::format("{{\"dtype\": \"{}\", \"shape\": [{}]}}\n", info.name, fmt::join(shape, ", "));
  file.flush();
  side.flush();
  if (!file || !side)
    throw Error("E1001", "tensors for the check cannot be written", path.string(), "free some space, or set TMPDIR");
}

fs::path make_folder() {
  std::string name = fs::temp_directory_path() / "msprobe-check-XXXXXX";
  if (!::mkdtemp(name.data()))
    throw Error("E1002", fmt::format("no folder for the check: {}", std::strerror(errno)), name,
                "set TMPDIR to a folder that you may write");
  return name;
}

}  // namespace

GeneratedPairs::GeneratedPairs() : folder_(make_folder()) {
  std::mt19937_64 random(20240501);
  const Shape shapes[] = {{}, {0}, {3, 0, 2}, {1}, {7}, {5, 13}, {2, 3, 4, 5}, {70001}};
  const auto side = [&](int number) { return folder_ / (number == 0 ? "reference" : "target"); };
  for (const DtypeInfo& info : dtype_table) {
    if (info.dtype == MSP_TF32) continue;  // never the dtype of stored data
    for (const Shape& shape : shapes) {
      const Bytes bytes = tensor(info, shape, Values::ordinary, random);
      const std::string name =
          fmt::format("{}_shape_{}", info.name, shape.empty() ? "0d" : fmt::format("{}", fmt::join(shape, "x")));
      write(side(0), name, info, shape, bytes);
      write(side(1), name, info, shape, changed(bytes, info, Values::ordinary, random));
    }
    const Shape shape{257};
    const Bytes bytes = tensor(info, shape, Values::any_bits, random);
    for (const int number : {0, 1}) {
      write(side(number), fmt::format("{}_equal", info.name), info, shape, bytes);
      write(side(number), fmt::format("{}_strange", info.name), info, shape,
            number == 0 ? bytes : changed(bytes, info, Values::any_bits, random));
      const Shape other = number == 0 ? Shape{4, 6} : Shape{6, 4};
      write(side(number), fmt::format("{}_other_shape", info.name), info, other,
            tensor(info, other, Values::ordinary, random));
      const DtypeInfo& mixed = number == 0 ? info : *dtype_info(info.dtype == MSP_F32 ? MSP_BF16 : MSP_F32);
      write(side(number), fmt::format("{}_other_dtype", info.name), mixed, {9},
            tensor(mixed, {9}, Values::ordinary, random));
    }
  }
}

GeneratedPairs::~GeneratedPairs() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace msprobe::plugin
