// SPDX-License-Identifier: MIT
/* x86-64: the sets of instructions that loops are built for. */
#include <cpuid.h>

#include "array.h"

#define CPUID_7_EDX_FSRM	(1U << 4)

static bool has_sse2(void)
{
	return true;
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
}

static bool has_avx512(void)
{
	return has_avx2() && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl");
}

const struct bulk_set bulk_sets[] = {
	{ "sse2", &bulk_sse2, has_sse2 },
	{ "avx2", &bulk_avx2, has_avx2 },
	{ "avx512", &bulk_avx512, has_avx512 },
	{}
};

/*
 * Processors from before fast short "rep movsb" (FSRM) lower their clock for vectors of 64
 * bytes. That is worth it for sums, but not for copies.
 */
const struct bulk_loops *bulk_copies_of(const struct bulk_loops *loops)
{
	unsigned int a, b, c, d = 0;

	if (loops != &bulk_avx512)
		return loops;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && d & CPUID_7_EDX_FSRM ? loops : &bulk_avx2;
}
