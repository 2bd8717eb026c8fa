#include "engine/diagnosis.h"

#include <doctest/doctest.h>

#include <cmath>

#include <fmt/format.h>

#include "engine/summary.h"

using namespace msprobe;
using dump::Direction;
using result::Row;
using result::Verdict;

namespace {

/// Rows of one rank and step, in execution order.
struct Maker {
  std::vector<Row> rows;

  /// A compared row; it fails when its error is above 1e-5.
  Row& add(const std::string& call, std::int64_t execution_index, Direction direction, double error) {
    Row row;
    row.index = rows.size();
    row.layer = row.call_name = call;
    row.name = call + "." + std::string(to_text(direction));
    row.execution_index = execution_index;
    row.phase = dump::Phase::forward;
    row.direction = direction;
    row.reference.emplace();
    row.target.emplace();
    row.error = error;
    row.verdict = error <= 1e-5 ? Verdict::pass : Verdict::fail;
    rows.push_back(row);
    return rows.back();
  }
};

}  // namespace

TEST_CASE("the call whose inputs agree is the origin, those behind it pass the error on") {
  Maker m;
  m.add("linear", 0, Direction::input, 0);
  m.add("linear", 0, Direction::output, 1e-7);
  m.add("norm", 1, Direction::input, 1e-7);
  m.add("norm", 1, Direction::output, 0.03);
  m.add("relu", 2, Direction::input, 0.03);
  m.add("relu", 2, Direction::output, 0.02);
  engine::mark_origins(m.rows);
  CHECK(m.rows[3].origin == true);
  CHECK(m.rows[4].origin == false);
  CHECK(m.rows[5].origin == false);
  CHECK(engine::first_bad(m.rows) == 3);
}

TEST_CASE("an input with another class is never clean, not even beside an infinite output") {
  Maker m;
  m.add("a", 0, Direction::output, INFINITY);
  m.add("b", 1, Direction::input, INFINITY);
  m.add("b", 1, Direction::output, INFINITY);
  engine::mark_origins(m.rows);
  CHECK(m.rows[2].origin == false);
}

TEST_CASE("a weight or model input that no earlier failure explains is the origin") {
  Maker m;
  m.add("first", 0, Direction::input, 0.1);
  m.add("first", 0, Direction::output, 0.1);
  m.add("second", 1, Direction::parameter, 0.01);
  m.add("second", 1, Direction::output, 0.2);
  engine::mark_origins(m.rows);
  CHECK(m.rows[0].origin == true);
  CHECK(m.rows[1].origin == false);
  CHECK(m.rows[2].origin == true);
}

TEST_CASE("weights that moved because an earlier step was bad are no origin") {
  Maker m;
  m.add("norm", 0, Direction::output, 0.5);
  auto& weight = m.add("norm", 0, Direction::parameter, 0.1);
  weight.step = 1;
  engine::mark_origins(m.rows);
  CHECK(m.rows[1].origin == false);
}

TEST_CASE("without dumped inputs the origin is unknown and order decides") {
  Maker m;
  m.add("a", 0, Direction::output, 0.1);
  m.add("b", 1, Direction::output, 0.5);
  engine::mark_origins(m.rows);
  CHECK(!m.rows[0].origin.has_value());
  CHECK(engine::first_bad(m.rows) == 0);
}

TEST_CASE("an origin is preferred to an earlier row that only passes an error on") {
  Maker m;
  m.add("a", 0, Direction::input, 0.1).origin = false;
  m.add("b", 1, Direction::output, 0.1).origin = true;
  CHECK(engine::first_bad(m.rows) == 1);
}

TEST_CASE("within a call: scalar, input, parameter, output") {
  Maker m;
  m.add("a", 0, Direction::output, 0.5);
  m.add("a", 0, Direction::parameter, 0.5);
  m.add("a", 0, Direction::input, 0.5).kind = dump::Kind::scalar;
  engine::mark_origins(m.rows);
  CHECK(engine::first_bad(m.rows) == 2);
}

TEST_CASE("max_error is 0 only when everything is equal, and never null once something was compared") {
  Maker m;
  m.add("a", 0, Direction::input, 1e-7);
  m.add("a", 0, Direction::output, 0);
  result::Report report;
  report.rows = m.rows;
  engine::summarize(report, false, false);
  CHECK(report.summary.max_error == 1e-7);
  CHECK(report.summary.passed);

  result::Report empty;
  engine::summarize(empty, false, false);
  CHECK(!empty.summary.max_error.has_value());
  CHECK(!empty.summary.passed);
}

TEST_CASE("preconditions come first: settings, then origins, then the rest") {
  Maker m;
  auto& eps = m.add("norm", 0, Direction::input, INFINITY);
  eps.kind = dump::Kind::scalar;
  eps.reference->scalar = "float 1e-05";
  eps.target->scalar = "float 0.1";
  m.add("norm", 0, Direction::input, 0);
  m.add("norm", 0, Direction::output, 0.03);
  m.add("gelu", 1, Direction::input, 0);
  m.add("gelu", 1, Direction::output, 0.02);
  result::Report report;
  report.rows = m.rows;
  engine::mark_origins(report.rows);
  engine::summarize(report, false, false);
  const auto findings = engine::diagnose(report, {});
  REQUIRE(findings.size() >= 3);
  CHECK(findings[0].code == "precondition.settings");
  CHECK(findings[0].text.find("float 1e-05 against float 0.1") != std::string::npos);
  CHECK(findings[1].code == "origin");
  CHECK(findings[1].text.find("gelu") != std::string::npos);
  CHECK(findings.back().code == "passed_on");
}

TEST_CASE("two different networks are said so before anything else") {
  Maker m;
  m.add("a", 0, Direction::output, 0.5);
  for (int i = 0; i < 5; ++i) m.add(fmt::format("b{}", i), i, Direction::output, 0).target.reset();
  for (auto& row : m.rows)
    if (!row.target) row.verdict = Verdict::skip;
  result::Report report;
  report.rows = m.rows;
  engine::summarize(report, false, false);
  CHECK(engine::diagnose(report, {})[0].code == "precondition.network");
}
