/* Calls the host without a token.
 * warning: a plugin called the host without the token of a callback: tell its author */
#define BAD_ROW if (host->emit_i64(NULL, 0, 1) != MSP_E_INVALID) abort();
#include "zoo.h"
