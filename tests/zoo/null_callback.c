/* A callback that must be there is not.
 * load: E5003: analyzer 'animal' lacks one of create, analyze_pair, destroy */
#define ANALYZE_PAIR NULL
#include "zoo.h"
