// SPDX-License-Identifier: MIT
/*
 * A program that is busy, for host-watch.sh: as libcuda.so.1 does, it says what it has done, once,
 * and every 0.1 s if it is called with a word.
 */
#include <time.h>

#include "base/activity.h"

static double seconds(void)
{
	return (double)activity_now() * 1e-9;
}

int spins_here(int works);

int spins_here(int works)
{
	double last = seconds();

	for (;;) {
		if (!works || seconds() - last < 0.1)
			continue;
		last = seconds();
		activity_done();
	}
}

int main(int argc, char **argv)
{
	(void)argv;
	activity_done();
	return spins_here(argc > 1);
}
