// The vectors of tests/data/metric_cases.jsonl: inputs of every dtype with every expected value, computed exactly.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "diff.h"
#include "msprobe/dtype.hpp"

namespace {

using msprobe::kernels::DiffPartial;
using msprobe::kernels::DiffPlan;
using nlohmann::json;

std::vector<unsigned char> from_base64(const std::string& text) {
  const auto value = [](char c) -> unsigned {
    if (c >= 'A' && c <= 'Z') return static_cast<unsigned>(c - 'A');
    if (c >= 'a' && c <= 'z') return static_cast<unsigned>(c - 'a' + 26);
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0' + 52);
    return c == '+' ? 62 : 63;
  };
  std::vector<unsigned char> bytes;
  unsigned bits = 0;
  int have = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | value(c);
    have += 6;
    if (have >= 8) {
      have -= 8;
      bytes.push_back(static_cast<unsigned char>(bits >> have));
      bits &= (1u << have) - 1;
    }
  }
  return bytes;
}

json number(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
  return x;
}

double as_double(const json& value) {
  if (!value.is_string()) return value.get<double>();
  const auto text = value.get<std::string>();
  const double infinity = std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  return text == "Infinity" ? infinity : -infinity;
}

std::string coordinates(std::uint64_t index, const json& shape) {
  std::vector<std::string> at;
  for (auto size = shape.rbegin(); size != shape.rend(); ++size) {
    const auto n = size->get<std::uint64_t>();
    at.insert(at.begin(), std::to_string(index % n));
    index /= n;
  }
  std::string text = "[";
  for (std::size_t i = 0; i < at.size(); ++i) text += (i ? ", " : "") + at[i];
  return text + "]";
}

json metrics_as_json(const msp_diff_result& result, const json& shape) {
  json out;
  const auto put = [&](int metric, const char* key, char type) {
    const double x = result.number[metric];
    if (!result.present[metric]) {
      out[key] = nullptr;
    } else if (type == 'T') {
      out[key] = coordinates(static_cast<std::uint64_t>(x), shape);
    } else if (type == 'B') {
      out[key] = x != 0;
    } else {
      out[key] = number(x);
    }
  };
#define PUT(key, type, direction, doc) put(MSP_METRIC_##key, #key, #type[0]);
  MSP_METRICS(PUT)
#undef PUT
  return out;
}

bool is_integer(msp_dtype dtype) {
  return !msprobe::is_float(dtype);
}
bool is_complex(msp_dtype dtype) {
  return dtype == MSP_C64 || dtype == MSP_C128;
}

struct Case {
  json vector;
  DiffPlan plan{};
  std::vector<unsigned char> bytes[2];
  double threshold = 0;

  explicit Case(json v) : vector(std::move(v)) {
    const json& options = vector["options"];
    plan.reference = msprobe::dtype_from_name(vector["ref"]["dtype"].get<std::string>());
    plan.target = msprobe::dtype_from_name(vector["target"]["dtype"].get<std::string>());
    bytes[0] = from_base64(vector["ref"]["base64"].get<std::string>());
    bytes[1] = from_base64(vector["target"]["base64"].get<std::string>());
    msp_dtype noise = msprobe::coarser_float(plan.reference, plan.target);
    if (options.contains("noise_dtype") && msprobe::is_float(noise))
      noise = msprobe::dtype_from_name(options["noise_dtype"].get<std::string>());
    plan.options.struct_size = sizeof(plan.options);
    plan.options.auto_threshold = msprobe::auto_threshold(noise);
    threshold = options.value("error_threshold", plan.options.auto_threshold);
    if (options.value("ftz", false)) plan.options.flags |= MSP_DIFF_FTZ;
    if (options.contains("atol") || options.contains("rtol")) plan.options.flags |= MSP_DIFF_CLOSE;
    plan.options.atol = options.value("atol", 0.0);
    plan.options.rtol = options.value("rtol", 0.0);
    if (options.contains("saturate")) {
      plan.options.flags |= MSP_DIFF_SATURATE;
      plan.options.saturate_dtype = msprobe::dtype_from_name(options["saturate"].get<std::string>());
    }
  }

