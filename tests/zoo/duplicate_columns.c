/* Two columns of one name.
 * load: E5003: two columns are called 'elements' */
#define MORE_COLUMNS &column,
#include "zoo.h"
