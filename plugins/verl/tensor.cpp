#include <algorithm>
#include <cmath>
#include <cstdio>

#include "columns.h"
#include "judge.h"

namespace verl {
namespace {

std::int64_t count(const msp_diff_result& diff, int metric) {
  return diff.present[metric] ? static_cast<std::int64_t>(diff.number[metric]) : 0;
}

std::string shape_text(const msp_tensor& tensor) {
  std::string text = "[";
  for (std::uint32_t i = 0; i < tensor.ndim; ++i) text += (i ? ", " : "") + std::to_string(tensor.shape[i]);
  return text + "]";
}

/// Which side holds what: a reader must know where to look.
std::string classes_text(const msp_diff_result& diff, const msp_pair& pair) {
  const auto side = [&](const char* name, int nan, int inf) {
    return std::string(name) + " has " + std::to_string(count(diff, nan)) + " NaN and " +
           std::to_string(count(diff, inf)) + " inf";
  };
  std::string text = "NaN or infinity in different places (" + elements(count(diff, MSP_METRIC_class_mismatch)) +
                     "): " + side("the reference", MSP_METRIC_nan_ref, MSP_METRIC_inf_ref) + ", " +
                     side("the target", MSP_METRIC_nan_target, MSP_METRIC_inf_target);
  // An overflow shows as an infinity where the reference is larger than the target's dtype can hold.
  const msp_tensor& reference = *pair.side[MSP_REFERENCE];
  const auto* info = msprobe::dtype_info(pair.side[MSP_TARGET]->dtype);
  const std::uint32_t both = 1u << MSP_STAT_MAX | 1u << MSP_STAT_MIN;
  if (info && info->max_finite > 0 && (reference.stats_mask & both) == both) {
    const double largest = std::max(std::fabs(reference.stats[MSP_STAT_MAX]), std::fabs(reference.stats[MSP_STAT_MIN]));
    if (std::isfinite(largest) && largest > info->max_finite)
      text += "; the reference reaches " + number(largest) + ", " + std::string(info->name) + " ends at " +
              number(info->max_finite) + ": overflow";
  }
  return text;
}

/// One direction, another length: a factor was lost or applied twice.
std::string scale_text(const msp_diff_result& diff) {
  if (!diff.present[MSP_METRIC_cosine_distance] || !diff.present[MSP_METRIC_norm_ratio]) return "";
  const double distance = diff.number[MSP_METRIC_cosine_distance], ratio = diff.number[MSP_METRIC_norm_ratio];
  const double off = std::fabs(ratio - 1);
  if (!(off > 1e-3) || !(distance < 1e-3 * std::min(1.0, off * off))) return "";
  char factor[32];
  std::snprintf(factor, sizeof factor, "%.6g", ratio);
  return std::string(" (the target is ") + factor + " x the reference: a scale)";
}

}  // namespace

void judge_tensor(const msprobe::Call& call, const msp_pair& pair, const Settings& settings) {
  const auto& service = call.service<msp_diff_service>(MSP_DIFF_SERVICE);
  msp_diff_options asked = settings.diff;
  asked.auto_threshold = msprobe::auto_threshold(pair.noise_dtype);
  msp_diff_result diff{};
  diff.struct_size = sizeof diff;
  call.check(service.diff(call.token(), &pair, &asked, &diff));
  const double threshold = threshold_of(pair);

  Judgement judgement;
  if (diff.shapes_differ) {
    const bool same_count = pair.side[0]->element_count == pair.side[1]->element_count;
    judgement.fail("shapes differ: " + shape_text(*pair.side[0]) + " against " + shape_text(*pair.side[1]) +
                   (same_count ? " (as many elements: --reshape compares them)" : ""));
    return call.verdict(MSP_FAIL, diff.error, threshold, judgement.why());
  }
  call.check(service.emit(call.token(), &pair, &diff, 0));

  double error = diff.error;
  const std::int64_t nan_both = count(diff, MSP_METRIC_nan_both), mismatches = count(diff, MSP_METRIC_class_mismatch);
  if (mismatches > 0) judgement.fail(classes_text(diff, pair));
  if (nan_both > 0 && settings.nan == NanPolicy::fail) {
    error = INFINITY;
    judgement.fail(elements(nan_both) + " NaN on both sides (--nan fail)");
  }
  // Written so that NaN fails.
  if (!(error <= threshold) && mismatches == 0)
    judgement.fail("error " + number(error) + " > " + number(threshold) + scale_text(diff));
  const double block_limit = std::min(16 * threshold, 0.5);
  if (error <= threshold && mismatches == 0 && !std::isnan(diff.block_test) && !(diff.block_test <= block_limit))
    judgement.fail("one block of up to 4096 elements is off by " + number(diff.block_test) + " > " +
                   number(block_limit));
  if (settings.exact) {
    call.emit(bit_differences, static_cast<std::int64_t>(diff.bit_differences));
    if (diff.bit_differences > 0) {
      judgement.fail(elements(static_cast<std::int64_t>(diff.bit_differences)) +
                     " with other bits, the first is element " + std::to_string(diff.first_bit_difference));
      // Bits that differ without a numeric difference (-0, payloads of NaN) must not read as "equal".
      error = std::max(error, static_cast<double>(diff.bit_differences) / diff.number[MSP_METRIC_elements]);
    }
  }

  if (const auto outliers = count(diff, MSP_METRIC_outliers))
    judgement.warn(std::to_string(outliers) + (outliers == 1 ? " outlier" : " outliers"));
  if (nan_both > 0 && settings.nan == NanPolicy::warn) judgement.warn(elements(nan_both) + " NaN on both sides");
  if (const auto saturated = count(diff, MSP_METRIC_saturated))
    judgement.warn(elements(saturated) + " infinite in the reference, the largest finite value in the target");
  if (dtype_classes_differ(pair))
    judgement.warn("one side is " + std::string(msprobe::dtype_name(pair.side[0]->dtype)) + ", the other " +
                   std::string(msprobe::dtype_name(pair.side[1]->dtype)));
  if (settings.reshape && shape_text(*pair.side[0]) != shape_text(*pair.side[1])) {
    const std::string text = "reshaped: " + shape_text(*pair.side[0]) + " against " + shape_text(*pair.side[1]);
    judgement.verdict() == MSP_FAIL ? judgement.fail(text) : judgement.warn(text);
  }
  call.verdict(judgement.verdict(), error, settings.exact ? 0.0 : threshold, judgement.why());
}

}  // namespace verl
