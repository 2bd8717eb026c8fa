/* row: E5010: animal crashed (signal 8, Floating point exception) here */
#define BAD_ROW volatile int zero = 0; zero = 7 / zero;
#include "zoo.h"
