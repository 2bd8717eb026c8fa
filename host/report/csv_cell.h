/// One cell of a CSV file.
#pragma once
#include <string>
#include <string_view>

namespace msprobe::report {

/// Would a spreadsheet run this text as a formula? Plain numbers ("-0.5") are not formulas.
bool looks_like_formula(std::string_view text);

/// Quoted by RFC 4180 where needed; what looks like a formula gets an apostrophe in front: names of layers come from
/// files of others, and opening a report must not run them.
void append_csv_text(std::string& out, std::string_view text);

}  // namespace msprobe::report