  /// The rules of a row that are not the kernels': --nan, the verdict.
  json judged(const msp_diff_result& result) const {
    json out = metrics_as_json(result, vector["ref"]["shape"]);
    const std::string nan = vector["options"].value("nan", "warn");
    const bool nan_fails = nan == "fail" && out["nan_both"] != 0;
    const double error = nan_fails ? std::numeric_limits<double>::infinity() : result.error;
    const double limit = std::min(16 * threshold, 0.5);
    const bool fails = out["class_mismatch"] != 0 || nan_fails || !(error <= threshold) ||
                       (!std::isnan(result.block_test) && !(result.block_test <= limit));
    const auto kind = [](msp_dtype dtype) { return is_integer(dtype) ? 0 : is_complex(dtype) ? 2 : 1; };
    const bool warns = (!out["outliers"].is_null() && out["outliers"] != 0) ||
                       (nan == "warn" && out["nan_both"] != 0) || out["saturated"] != 0 ||
                       kind(plan.reference) != kind(plan.target);
    out["error"] = number(error);
    out["threshold"] = number(threshold);
    out["verdict"] = fails ? "fail" : warns ? "warn" : "pass";
    return out;
  }
};

/// The rule of the vectors: texts, null, booleans and infinities are equal, numbers within `rel` of the value or within
/// `abs` of the key where that is larger.
bool agrees(const std::string& key, const json& want, const json& got, const json& tolerance) {
  if (want.is_null() || got.is_null() || want.is_boolean() || key == "verdict" ||
      (key.size() > 3 && key.compare(key.size() - 3, 3, "_at") == 0))
    return want == got;
  const double a = as_double(want), b = as_double(got);
  if (a == b) return true;
  const double absolute = tolerance.contains("abs") ? tolerance["abs"].value(key, 0.0) : 0.0;
  return std::isfinite(a) && std::fabs(a - b) <= std::max(tolerance["rel"].get<double>() * std::fabs(a), absolute);
}

std::vector<Case> load_cases() {
  const char* other = std::getenv("MSPROBE_METRIC_CASES");
  std::ifstream file(other ? other : MSPROBE_TEST_DATA "/metric_cases.jsonl");
  REQUIRE(file);
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    json vector = json::parse(line);
    // Different shapes have no common elements; the engine answers them without kernels.
    if (vector["ref"]["shape"] == vector["target"]["shape"]) cases.emplace_back(std::move(vector));
  }
  return cases;
}

msp_diff_result run(const Case& c) {
  const std::uint64_t count = c.bytes[0].size() / msprobe::dtype_info(c.plan.reference)->bytes;
  DiffPartial partial;
  partial.add(c.plan, c.bytes[0].data(), c.bytes[1].data(), 0, count);
  msp_diff_result result{};
  result.struct_size = sizeof(result);
  partial.finish(c.plan, result);
  return result;
}

}  // namespace

TEST_CASE("every SIMD target gives the expected values of every vector") {
  const std::vector<Case> cases = load_cases();
  REQUIRE(cases.size() > 600);
  for (const char* target : msprobe::kernels::simd_targets()) {
    REQUIRE(msprobe::kernels::force_simd_target(target));
    for (const Case& c : cases) {
      const json got = c.judged(run(c));
      for (const auto& item : c.vector["expect"].items()) {
        const std::string& key = item.key();
        const json& want = item.value();
        if (key == "why") continue;
        INFO(std::string(target), ": ", c.vector["id"], " ", c.vector["rule"], " ", c.vector["ref"]["dtype"], " ",
             c.vector["target"]["dtype"], ": ", key, " is ", got[key].dump(), ", expected ", want.dump());
        CHECK(agrees(key, want, got[key], c.vector["tolerance"]));
      }
    }
  }
  msprobe::kernels::force_simd_target(nullptr);
}
