#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "judge.h"

namespace verl {
namespace {

std::string_view type_of(std::string_view scalar) {
  return scalar.substr(0, scalar.find(' '));
}

/// "float 1e-05" -> 1e-05; NaN for what is no number.
long double value_of(const std::string& scalar) {
  const std::string_view type = type_of(scalar);
  if (type != "int" && type != "float") return NAN;
  const char* text = scalar.c_str() + std::min(type.size() + 1, scalar.size());
  char* end = nullptr;
  const long double value = std::strtold(text, &end);
  return *text != '\0' && *end == '\0' ? value : static_cast<long double>(NAN);
}

std::string side_text(const msp_tensor& tensor) {
  return tensor.kind == MSP_KIND_SCALAR ? std::string(msprobe::to_view(tensor.value)) : "a tensor";
}

}  // namespace

void judge_scalar(const msprobe::Call& call, const msp_pair& pair) {
  const std::string reference = side_text(*pair.side[0]), target = side_text(*pair.side[1]);
  const double nothing = msprobe::Call::nan();
  if (reference == target) return call.verdict(MSP_PASS, 0, nothing, "");
  const long double r = value_of(reference), t = value_of(target);
  // Another type, no number on a side, nothing to divide by, or too close to tell: a difference without a size. It is
  // never 0.
  auto error = static_cast<double>(std::fabs(t - r) / std::fabs(r));
  if (!std::isfinite(error) || error == 0 || type_of(reference) != type_of(target)) error = INFINITY;
  call.verdict(MSP_FAIL, error, nothing, "argument differs: " + reference + " against " + target);
}

}  // namespace verl
