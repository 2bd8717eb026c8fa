#include <doctest/doctest.h>

#include <sstream>

#include "report/text_layout.h"
#include "report/writers.h"
#include "sample_report.h"

using namespace msprobe;

namespace {

std::string shown(const result::Report& report, report::TerminalOptions options = {}) {
  std::ostringstream out;
  report::write_terminal(report, out, options);
  return out.str();
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

}  // namespace

TEST_CASE("terminal: the first line says the verdict and the first bad layer, the first two by how much and where") {
  const auto lines = lines_of(shown(test::small_report()));
  CHECK(lines[0] == "FAIL  first bad layer: Module.blocks.0.ln2.LayerNorm  output 0");
  CHECK(lines[1] == "      error 0.031 > 1e-05  (models.py:41 in forward)");
  report::TerminalOptions wide;
  wide.width = 120;
  CHECK(
      first_line(shown(test::small_report(), wide)) ==
      "FAIL  first bad layer: Module.blocks.0.ln2.LayerNorm  output 0  error 0.031 > 1e-05  (models.py:41 in forward)");
}

TEST_CASE("terminal: nothing is wider than the terminal, whatever the names are") {
  for (const auto language : {report::Language::english, report::Language::chinese}) {
    for (const unsigned width : {80U, 100U, 200U}) {
      report::TerminalOptions options;
      options.width = width;
      options.language = language;
      for (const auto& line : lines_of(shown(test::small_report(), options))) CHECK(report::width_of(line) <= width);
      for (const auto& line : lines_of(shown(test::large_report(2000), options)))
        CHECK(report::width_of(line) <= width);
    }
  }
}

TEST_CASE("terminal: the headline never shortens the layer's name") {
  auto report = test::small_report();
  report.rows[6].layer = "Module." + std::string(200, 'x') + ".end";
  CHECK(contains(first_line(shown(report)), "FAIL  first bad layer: " + report.rows[6].layer));
}

TEST_CASE("terminal: findings come in the order in which they are given, all in the chosen language where it exists") {
  const auto english = shown(test::small_report());
  CHECK(english.find("Settings differ") < english.find("The error is born"));
  report::TerminalOptions options;
  options.language = report::Language::chinese;
  const auto chinese = shown(test::small_report(), options);
  CHECK(contains(chinese, "首个异常层：Module.blocks.0.ln2.LayerNorm"));
  CHECK(contains(chinese, "第一步的设置不一致"));
  CHECK(contains(chinese, "1 tensor could not be read"));
}

TEST_CASE("terminal: no colour and no control character unless asked for") {
  CHECK_FALSE(contains(shown(test::small_report()), "\x1b"));
  CHECK_FALSE(contains(shown(test::hostile_report()), "\x1b"));
  CHECK_FALSE(contains(shown(test::hostile_report()), "\u202E"));
  report::TerminalOptions options;
  options.color = true;
  CHECK(shown(test::small_report(), options).starts_with("\x1b[1;31mFAIL\x1b[0m  first bad layer"));
}

TEST_CASE("terminal: verbosity 0 is one line, 2 lists every row in full, 3 every metric with all digits") {
  report::TerminalOptions options;
  options.verbosity = 0;
  CHECK(lines_of(shown(test::small_report(), options)).size() == 1);
  CHECK(lines_of(shown(test::equal_report(), options)).size() == 1);
  options.verbosity = 2;
  const auto sample = test::large_report(300);
  const auto all = shown(sample, options);
  for (const auto& row : sample.rows) CHECK(contains(all, row.layer));
  options.verbosity = 3;
  const auto details = shown(test::small_report(), options);
  for (const auto& row : test::small_report().rows) CHECK(contains(details, row.name));
  CHECK(contains(details, "cosine_distance: 0.00048049999999999997"));
  CHECK_FALSE(contains(details, "internal"));
}

TEST_CASE("terminal: says in words when all is equal, when nothing was compared, when something is missing") {
  CHECK(first_line(shown(test::equal_report())) == "PASS  6 tensors compared, all equal");
  CHECK(contains(first_line(shown(test::report_by_name("empty"))), "NOTHING COMPARED"));
  auto missing = test::equal_report();
  missing.summary.unmatched_target = 2;
  missing.summary.incomplete = true;
  missing.summary.passed = false;
  CHECK(first_line(shown(missing)) == "INCOMPLETE  nothing failed, but 2 found on one side only, 6 tensors compared");
  auto strict = test::equal_report();
  strict.rows[0].verdict = result::Verdict::warn;
  strict.summary.warn = 1;
  strict.summary.passed = false;
  CHECK(contains(first_line(shown(strict)), "FAIL  1 warning counted as failures"));
}

TEST_CASE("terminal: an unreadable tensor is named with its reason, also when others fail") {
  const auto text = shown(test::small_report());
  CHECK(contains(text, "Module.head.Linear.forward.0.input.0: E4002 file is cut short"));
}

TEST_CASE("terminal: a row that fails although its error is small does not claim error > threshold") {
  auto report = test::small_report();
  report.rows[6].error = 1e-6;
  CHECK(contains(shown(report), "error 1e-06, threshold 1e-05"));
}

TEST_CASE("terminal: an analyzer without any known metric gets its own columns") {
  auto report = test::equal_report();
  report.columns = {{"note", result::ColumnType::text, "", 1, false}, {"score", result::ColumnType::f64, "", 1, false}};
  for (auto& row : report.rows) {
    row.error = 0.5;
    row.metrics = {std::string("x"), 42.5};
  }
  const auto text = shown(report);
  CHECK(contains(text, "score"));
  CHECK(contains(text, "42.5"));
  CHECK_FALSE(contains(text, "cosine"));
}

TEST_CASE("terminal: the same report gives the same text") {
  CHECK(shown(test::large_report(500)) == shown(test::large_report(500)));
}
