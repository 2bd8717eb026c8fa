#include "report/page_column.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <unordered_map>

#include "report/base64.h"
#include "report/numbers.h"

namespace msprobe::report {
namespace {

using Numbers = std::vector<std::optional<double>>;

// Payloads that no computation produces; data.js knows the same two.
constexpr std::uint64_t null_f64 = 0x7FF86E7500000000;
constexpr std::uint32_t null_f32 = 0x7FC06E75;
constexpr std::uint32_t null_text = 0xFFFFFFFF;
constexpr std::int64_t largest_exact = std::int64_t{1} << 53;

bool same(const std::optional<double>& a, const std::optional<double>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a || std::bit_cast<std::uint64_t>(*a) == std::bit_cast<std::uint64_t>(*b) ||
         (std::isnan(*a) && std::isnan(*b));
}

bool fits_f32(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return true;
  return std::abs(*value) <= static_cast<double>(std::numeric_limits<float>::max()) &&
         static_cast<double>(static_cast<float>(*value)) == *value;
}

template <class Word>
void write_words(JsonStream& json, std::string_view key, const std::vector<Word>& words) {
  static_assert(std::endian::native == std::endian::little);
  std::string text = "\"";
  append_base64(text, words.data(), words.size() * sizeof(Word));
  text += '"';
  json.key(key);
  json.raw(text);
}

std::vector<std::uint32_t> as_f32(const Numbers& values) {
  std::vector<std::uint32_t> words;
  words.reserve(values.size());
  for (const auto& value : values) {
    const bool nan = value && std::isnan(*value);
    words.push_back(!value ? null_f32
                           : std::bit_cast<std::uint32_t>(nan ? std::numeric_limits<float>::quiet_NaN()
                                                              : static_cast<float>(*value)));
  }
  return words;
}

std::vector<std::uint64_t> as_f64(const Numbers& values) {
  std::vector<std::uint64_t> words;
  words.reserve(values.size());
  for (const auto& value : values) {
    const bool nan = value && std::isnan(*value);
    words.push_back(!value ? null_f64
                           : std::bit_cast<std::uint64_t>(nan ? std::numeric_limits<double>::quiet_NaN() : *value));
  }
  return words;
}

/// The number a page can show for this value; false when it is none or would lose digits.
bool as_number(const result::Value& value, std::optional<double>& number) {
  number.reset();
  if (std::holds_alternative<std::monostate>(value)) return true;
  if (const auto* real = std::get_if<double>(&value)) {
    number = *real;
    return true;
  }
  if (const auto* truth = std::get_if<bool>(&value)) {
    number = *truth ? 1 : 0;
    return true;
  }
  const auto* whole = std::get_if<std::int64_t>(&value);
  if (whole == nullptr || *whole > largest_exact || *whole < -largest_exact) return false;
  number = static_cast<double>(*whole);
  return true;
}

std::string as_text(const result::Value& value) {
  return std::visit(
      [](const auto& it) -> std::string {
        using T = std::decay_t<decltype(it)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return it;
        } else if constexpr (std::is_same_v<T, double>) {
          return exact(it);
        } else if constexpr (std::is_same_v<T, bool>) {
          return it ? "true" : "false";
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          return std::to_string(it);
        } else {
          return {};
        }
      },
      value);
}

const result::Value& value_of(const result::Row& row, std::size_t column) {
  static const result::Value nothing;
  return column < row.metrics.size() ? row.metrics[column] : nothing;
}

}  // namespace

void write_page_numbers(JsonStream& json, const Numbers& values) {
  json.begin_object();
  const auto differs = [&](const std::optional<double>& value) { return !same(value, values.front()); };
  if (std::none_of(values.begin(), values.end(), differs)) {
    json.member("same", values.empty() ? std::nullopt : values.front());
    json.member("number", true);
  } else if (std::all_of(values.begin(), values.end(), fits_f32)) {
    write_words(json, "f32", as_f32(values));
  } else {
    write_words(json, "f64", as_f64(values));
  }
  json.end_object();
}

void write_page_texts(JsonStream& json, const std::vector<std::optional<std::string_view>>& values) {
  std::unordered_map<std::string_view, std::uint32_t> known;
  std::vector<std::string_view> texts;
  std::vector<std::uint32_t> which;
  which.reserve(values.size());
  bool nulls = values.empty();
  for (const auto& value : values) {
    nulls |= !value;
    if (!value) {
      which.push_back(null_text);
      continue;
    }
    const auto [it, is_new] = known.try_emplace(*value, static_cast<std::uint32_t>(texts.size()));
    if (is_new) texts.push_back(*value);
    which.push_back(it->second);
  }
  json.begin_object();
  if (texts.empty()) {
    json.key("same");
    json.null();
  } else if (texts.size() == 1 && !nulls) {
    json.member("same", texts.front());
  } else {
    json.key("texts");
    json.begin_array();
    for (const auto text : texts) json.value(text);
    json.end_array();
    write_words(json, "u32", which);
  }
  json.end_object();
}

void write_page_metric(JsonStream& json, const std::vector<result::Row>& rows, std::size_t column) {
  Numbers numbers(rows.size());
  bool all = true;
  for (std::size_t i = 0; i < rows.size() && all; ++i) all = as_number(value_of(rows[i], column), numbers[i]);
  if (all) return write_page_numbers(json, numbers);
  std::vector<std::string> texts(rows.size());
  std::vector<std::optional<std::string_view>> views(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& value = value_of(rows[i], column);
    if (std::holds_alternative<std::monostate>(value)) continue;
    texts[i] = as_text(value);
    views[i] = texts[i];
  }
  write_page_texts(json, views);
}

}  // namespace msprobe::report
