/* Does not go when it is asked to: nobody is harmed. */
#define DESTROY for (;;) __asm__ volatile("");
#include "zoo.h"
