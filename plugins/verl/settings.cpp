#include <cmath>
#include <cstdio>

#include "judge.h"

namespace verl {

using msprobe::Failure;

Settings read_settings(const msprobe::Call& call) {
  Settings settings;
  const std::string nan = call.option_text("nan");
  if (nan == "equal")
    settings.nan = NanPolicy::equal;
  else if (nan == "warn")
    settings.nan = NanPolicy::warn;
  else if (nan == "fail")
    settings.nan = NanPolicy::fail;
  else
    throw Failure(MSP_E_INVALID, "--nan takes equal, warn or fail, not '" + nan + "'");

  settings.exact = call.option_bool("exact");
  settings.reshape = call.option_bool("reshape");
  msp_diff_options& diff = settings.diff;
  diff.struct_size = sizeof diff;
  if (call.option_bool("ftz")) diff.flags |= MSP_DIFF_FTZ;
  if (settings.exact) diff.flags |= MSP_DIFF_BITWISE;
  if (settings.reshape) diff.flags |= MSP_DIFF_RESHAPE;

  const double atol = call.option_f64("atol"), rtol = call.option_f64("rtol");
  if (!std::isnan(atol) || !std::isnan(rtol)) {
    diff.flags |= MSP_DIFF_CLOSE;
    diff.atol = std::isnan(atol) ? 0 : atol;
    diff.rtol = std::isnan(rtol) ? 0 : rtol;
    if (diff.atol < 0 || diff.rtol < 0) throw Failure(MSP_E_INVALID, "--atol and --rtol must not be negative");
  }

  const std::string saturate = call.option_text("saturate");
  if (!saturate.empty()) {
    diff.flags |= MSP_DIFF_SATURATE;
    if (saturate != "on" && saturate != "target") {
      diff.saturate_dtype = msprobe::dtype_from_name(saturate);
      if (!msprobe::is_float(diff.saturate_dtype))
        throw Failure(MSP_E_INVALID,
                      "--saturate takes a float dtype (f16, bf16, f32, f8e4m3fn, f8e5m2, ...), not '" + saturate + "'");
    }
  }
  return settings;
}

double threshold_of(const msp_pair& pair) {
  if (!std::isnan(pair.threshold)) return pair.threshold;
  const bool floats = msprobe::is_float(pair.side[0]->dtype) || msprobe::is_float(pair.side[1]->dtype);
  return floats ? msprobe::auto_threshold(pair.noise_dtype) : 0.0;
}

bool dtype_classes_differ(const msp_pair& pair) {
  const auto* reference = msprobe::dtype_info(pair.side[0]->dtype);
  const auto* target = msprobe::dtype_info(pair.side[1]->dtype);
  return reference && target && reference->dtype_class != target->dtype_class;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return std::isinf(value) ? value > 0 ? "Infinity" : "-Infinity" : text;
}

std::string elements(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " element" : " elements");
}

}  // namespace verl
