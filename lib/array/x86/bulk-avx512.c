// SPDX-License-Identifier: MIT
/*
 * The bulk functions' inner loops with AVX-512. Not used: VCVTNEPS2BF16, which
 * takes subnormals for zeros, and AVX512-FP16, which has no f32 accumulator.
 */
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c")
#define LOOPS	bulk_avx512
#define WIDTH	64
#include "loops/bulk-loops.h"
