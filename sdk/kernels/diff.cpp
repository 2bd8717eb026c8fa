/// Which route a block takes, and what the engine sees of it.
#include "diff.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "bitwise.h"
#include "diff_scalar.h"
#include "diff_simd.h"
#include "diff_sums.h"
#include "real_parts.h"
#include "scalar_value.h"

namespace msprobe::kernels {
namespace {

/// Squares of numbers in this range, and sums of 4096 of them, stay far inside f64.
constexpr double safe_square_max = 0x1p800, safe_square_min = 0x1p-800;

/// Parts of complex numbers are real numbers.
msp_dtype part_dtype(msp_dtype dtype) {
  if (dtype == MSP_C64) return MSP_F32;
  return dtype == MSP_C128 ? msp_dtype{MSP_F64} : dtype;
}

bool fits_f32(msp_dtype dtype) {
  return dtype_info(dtype)->dtype_class == DtypeClass::real && dtype != MSP_F64;
}

CorePlan core_plan(const DiffSetup& setup) {
  CorePlan plan{};
  plan.complex = setup.complex;
  plan.ref = part_dtype(setup.ref->dtype);
  plan.target = part_dtype(setup.target->dtype);
  plan.f64_lanes = !fits_f32(plan.ref) || !fits_f32(plan.target);
  plan.ref_min_normal = setup.ref->min_normal;
  plan.target_min_normal = setup.target->min_normal;
  // A real side gets its imaginary parts when it is widened.
  for (auto [side, dtype] : {std::pair{setup.ref, &plan.ref}, {setup.target, &plan.target}})
    if (plan.complex && side->dtype_class != DtypeClass::complex) *dtype = plan.f64_lanes ? MSP_F64 : MSP_F32;
  const msp_dtype coarser = part_dtype(setup.coarser);
  if (!setup.ulps) {
    plan.ulp = UlpRule::none;
  } else if (coarser == (plan.f64_lanes ? MSP_F64 : MSP_F32)) {
    plan.ulp = UlpRule::direct;
  } else if (plan.ref == plan.target && dtype_info(plan.ref)->bytes <= 2) {
    plan.ulp = UlpRule::direct;
  } else {
    plan.ulp = UlpRule::rounded;
    plan.ulp_format = dtype_info(coarser);
  }
  return plan;
}

CorePlan packed_plan(const DiffSetup& setup, CorePlan plan) {
  plan.ref = plan.target = plan.f64_lanes ? MSP_F64 : MSP_F32;
  if (plan.ulp == UlpRule::direct && part_dtype(setup.coarser) != plan.ref) {
    plan.ulp = UlpRule::rounded;
    plan.ulp_format = dtype_info(setup.coarser);
  }
  return plan;
}

/// Integers up to 2^52 have differences that f64 holds exactly.
bool is_narrow(const DtypeInfo& info, const void* data, std::uint32_t count) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 52;
  if (info.dtype != MSP_I64 && info.dtype != MSP_U64) return true;
  const std::uint64_t offset = info.dtype == MSP_I64 ? limit : 0;
  const std::uint64_t most = info.dtype == MSP_I64 ? 2 * limit : limit;
  const auto* bytes = static_cast<const unsigned char*>(data);
  bool wide = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint64_t value;
    std::memcpy(&value, bytes + i * sizeof(value), sizeof(value));
    wide |= value + offset > most;
  }
  return !wide;
}

/// |t - r| of complex element `index`.
long double exact_distance(msp_dtype ref_part, const void* ref, msp_dtype target_part, const void* target,
                           std::uint32_t index) {
  const auto part = [&](std::uint64_t i) {
    return scalar_value(target_part, target, i) - scalar_value(ref_part, ref, i);
  };
  const long double re = part(2 * std::uint64_t{index}), im = part(2 * std::uint64_t{index} + 1);
  return std::sqrt(re * re + im * im);
}

class BlockPass {
 public:
  BlockPass(const DiffSetup& setup, long double max_abs_so_far)
      : setup_(setup), core_(core_plan(setup)), packed_(packed_plan(setup, core_)), max_abs_(max_abs_so_far) {}

