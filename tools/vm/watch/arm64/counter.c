// SPDX-License-Identifier: MIT
#include <stdint.h>
#include "vm/watch/counter.h"

/* The processor knows the rate of its counter. */
double counter_rate(void)
{
	uint64_t hertz;

	asm("mrs %0, cntfrq_el0" : "=r" (hertz));
	return (double)hertz / 1000;
}
