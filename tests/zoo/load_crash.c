/* Its constructor crashes.
 * load: E5010: the plugin crashed (signal 11, Segmentation fault) while it was loaded */
#define LOADING *(volatile int *)0 = 1;
#include "zoo.h"
