// An analyzer in C++: finds layers whose target is the reference times a constant, as a lost 1/sqrt(d) makes it.
//
// It takes its numbers from the host's fused pass, and tells one finding for the whole run in `finish`.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "msprobe/analyzer.hpp"

namespace {

constexpr msp_field tolerance = msprobe::option(MSP_TYPE_F64, "tolerance", "1e-3", "how far the factor may be from 1");
constexpr msp_field factor = msprobe::column(MSP_TYPE_F64, "factor", 0, "norm of the target / norm of the reference");
constexpr msp_field angle = msprobe::column(MSP_TYPE_F64, "angle", 1, "1 - cosine: how far the directions are apart");
constexpr const msp_field* options[] = {&tolerance, nullptr};
constexpr const msp_field* columns[] = {&factor, &angle, nullptr};
enum Column : std::uint32_t { factor_column, angle_column };

class Scale {
 public:
  explicit Scale(msprobe::Call& call) : tolerance_(call.option_f64("tolerance")) {}

  void analyze(msprobe::Call& call, const msp_pair& pair) const {
    const auto& service = call.service<msp_diff_service>(MSP_DIFF_SERVICE);
    msp_diff_options asked{};
    asked.struct_size = sizeof asked;
    msp_diff_result diff{};
    diff.struct_size = sizeof diff;
    call.check(service.diff(call.token(), &pair, &asked, &diff));
    if (!diff.present[MSP_METRIC_norm_ratio] || !diff.present[MSP_METRIC_cosine_distance])
      return call.skip("one side is zero, or shapes differ");
    const double ratio = diff.number[MSP_METRIC_norm_ratio], distance = diff.number[MSP_METRIC_cosine_distance];
    call.emit(factor_column, ratio);
    call.emit(angle_column, distance);
    const bool scaled = std::fabs(ratio - 1) > tolerance_ && distance < 1e-6;
    call.verdict(scaled ? MSP_FAIL : MSP_PASS, scaled ? std::fabs(ratio - 1) : 0.0, tolerance_,
                 scaled ? "a constant factor" : "");
  }

  // Once, after all pairs. What pairs contribute comes from their rows: `this` may be another instance than the one
  // that saw them.
  void finish(msprobe::Call& call) const {
    std::vector<std::uint64_t> rows;
    for (std::uint64_t i = 0; i < call.host()->pair_count(call.token()); ++i) {
      std::int32_t verdict = MSP_SKIP;
      double error = 0;
      call.check(call.host()->row_verdict(call.token(), i, &verdict, &error));
      if (verdict == MSP_FAIL) rows.push_back(i);
    }
    if (rows.empty()) return;
    double first = 0;
    call.check(call.host()->row_f64(call.token(), rows[0], factor_column, &first));
    char text[96];
    std::snprintf(text, sizeof text, "%zu tensors are scaled; the first by a factor of %.6g.", rows.size(), first);
    call.check(call.host()->finding(call.token(), MSP_FAIL, "scale", msprobe::to_str(text), msprobe::to_str("{}"),
                                    rows.data(), rows.size()));
  }

 private:
  double tolerance_;
};

}  // namespace

MSPROBE_PLUGIN("org.example.scale", "1.0",
               msprobe::analyzer<Scale>("scale", "finds layers that are off by a constant factor", options, columns))
