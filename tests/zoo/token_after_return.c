/* Keeps the token of a callback and uses it later.
 * warning: animal used the token of a callback after the callback had returned: tell its author */
#include "msprobe/analyzer.h"
static msp_call *kept;
#define BAD_ROW kept = call;
#define FINISH if (host->emit_i64(kept, 0, 1) != MSP_E_INVALID) abort();
#include "zoo.h"