  void run(const void* ref, const void* target, std::uint64_t first, std::uint32_t count, ClassCounts& counts,
           Sums& sums) {
    ClassCounts block_counts;
    if (!simd(ref, target, first, count, block_counts, sums)) {
      block_counts = ClassCounts();
      diff_block_scalar(setup_, ref, target, first, count, block_counts, sums);
    }
    counts.append(block_counts);
    max_abs_ = std::max(max_abs_, sums.max_abs);
  }

 private:
  /// False: only the plain path can do this block.
  bool simd(const void* ref, const void* target, std::uint64_t first, std::uint32_t count, ClassCounts& counts,
            Sums& sums) {
    if (setup_.complex && setup_.flush) return false;
    if (setup_.integers && !(is_narrow(*setup_.ref, ref, count) && is_narrow(*setup_.target, target, count)))
      return false;
    counts.elements = count;
    if (setup_.complex) {
      ref = with_both_parts(*setup_.ref, ref, count, ref_parts_);
      target = with_both_parts(*setup_.target, target, count, target_parts_);
    }
    if (!setup_.flush && !expect_special_) {
      CoreSums core;
      core_sums(core_, ref, target, count, hints_, core);
      if (std::isfinite(core.r_square_sum) && std::isfinite(core.d_square_sum)) {
        counts.zeros_ref = core.zeros_ref;
        counts.zeros_target = core.zeros_target;
        if (core_.ref_min_normal != 0) counts.subnormals_ref = core.small_ref - core.zeros_ref;
        if (core_.target_min_normal != 0) counts.subnormals_target = core.small_target - core.zeros_target;
        sums = Sums();
        sums.first = first;
        return take(core_, ref, target, first, count, core, sums);
      }
    }
    return !setup_.complex && sieved(ref, target, first, count, counts, sums);
  }

  const void* with_both_parts(const DtypeInfo& info, const void* data, std::uint32_t count, RealParts& parts) const {
    if (info.dtype_class == DtypeClass::complex) return data;
    return core_.f64_lanes ? parts.as_f64(info.dtype, data, count) : parts.as_f32(info.dtype, data, count);
  }

  bool sieved(const void* ref, const void* target, std::uint64_t first, std::uint32_t count, ClassCounts& counts,
              Sums& sums) {
    if (!scratch_) scratch_ = std::make_unique<SieveScratch>();
    const SieveRules rules{setup_.flush ? setup_.flush_below : 0, setup_.saturate, setup_.saturate_limit};
    const SieveCounts found = core_sieve(core_, rules, ref, target, count, *scratch_);
    take_counts(found, counts);
    // Blocks like this one come in rows (masks): the next is not tried the other way first.
    expect_special_ = found.kept != count;
    sums = Sums();
    if (found.kept == 0) return true;
    CoreSums core;
    core_sums(packed_, scratch_->ref, scratch_->target, found.kept, hints_, core);
    if (!take(packed_, scratch_->ref, scratch_->target, 0, found.kept, core, sums)) return false;
    sums.first = first + sieve_offset(core_, *scratch_, 0);
    sums.max_abs_index = first + sieve_offset(core_, *scratch_, sums.max_abs_index);
    return true;
  }

  void take_counts(const SieveCounts& found, ClassCounts& counts) const {
    counts.nan_ref = found.nan_ref;
    counts.nan_target = found.nan_target;
    counts.nan_both = found.nan_both;
    counts.inf_ref = found.inf_ref;
    counts.inf_target = found.inf_target;
    counts.inf_sign_mismatch = found.inf_opposite;
    counts.saturated = found.saturated;
    counts.class_mismatch = counts.elements - found.kept - found.nan_both - found.inf_equal - found.saturated;
    counts.zeros_ref = found.zeros_ref;
    counts.zeros_target = found.zeros_target;
    if (core_.ref_min_normal != 0) counts.subnormals_ref = found.small_ref - found.zeros_ref;
    if (core_.target_min_normal != 0) counts.subnormals_target = found.small_target - found.zeros_target;
  }

  static bool in_range(double square_sum, bool all_zero) {
    return all_zero ? square_sum == 0 : square_sum >= safe_square_min && square_sum <= safe_square_max;
  }

