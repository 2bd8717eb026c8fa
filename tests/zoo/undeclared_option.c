/* Asks for an option that it never declared.
 * row: E5008: animal failed here: it asks for an option 'limit' that it never declared */
#define BAD_ROW double limit; return host->option_f64(call, "limit", &limit);
#include "zoo.h"
