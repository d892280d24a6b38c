// SPDX-License-Identifier: MIT
#include <cuda.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ptx.h"
#include "shared/ranks.h"

#define WINDOW	0x700000000000UL	/* nothing is mapped there */

static const struct ptx_object *object;
static struct ptx_window window = { .start = WINDOW };

const char *device_open(void)
{
	static char why[PATH_MAX + 64];
	char path[PATH_MAX], *slash;
	void *handle;
	Dl_info info;

	if (object)
		return NULL;
	if (!dladdr(dlsym(RTLD_DEFAULT, "cuInit"), &info))
		return "the folder of libcuda.so.1 is not known";
	snprintf(path, sizeof(path) - sizeof(PTX_OBJECT), "%s", info.dli_fname);
	slash = strrchr(path, '/');
	snprintf(slash ? slash + 1 : path, sizeof(PTX_OBJECT), "%s", PTX_OBJECT);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	object = handle ? dlsym(handle, PTX_OBJECT_SYMBOL) : NULL;
	if (!object)
		snprintf(why, sizeof(why), "%.*s", (int)sizeof(why) - 1, dlerror());
	else if (object->version != PTX_OBJECT_VERSION)
		strcpy(why, PTX_OBJECT " is of another build");
	else
		return NULL;
	object = NULL;
	return why;
}

static uint64_t no_variables(void *data, const char *name, uint32_t text, size_t bytes,
			     size_t align)
{
	(void)data, (void)name, (void)text, (void)bytes, (void)align;
	return 0;
}

struct ptx_code *device_load(const char *text)
{
	struct ptx_variables variables = { .address = no_variables };
	struct ptx_text texts = { text, strlen(text) };
	struct ptx_code *code;
	struct ptx_log log;

	if (object->code_new(&texts, 1, &variables, &code, &log))
		rank_die("%s", log.text);
	return code;
}

void device_unload(struct ptx_code *code)
{
	object->code_free(code);
}

const struct ptx_kernel *device_kernel(struct ptx_code *code, const char *name)
{
	const struct ptx_kernel *kernel;
	struct ptx_log log;

	if (object->kernel(code, name, &kernel, &log))
		rank_die("%s: %s", name, log.text);
	return kernel;
}

static const struct ptx_window *window_at(uint64_t address, size_t *offset)
{
	*offset = address - WINDOW;
	return *offset < window.view.bytes ? &window : NULL;
}

void *device_window(const struct memcast_view *view)
{
	window.view = *view;
	return (void *)WINDOW;
}

void device_launch(const struct ptx_kernel *kernel, unsigned int blocks_x, unsigned int blocks_y,
		   unsigned int threads_x, unsigned int threads_y, const struct arrays *arrays)
{
	static const struct ptx_run_host host = { .window_at = window_at };
	struct ptx_launch launch = {
		.kernel = kernel, .parameters = arrays,
		.grid = { blocks_x, blocks_y, 1 }, .block = { threads_x, threads_y, 1 },
		.cluster = { 1, 1, 1 }, .resident = 264, .multiprocessors = 132,
		.stack_limit = 65536, .host = &host,
	};
	struct ptx_outcome outcome;

	object->run(&launch, &outcome);
	if (outcome.result)
		rank_die("a kernel failed: %s", outcome.reason);
}
