/* An analyzer without a name.
 * load: E5003: the name of an analyzer is missing */
#define ANALYZER_NAME NULL
#include "zoo.h"
