/// What a pass over a pair accumulates. Sums within a block of 4096 are made by the block's route (SIMD in f64, or the
/// plain path in long double); from the block on everything is long double: its exponents hold the square of any f64,
/// so nothing has to be scaled, and its 64 bits keep the long sum over blocks as good as the short ones.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "diff.h"
#include "msprobe/dtype.hpp"

namespace msprobe::kernels {

/// The counts of classes: over all elements, as stored.
struct ClassCounts {
  std::uint64_t elements = 0;
  std::uint64_t nan_ref = 0, nan_target = 0, nan_both = 0;
  std::uint64_t inf_ref = 0, inf_target = 0, inf_sign_mismatch = 0;
  std::uint64_t class_mismatch = 0, saturated = 0;
  std::uint64_t first_mismatch = UINT64_MAX;  ///< lowest flat index that counts as class_mismatch
  std::uint64_t zeros_ref = 0, zeros_target = 0, subnormals_ref = 0, subnormals_target = 0;

  void append(const ClassCounts& next);
};

/// t - k r beside r, for a scale k near <r,t>/<r,r>: the distance of two directions without cancellation, also where t
/// is about 2 r and d = t - r says nothing about it.
struct Residual {
  long double scale = 1;       ///< k
  long double with_ref = 0;    ///< sum r (t - k r)
  long double square_sum = 0;  ///< sum (t - k r)^2

  /// The same sums for another scale.
  Residual moved(long double new_scale, long double ref_square_sum) const;
};

/// k to 20 bits, so that k r is exact or nearly so.
long double round_scale(long double scale);

/// Sums over C. Of a block, or of everything so far.
struct Sums {
  std::uint64_t count = 0;  ///< |C|
  std::uint64_t first = 0;  ///< lowest flat index in C
  std::uint64_t max_abs_index = 0;
  long double max_abs = 0;
  long double d_sum = 0, d_square_sum = 0;  ///< |d|, d^2
  long double r_sum = 0, r_square_sum = 0;  ///< |r|, r^2
  long double t_square_sum = 0, product_sum = 0;
  Residual residual;
  long double ratio_sum = 0;  ///< |d|/|r| over r != 0
  double max_ratio = 0;
  std::uint64_t nonzero_ref = 0;
  std::uint64_t zero_ref_mismatch = 0;
  long double zero_ref_max_abs = 0;
  std::uint64_t within_1e3 = 0, within_5e3 = 0;
  std::uint64_t outliers = 0, sign_flips = 0, close_violations = 0;
  std::uint64_t max_ulp = 0;

  /// Adds what follows.
  void append(const Sums& next);
};

/// A block in the race for the largest D / max(R, mean square of the whole r), D and R its mean squares of d and r.
struct BlockEntry {
  std::uint64_t first = 0;  ///< flat index of the block's first element
  long double d = 0;        ///< D
  long double r = 0;        ///< R
  long double ratio = 0;    ///< D / R; 0 / 0 is 0
};

/// The mean square of the whole r is known only at the end. Until then a block is out as soon as another is at least as
/// large in D and in D / R, whatever that mean square will be; among equals the first stays.
class BlockFront {
 public:
  void add(const BlockEntry& entry);
  void append(const BlockFront& next);
  const std::vector<BlockEntry>& entries() const { return entries_; }

 private:
  std::vector<BlockEntry> entries_;  ///< D ascending, so D / R descending
};

struct DiffSums {
  Sums sums;
  ClassCounts counts;
  BlockFront errors;  ///< for block_error
  BlockFront excess;  ///< for block_test: D is ((rms d - eta/2)+)^2
  std::uint64_t bit_differences = 0;
  std::uint64_t first_bit_difference = 0;  ///< where bit_differences is not 0

  void append(const DiffSums& next);
};

/// What a plan means for each element; made once per call of add().
struct DiffSetup {
  explicit DiffSetup(const DiffPlan& plan);

  const DtypeInfo* ref;
  const DtypeInfo* target;
  bool integers;      ///< both sides are integers or bool: exact, no eta, no ulp
  bool complex;       ///< either side is
  msp_dtype coarser;  ///< NONE for integers; an integer beside a float counts as f64
  bool ulps;          ///< both sides are floats
  long double half_eta;
  double outlier_share;  ///< min(8 T, 1/2)
  bool flush;
  double flush_below;  ///< smallest normal of the coarser dtype
  bool close;
  double atol, rtol;
  bool saturate;
  double saturate_limit;
};

}  // namespace msprobe::kernels
