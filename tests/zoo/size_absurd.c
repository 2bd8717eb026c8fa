/* A size from damaged memory.
 * load: E5003: an analyzer has struct_size 4294967295, which makes no sense */
#define ANALYZER_SIZE 0xffffffffu
#include "zoo.h"
