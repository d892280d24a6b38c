// SPDX-License-Identifier: MIT
/*
 * memcast-bench: measures memcast. Every figure is compared with an alternative to
 * memcast, or with the limit of the machine, which the same run measures, too.
 */
#include <argp.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "shared/options.h"
#include "shared/ranks.h"

static const struct bench_suite *const suites[] = {
	&bench_bulk, &bench_group, &bench_team, &bench_map, &bench_control, &bench_growth,
	&bench_rack, &bench_launch, &bench_many, &bench_translated, &bench_ptx,
};

#define SUITES	(sizeof(suites) / sizeof(suites[0]))

struct request {
	bool chosen[SUITES], any, quick;
	const char *json, *check, *record;
};

enum { KEY_JSON = 1, KEY_QUICK, KEY_LIST, KEY_CHECK, KEY_RECORD };

static const struct argp_option argp_options[] = {
	{ "json", KEY_JSON, "FILE", OPTION_ARG_OPTIONAL,
	  "JSON instead of the table; with FILE, besides it", 0 },
	{ "quick", KEY_QUICK, NULL, 0, "smaller sizes, fewer rounds", 0 },
	{ "check", KEY_CHECK, "FILE", 0,
	  "hold what suites count against what FILE has, print TAP", 0 },
	{ "record", KEY_RECORD, "FILE", 0, "write what suites count to FILE", 0 },
	{ "list", KEY_LIST, NULL, 0, "what suites there are", 0 },
	{ 0 }
};

static void list_suites(void)
{
	size_t i;

	for (i = 0; i < SUITES; i++)
		printf("%-10s %s\n", suites[i]->name, suites[i]->about);
}

static void choose(struct argp_state *state, struct request *request,
		   const char *name)
{
	size_t i;

	for (i = 0; i < SUITES; i++)
		if (!strcmp(name, suites[i]->name)) {
			request->chosen[i] = request->any = true;
			return;
		}
	argp_error(state, "no suite '%s'; --list shows them", name);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case KEY_JSON:
		request->json = arg ?: "";
		break;
	case KEY_QUICK:
		request->quick = true;
		break;
	case KEY_CHECK:
		request->check = arg;
		break;
	case KEY_RECORD:
		request->record = arg;
		break;
	case KEY_LIST:
		list_suites();
		exit(0);
	case ARGP_KEY_ARG:
		choose(state, request, arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Runs, in one virtual machine, suite @first and all later ones that need the same machine. */
static bool run_machine(struct bench *bench, bool *chosen, size_t first)
{
	const char *names[SUITES];
	unsigned int count = 0;
	size_t i;

	for (i = first; i < SUITES; i++)
		if (chosen[i] && suites[i]->machine && suites[i]->obstacle() &&
		    !strcmp(suites[i]->machine, suites[first]->machine)) {
			names[count++] = suites[i]->name;
			chosen[i] = false;
		}
	return bench_machine_run(bench, suites[first]->machine, names, count);
}

/* Runs a suite here if possible, else in a virtual machine, else skips it. */
static bool run_suite(struct bench *bench, bool *chosen, size_t i)
{
	const struct bench_suite *suite = suites[i];
	const char *here = suite->obstacle ? suite->obstacle() : NULL;
	const char *machine;
	bool ok = true;

	bench->suite = suite;
	bench->shown = bench_now();
	if (!here) {
		suite->run(bench);
	} else if (!suite->machine) {
		bench_skip(bench, "all", "%s", here);
	} else {
		machine = bench_machine_obstacle();
		if (machine)
			bench_skip(bench, "all", "%s, and %s", here, machine);
		else
			ok = run_machine(bench, chosen, i);
	}
	bench_progress_end(bench);
	if (!ok)
		fprintf(stderr, "memcast-bench: the suite %s failed\n", suite->name);
	return ok;
}

static void run_suites(struct bench *bench, bool *chosen, bool *ok)
{
	size_t i;

	for (i = 0; i < SUITES; i++)
		if (chosen[i])
			*ok &= run_suite(bench, chosen, i);
}

static bool write_json(const struct bench *bench, const char *path)
{
	struct json_object *all = bench_json(bench);
	bool ok = true;

	if (!*path)
		puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
	else
		ok = !json_object_to_file_ext(path, all, JSON_C_TO_STRING_PRETTY);
	if (!ok)
		fprintf(stderr, "memcast-bench: %s", json_util_get_last_err());
	json_object_put(all);
	return ok;
}

static void say(unsigned int bars, const char *what, const char *which_do_what)
{
	if (bars)
		fprintf(stderr, "memcast-bench: %u bar%s %s%s\n", bars, bars == 1 ? "" : "s", what,
			which_do_what);
}

/* Return: the exit status: 0, or 1 if a bar does not hold */
static int verdict(const struct bench *bench, bool silent)
{
	unsigned int failed = 0, noisy = 0;
	size_t i;

	for (i = 0; i < bench->count; i++) {
		noisy += bench->result[i].noisy;
		failed += !bench->result[i].holds && !bench->result[i].noisy;
	}
	fflush(stdout);
	if (!silent) {
		say(failed, failed == 1 ? "does" : "do", " not hold");
		say(noisy, "may hold or not",
		    ": the noise is larger than the difference; run it again on a quiet machine");
	}
	return failed > 0;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse_option,
		.args_doc = "[SUITE…]",
		.doc = "Measures memcast and holds every figure against something: "
		       "what else one would use, or what the machine can do at all."
		       "\vWithout names all suites run. Those that need /dev/memcast, "
		       "or a clock that counts instructions, run in a virtual machine "
		       "where these are missing. The ratio is value / peer's, or "
		       "the other way round where the bar says how many times faster; "
		       "the noise is how far another run's may be from it. "
		       "Exit status: 0; 1 if a bar does not hold; 2 for wrong usage; "
		       "3 if a suite failed.",
	};
	struct request request = { 0 };
	struct bench bench = { 0 };
	bool ok = true, counted;
	size_t i;

	argp_err_exit_status = 2;
	argp_program_version = TOOLS_VERSION("memcast-bench");
	argp_parse(&argp, argc, argv, 0, NULL, &request);

	bench.quick = request.quick;
	counted = request.check || request.record;
	for (i = 0; i < SUITES && !request.any; i++)
		request.chosen[i] = counted ? suites[i]->counted : true;
	run_suites(&bench, request.chosen, &ok);
	if (request.check)
		return ok ? bench_costs_check(&bench, request.check) : 3;
	if (request.record)
		return ok && bench_costs_record(&bench, request.record) ? 0 : 3;
	if (!request.json || *request.json)
		bench_table(&bench);
	if (request.json)
		ok &= write_json(&bench, request.json);
	/* JSON is for programs, such as this one outside a virtual machine */
	return ok ? verdict(&bench, request.json && !*request.json) : 3;
}
