/* Sets the locale of the whole process: numbers may get commas.
 * warning: animal changed the locale of the process; it was put back: tell its author */
#include <locale.h>
#define BAD_ROW setlocale(LC_ALL, "C.UTF-8");
#include "zoo.h"
