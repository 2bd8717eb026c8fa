/// What one worker thread owns, and the passes over tensors that it can run.
#pragma once
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "dump/data.h"
#include "engine/pool.h"
#include "msprobe/analyzer.h"

namespace msprobe::engine {

/// Shared by the workers of one run.
struct Shared {
  Pool& pool;
  const dump::Options& dump_options;
  std::function<bool()> cancelled;
  std::vector<std::unique_ptr<class Worker>> workers;
  std::atomic<std::uint64_t> bytes_read[2] = {0, 0};  ///< of the tensors opened on each side
  std::atomic<std::uint64_t> bytes_done = 0;          ///< both sides, as passes get through them
};

/// Thrown out of a pass when the run is being cancelled.
struct Cancelled {};

class Worker {
 public:
  Worker(Shared& shared, unsigned number) : shared_(shared), number_(number) {}

  unsigned number() const { return number_; }
  bool cancelled() const { return shared_.cancelled(); }
  dump::ViewBuffer& buffer(int side) { return buffers_[static_cast<std::size_t>(side)]; }

  /// Opens the bytes of a tensor and counts them as read. Throws Error.
  std::unique_ptr<dump::Data> open(const dump::Tensor& tensor, int side);

  /// Bytes of tensors that were read elsewhere on behalf of this worker.
  void count_read(int side, std::uint64_t bytes) { shared_.bytes_read[side] += bytes; }

  /// Every metric of two open tensors, split over idle workers. The bits do not depend on the number of workers. Throws
  /// Error when bytes cannot be read or a dtype has no kernel, Cancelled when the run ends.
  msp_diff_result diff(const dump::Data& reference, const dump::Data& target, const msp_diff_options& options);

  /// Max, min, mean and norm of one open tensor; returns the mask of those that exist.
  std::uint32_t statistics(const dump::Data& data, double stats[MSP_STAT_COUNT]);

 private:
  /// Calls add(worker, partial, first, count) for each segment, in any order; combines the partials in order of
  /// position.
  template <class Partial, class Add>
  Partial in_segments(std::uint64_t count, const Add& add);

  Shared& shared_;
  unsigned number_;
  std::array<dump::ViewBuffer, 2> buffers_;
};

}  // namespace msprobe::engine
