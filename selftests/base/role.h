/* SPDX-License-Identifier: MIT */
/*
 * A part of a test that needs an environment of its own, or dies, is a role: run_role() starts the
 * test's program anew, and the variable ROLE names which of @roles it plays.
 */
#ifndef ROLE_H
#define ROLE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "memcast_test.h"

struct role {
	const char *name;
	int (*run)(void);	/* Return: 1, or 0 if the role has failed */
};

/* Defined by the test; the last role has no name. */
static const struct role roles[];

__attribute__((constructor))
static void play_role(void)
{
	const char *role = getenv("ROLE");
	unsigned int i;

	for (i = 0; role && roles[i].name; i++)
		if (!strcmp(role, roles[i].name))
			exit(roles[i].run() ? 0 : 1);
}

/* Return: the exit status, or 128 if a signal ended the program; @said gets its stderr. */
#define run_role(role, setting, said)	run_role_(_metadata, role, setting, said, sizeof(said))
static inline int run_role_(struct __test_metadata *_metadata, const char *role,
			    const char *setting, char *said, size_t size)
{
	static const char *const passed[] = {
		"MEMCAST_INJECT", "MEMCAST_ATTR", "ASAN_OPTIONS",
	};
	char library[256], name[40], others[ARRAY_SIZE(passed)][200];
	char *environment[4 + ARRAY_SIZE(passed)] = { name, (char *)setting, library };
	char *arguments[] = { "role", NULL };
	int ends[2], status;
	ssize_t length = 0, part;
	unsigned int i, count = 3;
	pid_t pid;

	snprintf(name, sizeof(name), "ROLE=%s", role);
	snprintf(library, sizeof(library), "LD_LIBRARY_PATH=%s",
		 getenv("LD_LIBRARY_PATH") ?: "");
	for (i = 0; i < ARRAY_SIZE(passed); i++) {
		if (!getenv(passed[i]))
			continue;
		snprintf(others[i], sizeof(others[i]), "%s=%s", passed[i], getenv(passed[i]));
		environment[count++] = others[i];
	}
	ASSERT_EQ(0, pipe2(ends, O_CLOEXEC));
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDERR_FILENO);
		execve("/proc/self/exe", arguments, environment);
		_exit(127);
	}
	close(ends[1]);
	while ((part = read(ends[0], said + length, size - 1 - length)) > 0)
		length += part;
	said[length] = '\0';
	close(ends[0]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

#endif /* ROLE_H */
