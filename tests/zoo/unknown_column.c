/* Emits a column that it never declared, and stops there.
 * row: E5008: animal failed here: it emits column 7, which it never declared */
#define BAD_ROW return host->emit_f64(call, 7, 1.0);
#include "zoo.h"