  /// From the sums of a core, with second looks where they are needed. False: f64 cannot hold this block's squares.
  bool take(const CorePlan& plan, const void* ref, const void* target, std::uint64_t first, std::uint32_t count,
            const CoreSums& core, Sums& sums) const {
    const double rr = core.r_square_sum, dd = core.d_square_sum, rd = core.r_d_sum;
    if (!in_range(rr, core.zeros_ref == count) || !in_range(dd, core.max_abs == 0)) return false;
    if (!std::isfinite(core.ratio_sum) && std::isfinite(core.max_ratio)) return false;
    long double tt = static_cast<long double>(rr) + 2 * static_cast<long double>(rd) + static_cast<long double>(dd);
    long double rt = static_cast<long double>(rr) + static_cast<long double>(rd);
    // t is r + d, and so are its sums, as long as t is not what two larger numbers leave of each other.
    if (tt < 0.25L * static_cast<long double>(rr)) {
      const CoreProducts products = core_products(plan, ref, target, count);
      tt = static_cast<long double>(products.t_t);
      rt = static_cast<long double>(products.r_t);
    }
    if (!in_range(static_cast<double>(tt), core.zeros_target == count)) return false;

    sums.count = count;
    sums.d_sum = core.d_sum;
    sums.d_square_sum = dd;
    sums.r_sum = core.r_sum;
    sums.r_square_sum = rr;
    sums.t_square_sum = tt;
    sums.product_sum = rt;
    sums.ratio_sum = core.ratio_sum;
    sums.max_ratio = core.max_ratio;
    sums.nonzero_ref = count - core.zeros_ref;
    sums.zero_ref_mismatch = core.zeros_ref - core.zeros_both;
    sums.zero_ref_max_abs = core.zero_ref_max_abs;
    sums.within_1e3 = core.within_1e3 - sums.zero_ref_mismatch;
    sums.within_5e3 = core.within_5e3 - sums.zero_ref_mismatch;
    sums.sign_flips = core.sign_flips;
    sums.max_ulp = core.max_ulp;
    sums.max_abs = core.max_abs;
    sums.max_abs_index = first;
    find_largest(plan, ref, target, count, core.max_abs, sums);
    sums.residual = residual(plan, ref, target, count, sums, rd);
    count_above(plan, ref, target, count, sums);
    return true;
  }

  /// Where the largest |d| is, if no block before has a larger one.
  void find_largest(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count, double value,
                    Sums& sums) const {
    // A modulus in f64 may be off by a little: then the exact one decides.
    const long double near = plan.complex ? static_cast<long double>(value) * (1 + 0x1p-48L) : value;
    if (near <= max_abs_ || value == 0) return;
    const std::uint32_t at = core_find(plan, ref, target, count, value);
    sums.max_abs_index += at;
    if (plan.complex) sums.max_abs = exact_distance(plan.ref, ref, plan.target, target, at);
  }

  /// When d is mostly along r (a factor between the sides), what is across r is lost in sums of d: a better k then.
  static Residual residual(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count,
                           const Sums& sums, double rd) {
    const double rr = static_cast<double>(sums.r_square_sum), dd = static_cast<double>(sums.d_square_sum);
    if (!(rd / rr * rd > 0.5 * dd)) return {1, static_cast<long double>(rd), sums.d_square_sum};
    const long double scale = round_scale(sums.product_sum / sums.r_square_sum);
    const CoreResidual e = core_residual(plan, ref, target, count, static_cast<double>(scale));
    return {scale, static_cast<long double>(e.with_ref), static_cast<long double>(e.square_sum)};
  }

  void count_above(const CorePlan& plan, const void* ref, const void* target, std::uint32_t count, Sums& sums) const {
    const auto count_if_any = [&](double base, double share, double floor) {
      return may_exceed(sums, base, share, floor) ? core_count_above(plan, ref, target, count, base, share, floor) : 0;
    };
    if (!setup_.integers) {
      const auto rms = static_cast<double>(std::sqrt(sums.r_square_sum / static_cast<long double>(count)));
      sums.outliers = count_if_any(static_cast<double>(setup_.half_eta), setup_.outlier_share, rms);
    }
    if (setup_.close) sums.close_violations = count_if_any(setup_.atol, setup_.rtol, 0);
  }

