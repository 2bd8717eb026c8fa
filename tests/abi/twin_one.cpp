#define TWIN 1
#include "twin.h"
