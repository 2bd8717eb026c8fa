#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <vector>

#include "report/csv_cell.h"
#include "report/writers.h"
#include "sample_report.h"

using namespace msprobe;

namespace {

using Record = std::vector<std::string>;

/// A plain reader of RFC 4180.
std::vector<Record> parse(const std::string& text) {
  std::vector<Record> records;
  Record record(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        record.back() += text[++i];
      } else if (c == '"') {
        quoted = false;
      } else {
        record.back() += c;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      record.emplace_back();
    } else if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;
      records.push_back(std::move(record));
      record = Record(1);
    } else {
      record.back() += c;
    }
  }
  return records;
}

std::string csv_of(const result::Report& report) {
  std::ostringstream out;
  report::write_csv(report, out);
  return out.str();
}

std::vector<std::map<std::string, std::string>> rows_of(const result::Report& report) {
  const auto records = parse(csv_of(report).substr(3));
  std::vector<std::map<std::string, std::string>> rows;
  for (std::size_t i = 1; i < records.size(); ++i) {
    REQUIRE(records[i].size() == records[0].size());
    auto& row = rows.emplace_back();
    for (std::size_t c = 0; c < records[0].size(); ++c) CHECK(row.emplace(records[0][c], records[i][c]).second);
  }
  return rows;
}

std::string cell(std::string_view text) {
  std::string out;
  report::append_csv_text(out, text);
  return out;
}

}  // namespace

TEST_CASE("csv: one line per row, a mark for UTF-8, and the same columns in each") {
  const auto text = csv_of(test::small_report());
  CHECK(text.starts_with("\xEF\xBB\xBFindex,step,rank,name,"));
  const auto rows = rows_of(test::small_report());
  REQUIRE(rows.size() == 12);
  CHECK(rows[6].at("layer") == "Module.blocks.0.ln2.LayerNorm");
  CHECK(rows[6].at("error") == "0.031");
  CHECK(rows[6].at("threshold") == "1e-05");
  CHECK(rows[6].at("origin") == "true");
  CHECK(rows[6].at("reference_shape") == "[2, 6, 8]");
  CHECK(rows[6].at("target_norm") == "15.264845237731931");
  CHECK(rows[8].at("error") == "Infinity");
  CHECK(rows[9].at("error") == "NaN");
  CHECK(rows[10].at("code") == "E4002");
  CHECK(rows[11].at("target_dtype") == "");
  CHECK(rows[0].count("internal") == 0);
}

TEST_CASE("csv: what a spreadsheet would run as a formula gets an apostrophe") {
  for (const char* text : {"=1+1",
                           "+cmd",
                           "-cmd|' /C calc'!A0",
                           "@SUM(1)",
                           "\tx",
                           "\rx",
                           "\n=x",
                           "  =1",
                           "\"=1",
                           " \" =1",
                           "\xEF\xBC\x9D"
                           "1",
                           "\xEF\xBC\x8B"
                           "1",
                           "\xEF\xBC\x8D"
                           "a",
                           "\xEF\xBC\xA0"
                           "a",
                           "\xC2\xA0=1",
                           "\xE3\x80\x80=1",
                           "\xEF\xBB\xBF=1",
                           "-2+3",
                           "--1",
                           "-inf",
                           "-",
                           "-1e5x"}) {
    CAPTURE(text);
    CHECK(report::looks_like_formula(text));
    CHECK(cell(text).substr(0, 2).find('\'') != std::string::npos);
  }
}

TEST_CASE("csv: plain numbers and ordinary names stay as they are") {
  for (const char* text : {"-0.5", "-1e-05", "+3", "Module.a", "a=b", "0", "conv-1", ""}) {
    CAPTURE(text);
    CHECK_FALSE(report::looks_like_formula(text));
    CHECK(cell(text) == text);
  }
}

TEST_CASE("csv: commas, quotes and line breaks stay inside their cell") {
  const auto sample = test::hostile_report();
  const auto rows = rows_of(sample);
  REQUIRE(rows.size() == sample.rows.size());
  CHECK(rows[5].at("name") == "a,b;\"quoted\"");
  CHECK(rows[6].at("name") == "line\nbreak\r\ttab");
  CHECK(rows[2].at("name") == "'" + sample.rows[2].name);
}

TEST_CASE("csv: a metric that is named like a fixed column keeps apart from it") {
  CHECK(rows_of(test::hostile_report())[0].count("metrics.layer") == 1);
}
