/* An analyzer that is smaller than in 1.0.
 * load: E5003: an analyzer has struct_size 80, at least 88 is needed */
#define ANALYZER_SIZE 80
#include "zoo.h"
