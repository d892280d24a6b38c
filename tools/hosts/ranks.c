// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hosts.h"

static unsigned int ranks_on(const struct settings *settings, unsigned int host)
{
	switch (settings->way) {
	case EACH:
		return settings->ranks_each ?: settings->devices[host];
	case PER_HOST:
		return 1;
	default:
		return !host;
	}
}

unsigned int ranks_count(const struct settings *settings)
{
	unsigned int count = 0;

	for (unsigned int host = 0; host < settings->hosts; host++)
		count += ranks_on(settings, host);
	return count;
}

struct rank ranks_find(const struct settings *settings, unsigned int number)
{
	struct rank rank = { .rank = number, .local = number };

	while (rank.local >= ranks_on(settings, rank.host))
		rank.local -= ranks_on(settings, rank.host++);
	rank.local_count = ranks_on(settings, rank.host);
	return rank;
}

/* Puts NAME=VALUE in the place of a variable with that name, or at the end of the list. */
static void set(char ***list, size_t *count, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void set(char ***list, size_t *count, const char *format, ...)
{
	size_t length, i;
	va_list args;
	char *word;

	va_start(args, format);
	if (vasprintf(&word, format, args) < 0)
		die("no memory");
	va_end(args);
	length = strcspn(word, "=") + 1;
	for (i = 0; i < *count && strncmp((*list)[i], word, length); i++)
		;
	if (i == *count) {
		*list = reallocarray(*list, *count + 2, sizeof(**list));
		if (!*list)
			die("no memory");
		(*list)[++*count] = NULL;
	}
	(*list)[i] = word;
}

/* Sets the variables of torchrun, of Open MPI's mpirun and of MPICH's that number the ranks. */
static void set_rank(char ***list, size_t *count, const struct settings *settings,
		     const struct rank *rank)
{
	unsigned int all = ranks_count(settings);
	const struct {
		const char *name;
		unsigned int value;
	} variables[] = {
		{ "RANK", rank->rank },
		{ "LOCAL_RANK", rank->local },
		{ "WORLD_SIZE", all },
		{ "LOCAL_WORLD_SIZE", rank->local_count },
		{ "GROUP_RANK", rank->host },
		{ "GROUP_WORLD_SIZE", settings->hosts },
		{ "OMPI_COMM_WORLD_RANK", rank->rank },
		{ "OMPI_COMM_WORLD_SIZE", all },
		{ "OMPI_COMM_WORLD_LOCAL_RANK", rank->local },
		{ "OMPI_COMM_WORLD_LOCAL_SIZE", rank->local_count },
		{ "PMI_RANK", rank->rank },
		{ "PMI_SIZE", all },
	};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		set(list, count, "%s=%u", variables[i].name, variables[i].value);
}

/*
 * Makes a program that starts ranks, such as mpirun, start them on the emulated hosts. Open MPI
 * has its own names for these variables up to version 4, and PRRTE's from version 5 on.
 */
static void set_starter(char ***list, size_t *count, const struct settings *settings)
{
	static const char *const agents[] = { "OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent" };
	static const char *const files[] = {
		"OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile"
	};

	for (int i = 0; i < 2; i++) {
		if (!getenv(agents[i]))
			set(list, count, "%s=%s agent", agents[i], settings->self);
		if (!getenv(files[i]) && !access("/dev/shm", F_OK))
			set(list, count, "%s=/dev/shm/memcast-hosts", files[i]);
	}
}

char **ranks_environment(const struct settings *settings, const struct rank *rank)
{
	char **list = NULL;
	size_t count = 0;

	for (char **word = environ; *word; word++)
		set(&list, &count, "%s", *word);
	set(&list, &count, "MEMCAST_HOSTS=%u", settings->hosts);
	set(&list, &count, "MASTER_ADDR=host0");
	set(&list, &count, "MASTER_PORT=%u", settings->port);
	if (settings->way == ONCE)
		set_starter(&list, &count, settings);
	else
		set_rank(&list, &count, settings, rank);
	return list;
}
