// SPDX-License-Identifier: MIT
/*
 * memcast-smi: the devices, and the memory and teams that each process holds.
 *
 * NVML describes devices; /proc/PID/fdinfo/ of an open /dev/memcast has the key by which the module
 * lists a process's objects.
 * Processes run on meanwhile, so an object that changes is shown as it was before or after.
 */
#include <argp.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/options.h"
#include "smi.h"
#include "devices.h"
#include "nvidia/nvidia.h"

const char *argp_program_version = TOOLS_VERSION("memcast-smi");

enum { QUERY_DEVICE = 256, FORMAT, HELP_QUERY, HTML };

static const struct argp_option argp_options[] = {
	{ "json", 'j', NULL, 0, "print JSON instead of tables, sizes in bytes", 0 },
	{ "html", HTML, "FILE", 0, "write a page with pictures of pools and teams, for any "
	  "browser; with -l it is written anew, and the browser looks again", 0 },
	{ "loop", 'l', "SECONDS", OPTION_ARG_OPTIONAL, "look again after so many seconds (5), "
	  "until it is ended", 0 },
	{ "id", 'i', "DEVICES", 0, "only these, and what is about them: numbers, UUIDs or "
	  "addresses on the bus, with commas between", 0 },
	{ "query", 'q', NULL, 0, "all about each device, a line for each fact", 0 },
	{ "query-device", QUERY_DEVICE, "FIELDS", 0, "these facts about each device, with commas "
	  "between; needs --format", 0 },
	{ "query-gpu", QUERY_DEVICE, NULL, OPTION_ALIAS, NULL, 0 },
	{ "format", FORMAT, "csv[,noheader][,nounits]", 0, "how --query-device prints them", 0 },
	{ "help-query-device", HELP_QUERY, NULL, 0, "list the FIELDS", 0 },
	{ "help-query-gpu", HELP_QUERY, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0 },
	{ "nccl", 'n', NULL, 0, "with topo: print a topology file for NCCL (NCCL_TOPO_FILE)", 0 },
	{ }
};

/* Exit statuses: those of nvidia-smi, where it has the same case */
enum status { GOOD = 0, FAILED = 1, USAGE = 2, NOT_FOUND = 6, NOT_LOADED = 9 };

struct wanted {
	bool json, topo, pool, nccl, all, csv, format;
	unsigned int every;	/* seconds; 0: once */
	const char *devices;	/* NULL: all */
	const char *html;	/* the file, or NULL */
	struct smi_query query;
};

