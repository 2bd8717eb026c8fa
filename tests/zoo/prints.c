/* Prints to stdout, where the report may be going: nobody is harmed. */
#include <stdio.h>
#define BAD_ROW printf("hello\n"); fflush(stdout);
#include "zoo.h"
