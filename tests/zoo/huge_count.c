/* More analyzers than anyone has.
 * load: E5003: it has 4294967295 analyzers */
#define ANALYZER_COUNT 0xffffffffu
#include "zoo.h"
