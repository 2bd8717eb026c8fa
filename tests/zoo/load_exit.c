/* Its constructor ends the process.
 * load: E5010: the plugin ended the process (exit code 0) while it was loaded */
#define LOADING exit(0);
#include "zoo.h"
