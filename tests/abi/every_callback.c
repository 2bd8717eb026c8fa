/* A plugin with every callback that calls every function of the 1.0 host and both services. It is built with today's header
 * and with each frozen one; a row fails with the number of the check that did not hold. */
#include <math.h>
#include <string.h>

#include "msprobe/analyzer.h"

static const msp_host *host;
static uint64_t begun_with;

static msp_str text(const char *given) {
  msp_str str = {NULL, 0};
  str.data = given;
  str.size = strlen(given);
  return str;
}

static const msp_field number = {sizeof(msp_field), MSP_TYPE_F64, "number", "a number", "1.5", 0, 0};
static const msp_field whole = {sizeof(msp_field), MSP_TYPE_I64, "whole", "a whole number", "-7", 0, 0};
static const msp_field words = {sizeof(msp_field), MSP_TYPE_TEXT, "words", "a text", "some words", 0, MSP_OPTION_BARE};
static const msp_field truth = {sizeof(msp_field), MSP_TYPE_BOOL, "truth", "a switch", "true", 0, 0};
static const msp_field not_given = {sizeof(msp_field), MSP_TYPE_F64, "not_given", "nothing", "", 0, 0};
static const msp_field *const options[] = {&number, &whole, &words, &truth, &not_given, NULL};

enum { SUM, COUNT, LAYER, EVEN, SECRET };
static const msp_field sum = {sizeof(msp_field), MSP_TYPE_F64, "sum", "of the target", NULL, 1, 0};
static const msp_field count = {sizeof(msp_field), MSP_TYPE_I64, "count", "elements", NULL, 0, 0};
static const msp_field layer = {sizeof(msp_field), MSP_TYPE_TEXT, "at", "where", NULL, 0, 0};
static const msp_field even = {sizeof(msp_field), MSP_TYPE_BOOL, "even", "row number", NULL, -1, 0};
static const msp_field secret = {sizeof(msp_field), MSP_TYPE_F64, "secret", "for finish", NULL, 0, MSP_COLUMN_HIDDEN};
static const msp_field *const columns[] = {&sum, &count, &layer, &even, &secret, NULL};

static msp_status create(const msp_host *given, msp_call *call, void **self) {
  double f64 = 0;
  int64_t i64 = 0;
  msp_str str = {NULL, 0};
  host = given;
  *self = &begun_with;
  if (!MSP_HAS(host, msp_host, finding) || host->struct_size < 208) return MSP_E_INTERNAL;
  if (host->option_f64(call, "number", &f64) != MSP_OK || f64 != 1.5) return MSP_E_INTERNAL;
  if (host->option_i64(call, "whole", &i64) != MSP_OK || i64 != -7) return MSP_E_INTERNAL;
  if (host->option_i64(call, "truth", &i64) != MSP_OK || i64 != 1) return MSP_E_INTERNAL;
  if (host->option_text(call, "words", &str) != MSP_OK || str.size != 10 || memcmp(str.data, "some words", 10) != 0) return MSP_E_INTERNAL;
  if (host->option_f64(call, "not_given", &f64) != MSP_OK || !isnan(f64)) return MSP_E_INTERNAL;
  host->log(host, MSP_LOG_DEBUG, text("created"));
  return MSP_OK;
}

static msp_status begin(void *self, msp_call *call, uint64_t pair_count) {
  *(uint64_t *)self = pair_count;
  return host->pair_count(call) == pair_count ? MSP_OK : MSP_E_INTERNAL;
}

