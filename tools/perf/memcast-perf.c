// SPDX-License-Identifier: MIT
/*
 * memcast-perf: time collectives over a multicast team, one process per device,
 * and check what they compute.
 */
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pattern.h"
#include "perf.h"
#include "shared/now.h"
#include "shared/options.h"

struct bench {
	const struct options *options;
	struct team team;
	void *buffer;	/* the root's source of a broadcast, or result of a reduction */
	double started;
};

static bool is_root(const struct bench *bench)
{
	return bench->team.index == bench->options->root;
}

static void run_once(struct bench *bench, size_t count)
{
	const struct options *options = bench->options;
	struct team *team = &bench->team;

	if (options->collective == ALLREDUCE)
		team_allreduce(team, options->element, count);
	else if (options->collective == BROADCAST)
		team_broadcast(team, options->element, count, options->root,
			       bench->buffer);
	else
		team_reduce(team, options->element, count, options->root,
			    bench->buffer);
}

static double slowest(struct bench *bench, double seconds)
{
	uint64_t nanoseconds[RANKS_MAX], most = 0;
	unsigned int i;

	team_exchange(&bench->team, (uint64_t)(seconds * 1e9), nanoseconds);
	for (i = 0; i < bench->team.count; i++)
		if (nanoseconds[i] > most)
			most = nanoseconds[i];
	return (double)most * 1e-9;
}

/* Return: the rest of --seconds; all ranks go by the slowest rank's time */
static double seconds_left(struct bench *bench)
{
	double left = bench->options->seconds - slowest(bench, now() - bench->started);

	return left > 0 ? left : 0;
}

/*
 * Return: how many iterations there is time for. They get a quarter of the time that is left, as
 * the larger sizes are yet to come.
 */
static unsigned int affordable(struct bench *bench, double warmed_up)
{
	const struct options *options = bench->options;
	double each = slowest(bench, warmed_up) / options->warmup;
	double count = seconds_left(bench) / 4 / each;

	if (count >= options->iterations)
		return options->iterations;
	return count < 1 ? 1 : (unsigned int)count;
}

/* Return: seconds per iteration of the slowest rank */
static double run_timed(struct bench *bench, size_t count, unsigned int *iterations)
{
	const struct options *options = bench->options;
	double start = now();
	unsigned int i;

	for (i = 0; i < options->warmup; i++)
		run_once(bench, count);
	*iterations = options->iterations;
	if (options->seconds)
		*iterations = affordable(bench, now() - start);
	team_barrier(&bench->team);
	start = now();
	for (i = 0; i < *iterations; i++)
		run_once(bench, count);
	return slowest(bench, now() - start) / *iterations;
}

/*
 * To compute one right element takes a value of each rank, so to check all elements on all ranks
 * would take time with the square of the ranks. Instead each rank checks its share of the elements,
 * and compares all of them with those of the next rank in the ring: if all ranks find no
 * difference, all elements are right.
 */
static uint64_t check_all(struct bench *bench, size_t count, uint32_t seed)
{
	const struct element *element = bench->options->element;
	const struct team *team = &bench->team;
	const unsigned char *own = team->own;
	const unsigned char *next = team->view.replica[(team->index + 1) % team->count];
	size_t share = (count + team->count - 1) / team->count;
	size_t from = share * team->index, size = element->bytes, i;
	uint64_t wrong = 0;

	if (from < count)
		wrong = pattern_check(element, own, from,
				      count - from < share ? count - from : share, 0,
				      team->count, seed);
	/* The next rank may not have its result yet. No rank writes before the next barrier. */
	team_barrier(&bench->team);
	if (memcmp(own, next, count * size))
		for (i = 0; i < count; i++)
			wrong += memcmp(own + i * size, next + i * size, size) != 0;
	return wrong;
}

/*
 * Runs once on fresh data and returns how many elements of all ranks are wrong.
 * Memory for results is filled with another seed's data before.
 */
