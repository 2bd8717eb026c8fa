/* Calls a function that nobody defines.
 * load: E5001: undefined symbol: nobody_has_this */
extern void nobody_has_this(void);
#define CREATE nobody_has_this();
#include "zoo.h"
