/* Leaves the working directory: relative paths of the host would lead elsewhere.
 * warning: animal changed the working directory of the process; it was put back: tell its author */
#include <unistd.h>
#define BAD_ROW if (chdir("/") != 0) abort();
#include "zoo.h"
