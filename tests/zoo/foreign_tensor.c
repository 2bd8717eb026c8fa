/* Reads a tensor that the host did not give it.
 * row: E5008: animal failed here: it reads a tensor that the host did not give to this callback */
#define BAD_ROW msp_tensor mine = *pair->side[0]; double out[4]; return host->read_f64(call, &mine, 0, 4, out);
#include "zoo.h"
