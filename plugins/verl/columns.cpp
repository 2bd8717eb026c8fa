#include "columns.h"

namespace verl {
namespace {

using msprobe::column;
using msprobe::option;

constexpr msp_field nan =
    option(MSP_TYPE_TEXT, "nan", "warn", "NaN at the same place on both sides: equal, warn or fail");
constexpr msp_field saturate =
    option(MSP_TYPE_TEXT, "saturate", "",
           "an infinity of the reference may be the target dtype's largest value (or that of =f16, =bf16, ...)",
           MSP_OPTION_BARE);
constexpr msp_field ftz = option(MSP_TYPE_BOOL, "ftz", "false", "subnormals of the coarser dtype count as zero");
constexpr msp_field atol =
    option(MSP_TYPE_F64, "atol", "", "count elements with |d| > atol + rtol |r| (close_violations)");
constexpr msp_field rtol = option(MSP_TYPE_F64, "rtol", "", "see --atol");
constexpr msp_field exact = option(MSP_TYPE_BOOL, "exact", "false", "bitwise: payloads of NaN and -0 count");
constexpr msp_field reshape =
    option(MSP_TYPE_BOOL, "reshape", "false", "compare other shapes of the same number of elements");

#define VERL_METRIC_FIELD(key, type, direction, doc) \
  constexpr msp_field metric_##key = column(MSP_TYPE_##type, #key, direction, doc);
MSP_METRICS(VERL_METRIC_FIELD)
#undef VERL_METRIC_FIELD

constexpr msp_field bits = column(MSP_TYPE_I64, "bit_differences", 1, "with --exact: elements whose bytes differ");

#define VERL_STATISTIC_FIELDS(key)                                                                                  \
  constexpr msp_field key##_difference =                                                                            \
      column(MSP_TYPE_F64, #key "_diff", 0, "statistics only: " #key " of the target - " #key " of the reference"); \
  constexpr msp_field key##_relative =                                                                              \
      column(MSP_TYPE_F64, #key "_rel_diff", 1, "statistics only: |" #key "_diff| / |" #key " of the reference|");
VERL_STATISTIC_FIELDS(max)
VERL_STATISTIC_FIELDS(min)
VERL_STATISTIC_FIELDS(mean)
VERL_STATISTIC_FIELDS(norm)
#undef VERL_STATISTIC_FIELDS

}  // namespace

const msp_field* const options[] = {&nan, &saturate, &ftz, &atol, &rtol, &exact, &reshape, nullptr};

const msp_field* const columns[] = {
#define VERL_METRIC_POINTER(key, type, direction, doc) &metric_##key,
    MSP_METRICS(VERL_METRIC_POINTER)
#undef VERL_METRIC_POINTER
        & bits,
    &max_difference,
    &max_relative,
    &min_difference,
    &min_relative,
    &mean_difference,
    &mean_relative,
    &norm_difference,
    &norm_relative,
    nullptr};

}  // namespace verl
