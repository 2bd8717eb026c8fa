/* Never returns from a row.
 * options: --plugin-timeout 1
 * row: E5011: animal did not answer within 1 s */
#define BAD_ROW for (;;) __asm__ volatile("");
#include "zoo.h"
