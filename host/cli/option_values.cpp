#include "cli/option_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/nearest.h"
#include "dump/dtype_text.h"
#include "msprobe/dtype.hpp"

namespace msprobe::cli {

double number_option(const po::variables_map& values, const char* name) {
  const auto& text = values[name].as<std::string>();
  double number = NAN;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !(number >= 0))
    throw Error("E6002", fmt::format("'{}' is no number from 0 on", text), fmt::format("--{}", name),
                "give a number that is not negative");
  return number;
}

msp_dtype dtype_option(const std::string& text, const char* option) {
  msp_dtype dtype = dtype_from_name(text);
  if (dtype == MSP_DTYPE_NONE) dtype = dump::dtype_from_text(text);  // "float32" and "torch.bfloat16" too
  if (dtype != MSP_DTYPE_NONE) return dtype;
  Strings names;
  for (const DtypeInfo& info : dtype_table) names.emplace_back(info.name);
  const auto near = nearest(text, names, 1);
  throw Error("E6002", fmt::format("'{}' is no dtype", text), option,
              fmt::format("use one of {}{}", fmt::join(names, ", "),
                          near.empty() ? "" : fmt::format("; do you mean {}?", near[0])));
}

std::vector<std::int64_t> shape_option(const std::string& text) {
  std::vector<std::int64_t> shape;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    std::int64_t size = -1;
    const auto parsed = std::from_chars(at, end, size);
    if (parsed.ec != std::errc() || size < 0 || (parsed.ptr < end && *parsed.ptr != ','))
      throw Error("E6002", fmt::format("'{}' is no shape", text), "--shape", "write sizes with commas: 2,3,4");
    shape.push_back(size);
    at = parsed.ptr + 1;
  }
  return shape;
}

std::string choice(const po::variables_map& values, const char* name, const Strings& allowed) {
  const auto& value = values[name].as<std::string>();
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
    throw Error("E6002", fmt::format("'{}' is not possible", value), fmt::format("--{}", name),
                fmt::format("use {}", fmt::join(allowed, " or ")));
  return value;
}

std::string needed_path(const po::variables_map& values, const char* name, const char* flag) {
  if (!values.count(name))
    throw Error("E6002", fmt::format("the {} is missing", name), "command line",
                fmt::format("name it with {} PATH", flag));
  return values[name].as<std::string>();
}

Strings list_option(const po::variables_map& values, const char* name) {
  Strings result;
  if (!values.count(name)) return result;
  for (const auto& value : values[name].as<Strings>())
    if (std::find(result.begin(), result.end(), value) == result.end()) result.push_back(value);
  return result;
}

}  // namespace msprobe::cli
