#include "diff_scalar.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "scalar_value.h"

namespace msprobe::kernels {
namespace {

enum class Class : std::uint8_t { finite, infinite, nan };

struct Value {
  long double part[2] = {0, 0};
};

struct Item {
  std::uint32_t offset;
  Value r, t;
};

Class class_of(const Value& v) {
  if (std::isnan(v.part[0]) || std::isnan(v.part[1])) return Class::nan;
  return std::isinf(v.part[0]) || std::isinf(v.part[1]) ? Class::infinite : Class::finite;
}

bool is_zero(const Value& v) {
  return v.part[0] == 0 && v.part[1] == 0;
}

bool is_subnormal(const Value& v, const DtypeInfo& info) {
  if (class_of(v) != Class::finite) return false;
  const auto part = [&](long double x) { return x != 0 && std::fabs(x) < static_cast<long double>(info.min_normal); };
  return part(v.part[0]) || part(v.part[1]);
}

Value read(const DtypeInfo& info, const void* data, std::uint64_t index, bool round_integers) {
  Value v;
  if (info.dtype_class == DtypeClass::complex) {
    v.part[0] = scalar_value(info.dtype, data, 2 * index);
    v.part[1] = scalar_value(info.dtype, data, 2 * index + 1);
  } else {
    v.part[0] = scalar_value(info.dtype, data, index);
    if (round_integers && info.dtype_class == DtypeClass::integer) v.part[0] = static_cast<double>(v.part[0]);
  }
  return v;
}

/// At least one side is infinite, none is NaN. Infinite complex elements are judged part by part; a finite part beside
/// an infinite one is not compared.
void count_infinite(const DiffSetup& setup, const Value& r, const Value& t, ClassCounts& counts) {
  bool opposite = false, equal = true, excused = true;
  for (int i = 0; i < 2; ++i) {
    const long double a = r.part[i], b = t.part[i];
    if (!std::isinf(a) && !std::isinf(b)) continue;
    if (std::isinf(a) && std::isinf(b) && a != b) opposite = true;
    if (a == b) continue;
    equal = false;
    const bool saturated =
        setup.saturate && std::isinf(a) && b == std::copysign(static_cast<long double>(setup.saturate_limit), a);
    if (!saturated) excused = false;
  }
  if (opposite) {
    ++counts.inf_sign_mismatch;
    ++counts.class_mismatch;
  } else if (!equal && excused) {
    ++counts.saturated;
  } else if (!equal) {
    ++counts.class_mismatch;
  }
}

/// True for an element of C.
bool count_classes(const DiffSetup& setup, const Value& r, const Value& t, ClassCounts& counts) {
  const Class cr = class_of(r), ct = class_of(t);
  counts.zeros_ref += is_zero(r);
  counts.zeros_target += is_zero(t);
  counts.subnormals_ref += is_subnormal(r, *setup.ref);
  counts.subnormals_target += is_subnormal(t, *setup.target);
  if (cr == Class::finite && ct == Class::finite) return true;
  counts.nan_ref += cr == Class::nan;
  counts.nan_target += ct == Class::nan;
  counts.inf_ref += cr == Class::infinite;
  counts.inf_target += ct == Class::infinite;
  if (cr == Class::nan && ct == Class::nan) {
    ++counts.nan_both;
  } else if (cr == Class::nan || ct == Class::nan) {
    ++counts.class_mismatch;
  } else {
    count_infinite(setup, r, t, counts);
  }
  return false;
}

long double square(const Value& v) {
  return v.part[0] * v.part[0] + v.part[1] * v.part[1];
}

/// No scaling: long double holds the square of any f64.
long double modulus(const Value& v) {
  return v.part[1] == 0 ? std::fabs(v.part[0]) : std::sqrt(square(v));
}

Value difference(const Value& t, const Value& r) {
  return {{t.part[0] - r.part[0], t.part[1] - r.part[1]}};
}

std::uint64_t ulp_distance(long double r, long double t, const DtypeInfo& format) {
  const std::uint64_t a = ulp_code(std::fabs(r), format), b = ulp_code(std::fabs(t), format);
  return std::signbit(r) == std::signbit(t) ? std::max(a, b) - std::min(a, b) : a + b;
}

/// sum and sum of squares of t - k r, with a k that leaves little of t. A k of 20 bits: k r is exact for every dtype
/// but f64, where long double has 11 bits more.
Residual residual_of(const std::vector<Item>& items, const Sums& sums) {
  Residual res{1, sums.product_sum - sums.r_square_sum, sums.d_square_sum};
  const long double along = res.with_ref * res.with_ref, whole = sums.r_square_sum * sums.d_square_sum;
  if (!(along > 0.5L * whole)) return res;
  res = {round_scale(sums.product_sum / sums.r_square_sum), 0, 0};
  for (const Item& item : items) {
    for (int i = 0; i < 2; ++i) {
      const long double e = item.t.part[i] - res.scale * item.r.part[i];
      res.with_ref += item.r.part[i] * e;
      res.square_sum += e * e;
    }
  }
  return res;
}

void add_item(const DiffSetup& setup, const Item& item, Sums& sums) {
  const Value d = difference(item.t, item.r);
  const long double d_abs = modulus(d), r_abs = modulus(item.r), d2 = square(d), r2 = square(item.r);
  sums.d_sum += d_abs;
  sums.d_square_sum += d2;
  sums.r_sum += r_abs;
  sums.r_square_sum += r2;
  sums.t_square_sum += square(item.t);
  sums.product_sum += item.r.part[0] * item.t.part[0] + item.r.part[1] * item.t.part[1];
  if (d_abs > sums.max_abs) {
    sums.max_abs = d_abs;
    sums.max_abs_index = item.offset;
  }
  if (r_abs != 0) {
    const double ratio = static_cast<double>(d_abs / r_abs);
    sums.ratio_sum += static_cast<long double>(ratio);
    sums.max_ratio = std::max(sums.max_ratio, ratio);
    ++sums.nonzero_ref;
    // Real numbers without squares: 1000 |d| is exact, so that equality is seen.
    sums.within_1e3 += setup.complex ? 1e6L * d2 < r2 : 1000 * d_abs < r_abs;
    sums.within_5e3 += setup.complex ? 4e4L * d2 < r2 : 200 * d_abs < r_abs;
  } else if (d_abs != 0) {
    ++sums.zero_ref_mismatch;
    sums.zero_ref_max_abs = std::max(sums.zero_ref_max_abs, modulus(item.t));
  } else {
    ++sums.within_1e3;
    ++sums.within_5e3;
  }
  for (int i = 0; i < 2; ++i) {
    const long double a = item.r.part[i], b = item.t.part[i];
    sums.sign_flips += (a < 0 && b > 0) || (a > 0 && b < 0);
    if (setup.ulps) sums.max_ulp = std::max(sums.max_ulp, ulp_distance(a, b, *dtype_info(setup.coarser)));
  }
  if (setup.close) {
    const long double limit = static_cast<long double>(setup.atol) + static_cast<long double>(setup.rtol) * r_abs;
    sums.close_violations += d_abs > limit;
  }
}

std::uint64_t count_outliers(const DiffSetup& setup, const std::vector<Item>& items, const Sums& sums) {
  const long double rms = std::sqrt(sums.r_square_sum / static_cast<long double>(items.size()));
  std::uint64_t outliers = 0;
  for (const Item& item : items) {
    const long double size = std::max(modulus(item.r), rms);
    outliers +=
        modulus(difference(item.t, item.r)) > setup.half_eta + static_cast<long double>(setup.outlier_share) * size;
  }
  return outliers;
}

void flush(Value& v, double below) {
  for (long double& part : v.part)
    if (std::fabs(part) < static_cast<long double>(below)) part = std::copysign(0.0L, part);
}

}  // namespace

std::uint64_t ulp_code(long double magnitude, const DtypeInfo& format) {
  if (magnitude == 0) return 0;
  const int lowest = 2 - (1 << (format.exponent_bits - 1));
  const int exponent = std::max(std::ilogb(magnitude), lowest);
  const auto mantissa =
      static_cast<std::uint64_t>(std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent)));
  const std::uint64_t code = (static_cast<std::uint64_t>(exponent - lowest) << format.mantissa_bits) + mantissa;
  // The largest exponent of e4m3fn holds numbers, so the limit is taken from the largest number itself.
  const int top = std::ilogb(format.max_finite);
  const auto largest = (static_cast<std::uint64_t>(top - lowest) << format.mantissa_bits) +
                       static_cast<std::uint64_t>(std::ldexp(format.max_finite, format.mantissa_bits - top));
  return std::min(code, largest + 1);
}

