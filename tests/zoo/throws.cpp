/* An exception leaves a callback.
 * row: E5008: animal failed here: an exception left the plugin: no such luck */
#include <stdexcept>
#define BAD_ROW throw std::runtime_error("no such luck");
#include "zoo.h"
