/* A NULL in the list of analyzers.
 * load: E5003: an analyzer is NULL */
#define ANALYZERS NULL
#include "zoo.h"
