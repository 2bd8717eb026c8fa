/* A column of a type that does not exist.
 * load: E5003: column 'elements' has type 77 */
#define COLUMN_TYPE 77
#include "zoo.h"
