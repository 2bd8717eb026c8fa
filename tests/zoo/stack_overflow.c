/* Calls itself for ever.
 * row: E5010: animal crashed (signal 11, Segmentation fault) here */
static int deeper(int depth) {
  volatile char frame[4096];
  frame[depth & 4095] = (char)depth;
  return deeper(depth + 1) + frame[0];
}
#define BAD_ROW return deeper(0);
#include "zoo.h"
