/* SPDX-License-Identifier: MIT */
/* memcast-ptx.so without libcuda.so.1: a text is loaded, and a kernel of it runs as one block. */
#ifndef TRANSLATE_H
#define TRANSLATE_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "translate/ptx_object.h"

#define HEAD		".version 8.6\n.target sm_90\n.address_size 64\n"
#define INVALID_PTX	218
#define NOT_SUPPORTED	801

static const struct ptx_object *object;
static int number, failed;

static void told(const char *name, bool good, const char *why)
{
	if (!good)
		printf("# %s\n", why);
	printf("%sok %d ptx.%s.%s\n", good ? "" : "not ", ++number, GROUP, name);
	failed |= !good;
}

/* A variable's memory, for code that asks for it */
static struct {
	char name[64];
	uint64_t memory[64];
} variables[32];
static uint32_t variables_count;

static uint64_t variable_at(void *data, const char *name, uint32_t text, size_t bytes, size_t align)
{
	(void)data, (void)text, (void)align;
	if (variables_count == 32 || bytes > sizeof(variables[0].memory))
		return 0;
	snprintf(variables[variables_count].name, sizeof(variables[0].name), "%s", name);
	return (uintptr_t)variables[variables_count++].memory;
}

static int load(const char *text, size_t bytes, struct ptx_code **code, struct ptx_log *log)
{
	/* a second text: then the object writes initial values by itself */
	struct ptx_text texts[] = { { text, bytes }, { HEAD, sizeof(HEAD) - 1 } };
	struct ptx_variables where = { .address = variable_at };

	variables_count = 0;
	log->text[0] = '\0';
	return object->code_new(texts, 2, &where, code, log);
}

static inline int run_shape(struct ptx_code *code, const char *kernel, const uint32_t block[3],
			    const void *parameters, char *reason, size_t size)
{
	static const struct ptx_run_host host;
	struct ptx_launch launch = {
		.parameters = parameters, .grid = { 1, 1, 1 }, .block = { block[0], block[1], block[2] },
		.cluster = { 1, 1, 1 }, .multiprocessors = 1, .stack_limit = 65536, .host = &host,
	};
	struct ptx_outcome outcome = {};
	struct ptx_log log = {};
	int result = object->kernel(code, kernel, &launch.kernel, &log);

	if (result) {
		snprintf(reason, size, "%.200s", log.text);
		return result;
	}
	object->run(&launch, &outcome);
	snprintf(reason, size, "%.200s", outcome.reason);
	return outcome.result;
}

static inline int run(struct ptx_code *code, const char *kernel, uint32_t threads,
		      const void *parameters, char *reason, size_t size)
{
	const uint32_t block[] = { threads, 1, 1 };

	return run_shape(code, kernel, block, parameters, reason, size);
}

static bool open_object(const char *path)
{
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

	object = library ? dlsym(library, PTX_OBJECT_SYMBOL) : NULL;
	if (object && object->version == PTX_OBJECT_VERSION)
		return true;
	fprintf(stderr, "%s\n", library ? "no object" : dlerror());
	return false;
}

#endif /* TRANSLATE_H */
