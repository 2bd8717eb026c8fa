#include "engine/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

#include "base/error.h"
#include "diff.h"
#include "msprobe/dtype.hpp"
#include "statistics.h"

namespace msprobe::engine {
namespace {

/// Between two looks at `cancelled`, and small enough for a copy of both sides to stay in the second-level cache.
constexpr std::uint64_t step_elements = 16 * kernels::block_elements;

/// Combines partials in order of position as soon as the next one is there, so that few are kept.
template <class Partial>
class Ordered {
 public:
  void put(std::uint64_t position, Partial partial) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(position, std::move(partial));
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;
         first = waiting_.begin(), ++next_) {
      total_.combine(first->second);
      waiting_.erase(first);
    }
  }
  Partial take() { return std::move(total_); }

 private:
  std::mutex mutex_;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, Partial> waiting_;
  Partial total_;
};

}  // namespace

template <class Partial, class Add>
Partial Worker::in_segments(std::uint64_t count, const Add& add) {
  const std::uint64_t segments = (count + kernels::segment_elements - 1) / kernels::segment_elements;
  const auto one = [&](Worker& worker, std::uint64_t segment) {
    Partial partial;
    const std::uint64_t first = segment * kernels::segment_elements;
    add(worker, partial, first, std::min(kernels::segment_elements, count - first));
    return partial;
  };
  if (segments <= 1) return one(*this, 0);
  Ordered<Partial> ordered;
  shared_.pool.split(number_, segments, [&](unsigned worker, std::uint64_t segment) {
    ordered.put(segment, one(*shared_.workers[worker], segment));
  });
  return ordered.take();
}

std::unique_ptr<dump::Data> Worker::open(const dump::Tensor& tensor, int side) {
  auto data = dump::open_data(tensor, shared_.dump_options);
  shared_.bytes_read[side] += data->bytes();
  return data;
}

msp_diff_result Worker::diff(const dump::Data& reference, const dump::Data& target, const msp_diff_options& options) {
  const kernels::DiffPlan plan{reference.dtype(), target.dtype(), options};
  msp_diff_result result{};
  result.struct_size = sizeof result;
  if (!kernels::diff_supported(plan.reference, plan.target))
    throw Error("E4009",
                fmt::format("no kernel compares {} with {}", dtype_name(plan.reference), dtype_name(plan.target)),
                "dtype", "convert one side, or leave the tensor out");
  const bool reshaped = (options.flags & MSP_DIFF_RESHAPE) != 0 && reference.count() == target.count();
  if (reference.shape() != target.shape() && !reshaped) {
    result.shapes_differ = 1;
    result.error = std::numeric_limits<double>::infinity();
    result.block_test = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  const std::uint64_t bytes[2] = {dtype_info(plan.reference)->bytes, dtype_info(plan.target)->bytes};
  const auto partial = in_segments<kernels::DiffPartial>(
      reference.count(), [&](Worker& worker, kernels::DiffPartial& sums, std::uint64_t first, std::uint64_t count) {
        const std::byte* left = reference.view(first, count, worker.buffer(0));
        const std::byte* right = target.view(first, count, worker.buffer(1));
        for (std::uint64_t done = 0; done < count; done += step_elements) {
          if (worker.cancelled()) throw Cancelled{};
          sums.add(plan, left + done * bytes[0], right + done * bytes[1], first + done,
                   std::min(step_elements, count - done));
        }
        worker.buffer(0).check();
        worker.buffer(1).check();
        shared_.bytes_done += count * (bytes[0] + bytes[1]);
      });
  partial.finish(plan, result);
  return result;
}

std::uint32_t Worker::statistics(const dump::Data& data, double stats[MSP_STAT_COUNT]) {
  const std::uint64_t bytes = dtype_info(data.dtype())->bytes;
  const auto partial = in_segments<kernels::StatisticsPartial>(
      data.count(), [&](Worker& worker, kernels::StatisticsPartial& sums, std::uint64_t first, std::uint64_t count) {
        const std::byte* elements = data.view(first, count, worker.buffer(0));
        for (std::uint64_t done = 0; done < count; done += step_elements) {
          if (worker.cancelled()) throw Cancelled{};
          sums.add(data.dtype(), elements + done * bytes, std::min(step_elements, count - done));
        }
        worker.buffer(0).check();
      });
  return partial.finish(stats);
}

}  // namespace msprobe::engine
