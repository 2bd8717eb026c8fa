/* Needs a later minor version of the host.
 * load: E3005: the plugin needs plugin interface 1.99, this msprobe has 1. */
#define NEEDED_MINOR 99
#include "zoo.h"
