/* SPDX-License-Identifier: MIT */
/* Tells a debug kernel to fail: allocations of memory, and copies from and to user memory. */
#ifndef FAIL_FIXTURE_H
#define FAIL_FIXTURE_H

#include <fcntl.h>
#include "memcast_test.h"

/* The file in which this thread asks for its n-th failure; -1: not open */
static int failures = -1;

TEST_HELPER void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		perror(path);
	close(fd);
}

/* Return: can this kernel make calls fail? */
TEST_HELPER bool can_fail(void)
{
	failures = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (failures < 0 || geteuid())
		return false;
	/* all allocations may fail */
	put("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	put("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	put("/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N");
	put("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	/* and the log, which tests search for reports, does not mention it */
	put("/sys/kernel/debug/failslab/verbose", "0");
	put("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	put("/sys/kernel/debug/fail_usercopy/verbose", "0");
	return true;
}

#endif /* FAIL_FIXTURE_H */
