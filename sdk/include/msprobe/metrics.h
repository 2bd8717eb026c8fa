/* The metrics of one tensor pair: name, type, direction and meaning, in report order. C11 and C++.
 *
 * This list is the only place where a metric is named. The kernels fill msp_diff_result by it, analyzers declare
 * columns from it, and JSON, CSV, HTML and help show its text.
 *
 * r = reference, t = target, d = t - r, C = positions where both are finite, n = |C|.
 * X(key, type, direction, doc): type is F64, I64, TEXT or BOOL; direction 1: larger is worse, -1: smaller is worse,
 * 0: neither. Append only. */
#ifndef MSPROBE_METRICS_H_
#define MSPROBE_METRICS_H_

#define MSP_METRICS(X)                                                                                              \
  X(rel_l2, F64, 1, "||d||2 / ||r||2; reference all zero: 0 if d is all zero, else Infinity")                       \
  X(rel_l1, F64, 1, "sum|d| / sum|r|; reference all zero: 0 if d is all zero, else Infinity")                       \
  X(cosine_distance, F64, 1, "1 - cosine, computed without cancellation")                                           \
  X(cosine, F64, -1, "sum(rt) / (||r|| ||t||); null when only one side is zero")                                    \
  X(max_abs, F64, 1, "largest |d|")                                                                                 \
  X(max_abs_index, I64, 0, "lowest flat index (row-major) that reaches max_abs")                                    \
  X(max_abs_at, TEXT, 0, "coordinates of max_abs_index")                                                            \
  X(max_rel, F64, 1, "largest |d|/|r| over r != 0")                                                                 \
  X(mean_rel, F64, 1, "mean |d|/|r| over r != 0")                                                                   \
  X(mean_abs, F64, 1, "sum|d| / n")                                                                                 \
  X(rmse, F64, 1, "sqrt(sum d^2 / n)")                                                                              \
  X(l1, F64, 1, "sum|d|")                                                                                           \
  X(l2, F64, 1, "sqrt(sum d^2)")                                                                                    \
  X(within_1e3, F64, -1, "share of elements with |d| < 0.001 |r|; r = t = 0 counts as within")                      \
  X(within_5e3, F64, -1, "share of elements with |d| < 0.005 |r|; r = t = 0 counts as within")                      \
  X(norm_ratio, F64, 0, "||t|| / ||r||; null when the reference is zero")                                           \
  X(sqnr_db, F64, -1, "10 log10(sum r^2 / sum d^2) in dB")                                                          \
  X(max_ulp, F64, 1, "largest distance in units in the last place of the coarser dtype")                            \
  X(block_error, F64, 1, "largest rms(d) / max(rms(r), rms of the whole r) over blocks of 4096 elements")           \
  X(block_error_at, TEXT, 0, "coordinates of the first element of the worst block")                                 \
  X(outliers, I64, 1, "elements whose |d| is far above what the dtype's rounding explains")                         \
  X(sign_flips, F64, 1, "share of elements whose sign differs, neither being zero")                                 \
  X(zero_ref_mismatch, I64, 1, "elements with r = 0 and t != 0")                                                    \
  X(zero_ref_max_abs, F64, 1, "largest |t| where r = 0 and t != 0")                                                 \
  X(both_zero, BOOL, 0, "both sides are zero everywhere")                                                           \
  X(close_violations, I64, 1, "elements with |d| > atol + rtol |r|; null when neither was given")                   \
  X(elements, I64, 0, "elements of the tensor")                                                                     \
  X(class_mismatch, I64, 1, "elements that are NaN, +inf, -inf or finite on one side and not so on the other")      \
  X(nan_ref, I64, 0, "NaN elements of the reference")                                                               \
  X(nan_target, I64, 1, "NaN elements of the target")                                                               \
  X(nan_both, I64, 0, "elements that are NaN on both sides")                                                        \
  X(inf_ref, I64, 0, "infinite elements of the reference")                                                          \
  X(inf_target, I64, 1, "infinite elements of the target")                                                          \
  X(inf_sign_mismatch, I64, 1, "elements that are +inf on one side and -inf on the other")                          \
  X(saturated, I64, 1, "infinities of the reference that are the largest finite value in the target (--saturate)")  \
  X(zeros_ref, I64, 0, "zeros of the reference, -0 included")                                                       \
  X(zeros_target, I64, 0, "zeros of the target, -0 included")                                                       \
  X(subnormals_ref, I64, 0, "subnormal elements of the reference, by its own dtype")                                \
  X(subnormals_target, I64, 0, "subnormal elements of the target, by its own dtype")                                \
  X(class_mismatch_at, TEXT, 0, "coordinates of the first element that counts as class_mismatch")

#define MSP_METRIC_ENUM_(key, type, direction, doc) MSP_METRIC_##key,
enum { MSP_METRICS(MSP_METRIC_ENUM_) MSP_METRIC_COUNT };
#undef MSP_METRIC_ENUM_

#endif
