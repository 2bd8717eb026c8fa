// A complete analyzer to copy: the share of elements that differ by more than a limit.
//
// It shows the three things that most analyzers need: an option, columns, and a pass over the blocks of a pair.
#include <cmath>

#include "msprobe/analyzer.hpp"

namespace {

// What the host parses, shows in `msprobe plugins` and writes into reports.
constexpr msp_field limit =
    msprobe::option(MSP_TYPE_F64, "limit", "1e-3", "largest |target - reference| that is not counted");
constexpr msp_field share =
    msprobe::column(MSP_TYPE_F64, "share_beyond", 1, "share of elements with |target - reference| > limit");
constexpr msp_field largest = msprobe::column(MSP_TYPE_F64, "largest", 1, "largest |target - reference|");
constexpr const msp_field* options[] = {&limit, nullptr};
constexpr const msp_field* columns[] = {&share, &largest, nullptr};
enum Column : std::uint32_t { share_column, largest_column };

class Custom {
 public:
  // Once, before the first pair.
  explicit Custom(msprobe::Call& call) : limit_(call.option_f64("limit")) {}

  // For each pair, on many threads at once: members are only read here.
  void analyze(msprobe::Call& call, const msp_pair& pair) const {
    const auto& kernels = call.service<msp_kernels_service>(MSP_KERNELS_SERVICE);
    double* reference = call.scratch<double>(65536);  // a block has at most 65536 elements
    double* target = call.scratch<double>(65536);
    std::uint64_t beyond = 0, total = 0;
    double worst = 0;
    call.for_each_block(pair, [&](const msp_block& block) {
      call.check(kernels.to_f64(pair.side[MSP_REFERENCE]->dtype, block.data[MSP_REFERENCE], block.count, reference));
      call.check(kernels.to_f64(pair.side[MSP_TARGET]->dtype, block.data[MSP_TARGET], block.count, target));
      for (std::uint64_t i = 0; i < block.count; ++i) {
        const double difference = std::fabs(target[i] - reference[i]);
        beyond += !(difference <= limit_);  // written so that NaN counts
        worst = std::fmax(worst, difference);
      }
      total += block.count;
    });
    const double result = total ? static_cast<double>(beyond) / static_cast<double>(total) : 0.0;
    call.emit(share_column, result);
    call.emit(largest_column, worst);
    call.verdict(beyond ? MSP_FAIL : MSP_PASS, result, 0.0, beyond ? "elements beyond the limit" : "");
  }

 private:
  double limit_;
};

}  // namespace

MSPROBE_PLUGIN("msprobe.custom", "1.0",
               msprobe::analyzer<Custom>("custom", "share of elements beyond a limit: an example to copy", options,
                                         columns))
