// SPDX-License-Identifier: MIT
/*
 * memcast-smi: the devices, and which process holds what of them.
 *
 * Devices are in /sys/class/memcast, what a process holds is in /proc/PID/fdinfo/ of
 * its open /dev/memcast. Nothing is stopped for it, so what changes meanwhile may be
 * seen before or after.
 */
#define _GNU_SOURCE
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "smi.h"

const char *argp_program_version = TOOLS_VERSION("memcast-smi");

static const struct argp_option argp_options[] = {
	{ "json", 'j', NULL, 0, "print JSON instead of tables, sizes in bytes", 0 },
	{ }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	bool *json = state->input;

	(void)arg;
	if (key != 'j')
		return ARGP_ERR_UNKNOWN;
	*json = true;
	return 0;
}

int main(int argc, char **argv)
{
	const struct argp argp = {
		.options = argp_options,
		.parser = parse,
		.doc = "Shows memcast's devices, the processes that use them, and teams."
		       "\vTOTAL and USED are of a device's pool, SEEN is what the processes "
		       "shown hold of it. FDS are exported ones that a process has open. A "
		       "team's MISSING says how many members it lacks and which devices they "
		       "could be, WAITING SINCE which calls wait for them.\n\n"
		       "Root sees all processes, others their own. JSON has the same in "
		       "\"devices\", \"processes\" and \"teams\", and in \"unseen\" how many "
		       "processes one may not look into. Exit status: 0, or 1 if there are "
		       "no devices, or 2 for wrong usage.",
	};
	struct json_object *all;
	bool json = false;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &json);
	all = smi_look();
	if (!all) {
		fputs("memcast-smi: no devices in /sys/class/memcast: insmod memcast.ko, or run "
		      "under tools/memcast-vm\n", stderr);
		return 1;
	}
	if (json)
		puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
	else
		smi_print(all);
	json_object_put(all);
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
