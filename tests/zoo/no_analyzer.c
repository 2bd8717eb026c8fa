/* None at all.
 * load: E5003: it has 0 analyzers */
#define ANALYZER_COUNT 0
#include "zoo.h"
