/* Its constructor never returns.
 * load: E5011: the plugin did not come back from loading within 10 s */
#define LOADING for (;;) __asm__ volatile("");
#include "zoo.h"
