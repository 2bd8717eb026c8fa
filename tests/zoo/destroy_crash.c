/* Crashes when all is said: nobody is harmed. */
#define DESTROY *(volatile int *)0 = 1;
#include "zoo.h"
