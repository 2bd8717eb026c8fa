/// Columns and options of veRL.
#pragma once
#include "msprobe/analyzer.hpp"

namespace verl {

/// After the metrics of msprobe/metrics.h, which are columns 0 to MSP_METRIC_COUNT - 1.
enum Column : std::uint32_t {
  bit_differences = MSP_METRIC_COUNT,
  max_diff,
  max_rel_diff,
  min_diff,
  min_rel_diff,
  mean_diff,
  mean_rel_diff,
  norm_diff,
  norm_rel_diff,
};

extern const msp_field* const options[];
extern const msp_field* const columns[];

}  // namespace verl
