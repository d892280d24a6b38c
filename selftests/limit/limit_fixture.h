/* SPDX-License-Identifier: MIT */
/* For tests of what users may take: the limits, and programs of other users. */
#ifndef LIMIT_FIXTURE_H
#define LIMIT_FIXTURE_H

#include <stdio.h>
#include <unistd.h>
#include <uapi/memcast.h>
#include "memcast_test.h"
#include "takes.h"

#define MIB	(1L << 20)

TEST_HELPER int set_limit(const char *name, long mib)
{
	char path[80];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/memcast/parameters/%s", name);
	file = fopen(path, "we");
	if (!file)
		return -1;
	fprintf(file, "%ld\n", mib);
	return fclose(file);
}

/* Return: what /sys/kernel/debug/memcast/users says of a user; -1 if the user is not listed */
TEST_HELPER long taken_by(unsigned int user)
{
	FILE *file = fopen("/sys/kernel/debug/memcast/users", "re");
	unsigned int number;
	char line[120];
	long bytes, found = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "user %u bytes %ld", &number, &bytes) == 2 && number == user)
			found = bytes;
	if (file)
		fclose(file);
	return found;
}

/* Is nothing charged to the user any more? That is so a moment after its last process ended. */
TEST_HELPER bool gone(unsigned int user)
{
	return comes_true(taken_by(user) < 0);
}

/* Forks a process of @user, without capabilities. */
#define user_fork(user, link)	user_fork_(_metadata, user, link)
TEST_HELPER pid_t user_fork_(struct __test_metadata *_metadata, unsigned int user, int *link)
{
	pid_t pid = peer_fork(link);

	if (!pid)
		ASSERT_EQ(0, setresuid(user, user, user));
	return pid;
}

/* Takes host memory in pieces of @bytes until there is no more. Return: how much it got. */
TEST_HELPER long take_host_memory(int device, size_t bytes, char *reason, size_t size)
{
	struct memcast_memory_create create = {
		.header = { .reason = (uintptr_t)reason, .reason_size = size },
		.location = MEMCAST_LOCATION_HOST, .bytes = bytes,
	};
	long got = 0;

	while (!RAW(device, MEMORY_CREATE, create))
		got += bytes;
	return errno == ENOMEM ? got : -errno;
}

#endif /* LIMIT_FIXTURE_H */
