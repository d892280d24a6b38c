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
	{ "json", 'j', NULL, 0, "sizes in bytes, in one JSON object", 0 },
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
		.doc = "Show memcast's devices, the processes that use them, and teams."
		       "\vAs root of all processes, else of those that one may look into.",
	};
	struct json_object *all;
	bool json = false;

	argp_parse(&argp, argc, argv, 0, NULL, &json);
	all = smi_look();
	if (!all) {
		fputs("memcast-smi: no devices in /sys/class/memcast: insmod memcast.ko, or run it "
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
