/* Fails without a word.
 * row: E5008: animal failed here: status -5 without a reason */
#define BAD_ROW return MSP_E_INTERNAL;
#include "zoo.h"