static void check(const struct argp_state *state, const struct wanted *wanted)
{
	if (wanted->nccl && !wanted->topo)
		argp_error(state, "--nccl is for topo");
	if (wanted->json && wanted->nccl)
		argp_error(state, "one of --json and --nccl");
	if (wanted->topo && (wanted->all || wanted->csv || wanted->html || wanted->devices ||
			     wanted->every))
		argp_error(state, "topo is of all devices, once");
	if (wanted->json + wanted->all + wanted->csv + !!wanted->html + wanted->pool > 1)
		argp_error(state, "one of --json, --html, -q, --query-device and pool");
	if (wanted->csv != wanted->format)
		argp_error(state, "--query-device and --format=csv go together");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct wanted *wanted = state->input;

	switch (key) {
	case 'j':
		wanted->json = true;
		return 0;
	case 'l':
		/* nvidia-smi takes "-l 1" as well as "-l1". */
		if (!arg && state->next < state->argc && isdigit(*state->argv[state->next]))
			arg = state->argv[state->next++];
		wanted->every = arg ? count_option(state, arg, 1) : 5;
		return 0;
	case HTML:
		wanted->html = arg;
		return 0;
	case 'i':
		wanted->devices = arg;
		return 0;
	case 'q':
		wanted->all = true;
		return 0;
	case QUERY_DEVICE:
		wanted->csv = true;
		if (!smi_query_parse(&wanted->query, arg))
			argp_error(state, "'%s' are not all fields: --help-query-device lists them",
				   arg);
		return 0;
	case FORMAT:
		wanted->format = true;
		if (!smi_format_parse(&wanted->query, arg))
			argp_error(state, "'%s' is no format: csv[,noheader][,nounits]", arg);
		return 0;
	case HELP_QUERY:
		smi_query_help();
		exit(0);
	case 'n':
		wanted->nccl = true;
		return 0;
	case ARGP_KEY_ARG:
		if (wanted->topo || wanted->pool || (strcmp(arg, "topo") && strcmp(arg, "pool")))
			argp_error(state, "no command '%s': there are topo and pool", arg);
		wanted->topo = !strcmp(arg, "topo");
		wanted->pool = !wanted->topo;
		return 0;
	case ARGP_KEY_END:
		check(state, wanted);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool show_topo(bool nccl, bool json)
{
	static struct smi_devices devices;

	if (!smi_devices(&devices))
		return false;
	if (json)
		smi_topo_json(&devices);
	else if (!nccl)
		smi_topo_print(&devices);
	if (!nccl)
		return true;
	if (smi_topo_nccl(&devices))
		return true;
	fputs("memcast-smi: libnvidia-ml.so.1 does not describe a device: CUDA_LOG_FILE=stderr "
	      "says why\n", stderr);
	return false;
}

static enum status show(const struct wanted *wanted, bool first)
{
	struct json_object *all = smi_collect();
	enum status status = GOOD;

	if (!all)
		return smi_not_loaded ? NOT_LOADED : FAILED;
	if (wanted->devices && !smi_choose(all, wanted->devices)) {
		json_object_put(all);
		return NOT_FOUND;
	}
	if (wanted->html)
		status = smi_html(all, wanted->html, wanted->every) ? GOOD : FAILED;
	else if (wanted->json)
		puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
	else if (wanted->csv)
		smi_query_print(&wanted->query, all, first);
	else if (wanted->pool)
		smi_pool_print(all);
	else if (wanted->all)
		smi_query_print_all(all);
	else
		smi_print(all);
	json_object_put(all);
	return status;
}

static enum status show_again(const struct wanted *wanted)
{
	enum status status = show(wanted, true);

	while (wanted->every && status == GOOD && !fflush(stdout)) {
		sleep(wanted->every);
		if (!wanted->csv && !wanted->json && !wanted->html)
			putchar('\n');
		status = show(wanted, false);
	}
	return status;
}

int main(int argc, char **argv)
{
	const struct argp argp = {
		.options = argp_options,
		.parser = parse,
		.args_doc = "[topo|pool]",
		.doc = "Shows memcast's devices, the processes that use them, and teams."
		       "\vTOTAL and USED are of a device's pool, SEEN is what the processes "
		       "shown hold of it. FDS are exported ones that a process has open. A "
		       "team's MISSING says how many members it lacks and which devices they "
		       "could be, WAITING SINCE which calls wait for them.\n\n"
		       "topo shows how devices are connected: by links to a switch, the host "
		       "bridge of one NUMA node, or across nodes; or the same as JSON, "
		       "or as a file for NCCL, which would look for devices in /sys/bus/pci.\n\n"
		       "pool shows who holds what of each pool: a character is a chunk of 2 MiB "
		       "at its place, or several where a pool has more than 512, its letter the "
		       "process. Lazy pools have no places: theirs is a 64th of the pool, in "
		       "the order of processes.\n\n"
		       "Root sees all processes, others their own. JSON has the same in "
		       "\"devices\", \"processes\", \"memories\" and \"teams\", and in \"unseen\" "
		       "how many processes one may not look into.\n\n"
		       "The JSON's schemas are memcast-smi.schema.json and, for topo, "
		       "memcast-smi-topo.schema.json: in share/memcast beside the bin of an "
		       "installed memcast-smi (/usr/share/memcast of the package), and in docs "
		       "and docs/stack of the source.\n\n"
		       "Exit status: 0; 2 for wrong usage; 6 if -i names a device that there is "
		       "not; 9 if memcast.ko is not loaded; 1 if something else failed.",
	};
	struct wanted wanted = {};
	enum status status;

	if (nvidia_asked(argc, argv))
		return nvidia_main(argc, argv);
	argp_err_exit_status = USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &wanted);
	if (wanted.topo)
		status = show_topo(wanted.nccl, wanted.json) ? GOOD :
			 smi_not_loaded ? NOT_LOADED : FAILED;
	else
		status = show_again(&wanted);
	if (status != GOOD)
		return status;
	return ferror(stdout) || fflush(stdout) ? FAILED : GOOD;
}