static uint64_t run_checked(struct bench *bench, size_t count, uint32_t seed)
{
	const struct element *element = bench->options->element;
	enum collective collective = bench->options->collective;
	unsigned int root = bench->options->root, i;
	struct team *team = &bench->team;
	uint64_t wrong = 0, all_wrong[RANKS_MAX];

	pattern_fill(element, team->own, count, team->index,
		     collective == BROADCAST ? ~seed : seed);
	if (is_root(bench))
		pattern_fill(element, bench->buffer, count, team->index,
			     collective == BROADCAST ? seed : ~seed);
	run_once(bench, count);

	if (collective == ALLREDUCE)
		wrong = check_all(bench, count, seed);
	else if (collective == BROADCAST)
		wrong = pattern_check(element, team->own, 0, count, root, 1, seed);
	else if (is_root(bench))
		wrong = pattern_check(element, bench->buffer, 0, count, 0,
				      team->count, seed);

	team_exchange(team, wrong, all_wrong);
	for (i = 0, wrong = 0; i < team->count; i++)
		wrong += all_wrong[i];
	return wrong;
}

static void introduce(struct rank *rank, struct introduction *all)
{
	struct introduction own = { .pid = getpid(), .device = (int)rank->device };
	CUuuid uuid;

	CU(cuDriverGetVersion(&own.driver_version));
	CU(cuDeviceGetName(own.name, sizeof(own.name), (int)rank->device));
	CU(cuDeviceGetUuid(&uuid, (int)rank->device));
	if (rank->launched)
		gethostname(own.host, sizeof(own.host) - 1);
	memcpy(own.uuid, uuid.bytes, sizeof(own.uuid));
	rank_gather(rank, &own, sizeof(own), all);
}

static int bench_main(struct rank *rank, void *arg)
{
	const struct options *options = arg;
	struct bench bench = { .options = options };
	struct report report = { .options = options };
	size_t bytes = options->min_bytes;
	uint64_t all_wrong = 0;

	team_join(&bench.team, rank, &(struct team_sizes) {
		.bytes = options->max_bytes, .bound = options->bind_bytes,
		.created = options->create_bytes,
	});
	introduce(rank, report.rank);
	bench.buffer = calloc(1, options->max_bytes);
	if (!bench.buffer)
		rank_die("no memory for a buffer of %zu bytes",
			 options->max_bytes);
	if (rank->index == 0)
		report_begin(&report);

	bench.started = now();
	for (;;) {
		size_t count = bytes / options->element->bytes;
		double began = now(), seconds;
		unsigned int iterations, i;
		uint64_t wrong = 0;

		seconds = run_timed(&bench, count, &iterations);
		for (i = 0; i < options->checks; i++)
			wrong += run_checked(&bench, count, options->seed + i);
		all_wrong += wrong;
		if (rank->index == 0)
			report_row(&report, count, iterations, seconds, wrong);
		if (bytes > options->max_bytes / options->factor)
			break;
		/* One iteration with the next size takes longer by the factor between sizes. */
		seconds = now() - began - seconds * (iterations - 1);
		report.cut = options->seconds && slowest(&bench, seconds) *
			     (double)options->factor > seconds_left(&bench);
		if (report.cut)
			break;
		bytes *= options->factor;
	}
	if (rank->index == 0) {
		report_end(&report);
		if (ferror(stdout) || fflush(stdout))
			rank_die("the output could not be written");
	}
	free(bench.buffer);
	/* All ranks know the count; it is enough that rank 0 fails. */
	return rank->index == 0 && all_wrong;
}

static const struct argp_option argp_options[] = {
	{ "minbytes", 'b', "SIZE", 0, "smallest size, with K, M or G (8)", 0 },
	{ "maxbytes", 'e', "SIZE", 0, "largest size (16M)", 0 },
	{ "stepfactor", 'f', "FACTOR", 0, "from one size to the next (2)", 0 },
	{ "datatype", 't', "TYPE", 0, "u32, u64 or f32 (f32)", 0 },
	{ "op", 'o', "OP", 0, "reduction: sum is the only one so far", 0 },
	{ "root", 'r', "RANK", 0, "of broadcast and reduce (0)", 0 },
	{ "ranks", 'n', "COUNT", 0, "processes, 2 or more (one per device)", 0 },
	{ "bind", 'B', "SIZE", 0,
	  "bound to the team of each device (what the largest size takes)", 0 },
	{ "create", 'C', "SIZE", 0, "memory that each rank creates (what it binds)", 0 },
	{ "warmup", 'w', "COUNT", 0, "iterations before timing (2)", 0 },
	{ "iters", 'i', "COUNT", 0, "timed iterations (10)", 0 },
	{ "check", 'c', "COUNT", 0,
	  "checked iterations, on fresh data, after timing (1; 0 for none)", 0 },
	{ "seconds", 'T', "COUNT", 0, "fewer iterations, and then no larger sizes, if all would "
	  "take longer than about that (no limit)", 0 },
	{ "seed", 's', "NUMBER", 0, "of the data that are checked (1)", 0 },
	{ "json", 'j', NULL, 0, "print JSON instead of the table", 0 },
	{ 0 }
};

