/* A sound plugin of one analyzer, "animal". Each animal changes one thing with a macro before it includes this. Its first
 * comment says what is wrong and what msprobe must answer; test_zoo.py reads it there:
 *   load: CODE: text      refused by register_plugin, plugins and compare
 *   row: CODE: text       the row of four elements has verdict error, the others keep their values
 *   start: CODE: text     compare ends at once
 *   warning: text         told once, all rows keep their values
 *   finding: text         the summary says so, all rows keep their values
 *   flags: words          for the compiler; options: words for compare */
#include <stdlib.h>
#include <string.h>

#include "msprobe/analyzer.h"

#ifndef LOADING /* statements of a constructor */
#define LOADING
#endif
#ifndef CREATE
#define CREATE
#endif
#ifndef BAD_ROW /* statements of analyze_pair at the row of four elements; they may return */
#define BAD_ROW
#endif
#ifndef FINISH
#define FINISH
#endif
#ifndef DESTROY
#define DESTROY
#endif
#ifndef PLUGIN_SIZE
#define PLUGIN_SIZE sizeof(msp_plugin)
#endif
#ifndef ANALYZER_SIZE
#define ANALYZER_SIZE sizeof(msp_analyzer)
#endif
#ifndef COLUMN_SIZE
#define COLUMN_SIZE sizeof(msp_field)
#endif
#ifndef COLUMN_TYPE
#define COLUMN_TYPE MSP_TYPE_I64
#endif
#ifndef MORE_COLUMNS
#define MORE_COLUMNS
#endif
#ifndef ANALYZER_NAME
#define ANALYZER_NAME "animal"
#endif
#ifndef ANALYZE_PAIR
#define ANALYZE_PAIR analyze
#endif
#ifndef ANALYZERS
#define ANALYZERS &animal
#endif
#ifndef ANALYZER_COUNT
#define ANALYZER_COUNT 1
#endif
#ifndef NEEDED_MINOR
#define NEEDED_MINOR 0
#endif
#ifndef SYMBOL
#define SYMBOL msprobe_plugin_v1
#endif

static const msp_host *host;

static inline msp_str text(const char *given) {
  msp_str str = {given, strlen(given)};
  return str;
}

__attribute__((constructor)) static void loading(void) { LOADING }

static msp_status create(const msp_host *given, msp_call *call, void **self) {
  (void)call;
  host = given;
  *self = NULL;
  CREATE
  return MSP_OK;
}

static msp_status analyze(void *self, msp_call *call, const msp_pair *pair) {
  (void)self;
  if (pair->side[0]->element_count == 4) {
    BAD_ROW
  }
  host->emit_i64(call, 0, (int64_t)pair->side[0]->element_count);
  return host->verdict(call, MSP_PASS, 0, 0, text(""));
}

static msp_status finish(void *self, msp_call *call) {
  (void)self;
  (void)call;
  FINISH
  return MSP_OK;
}

static void destroy(void *self) {
  (void)self;
  DESTROY
}

static const msp_field column = {COLUMN_SIZE, COLUMN_TYPE, "elements", "how many", NULL, 0, 0};
static const msp_field *const columns[] = {&column, MORE_COLUMNS NULL};
static const msp_analyzer animal = {ANALYZER_SIZE, MSP_PARALLEL, 1u << MSP_KIND_TENSOR, 0,      ANALYZER_NAME, "one of the zoo", NULL,
                                    columns,       create,       NULL,                  ANALYZE_PAIR, finish,  destroy};
static const msp_analyzer *const analyzers[] = {ANALYZERS};
#ifdef __cplusplus
extern "C" {
#endif
MSP_EXPORT extern const msp_plugin SYMBOL;
const msp_plugin SYMBOL = {PLUGIN_SIZE, MSP_ABI_MINOR, NEEDED_MINOR, ANALYZER_COUNT, "org.example.zoo", "1.0", analyzers};
#ifdef __cplusplus
}
#endif
