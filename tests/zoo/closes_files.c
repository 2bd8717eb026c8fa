/* Closes files that are not its own, the channel to the host too.
 * row: E5010: animal */
#include <unistd.h>
#define BAD_ROW for (int file = 3; file < 256; ++file) close(file);
#include "zoo.h"
