/* row: E5010: animal crashed (signal 11, Segmentation fault) here */
#define BAD_ROW *(volatile int *)0 = 1;
#include "zoo.h"
