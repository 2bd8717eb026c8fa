/* Emits a column that it never declared, and does not look at the status.
 * warning: animal emits column 7, which it never declared: tell its author */
#define BAD_ROW host->emit_f64(call, 7, 1.0);
#include "zoo.h"