  /// False: no |d| > base + share max(|r|, floor), as the largest numbers of the block show. Roundings are left room.
  static bool may_exceed(const Sums& sums, double base, double share, double floor) {
    if (!(base >= 0 && share >= 0)) return true;
    const double least = (base + share * floor) * (1 - 0x1p-48);
    if (static_cast<double>(sums.max_abs) < least) return false;
    const bool by_ratio = sums.max_ratio < share * (1 - 0x1p-48);
    const bool by_zero = sums.zero_ref_mismatch == 0 || static_cast<double>(sums.zero_ref_max_abs) < least;
    return !(by_ratio && by_zero);
  }

  const DiffSetup& setup_;
  CorePlan core_;
  CorePlan packed_;  ///< the same for lanes that have been widened
  CoreHints hints_;
  bool expect_special_ = false;  ///< real numbers only: complex ones have no sieve
  long double max_abs_;
  std::unique_ptr<SieveScratch> scratch_;
  RealParts ref_parts_, target_parts_;  ///< of a real side beside a complex one
};

/// Beyond this D is so large beside eta that taking eta/2 off its root changes nothing in f64.
bool eta_matters(const DiffSetup& setup, long double mean_square) {
  const long double reach = std::ldexp(setup.half_eta, 60);
  return mean_square <= reach * reach;
}

void enter_block(const DiffSetup& setup, const Sums& block, std::uint64_t first, DiffSums& all) {
  const auto n = static_cast<long double>(block.count);
  BlockEntry entry{first, block.d_square_sum / n, block.r_square_sum / n, 0};
  const auto ratio = [&] {
    if (entry.d == 0) return 0.0L;
    return entry.r == 0 ? std::numeric_limits<long double>::infinity() : entry.d / entry.r;
  };
  entry.ratio = ratio();
  all.errors.add(entry);
  if (eta_matters(setup, entry.d)) {
    const long double allowed = setup.half_eta * setup.half_eta;
    const long double root = entry.d > allowed ? (entry.d - allowed) / (std::sqrt(entry.d) + setup.half_eta) : 0.0L;
    entry.d = root * root;
    entry.ratio = ratio();
  }
  all.excess.add(entry);
}

}  // namespace

bool diff_supported(msp_dtype reference, msp_dtype target) {
  const auto stored = [](msp_dtype dtype) { return dtype_info(dtype) != nullptr && dtype != MSP_TF32; };
  return stored(reference) && stored(target);
}

DiffPartial::DiffPartial() : sums_(std::make_unique<DiffSums>()) {}
DiffPartial::DiffPartial(DiffPartial&&) noexcept = default;
DiffPartial& DiffPartial::operator=(DiffPartial&&) noexcept = default;
DiffPartial::~DiffPartial() = default;

void DiffPartial::add(const DiffPlan& plan, const void* reference, const void* target, std::uint64_t first,
                      std::uint64_t count) {
  const DiffSetup setup(plan);
  BlockPass pass(setup, sums_->sums.max_abs);
  const auto* r = static_cast<const unsigned char*>(reference);
  const auto* t = static_cast<const unsigned char*>(target);
  const bool bitwise = (plan.options.flags & MSP_DIFF_BITWISE) != 0;
  for (std::uint64_t i = 0; i < count; i += block_elements) {
    const auto n = static_cast<std::uint32_t>(std::min(block_elements, count - i));
    const unsigned char* block_r = r + i * setup.ref->bytes;
    const unsigned char* block_t = t + i * setup.target->bytes;
    Sums block;
    pass.run(block_r, block_t, first + i, n, sums_->counts, block);
    sums_->sums.append(block);
    if (block.count != 0) enter_block(setup, block, first + i, *sums_);
    if (!bitwise) continue;
    const BitDifferences bits =
        plan.reference == plan.target ? bit_differences(block_r, block_t, n, setup.ref->bytes) : BitDifferences{n, 0};
    if (bits.count != 0 && sums_->bit_differences == 0) sums_->first_bit_difference = first + i + bits.first;
    sums_->bit_differences += bits.count;
  }
}

void DiffPartial::combine(const DiffPartial& next) {
  sums_->append(*next.sums_);
}

}  // namespace msprobe::kernels
