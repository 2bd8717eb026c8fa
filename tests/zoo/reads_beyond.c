/* Reads further than the tensor goes.
 * row: E5008: animal failed here: it reads elements 2 to 9 of 4 */
#define BAD_ROW double out[7]; return host->read_f64(call, pair->side[0], 2, 7, out);
#include "zoo.h"
