/* Writes into files that are not its own, the channel to the host too.
 * row: E5010: the answer of animal makes no sense: it is no message */
#include <unistd.h>
#define BAD_ROW for (int file = 3; file < 256; ++file) if (write(file, "no message of a healthy worker process", 38) < 0) continue;
#include "zoo.h"
