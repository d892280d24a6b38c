/* SPDX-License-Identifier: MIT */
/* How a debug kernel is told to fail: memory and user copies. */
#ifndef FAIL_FIXTURE_H
#define FAIL_FIXTURE_H

#include <fcntl.h>
#include "memcast_test.h"

/* Where the n-th failure of this thread is asked for; -1: nowhere now */
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

/* Return: whether anything can be made to fail. */
TEST_HELPER bool can_fail(void)
{
	failures = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (failures < 0 || geteuid())
		return false;
	/* which allocations may fail: all */
	put("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	put("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	put("/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N");
	put("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	/* and none says so in the log, where reports are looked for */
	put("/sys/kernel/debug/failslab/verbose", "0");
	put("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	put("/sys/kernel/debug/fail_usercopy/verbose", "0");
	return true;
}

#endif /* FAIL_FIXTURE_H */
