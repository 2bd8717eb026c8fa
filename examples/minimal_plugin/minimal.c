/* The smallest analyzer in C: it reports the share of f32 elements whose bits differ. Nothing of msprobe is linked. */
#include "msprobe/analyzer.h"

static const msp_host* host;

static const msp_field share = {
    sizeof share, MSP_TYPE_F64, "bits_differ", "share of elements whose bits differ", NULL, 1, 0};
static const msp_field* const columns[] = {&share, NULL};

static msp_status create(const msp_host* given, msp_call* call, void** self) {
  (void)call;
  host = given;
  *self = NULL;
  return MSP_OK;
}

static msp_status analyze(void* self, msp_call* call, const msp_pair* pair) {
  (void)self;
  if (pair->side[0]->dtype != MSP_F32 || pair->side[1]->dtype != MSP_F32)
    return host->verdict(call, MSP_SKIP, 0, 0, (msp_str){"not f32", 7});
  msp_block block = {.struct_size = sizeof block};
  uint64_t differ = 0, total = 0;
  msp_status status;
  while ((status = host->next_block(call, &block)) == MSP_OK) {
    const uint32_t *reference = block.data[MSP_REFERENCE], *target = block.data[MSP_TARGET];
    for (uint64_t i = 0; i < block.count; ++i) differ += reference[i] != target[i];
    total += block.count;
  }
  if (status != MSP_END) return status; /* the host knows why */
  const double value = total ? (double)differ / (double)total : 0;
  host->emit_f64(call, 0, value);
  return host->verdict(call, differ ? MSP_FAIL : MSP_PASS, value, 0, (msp_str){"bits differ", differ ? 11 : 0});
}

static void destroy(void* self) {
  (void)self;
}

static const msp_analyzer analyzer = {sizeof analyzer,
                                      MSP_PARALLEL,
                                      1u << MSP_KIND_TENSOR,
                                      0,
                                      "minimal",
                                      "share of elements whose bits differ",
                                      NULL,
                                      columns,
                                      create,
                                      NULL,
                                      analyze,
                                      NULL,
                                      destroy};
static const msp_analyzer* const analyzers[] = {&analyzer};
MSP_EXPORT extern const msp_plugin msprobe_plugin_v1;
const msp_plugin msprobe_plugin_v1 = {sizeof msprobe_plugin_v1, MSP_ABI_MINOR, 0,        1,
                                      "org.example.minimal",    "1.0",         analyzers};
