// SPDX-License-Identifier: MIT
/*
 * Says why a program fails that has NVIDIA's runtime: that runtime asks the driver for internal
 * tables before anything else, and programs print no more than the error that follows.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "entry.h"
#include "base/base.h"

/* Says it once in a process, on stderr. @caller: an address in the code that asked for a table */
void table_refused(const void *caller)
{
	static atomic_bool said;
	const char *name = "the program";
	char text[512];
	Dl_info info;
	int before;

	if (atomic_exchange(&said, true))
		return;
	before = cancel_hold();
	if (dladdr(caller, &info) && info.dli_fname && *info.dli_fname) {
		const char *slash = strrchr(info.dli_fname, '/');

		name = slash ? slash + 1 : info.dli_fname;
	}
	if (!strncmp(name, "libcudart.so", strlen("libcudart.so")))
		snprintf(text, sizeof(text),
			 "%.200s is NVIDIA's runtime, which does not work on memcast: load memcast's libcudart.so.13 in its place, by LD_LIBRARY_PATH (docs/stack/runtime.md)",
			 name);
	else
		snprintf(text, sizeof(text),
			 "%.200s has NVIDIA's static runtime, which does not work on memcast: build it with nvcc --cudart shared (docs/stack/runtime.md)",
			 name);
	log_notice(text, true);
	cancel_release(before);
}
