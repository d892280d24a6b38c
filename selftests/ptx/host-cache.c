// SPDX-License-Identifier: MIT
/*
 * Compiles and runs a kernel that uses a variable and calls a function through a pointer: for
 * host-cache.sh, which looks at what is left on disk.
 *
 *	host-cache MEMCAST-PTX.SO ADDED [stop]
 *
 * It prints "made" for each function that LLVM compiles, and "looked" when the folder is listed. With
 * "stop" it stops while it compiles the first one.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "translate/ptx_object.h"

#define THREADS 64

static uint64_t variable;
static void *library;
static bool stops;

static uint64_t address_of(void *data, const char *name, uint32_t text, size_t bytes, size_t align)
{
	(void)data, (void)name, (void)text, (void)bytes, (void)align;
	return (uintptr_t)&variable;
}

/* Calls of memcast-ptx.so come here first, as a program's symbols precede a library's. */
int LLVMTargetMachineEmitToMemoryBuffer(void *machine, void *module, int kind, char **message,
					void **buffer);

int LLVMTargetMachineEmitToMemoryBuffer(void *machine, void *module, int kind, char **message,
					void **buffer)
{
	int (*emit)(void *machine, void *module, int kind, char **message, void **buffer);

	*(void **)&emit = dlsym(library, __func__);
	puts("made");
	if (stops)
		raise(SIGSTOP);
	return emit(machine, module, kind, message, buffer);
}

DIR *fdopendir(int fd)
{
	DIR *(*open_it)(int fd);

	*(void **)&open_it = dlsym(RTLD_NEXT, __func__);
	puts("looked");
	return open_it(fd);
}

static void notice(const char *text)
{
	puts(text);
}

int main(int argc, char **argv)
{
	static const char form[] = ".version 8.6\n.target sm_90\n.address_size 64\n.global .u32 v;\n"
		".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %%r<3>; ld.param.u32 %%r1, [a]; "
		"bar.sync 0; add.u32 %%r2, %%r1, %s; st.param.b32 [r], %%r2; ret; }\n"
		".visible .entry k(.param .u64 o) { .reg .b64 %%d<9>; .reg .b32 %%r<9>; "
		"ld.param.u64 %%d1, [o]; mov.u32 %%r1, %%tid.x; mad.wide.u32 %%d2, %%r1, 4, %%d1; "
		"mov.u64 %%d3, f; { .param .b32 a; .param .b32 b; st.param.b32 [a], %%r1; "
		"P: .callprototype (.param .b32 _) _ (.param .b32 _); call (b), %%d3, (a), P; "
		"ld.param.b32 %%r2, [b]; } ld.global.u32 %%r3, [v]; add.u32 %%r2, %%r2, %%r3; "
		"st.global.u32 [%%d2], %%r2; ret; }\n";
	static const struct ptx_run_host host;
	const struct ptx_object *object;
	struct ptx_variables where = { .address = address_of, .notice = notice };
	uint32_t out[THREADS] = {}, *parameter = out;
	struct ptx_launch launch = {
		.parameters = &parameter, .grid = { 1, 1, 1 }, .block = { THREADS, 1, 1 },
		.cluster = { 1, 1, 1 }, .multiprocessors = 1, .stack_limit = 1024, .host = &host,
	};
	struct ptx_outcome outcome = {};
	struct ptx_text text;
	struct ptx_log log = {};
	struct ptx_code *code;
	char buffer[4096];

	stops = argc == 4;
	library = argc >= 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	object = library ? dlsym(library, PTX_OBJECT_SYMBOL) : NULL;
	if (!object || object->version != PTX_OBJECT_VERSION)
		return 2;
	text.bytes = snprintf(buffer, sizeof(buffer), form, argv[2]);
	text.text = buffer;
	if (object->code_new(&text, 1, &where, &code, &log) ||
	    object->kernel(code, "k", &launch.kernel, &log)) {
		puts(log.text);
		return 1;
	}
	variable = 1000;
	object->run(&launch, &outcome);
	object->code_free(code);
	for (uint32_t i = 0; i < THREADS; i++)
		if (out[i] != i + atoi(argv[2]) + 1000) {
			printf("thread %u has %u; %s\n", i, out[i], outcome.reason);
			return 1;
		}
	return 0;
}
