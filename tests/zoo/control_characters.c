/* A name that would move the cursor of the terminal.
 * load: E5003: the name of an analyzer is no plain text (UTF-8 without control characters) */
#define ANALYZER_NAME "ani\033[2Jmal"
#include "zoo.h"
