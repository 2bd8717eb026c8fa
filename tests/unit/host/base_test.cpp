#include <doctest/doctest.h>

#include <regex>
#include <set>

#include "base/error_catalogue.h"
#include "base/glob.h"
#include "base/nearest.h"
#include "plugin/coordinates.h"

using namespace msprobe;

TEST_CASE("a layer glob is tested on the full name and on every suffix, and * crosses separators") {
  CHECK(layer_matches("conv*", "layer1.conv2"));
  CHECK(layer_matches("conv*", "model/conv2/weight"));
  CHECK(layer_matches("*norm*", "Module.blocks.0.ln2.LayerNorm.norm.x"));
  CHECK(layer_matches("layer1.*", "layer1.a.b"));
  CHECK_FALSE(layer_matches("conv", "deconv"));
  CHECK_FALSE(layer_matches("conv1", "conv10"));
  CHECK(glob_matches("*a*b*c", "xxaxxbxxc"));
  CHECK_FALSE(glob_matches("*a*b*c", "xxaxxbxx"));
}

TEST_CASE("the nearest name is found, and nothing far away is offered") {
  const std::vector<std::string> names{"compare", "plugins", "explain"};
  CHECK(nearest("comapre", names) == std::vector<std::string>{"compare"});
  CHECK(nearest("zzzzzzz", names).empty());
}

TEST_CASE("every error code is listed once, of a known family, with both languages") {
  std::set<std::string_view> seen;
  for (const ErrorEntry& entry : error_catalogue()) {
    CHECK(seen.insert(entry.code).second);
    CHECK(std::regex_match(std::string(entry.code), std::regex("E[1-6][0-9]{3}")));
    CHECK(entry.explanation.size() > 20);
    CHECK(!entry.title_zh.empty());
    CHECK(!entry.explanation_zh.empty());
  }
}

TEST_CASE("flat indices become coordinates, [] for a 0-d tensor") {
  CHECK(plugin::coordinates(0, {}) == "[]");
  CHECK(plugin::coordinates(17, {2, 3, 4}) == "[1, 1, 1]");
}
