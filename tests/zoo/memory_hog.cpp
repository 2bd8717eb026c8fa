/* Takes all memory that it can get; what it gets must be within the limit.
 * options: --plugin-memory 0.25
 * row: E5008: animal failed here: out of memory (the limit of a worker process is --plugin-memory) */
#include <new>
#define BAD_ROW \
  for (int i = 0; i < 4096; ++i) { \
    char* block = new char[1 << 24]; \
    for (int at = 0; at < 1 << 24; at += 4096) static_cast<volatile char*>(block)[at] = 1; \
  }
#include "zoo.h"
