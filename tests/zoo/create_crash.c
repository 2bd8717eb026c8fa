/* Crashes at its start.
 * start: E5010: animal crashed (signal 11, Segmentation fault) at its start */
#define CREATE *(volatile int *)0 = 1;
#include "zoo.h"
