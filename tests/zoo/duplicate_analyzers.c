/* Two analyzers of one name.
 * load: E5003: two analyzers are called 'animal' */
#define ANALYZERS &animal, &animal
#define ANALYZER_COUNT 2
#include "zoo.h"
