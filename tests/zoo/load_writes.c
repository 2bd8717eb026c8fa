/* Its constructor writes into files that are not its own.
 * load: E5010: the plugin wrote into the channel of the program while it was loaded */
#include <unistd.h>
#define LOADING for (int file = 3; file < 256; ++file) if (write(file, "no message of a healthy process", 31) < 0) continue;
#include "zoo.h"
