#include "sieve.h"

#include <cmath>
#include <cstring>
#include <type_traits>

namespace msprobe::kernels {
namespace {

enum Class : unsigned { finite, plus_infinity, minus_infinity, nan, classes };

template <class F>
struct Bits {
  using U = std::conditional_t<sizeof(F) == 8, std::uint64_t, std::uint32_t>;
  static constexpr U sign = U{1} << (sizeof(F) * 8 - 1);
  static constexpr U infinity = sizeof(F) == 8 ? static_cast<U>(std::uint64_t{0x7ff} << 52) : U{0x7f800000};

  static U of(F value) {
    U bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  }
  static unsigned class_of(U bits) {
    const U magnitude = bits & ~sign;
    return static_cast<unsigned>(magnitude >= infinity) +
           static_cast<unsigned>(magnitude == infinity) * static_cast<unsigned>(bits >> (sizeof(F) * 8 - 1)) +
           2 * static_cast<unsigned>(magnitude > infinity);
  }
};

/// Elements by the classes of both sides.
class Table {
 public:
  explicit Table(const std::uint32_t (&counts)[4][classes * classes]) {
    for (const auto& part : counts)
      for (unsigned i = 0; i < classes * classes; ++i) cells_[i] += part[i];
  }
  std::uint64_t at(unsigned r, unsigned t) const { return cells_[r * classes + t]; }
  std::uint64_t row(unsigned r) const { return at(r, 0) + at(r, 1) + at(r, 2) + at(r, 3); }
  std::uint64_t column(unsigned t) const { return at(0, t) + at(1, t) + at(2, t) + at(3, t); }

 private:
  std::uint64_t cells_[classes * classes] = {};
};

void count_classes(const Table& table, std::uint64_t elements, std::uint64_t saturated, ClassCounts& counts) {
  const std::uint64_t equal_infinities =
      table.at(plus_infinity, plus_infinity) + table.at(minus_infinity, minus_infinity);
  counts.nan_ref += table.row(nan);
  counts.nan_target += table.column(nan);
  counts.nan_both += table.at(nan, nan);
  counts.inf_ref += table.row(plus_infinity) + table.row(minus_infinity);
  counts.inf_target += table.column(plus_infinity) + table.column(minus_infinity);
  counts.inf_sign_mismatch += table.at(plus_infinity, minus_infinity) + table.at(minus_infinity, plus_infinity);
  counts.saturated += saturated;
  counts.class_mismatch += elements - table.at(finite, finite) - table.at(nan, nan) - equal_infinities - saturated;
}

template <class F>
std::uint64_t count_saturated(const F* ref, const F* target, std::uint32_t count, double limit) {
  std::uint64_t saturated = 0;
  for (std::uint32_t i = 0; i < count; ++i)
    saturated += std::isinf(ref[i]) && target[i] == std::copysign(static_cast<F>(limit), ref[i]);
  return saturated;
}

}  // namespace

template <class F>
std::uint32_t sieve(const DiffSetup& setup, F* ref, F* target, std::uint32_t count, ClassCounts& counts,
                    std::uint16_t* offsets) {
  const std::uint64_t saturated = setup.saturate ? count_saturated(ref, target, count, setup.saturate_limit) : 0;
  const F ref_limit = static_cast<F>(setup.ref->min_normal), target_limit = static_cast<F>(setup.target->min_normal);
  const F flush_below = setup.flush ? static_cast<F>(setup.flush_below) : F{0};
  // Four tables, so that a count does not wait for the one before it.
  std::uint32_t cells[4][classes * classes] = {};
  std::uint32_t kept = 0, zeros_ref = 0, zeros_target = 0, subnormals_ref = 0, subnormals_target = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const F r = ref[i], t = target[i], a = std::fabs(r), b = std::fabs(t);
    zeros_ref += a == 0;
    zeros_target += b == 0;
    subnormals_ref += (a < ref_limit) & (a != 0);
    subnormals_target += (b < target_limit) & (b != 0);
    const unsigned cell = Bits<F>::class_of(Bits<F>::of(r)) * classes + Bits<F>::class_of(Bits<F>::of(t));
    ++cells[i % 4][cell];
    // Written even when it is not kept: the next one takes its place, and no branch depends on the data.
    ref[kept] = a < flush_below ? std::copysign(F{0}, r) : r;
    target[kept] = b < flush_below ? std::copysign(F{0}, t) : t;
    offsets[kept] = static_cast<std::uint16_t>(i);
    kept += cell == 0;
  }
  counts.zeros_ref += zeros_ref;
  counts.zeros_target += zeros_target;
  counts.subnormals_ref += subnormals_ref;
  counts.subnormals_target += subnormals_target;
  count_classes(Table(cells), count, saturated, counts);
  return kept;
}

template std::uint32_t sieve(const DiffSetup&, float*, float*, std::uint32_t, ClassCounts&, std::uint16_t*);
template std::uint32_t sieve(const DiffSetup&, double*, double*, std::uint32_t, ClassCounts&, std::uint16_t*);

}  // namespace msprobe::kernels
