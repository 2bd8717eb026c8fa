/* struct_size was forgotten.
 * load: E5003: the plugin has struct_size 0, at least 40 is needed */
#define PLUGIN_SIZE 0
#include "zoo.h"
