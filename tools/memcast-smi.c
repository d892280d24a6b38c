// SPDX-License-Identifier: MIT
/*
 * memcast-smi: the devices, and which process holds what of them.
 *
 * Devices are as NVML has them, what a process holds is in /proc/PID/fdinfo/ of its open
 * /dev/memcast. Nothing is stopped for it, so what changes meanwhile may be seen before
 * or after.
 */
#define _GNU_SOURCE
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "smi.h"
#include "smi-nvml.h"

const char *argp_program_version = TOOLS_VERSION("memcast-smi");

static const struct argp_option argp_options[] = {
	{ "json", 'j', NULL, 0, "print JSON instead of tables, sizes in bytes", 0 },
	{ "nccl", 'n', NULL, 0, "with topo: print a topology file for NCCL (NCCL_TOPO_FILE)", 0 },
	{ }
};

struct wanted {
	bool json, topo, nccl;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct wanted *wanted = state->input;

	switch (key) {
	case 'j':
		wanted->json = true;
		return 0;
	case 'n':
		wanted->nccl = true;
		return 0;
	case ARGP_KEY_ARG:
		if (strcmp(arg, "topo") || wanted->topo)
			argp_error(state, "no command '%s': there is topo", arg);
		wanted->topo = true;
		return 0;
	case ARGP_KEY_END:
		if (wanted->nccl && !wanted->topo)
			argp_error(state, "--nccl is for topo");
		if (wanted->json && wanted->topo)
			argp_error(state, "topo is no JSON");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool show_topo(bool nccl)
{
	static struct smi_devices devices;

	if (!smi_devices(&devices))
		return false;
	if (!nccl) {
		smi_topo_print(&devices);
		return true;
	}
	if (smi_topo_nccl(&devices))
		return true;
	fputs("memcast-smi: libnvidia-ml.so.1 does not describe a device: CUDA_LOG_FILE=stderr "
	      "says why\n", stderr);
	return false;
}

static bool show_all(bool json)
{
	struct json_object *all = smi_look();

	if (!all)
		return false;
	if (json)
		puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
	else
		smi_print(all);
	json_object_put(all);
	return true;
}

int main(int argc, char **argv)
{
	const struct argp argp = {
		.options = argp_options,
		.parser = parse,
		.args_doc = "[topo]",
		.doc = "Shows memcast's devices, the processes that use them, and teams."
		       "\vTOTAL and USED are of a device's pool, SEEN is what the processes "
		       "shown hold of it. FDS are exported ones that a process has open. A "
		       "team's MISSING says how many members it lacks and which devices they "
		       "could be, WAITING SINCE which calls wait for them.\n\n"
		       "topo shows how devices are connected: by links to a switch, the host "
		       "bridge of one NUMA node, or across nodes; or the same as a file for NCCL, "
		       "which would look for devices in /sys/bus/pci.\n\n"
		       "Root sees all processes, others their own. JSON has the same in "
		       "\"devices\", \"processes\" and \"teams\", and in \"unseen\" how many "
		       "processes one may not look into. Exit status: 0, or 1 if there are "
		       "no devices, or 2 for wrong usage.",
	};
	struct wanted wanted = {};

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &wanted);
	if (!(wanted.topo ? show_topo(wanted.nccl) : show_all(wanted.json)))
		return 1;
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
