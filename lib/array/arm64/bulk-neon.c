// SPDX-License-Identifier: MIT
/* The bulk functions' inner loops for every arm64. */
#define LOOPS	bulk_neon
#define WIDTH	16
#include "loops/bulk-loops.h"