static int parse_collective(struct options *options, const char *name)
{
	enum collective c;

	for (c = ALLREDUCE; c <= REDUCE; c++)
		if (!strcmp(name, collective_name(c))) {
			options->collective = c;
			return 0;
		}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'b':
		options->min_bytes = size_option(state, arg, 1);
		break;
	case 'e':
		options->max_bytes = size_option(state, arg, 1);
		break;
	case 'f':
		options->factor = size_option(state, arg, 2);
		break;
	case 't':
		options->element = element_find(arg);
		if (!options->element)
			argp_error(state, "type '%s' is not there: u32, u64 or f32",
				   arg);
		break;
	case 'o':
		if (strcmp(arg, "sum"))
			argp_error(state, "op '%s' is not there: only sum", arg);
		break;
	case 'r':
		options->root = (unsigned int)count_option(state, arg, 0);
		break;
	case 'n':
		options->ranks = (unsigned int)count_option(state, arg, 2);
		break;
	case 'B':
		options->bind_bytes = size_option(state, arg, 1);
		break;
	case 'C':
		options->create_bytes = size_option(state, arg, 1);
		break;
	case 'w':
		options->warmup = (unsigned int)count_option(state, arg, 0);
		break;
	case 'i':
		options->iterations = (unsigned int)count_option(state, arg, 1);
		break;
	case 'c':
		options->checks = (unsigned int)count_option(state, arg, 0);
		break;
	case 'T':
		options->seconds = (unsigned int)count_option(state, arg, 1);
		break;
	case 's':
		options->seed = (uint32_t)count_option(state, arg, 0);
		break;
	case 'j':
		options->json = true;
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num || parse_collective(options, arg))
			argp_error(state, "one collective: allreduce, broadcast or reduce");
		break;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		break;
	case ARGP_KEY_END:
		if (options->min_bytes < options->element->bytes)
			argp_error(state, "the smallest size holds no %s",
				   options->element->name);
		if (options->seconds && !options->warmup)
			argp_error(state, "--seconds takes a --warmup to decide by");
		if (options->max_bytes < options->min_bytes)
			argp_error(state, "the largest size is below the smallest");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse_option,
		.args_doc = "allreduce|broadcast|reduce",
		.doc = "Times a collective over a multicast team of emulated "
		       "devices, one process for each, and checks its result."
		       "\vWhere torchrun, memcast-hosts or another launcher has set RANK, "
		       "WORLD_SIZE, MASTER_ADDR and MASTER_PORT, it is that rank, with device "
		       "LOCAL_RANK, and ranks share the team by a fabric handle; with --ranks "
		       "it starts processes of its own nevertheless."
		       "\n\nSizes are of what one rank holds. The time is that of "
		       "the slowest rank; algbw and busbw are as nccl-tests "
		       "defines them. Checked values of f32 may be off by "
		       "(ranks - 1) * 2^-24 * (sum of absolute values), integers "
		       "not at all. Exit status: 0, or 1 if a value was wrong or "
		       "a rank failed, or 2 for wrong usage.",
	};
	struct options options = {
		.element = &element_f32,
		.min_bytes = 8, .max_bytes = 16 << 20, .factor = 2,
		.warmup = 2, .iterations = 10, .checks = 1, .seed = 1,
	};
	unsigned int launched;

	argp_err_exit_status = 2;
	argp_program_version = TOOLS_VERSION("memcast-perf");
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	/* -n forks ranks, even if a launcher has set variables for ranks. */
	launched = options.ranks ? 0 : ranks_launched();
	options.ranks = launched ?: team_ranks(options.ranks);
	if (options.root >= options.ranks)
		rank_die("root %u: there are %u ranks", options.root,
			 options.ranks);
	if (launched)
		return ranks_join(bench_main, &options);
	return ranks_run(options.ranks, bench_main, &options);
}
