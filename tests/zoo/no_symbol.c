/* Exports something else.
 * load: E5002: this is no plugin: it has no symbol msprobe_plugin_v1 */
#define SYMBOL some_other_name
#include "zoo.h"
