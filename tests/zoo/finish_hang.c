/* Never ends.
 * options: --plugin-timeout 1
 * finding: animal did not answer within 1 s at its end: its summary is missing, the rows are kept. */
#define FINISH for (;;) __asm__ volatile("");
#include "zoo.h"
