/* SPDX-License-Identifier: MIT */
/*
 * NCCL takes another algorithm, protocol or kernel than it was told to without a word on stderr;
 * its log says what it took.
 */
#ifndef NCCL_LOG_H
#define NCCL_LOG_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

/* Has this process's log written to memory. Return: an fd; -1: somebody else reads the log */
static int log_start(void)
{
	char path[64];
	int log;

	if (getenv("NCCL_DEBUG"))
		return -1;
	log = memfd_create("nccl-log", 0);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), log);
	setenv("NCCL_DEBUG", "INFO", 1);
	setenv("NCCL_DEBUG_SUBSYS", "TUNING", 1);
	setenv("NCCL_DEBUG_FILE", path, 1);
	return log;
}

static bool is_wanted(const char *wanted, const char *taken)
{
	return !wanted || !strcasecmp(wanted, taken);
}

/*
 * Reads new lines "… -> Algo RING proto LL …" and "… -> Kernel AllReduce_AGxLL_R …". NULL: any.
 * Return: how many took what was wanted; *other: how many something else
 */
static unsigned long log_read(int log, const char *algorithm, const char *protocol,
			      const char *kernel, unsigned long *other)
{
	char line[1024], algorithm_taken[64], taken[64], *at;
	static long read_up_to;
	unsigned long wanted = 0;
	FILE *file = fdopen(dup(log), "r");
	bool right;

	*other = 0;
	if (!file)
		return 0;
	fseek(file, read_up_to, SEEK_SET);
	while (fgets(line, sizeof(line), file)) {
		at = strstr(line, "-> ");
		if (!at)
			continue;
		if (sscanf(at, "-> Algo %63s proto %63s", algorithm_taken, taken) == 2)
			right = !kernel && is_wanted(algorithm, algorithm_taken) &&
				is_wanted(protocol, taken);
		else if (sscanf(at, "-> Kernel %63s", taken) == 1)
			right = kernel && (!*kernel || !strcasecmp(kernel, taken));
		else
			continue;
		wanted += right;
		*other += !right;
	}
	read_up_to = ftell(file);
	fclose(file);
	return wanted;
}

#endif /* NCCL_LOG_H */