void diff_block_scalar(const DiffSetup& setup, const void* reference, const void* target, std::uint64_t first,
                       std::uint32_t count, ClassCounts& counts, Sums& sums) {
  std::vector<Item> items;
  items.reserve(count);
  counts.elements += count;
  for (std::uint32_t i = 0; i < count; ++i) {
    Item item{i, read(*setup.ref, reference, i, !setup.integers), read(*setup.target, target, i, !setup.integers)};
    if (!count_classes(setup, item.r, item.t, counts)) continue;
    if (setup.flush) {
      flush(item.r, setup.flush_below);
      flush(item.t, setup.flush_below);
    }
    items.push_back(item);
  }
  sums = Sums();
  if (items.empty()) return;
  sums.count = items.size();
  sums.first = sums.max_abs_index = items.front().offset;
  for (const Item& item : items) add_item(setup, item, sums);
  sums.residual = residual_of(items, sums);
  if (!setup.integers) sums.outliers = count_outliers(setup, items, sums);
  sums.first += first;
  sums.max_abs_index += first;
}

std::uint32_t first_class_mismatch(const DiffSetup& setup, const void* reference, const void* target,
                                   std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    ClassCounts counts;
    count_classes(setup, read(*setup.ref, reference, i, !setup.integers),
                  read(*setup.target, target, i, !setup.integers), counts);
    if (counts.class_mismatch != 0) return i;
  }
  return 0;
}

}  // namespace msprobe::kernels
