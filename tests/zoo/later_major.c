/* Built for the next major version of the interface.
 * load: E3005: the plugin has msprobe_plugin_v2, this msprobe needs msprobe_plugin_v1 */
#define SYMBOL msprobe_plugin_v2
#include "zoo.h"
