/* Linked with -ffast-math: its constructor sets flush-to-zero, and threads inherit it. The sum of the host must see
 * subnormal numbers all the same; test_zoo.py compares it with that of veRL.
 * flags: -ffast-math */
#include "msprobe/analyzer.h"
static const msp_field largest = {sizeof(msp_field), MSP_TYPE_F64, "max_abs", "largest difference", NULL, 1, 0};
static msp_status judge(void *, msp_call *, const msp_pair *);
#define MORE_COLUMNS &largest,
#define ANALYZE_PAIR judge
#include "zoo.h"
static msp_status judge(void *self, msp_call *call, const msp_pair *pair) {
  const msp_diff_service *service = (const msp_diff_service *)host->service(host, MSP_DIFF_SERVICE);
  msp_diff_options asked;
  msp_diff_result result;
  (void)analyze;
  memset(&asked, 0, sizeof asked);
  asked.struct_size = sizeof asked;
  result.struct_size = sizeof result;
  (void)self;
  if (service->diff(call, pair, &asked, &result) != MSP_OK) return MSP_E_INTERNAL;
  return host->emit_f64(call, 1, result.number[MSP_METRIC_max_abs]);
}
