/// Columns of the page's data block: compact, exact, and quick to decode (html/data.js has the other half).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "report/json_stream.h"

namespace msprobe::report {

/// One value for all rows, 32-bit floats where they hold every value exactly, else 64-bit; null is a NaN of its own.
void write_page_numbers(JsonStream& json, const std::vector<std::optional<double>>& values);
/// The distinct texts, and for each row which one.
void write_page_texts(JsonStream& json, const std::vector<std::optional<std::string_view>>& values);
/// A metric column: numbers when every value is one that a page can hold exactly, else texts.
void write_page_metric(JsonStream& json, const std::vector<result::Row>& rows, std::size_t column);

}  // namespace msprobe::report
