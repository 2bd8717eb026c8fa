/* struct_size of a column was forgotten.
 * load: E5003: column 0 has struct_size 0, at least 40 is needed */
#define COLUMN_SIZE 0
#include "zoo.h"
