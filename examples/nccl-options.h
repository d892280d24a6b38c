/* SPDX-License-Identifier: MIT */
/* The options of nccl-all-reduce, named as nccl-tests names them */
#ifndef NCCL_OPTIONS_H
#define NCCL_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "nccl-numbers.h"
#include "nccl-size.h"

enum collective { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, SENDRECV };
static const char *const collectives[] = {
	"all_reduce", "reduce_scatter", "all_gather", "broadcast", "sendrecv", NULL
};

static struct chosen {
	int processes, iterations;
	size_t first, last;		/* bytes of the larger buffer */
	unsigned long factor;
	unsigned int types, operations, collectives;	/* masks: a bit for each of a table */
	const char *algorithm, *protocol, *kernel;	/* what NCCL is to take; NULL: as it likes */
	int registration;		/* of buffers, as nccl-tests number it */
	int kill_after;			/* milliseconds; -1: no rank is killed */
	int patience;			/* seconds, with ranks that are to abort */
	const char *file;		/* of cases */
	const char *line;		/* of it, whose case this is */
} option = { .processes = 4, .iterations = 5, .first = 16, .last = 1 << 20, .factor = 16,
	     .types = 1, .operations = 1, .collectives = 1, .kill_after = -1,
	     .patience = 300 };

/*
 * Return: a mask of the names in a list, "half,float" or "all", by their places in a table that
 * ends with NULL; each entry begins with its name
 */
static unsigned int find(const void *table, size_t step, const char *list, struct argp_state *state)
{
	unsigned int found = 0, all = 0;
	char *rest;
	const char *const *at;

	for (at = table; *at; at = (void *)((char *)at + step))
		all = all << 1 | 1;
	if (!strcmp(list, "all"))
		return all;
	rest = strdupa(list);
	for (char *name = strsep(&rest, ","); name; name = strsep(&rest, ",")) {
		unsigned int before = found, bit = 1;

		for (at = table; *at; at = (void *)((char *)at + step), bit <<= 1)
			found |= strcmp(*at, name) ? 0 : bit;
		if (found == before)
			argp_error(state, "'%s' is said twice, or there is no such one", name);
	}
	return found;
}

#define FIND(table)	find(table, sizeof((table)[0]), value, state)

static void set_or_unset(const char *name, const char *value)
{
	if (value && *value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

/* Tells NCCL what to take, for the next communicator. It reads NCCL_SYM_KERNEL but once. */
static void tell_nccl(void)
{
	bool has_nvls = !(option.collectives & (1U << BROADCAST | 1U << SENDRECV));

	if (option.registration == 2) {
		option.algorithm = option.protocol = NULL;
		if (!option.kernel)
			option.kernel = "";
	} else if (!option.algorithm && option.collectives != 1U << SENDRECV) {
		option.algorithm = has_nvls ? "NVLS" : "RING";
	}
	set_or_unset("NCCL_SYM_KERNEL", option.kernel);
	set_or_unset("NCCL_ALGO", option.algorithm);
	set_or_unset("NCCL_PROTO", option.protocol);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	switch (key) {
	case 'p': option.processes = atoi(value); break;
	case 'n': option.iterations = atoi(value); break;
	case 'b': option.first = parse_size(value, state); break;
	case 'e': option.last = parse_size(value, state); break;
	case 'f': option.factor = strtoul(value, NULL, 0); break;
	case 'a': option.algorithm = value; break;
	case 'P': option.protocol = value; break;
	case 'R': option.registration = atoi(value); break;
	case 'k': option.kernel = value; option.registration = 2; break;
	case 'K': option.kill_after = atoi(value); break;
	case 'C': option.file = value; break;
	case 'W': option.patience = atoi(value); break;
	case 'd': option.types = FIND(types); break;
	case 'o': option.operations = FIND(operations); break;
	case 'c': option.collectives = FIND(collectives); break;
	case ARGP_KEY_END:
		if (option.processes < 2 || option.processes > 8 || option.iterations < 1 ||
		    option.factor < 2 || option.first < 1 || option.first > option.last ||
		    option.last < 64)
			argp_error(state, "2 to 8 ranks, at least one iteration, a factor of 2, "
				   "-b not above -e, -e 64 or more");
		if (option.algorithm && !strcasecmp(option.algorithm, "NVLS") &&
		    option.collectives >> BROADCAST & 1)
			argp_error(state, "NCCL has no broadcast by NVLS");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option options[] = {
	{ "processes", 'p', "N", 0, "Ranks, each a process (4)", 0 },
	{ "iterations", 'n', "N", 0, "Of each size (5)", 0 },
	{ "minbytes", 'b', "BYTES", 0, "Bytes at first, or with K, M, G (16)", 0 },
	{ "maxbytes", 'e', "BYTES", 0, "And at last (1M)", 0 },
	{ "stepfactor", 'f', "N", 0, "From one size to the next (16)", 0 },
	{ "datatype", 'd', "TYPE", 0, "float, half, uint32, … (float); several with commas, or all", 0 },
	{ "op", 'o', "NAME", 0, "sum, min or max (sum), or several", 0 },
	{ "collective", 'c', "NAME", 0, "all_reduce, reduce_scatter, all_gather, "
	  "broadcast or sendrecv (all_reduce), or several", 0 },
	{ "algorithm", 'a', "NAME", 0, "NCCL_ALGO: NVLS, Ring, Tree (NVLS, or Ring "
	  "if one of the collectives has no NVLS)", 0 },
	{ "protocol", 'P', "NAME", 0, "NCCL_PROTO: Simple, LL, LL128", 0 },
	{ "local_register", 'R', "N", 0, "1: register buffers; 2: as symmetric windows", 0 },
	{ "kernel", 'k', "NAME", 0, "-R 2, and NCCL_SYM_KERNEL: AllReduce_AGxLL_R, …", 0 },
	{ "cases", 'C', "FILE", 0, "Each line has more options: of a case with a communicator "
	  "of its own, in the same processes", 0 },
	{ "kill", 'K', "MS", 0, "Kill a rank so many milliseconds after the start: the "
	  "others have to end by themselves", 0 },
	{ "patience", 'W', "SECONDS", 0, "Give them so long (300)", 0 },
	{ }
};
static const struct argp argp = {
	options, parse, NULL,
	"NCCL's collectives on emulated devices, by NVIDIA's kernels: every value checked.",
	NULL, NULL, NULL
};

static struct chosen cases[64];
static int cases_count;

/* Makes a list of what the command line says: one case, or those of a file */
static void read_options(int argc, char **argv)
{
	struct chosen all;
	char *line = NULL, *rest, *words[32] = { argv[0] };
	size_t room = 0;
	FILE *file;
	int count;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (!option.file) {
		cases[cases_count++] = option;
		return;
	}
	all = option;
	file = fopen(option.file, "re");
	if (!file)
		perror(option.file), exit(1);
	while (cases_count < 64 && getline(&line, &room, file) > 0) {
		option = all;
		line[strcspn(line, "\n")] = '\0';
		option.line = strdup(line);
		rest = strdup(line);
		for (count = 1; count < 31 && (words[count] = strsep(&rest, " ")); count++)
			;
		words[count] = NULL;
		argp_parse(&argp, count, words, 0, NULL, NULL);
		cases[cases_count++] = option;
	}
	option = all;
	free(line);
	fclose(file);
}

#endif /* NCCL_OPTIONS_H */
