/* As memory_hog, and does not look at what malloc returns.
 * options: --plugin-memory 0.25
 * row: E5010: animal crashed (signal 11, Segmentation fault) here */
#define BAD_ROW for (int i = 0; i < 4096; ++i) { volatile char *block = malloc(1 << 24); for (int at = 0; at < 1 << 24; at += 4096) block[at] = 1; }
#include "zoo.h"
