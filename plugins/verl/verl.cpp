// veRL: vectorized Relative Error, Layer-wise. Several error dimensions at once, relative so that magnitude does not
// mislead.
#include "columns.h"
#include "judge.h"

namespace verl {
namespace {

class Verl {
 public:
  explicit Verl(msprobe::Call& call) : settings_(read_settings(call)) {}

  void analyze(msprobe::Call& call, const msp_pair& pair) {
    switch (pair.kind) {
      case MSP_KIND_TENSOR:
        return judge_tensor(call, pair, settings_);
      case MSP_KIND_STATISTICS:
        return judge_statistics(call, pair, settings_);
      case MSP_KIND_CHECKSUM:
        return judge_checksum(call, pair);
      default:
        return judge_scalar(call, pair);
    }
  }

 private:
  Settings settings_;
};

constexpr std::uint32_t every_kind =
    1u << MSP_KIND_TENSOR | 1u << MSP_KIND_STATISTICS | 1u << MSP_KIND_CHECKSUM | 1u << MSP_KIND_SCALAR;

}  // namespace
}  // namespace verl

MSPROBE_PLUGIN("msprobe.verl", "1.2.0",
               msprobe::analyzer<verl::Verl>(
                   "veRL", "vectorized Relative Error, Layer-wise: L1, L2, cosine and more for every tensor",
                   verl::options, verl::columns, verl::every_kind))
