/* Something leaves a callback that is no std::exception.
 * row: E5008: animal failed here: an exception left the plugin */
#define BAD_ROW throw 7;
#include "zoo.h"
