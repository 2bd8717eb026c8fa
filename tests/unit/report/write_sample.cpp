/// Not a test: writes a made-up report for the tests of the page and of the schema.
///   MSPROBE_SAMPLE=small MSPROBE_SAMPLE_OUT=report.html test_report --no-skip -tc="write a sample report"
#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "report/writers.h"
#include "sample_report.h"

TEST_CASE("write a sample report" * doctest::skip()) {
  const char* name = std::getenv("MSPROBE_SAMPLE");
  const char* out = std::getenv("MSPROBE_SAMPLE_OUT");
  const char* language = std::getenv("MSPROBE_SAMPLE_LANGUAGE");
  const char* verbosity = std::getenv("MSPROBE_SAMPLE_VERBOSITY");
  const char* width = std::getenv("MSPROBE_SAMPLE_WIDTH");
  REQUIRE(name != nullptr);
  msprobe::report::TerminalOptions options;
  if (language != nullptr && std::string(language) == "zh") options.language = msprobe::report::Language::chinese;
  if (verbosity != nullptr) options.verbosity = std::stoi(verbosity);
  if (width != nullptr) options.width = static_cast<unsigned>(std::stoul(width));
  const auto report = msprobe::test::report_by_name(name);
  if (out == nullptr) {
    msprobe::report::write_terminal(report, std::cout, options);
  } else {
    msprobe::report::write_output(report, out, options);
  }
}
