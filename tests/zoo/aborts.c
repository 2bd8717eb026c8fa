/* row: E5010: animal crashed (signal 6, Aborted) here */
#define BAD_ROW abort();
#include "zoo.h"