static int failed_check(msp_call *call, const msp_pair *pair) {
  const msp_tensor *target = pair->side[MSP_TARGET];
  const msp_diff_service *diff = (const msp_diff_service *)host->service(host, MSP_DIFF_SERVICE);
  const msp_kernels_service *kernels = (const msp_kernels_service *)host->service(host, MSP_KERNELS_SERVICE);
  msp_diff_options asked;
  msp_diff_result result, again;
  msp_block block;
  msp_status status;
  double total = 0, stats[MSP_STAT_COUNT], first = 0;
  float narrow = 0;
  unsigned char bytes[16];
  uint64_t elements = 0;
  uint32_t mask = 0, late = 0;
  const msp_field came_late = {sizeof(msp_field), MSP_TYPE_I64, "late", "declared in a row", NULL, 0, 0};
  double *values = (double *)host->scratch(call, 65536 * sizeof(double), 256);
  if (!values || (uintptr_t)values % 256 != 0) return 1;
  if (!diff || !kernels || host->service(host, "org.example.none/1")) return 2;
  if (host->worker(call) > 1024) return 3;
  if (pair->struct_size < 64 || target->struct_size < 288 || !target->has_data) return 4;
  if (host->pair_at(call, begun_with) || !host->pair_at(call, pair->index)) return 5;
  memset(&block, 0, sizeof block);
  block.struct_size = sizeof block;
  if (host->rewind(call, pair) != MSP_OK) return 6;
  while ((status = host->next_block(call, &block)) == MSP_OK) {
    if (block.first != elements || (uintptr_t)block.data[1] % 64 != 0) return 7;
    if (kernels->to_f64(target->dtype, block.data[1], block.count, values) != MSP_OK) return 8;
    for (uint64_t i = 0; i < block.count; ++i) total += values[i];
    elements += block.count;
  }
  if (status != MSP_END || elements != target->element_count) return 9;
  if (elements) {
    if (host->read(call, target, 0, 1, bytes) != MSP_OK || host->read_f64(call, target, 0, 1, &first) != MSP_OK) return 10;
    if (kernels->to_f32(target->dtype, bytes, 1, &narrow) != MSP_OK || ((float)first != narrow && first == first)) return 11;
  }
  memset(&asked, 0, sizeof asked);
  asked.struct_size = sizeof asked;
  result.struct_size = again.struct_size = sizeof result;
  if (diff->diff(call, pair, &asked, &result) != MSP_OK) return 12;
  if (diff->statistics(call, target, stats, &mask) != MSP_OK) return 13;
  host->rewind(call, pair);
  if (elements && elements <= 65536) { /* in one block the service and the kernel see the same */
    if (host->next_block(call, &block) != MSP_OK) return 14;
    if (kernels->diff(&asked, pair->side[0]->dtype, block.data[0], target->dtype, block.data[1], elements, &again) != MSP_OK) return 15;
    if (memcmp(&result.number[0], &again.number[0], 8 * 4) != 0 || kernels->statistics(target->dtype, block.data[1], elements, stats, &mask) != MSP_OK)
      return 16;
  }
  if (host->declare_column(call, &came_late, &late) != MSP_OK || late < 5) return 17;
  if (host->emit_f64(call, SUM, total) != MSP_OK || host->emit_i64(call, COUNT, (int64_t)elements) != MSP_OK) return 18;
  if (host->emit_text(call, LAYER, target->layer) != MSP_OK || host->emit_i64(call, EVEN, pair->index % 2 == 0) != MSP_OK) return 19;
  if (host->emit_f64(call, SECRET, 1) != MSP_OK || host->emit_i64(call, late, (int64_t)diff->metric_count) != MSP_OK) return 20;
  return 0;
}

static int can_be_checked(const msp_pair *pair) {
  for (int side = 0; side < 2; ++side)
    if (pair->side[side]->dtype == MSP_C64 || pair->side[side]->dtype == MSP_C128) return 0;
  if (pair->side[0]->ndim != pair->side[1]->ndim) return 0;
  return memcmp(pair->side[0]->shape, pair->side[1]->shape, pair->side[0]->ndim * sizeof(int64_t)) == 0;
}

static msp_status analyze_pair(void *self, msp_call *call, const msp_pair *pair) {
  char said[] = "check 00 did not hold";
  int failed;
  (void)self;
  if (!can_be_checked(pair)) return host->verdict(call, MSP_SKIP, NAN, NAN, text("complex numbers, or other shapes"));
  if (host->cancelled(call)) return MSP_E_CANCELLED;
  failed = failed_check(call, pair);
  if (!failed) return host->verdict(call, MSP_PASS, 0, NAN, text(""));
  said[6] = (char)('0' + failed / 10);
  said[7] = (char)('0' + failed % 10);
  return host->fail(call, MSP_E_INTERNAL, text(said));
}

static msp_status finish(void *self, msp_call *call) {
  double total = 0, value = 0, error = 0;
  int32_t verdict = 0;
  uint64_t row = 0;
  (void)self;
  for (uint64_t i = 0; i < host->pair_count(call); ++i) {
    if (host->row_f64(call, i, SECRET, &value) != MSP_OK || host->row_verdict(call, i, &verdict, &error) != MSP_OK) return MSP_E_INTERNAL;
    if (verdict == MSP_PASS) total += value, row = i;
  }
  host->amend(call, row, MSP_WARN, text("the last of all"));
  return host->finding(call, MSP_PASS, "every.sum", text(total > 0 ? "rows were seen" : "no row was seen"), text("{}"), &row, 1);
}

static void destroy(void *self) { *(uint64_t *)self = 0; }

static const msp_analyzer analyzer = {sizeof(msp_analyzer), MSP_PARALLEL, 1u << MSP_KIND_TENSOR, 0, "every_callback", "calls everything", options,
                                      columns, create, begin, analyze_pair, finish, destroy};
static const msp_analyzer *const analyzers[] = {&analyzer};
MSP_EXPORT extern const msp_plugin msprobe_plugin_v1;
const msp_plugin msprobe_plugin_v1 = {sizeof(msp_plugin), MSP_ABI_MINOR, 0, 1, "org.example.every", "1.0", analyzers};
