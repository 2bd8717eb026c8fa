#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/base64.h"
#include "report/page_column.h"
#include "report/writers.h"
#include "sample_report.h"

using nlohmann::json;
using namespace msprobe;

namespace {

std::string page_of(const result::Report& report, report::Language language = report::Language::english) {
  std::ostringstream out;
  report::write_html(report, out, language);
  return out.str();
}

std::string data_of(const std::string& page) {
  const std::string_view open = "<script type=\"application/json\" id=\"data\">";
  const auto from = page.find(open) + open.size();
  return page.substr(from, page.find("</script>", from) - from);
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string base64(std::string_view text) {
  std::string out;
  report::append_base64(out, text.data(), text.size());
  return out;
}

template <class Write>
json written(Write write) {
  std::ostringstream out;
  {
    report::JsonStream stream(out);
    write(stream);
  }
  return json::parse(out.str());
}

}  // namespace

TEST_CASE("page: no name can leave the data block") {
  const auto page = page_of(test::hostile_report());
  CHECK(count(page, "</script>") == 2);  // the end of the data and of the page's own script
  CHECK(count(page, "<img") == 0);
  const auto data = data_of(page);
  CHECK(data.find_first_of("<>&") == data.npos);
  CHECK(data.find("\u2028") == data.npos);
  CHECK(json::parse(data)["count"] == test::hostile_report().rows.size());
}

TEST_CASE("page: asks for nothing from outside") {
  const auto page = page_of(test::small_report());
  CHECK(page.find("default-src 'none'") != page.npos);
  CHECK(count(page, "'sha256-") == 2);
  for (const char* part : {"http://", "https://", "src=\"", "@import", "url(", "unsafe-inline", "@DATA@", "@CSP@"}) {
    CAPTURE(part);
    CHECK(page.find(part) == page.npos);
  }
}

TEST_CASE("page: says its language, verdict and first bad row") {
  const auto data = json::parse(data_of(page_of(test::small_report(), report::Language::chinese)));
  CHECK(data["language"] == "zh");
  CHECK(data["outcome"] == "failed");
  CHECK(data["first_bad_row"] == 6);
  CHECK(data["metrics"].size() == data["columns"].size());
}

TEST_CASE("page: the same report gives the same bytes") {
  CHECK(page_of(test::large_report(200)) == page_of(test::large_report(200)));
}

TEST_CASE("page: base64 of every remainder") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64(std::string("\xFF\x00\xFE", 3)) == "/wD+");
}

TEST_CASE("page: a column of numbers takes 32 bits only where they are exact") {
  using Numbers = std::vector<std::optional<double>>;
  const auto coded = [](const Numbers& numbers) {
    return written([&](auto& out) { report::write_page_numbers(out, numbers); });
  };
  CHECK(coded({0.5, 1.0, std::nullopt}).contains("f32"));
  CHECK(coded({0.1, 1.0}).contains("f64"));
  CHECK(coded({1e300, 1.0}).contains("f64"));
  CHECK(coded({5e-324, 0.0}).contains("f64"));
  CHECK(coded({2.0, 2.0})["same"] == 2.0);
  CHECK(coded({std::nullopt, std::nullopt})["same"].is_null());
  CHECK(coded({std::nan(""), std::nan("")})["same"] == "NaN");
  CHECK(coded({})["same"].is_null());
  CHECK(coded({0.0, -0.0}).contains("f32"));  // not the same number
}

TEST_CASE("page: integers that a page cannot hold exactly are shown as text") {
  std::vector<result::Row> rows(2);
  rows[0].metrics = {result::Value(std::int64_t{9007199254740993})};
  const auto coded = written([&](auto& out) { report::write_page_metric(out, rows, 0); });
  CHECK(coded["texts"] == json::array({"9007199254740993"}));
}
