/* Crashes after all rows.
 * finding: animal crashed (signal 11, Segmentation fault) at its end: its summary is missing, the rows are kept. */
#define FINISH *(volatile int *)0 = 1;
#include "zoo.h"
