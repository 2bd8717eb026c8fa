#include <charconv>
#include <cmath>

#include "judge.h"

namespace verl {
namespace {

/// "float 1e-05" -> 1e-05; NaN for what is no number.
double value_of(std::string_view scalar) {
  const std::size_t space = scalar.find(' ');
  if (space == std::string_view::npos) return NAN;
  const std::string_view type = scalar.substr(0, space), text = scalar.substr(space + 1);
  if (type != "int" && type != "float") return NAN;
  double value = NAN;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? value : NAN;
}

std::string side_text(const msp_tensor& tensor) {
  return tensor.kind == MSP_KIND_SCALAR ? std::string(msprobe::to_view(tensor.value)) : "a tensor";
}

}  // namespace

void judge_scalar(const msprobe::Call& call, const msp_pair& pair) {
  const std::string reference = side_text(*pair.side[0]), target = side_text(*pair.side[1]);
  const double nothing = msprobe::Call::nan();
  if (reference == target) return call.verdict(MSP_PASS, 0, nothing, "");
  const double r = value_of(reference), t = value_of(target);
  // Not a number on a side, or nothing to divide by: a difference without a size.
  double error = std::fabs(t - r) / std::fabs(r);
  if (!std::isfinite(error)) error = INFINITY;
  call.verdict(MSP_FAIL, error, nothing, "argument differs: " + reference + " against " + target);
}

}  // namespace verl
