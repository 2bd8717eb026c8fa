/* Never starts.
 * options: --plugin-timeout 1
 * start: E5011: animal did not start within 1 s */
#define CREATE for (;;) __asm__ volatile("");
#include "zoo.h"
