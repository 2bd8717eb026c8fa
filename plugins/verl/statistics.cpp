#include <algorithm>
#include <cmath>
#include <cstring>

#include "columns.h"
#include "judge.h"

namespace verl {
namespace {

constexpr const char* statistic_names[MSP_STAT_COUNT] = {"max", "min", "mean", "norm"};

struct Side {
  double value[MSP_STAT_COUNT] = {};
  std::uint32_t mask = 0;
};

/// A side with data gives the statistics of its data.
Side side_of(const msprobe::Call& call, const msp_tensor& tensor) {
  Side side;
  if (tensor.has_data) {
    const auto& service = call.service<msp_diff_service>(MSP_DIFF_SERVICE);
    call.check(service.statistics(call.token(), &tensor, side.value, &side.mask));
  } else {
    side.mask = tensor.stats_mask;
    std::copy_n(tensor.stats, MSP_STAT_COUNT, side.value);
  }
  return side;
}

bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

/// 0 over 0 is 0; a difference that has nothing to be measured against is infinite, as is one that is not finite.
double share(double difference, double scale) {
  if (difference == 0) return 0;
  return std::isfinite(difference) && scale > 0 ? std::fabs(difference) / scale : INFINITY;
}

}  // namespace

void judge_statistics(const msprobe::Call& call, const msp_pair& pair, const Settings& settings) {
  const msp_tensor& reference = *pair.side[0];
  const msp_tensor& target = *pair.side[1];
  const double threshold = threshold_of(pair);
  if (reference.ndim != target.ndim || !std::equal(reference.shape, reference.shape + reference.ndim, target.shape))
    return call.verdict(MSP_FAIL, INFINITY, threshold, "shapes differ");
  const Side r = side_of(call, reference), t = side_of(call, target);
  const std::uint32_t mask = r.mask & t.mask;
  if (mask == 0) {
    if (reference.element_count == 0 && target.element_count == 0) return call.verdict(MSP_PASS, 0, threshold, "");
    return call.skip("the two sides have no statistic in common");
  }

  double scale[MSP_STAT_COUNT];
  const double norm = mask >> MSP_STAT_NORM & 1 ? r.value[MSP_STAT_NORM] : INFINITY;
  double largest = 0;
  for (const int i : {MSP_STAT_MAX, MSP_STAT_MIN})
    if (mask >> i & 1) largest = std::max(largest, std::fabs(r.value[i]));
  scale[MSP_STAT_MAX] = scale[MSP_STAT_MIN] = largest;
  scale[MSP_STAT_NORM] = norm;
  scale[MSP_STAT_MEAN] = norm / std::sqrt(static_cast<double>(std::max<std::uint64_t>(reference.element_count, 1)));

  Judgement judgement;
  double error = 0;
  int worst = -1;
  bool nan_both = false;
  for (int i = 0; i < MSP_STAT_COUNT; ++i) {
    if (!(mask >> i & 1)) continue;
    nan_both = nan_both || (std::isnan(r.value[i]) && std::isnan(t.value[i]));
    const double difference = same(r.value[i], t.value[i]) ? 0 : t.value[i] - r.value[i];
    const auto columns_of = static_cast<std::uint32_t>(max_diff + 2 * i);
    call.emit(columns_of, difference);
    call.emit(columns_of + 1, share(difference, std::fabs(r.value[i])));
    // Without a norm there is nothing to hold the mean against but itself.
    const bool own_scale = i == MSP_STAT_MEAN && std::isinf(norm) && !(mask >> MSP_STAT_NORM & 1);
    const double part = share(difference, own_scale ? std::fabs(r.value[i]) : scale[i]);
    if (part > error) {
      error = part;
      worst = i;
    }
  }
  if (!(error <= threshold))
    judgement.fail(std::string(statistic_names[worst]) + " is off by " + number(error) + " > " + number(threshold) +
                   " (statistics)");
  if (nan_both && settings.nan == NanPolicy::fail) {
    error = INFINITY;
    judgement.fail("NaN on both sides (--nan fail)");
  }
  if (nan_both && settings.nan == NanPolicy::warn) judgement.warn("NaN on both sides");
  if (dtype_classes_differ(pair)) judgement.warn("one side is an integer or complex, the other is not");

  const std::string kind(msprobe::to_view(reference.checksum_kind));
  const bool checksums_differ = !kind.empty() && kind == msprobe::to_view(target.checksum_kind) &&
                                msprobe::to_view(reference.checksum) != msprobe::to_view(target.checksum);
  if (checksums_differ && error == 0) {
    // A CRC-32 in such dumps is taken from a live tensor and known to race: it never fails a row whose statistics
    // agree.
    if (settings.exact && kind != "crc32") {
      error = INFINITY;
      judgement.fail(kind + " checksums differ");
    } else {
      judgement.warn("checksum_only: statistics are equal, " + kind + " checksums differ");
    }
  }
  call.verdict(judgement.verdict(), error, threshold, judgement.why());
}

void judge_checksum(const msprobe::Call& call, const msp_pair& pair) {
  const auto reference_kind = msprobe::to_view(pair.side[0]->checksum_kind),
             target_kind = msprobe::to_view(pair.side[1]->checksum_kind);
  if (reference_kind.empty() || target_kind.empty()) return call.skip("not comparable: only one side has a checksum");
  if (reference_kind != target_kind)
    return call.skip("not comparable: " + std::string(reference_kind) + " against " + std::string(target_kind));
  if (msprobe::to_view(pair.side[0]->checksum) == msprobe::to_view(pair.side[1]->checksum))
    return call.verdict(MSP_PASS, 0, 0, "");
  call.verdict(MSP_FAIL, INFINITY, 0, std::string(reference_kind) + " checksums differ");
}

}  // namespace verl
