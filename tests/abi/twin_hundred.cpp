#define TWIN 100
#include "twin.h"
