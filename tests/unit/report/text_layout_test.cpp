#include "report/text_layout.h"

#include <doctest/doctest.h>

#include "report/numbers.h"
#include "report/utf8.h"

using namespace msprobe::report;

TEST_CASE("width: Chinese characters take two columns, combining marks none") {
  CHECK(width_of("abc") == 3);
  CHECK(width_of("卷积") == 4);
  CHECK(width_of("e\u0301") == 1);
  CHECK(width_of("") == 0);
}

TEST_CASE("a long name keeps both ends and never exceeds the width") {
  const std::string name = "Module.model.encoder.layers.10.self_attention.query.Linear";
  for (unsigned width = 1; width < 70; ++width) CHECK(width_of(shorten_middle(name, width)) <= width);
  CHECK(shorten_middle(name, 80) == name);
  const auto text = shorten_middle(name, 30);
  CHECK(text.starts_with("Module.mod"));
  CHECK(text.ends_with("query.Linear"));
  for (unsigned width = 4; width < 20; ++width)
    CHECK(width_of(shorten_middle("层名称很长的卷积模块层名称很长", width)) <= width);
  CHECK(valid_utf8(shorten_middle("层名称很长的卷积模块", 9)) == shorten_middle("层名称很长的卷积模块", 9));
}

TEST_CASE("nothing in a name can move the cursor, colour the terminal or turn the writing") {
  CHECK(visible("a\nb\t\r") == "a\\nb\\t\\r");
  CHECK(visible("\x1b[31m\a\x7f") == "\\x1b[31m\\x07\\x7f");
  CHECK(visible("\u202Ex\u2028\u200B") == "\\u202ex\\u2028\\u200b");
  CHECK(visible("\u0085") == "\\x85");
  CHECK(visible("\xFFok") == "\uFFFDok");
  CHECK(visible("层.conv") == "层.conv");
}

TEST_CASE("wrapping breaks between words, and between Chinese characters") {
  CHECK(wrap("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrap("误差产生于此层", 6) == std::vector<std::string>{"误差产", "生于此", "层"});
  CHECK(wrap("averyveryverylongword x", 5) == std::vector<std::string>{"averyveryverylongword", "x"});
  CHECK(wrap("", 10) == std::vector<std::string>{""});
}

TEST_CASE("utf-8: overlong forms, surrogates, cut sequences and stray bytes are replaced") {
  CHECK(valid_utf8("\xC0\xAF") == "\uFFFD\uFFFD");
  CHECK(valid_utf8("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");
  CHECK(valid_utf8("\xE5\xB1") == "\uFFFD\uFFFD");
  CHECK(valid_utf8("\xF4\x90\x80\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD");
  CHECK(valid_utf8("a\u00e9\u5c42\U0001F600") == "a\u00e9\u5c42\U0001F600");
}

TEST_CASE("short numbers: a cosine below 1 never looks perfect") {
  CHECK(brief(1.0) == "1");
  CHECK(brief(0.99999999) == "0.9999999");
  CHECK(brief(-0.99999999) == "-0.9999999");
  CHECK(brief(0.031) == "0.031");
  CHECK(brief(1e-5) == "1e-05");
  CHECK(brief(310000) == "310000");
}

TEST_CASE("short numbers: an error just above its threshold is told apart from it") {
  const auto [error, threshold] = brief_pair(1.0000001e-5, 1e-5);
  CHECK(error == "1.0000001e-05");
  CHECK(threshold == "1e-05");
  CHECK(brief_pair(0.1, 0.1).first == "0.1");
}

TEST_CASE("counts are grouped") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(1234567) == "1,234,567");
}
