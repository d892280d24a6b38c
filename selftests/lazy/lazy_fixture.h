/* SPDX-License-Identifier: MIT */
/* For tests of pools that take a chunk when it is first touched: backing=lazy. */
#ifndef LAZY_FIXTURE_H
#define LAZY_FIXTURE_H

#include "limit_fixture.h"
#include "log_lines.h"

/* Skips a test where the module was loaded without backing=lazy: host-lazy.sh loads it so. */
#define NEEDS_LAZY()							\
do {									\
	char backing_[16];						\
									\
	read_file(backing_, sizeof(backing_), "/sys/module/memcast/parameters/backing"); \
	if (strcmp(backing_, "lazy\n"))					\
		SKIP(return, "it takes lazy pools: memcast-vm --param backing=lazy"); \
	if (geteuid())							\
		SKIP(return, "parameters are root's");			\
} while (0)

/* Return: how much of the machine's memory a device's pool has taken */
TEST_HELPER long taken(unsigned int device)
{
	return device_bytes(device, "taken_bytes");
}

/* Return: how much all pools together have taken */
TEST_HELPER long taken_by_all(void)
{
	long bytes, sum = 0;
	unsigned int i;

	for (i = 0; (bytes = taken(i)) >= 0; i++)
		sum += bytes;
	return sum;
}

#define EXPECT_TAKEN(chunks, device)	EXPECT_EQ((long)((chunks) * CHUNK), taken(device))

#endif /* LAZY_FIXTURE_H */
