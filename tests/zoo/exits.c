/* Ends the process in the middle of a row.
 * row: E5010: animal ended the process (exit code 3) here */
#define BAD_ROW exit(3);
#include "zoo.h"
