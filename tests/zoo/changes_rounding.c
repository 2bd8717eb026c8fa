/* Leaves another rounding mode behind.
 * flags: -lm
 * warning: animal changed the floating-point mode of the process; it was put back: tell its author */
#include <fenv.h>
#define BAD_ROW fesetround(FE_UPWARD);
#include "zoo.h"
