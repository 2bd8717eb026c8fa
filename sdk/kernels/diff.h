/// The fused pass over a pair of tensors: every metric of msprobe/metrics.h from one read of the bytes.
///
/// A tensor is cut into segments of `segment_elements` (a multiple of `block_elements`); each gives a partial; partials
/// are combined in order of position. So the result has the same bits whatever the number of workers.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "msprobe/analyzer.h"

namespace msprobe::kernels {

inline constexpr std::uint64_t block_elements = 4096;
inline constexpr std::uint64_t segment_elements = 256 * block_elements;

/// What a diff is asked for; constant during a pass.
struct DiffPlan {
  msp_dtype reference;
  msp_dtype target;
  msp_diff_options options;
};

/// True when both dtypes have kernels (every dtype of msprobe/dtype.hpp but tf32).
bool diff_supported(msp_dtype reference, msp_dtype target);

struct DiffSums;  // accumulators; see diff_sums.h

/// The result of a range of elements. Movable; not shared between threads while it is filled.
class DiffPartial {
 public:
  DiffPartial();
  DiffPartial(DiffPartial&&) noexcept;
  DiffPartial& operator=(DiffPartial&&) noexcept;
  ~DiffPartial();

  /// Adds elements [first, first + count): `first` is the flat index in the whole tensor, a multiple of block_elements
  /// and where the last range ended; `count` a multiple of block_elements but for the tensor's last range. Both
  /// pointers: dense little-endian elements, any alignment; no byte outside is touched.
  void add(const DiffPlan& plan, const void* reference, const void* target, std::uint64_t first, std::uint64_t count);

  /// Appends the partial of the range that follows this one.
  void combine(const DiffPartial& next);

  /// All metrics. `shape` turns nothing into text here: texts hold flat indices. result.struct_size is set by the
  /// caller.
  void finish(const DiffPlan& plan, msp_diff_result& result) const;

 private:
  std::unique_ptr<DiffSums> sums_;
};

/// Names of the SIMD targets that this machine can run ("AVX2", "SSE4", "EMU128"...), best first.
std::span<const char* const> simd_targets();
/// Tests and benchmarks: use only this target from now on; nullptr: the best again. Returns false for an unknown name.
bool force_simd_target(const char* name);

}  // namespace msprobe::kernels
