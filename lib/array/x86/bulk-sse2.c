// SPDX-License-Identifier: MIT
/* The bulk functions' inner loops for every x86-64, and for emulated ones. */
#define LOOPS	bulk_sse2
#define WIDTH	16
#include "loops/bulk-loops.h"
