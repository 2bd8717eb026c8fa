#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/writers.h"
#include "sample_report.h"

using nlohmann::json;
using namespace msprobe;

namespace {

std::string text_of(const result::Report& report) {
  std::ostringstream out;
  report::write_json(report, out);
  return out.str();
}

json json_of(const result::Report& report) {
  return json::parse(text_of(report));
}

}  // namespace

TEST_CASE("json: has the shape that the contract promises") {
  const auto report = json_of(test::small_report());
  CHECK(report["schema"] == "msprobe.report/1");
  CHECK(report["msprobe"] == "1.2.0");
  CHECK(report["options"]["error_threshold"] == "auto");
  const auto& summary = report["summary"];
  CHECK(summary["passed"] == false);
  CHECK(summary["compared"] == 10);
  CHECK(summary["fail"] == 4);
  CHECK(summary["unmatched_reference"] == 1);
  const auto& bad = summary["first_bad"];
  CHECK(bad["index"] == 6);
  CHECK(bad["layer"] == "Module.blocks.0.ln2.LayerNorm");
  CHECK(bad["phase"] == "forward");
  CHECK(bad["direction"] == "output");
  CHECK(bad["slot"] == "0");
  CHECK(bad["origin"] == true);
  const auto& row = report["rows"][6];
  CHECK(row["name"] == "Module.blocks.0.ln2.LayerNorm.forward.0.output.0");
  CHECK(row["kind"] == "tensor");
  CHECK(row["module"] == "Module.blocks.0.ln2");
  CHECK(row["op"] == "LayerNorm");
  CHECK(row["call"] == 0);
  CHECK(row["source"] == "models.py:41 in forward");
  CHECK(row["reference"]["dtype"] == "f32");
  CHECK(row["reference"]["shape"] == json::array({2, 6, 8}));
  CHECK(row["verdict"] == "fail");
  CHECK(row["error"] == 0.031);
  CHECK(row["threshold"] == 1e-5);
  CHECK(row["metrics"]["rel_l2"] == 0.031);
  CHECK(report["findings"][1]["rows"] == json::array({6}));
}

TEST_CASE("json: numbers that are not finite are the three texts, what does not exist is null") {
  const auto report = json_of(test::small_report());
  CHECK(report["rows"][8]["error"] == "Infinity");
  CHECK(report["rows"][9]["error"] == "NaN");
  CHECK(report["summary"]["max_error"] == "NaN");
  CHECK(report["rows"][0]["metrics"]["sqnr_db"] == "Infinity");
  CHECK(report["rows"][11]["target"].is_null());
  CHECK(report["rows"][11]["error"].is_null());
  CHECK(report["rows"][9]["source"].is_null());
  CHECK(report["rows"][0]["why"].is_null());
  CHECK(report["rows"][0]["origin"].is_null());
  auto negative = test::equal_report();
  negative.rows[0].error = -std::numeric_limits<double>::infinity();
  CHECK(json_of(negative)["rows"][0]["error"] == "-Infinity");
}

TEST_CASE("json: every finite number reads back to the same bits") {
  auto report = test::equal_report();
  const double numbers[] = {0.1,  1e-05,    5e-324, 1.7976931348623157e308, 1.0 / 3, -0.0, 0.03100000000000001,
                            1e22, 123456789};
  for (const double number : numbers) {
    report.rows[0].error = number;
    const auto back = json_of(report)["rows"][0]["error"].get<double>();
    CHECK(std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(number));
  }
}

TEST_CASE("json: every row has every visible column and none of the hidden ones") {
  const auto report = json_of(test::small_report());
  for (const auto& row : report["rows"]) {
    CHECK(row["metrics"].size() == report["columns"].size());
    CHECK_FALSE(row["metrics"].contains("internal"));
  }
  CHECK(report["rows"][10]["metrics"]["rel_l2"].is_null());  // an unreadable row
}

TEST_CASE("json: no layer name makes it invalid, each arrives as it was") {
  const auto sample = test::hostile_report();
  const auto report = json_of(sample);
  for (std::size_t i = 0; i < sample.rows.size(); ++i) {
    const auto& name = sample.rows[i].name;
    if (name.find('\xFF') == std::string::npos) CHECK(report["rows"][i]["name"] == name);
  }
  CHECK(report["rows"][11]["name"] == "bad utf8 \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD end");
}

TEST_CASE("json: the same report gives the same bytes, one row per line") {
  const auto text = text_of(test::small_report());
  CHECK(text == text_of(test::small_report()));
  std::size_t rows = 0;
  for (auto at = text.find("\n{\"index\": "); at != text.npos; at = text.find("\n{\"index\": ", at + 1)) ++rows;
  CHECK(rows == 12);
  CHECK(text.ends_with("}\n"));
}

TEST_CASE("json: a report without rows is valid and has no first bad row") {
  const auto report = json_of(test::report_by_name("empty"));
  CHECK(report["rows"].empty());
  CHECK(report["summary"]["first_bad"].is_null());
  CHECK(report["summary"]["max_error"].is_null());
}

TEST_CASE("json: an index that no row has gives no first bad row") {
  auto report = test::equal_report();
  report.summary.first_bad = 99;
  CHECK(json_of(report)["summary"]["first_bad"].is_null());
}
