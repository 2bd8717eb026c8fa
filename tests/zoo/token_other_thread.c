/* Uses the token of its callback on a thread of its own.
 * flags: -pthread
 * warning: animal used the token of a callback on another thread: tell its author */
#include <pthread.h>
static void *elsewhere(void *call);
#define BAD_ROW pthread_t other; pthread_create(&other, NULL, elsewhere, call); pthread_join(other, NULL);
#include "zoo.h"
static void *elsewhere(void *call) {
  if (host->emit_i64((msp_call *)call, 0, 1) != MSP_E_INVALID) abort();
  return NULL;
}
