// SPDX-License-Identifier: MIT
/* The bulk functions' inner loops with AVX2 and F16C. */
#pragma GCC target("avx2,f16c")
#define LOOPS	bulk_avx2
#define WIDTH	32
#include "loops/bulk-loops.h"
