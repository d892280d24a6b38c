// SPDX-License-Identifier: MIT
/*
 * memcast-ptx: compiles the kernels of programs and libraries ahead of time, into the folder where
 * memcast looks for compiled code. A virtual machine that is emulated takes minutes for what its
 * host does in seconds.
 */
#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx.h"
#include "shared/now.h"
#include "shared/options.h"

#define ARCHITECTURE	90

static char reason[512];

/* What lib/image says is wrong */
CUresult fail(CUresult result, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(reason, sizeof(reason), format, list);
	va_end(list);
	return result;
}

struct request {
	struct compiling all;
	double seconds;
	bool quiet;
	bool shows;			/* the first word is a file, the second one a kernel */
	const char *file;
	struct showing showing;
	uint32_t files;
	int failed;
};

enum { KEY_DUMP = 1, KEY_TARGET, KEY_SECONDS, KEY_PROGRESS };

static const struct argp_option argp_options[] = {
	{ "dump", KEY_DUMP, NULL, 0,
	  "print what a launch of each kernel, or of KERNEL, would run: LLVM's optimised IR, and "
	  "the processor's instructions; keep nothing", 0 },
	{ "jobs", 'j', "N", 0, "so many processes (as many as there are processors)", 0 },
	{ "progress", KEY_PROGRESS, NULL, 0, "show how far it is, every 2 seconds", 0 },
	{ "quiet", 'q', NULL, 0, "print no sums", 0 },
	{ "seconds", KEY_SECONDS, "N", 0, "stop after N seconds; what is done is kept", 0 },
	{ "target", KEY_TARGET, "LEVEL", 0,
	  "x86-64-v3: for memcast-vm's machines without KVM; without it, for this processor",
	  0 },
	{ 0 }
};

static const struct ptx_object *open_object(void)
{
	const struct ptx_object *object;
	char path[PATH_MAX], *slash;
	void *handle = NULL;
	Dl_info info;

	if (dladdr((void *)(uintptr_t)cuInit, &info)) {
		snprintf(path, sizeof(path) - sizeof(PTX_OBJECT), "%s", info.dli_fname);
		slash = strrchr(path, '/');
		strcpy(slash ? slash + 1 : path, PTX_OBJECT);
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	}
	object = handle ? dlsym(handle, PTX_OBJECT_SYMBOL) : NULL;
	if (!object || object->version != PTX_OBJECT_VERSION) {
		fprintf(stderr, "memcast-ptx: %s\n", handle ? PTX_OBJECT " is of another build" :
			dlerror());
		exit(1);
	}
	return object;
}

static void compile_data(struct request *request, const char *path, const void *data, size_t bytes)
{
	struct complaint complaint = {};
	struct image *image;
	CUresult result;

	*reason = '\0';
	result = image_read(data, bytes, ARCHITECTURE, &image, &complaint);
	if (result == CUDA_ERROR_NO_BINARY_FOR_GPU)
		return;		/* that is for other devices alone */
	if (result != CUDA_SUCCESS) {
		fprintf(stderr, "memcast-ptx: %s: %s\n", path,
			*reason ? reason : complaint.text);
		request->failed = 1;
		return;
	}
	if (request->shows)
		show_image(&request->showing, path, image);
	else
		compile_image(&request->all, path, image);
	image_put(image);
}

/* A fatbin, or PTX by itself */
static void compile_alone(struct request *request, const char *path)
{
	FILE *stream = fopen(path, "r");
	size_t bytes = 0, got, room = 1 << 20;
	char *data = malloc(room + 1);

	while (stream && data && (got = fread(data + bytes, 1, room - bytes, stream))) {
		bytes += got;
		if (bytes == room) {
			room *= 2;
			data = realloc(data, room + 1);
		}
	}
	if (stream)
		fclose(stream);
	if (data && (image_is_ptx(data, bytes) || (bytes >= 16 && image_is_fatbin(data)))) {
		data[bytes] = '\0';
		request->all.windows = true;	/* for all that this tells */
		compile_data(request, path, data, bytes);
	}
	free(data);
}

static void compile_file(struct request *request, const char *path)
{
	const char *wrong;
	struct file file;

	wrong = file_load(&file, path);
	request->all.windows = file.windows;
	for (uint32_t i = 0; i < file.count && !request->all.stopped; i++)
		if (!file_is_part(&file, &file.wrappers[i]))
			compile_data(request, path, &file.wrappers[i], 0);
	if (!wrong && !file.wrappers)
		compile_alone(request, path);
	if (wrong) {
		fprintf(stderr, "memcast-ptx: %s: %s\n", path, wrong);
		request->failed = 1;
	}
	file_unload(&file);
}

static void take_word(struct request *request, const char *word, struct argp_state *state)
{
	request->files++;
	if (request->shows) {
		if (request->files > 2)
			argp_usage(state);
		if (request->files == 1)
			request->file = word;
		else
			request->showing.kernel = word;
		return;
	}
	if (request->files == 1) {
		request->all.object = open_object();
		request->all.until = request->seconds ? now() + request->seconds : 0;
	}
	if (!request->all.stopped)
		compile_file(request, word);
}

static int show_file(struct request *request)
{
	struct showing *showing = &request->showing;

	showing->object = open_object();
	compile_file(request, request->file);
	if (!showing->count && !showing->failed && !request->failed) {
		fprintf(stderr, "memcast-ptx: %s: no kernel has PTX%s%s\n", request->file,
			showing->kernel ? " and the name " : "", showing->kernel ?: "");
		return 1;
	}
	return request->failed || showing->failed;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case KEY_DUMP:
		request->shows = true;
		break;
	case 'j':
		request->all.jobs = range_option(state, arg, 1, 256);
		break;
	case 'q':
		request->quiet = true;
		break;
	case KEY_PROGRESS:
		request->all.shows = true;
		break;
	case KEY_SECONDS:
		request->seconds = count_option(state, arg, 1);
		break;
	case KEY_TARGET:
		if (strcmp(arg, "x86-64-v3"))
			argp_error(state, "the one target to choose is x86-64-v3");
		setenv("MEMCAST_PTX_TARGET", arg, 1);
		break;
	case ARGP_KEY_ARG:
		take_word(request, arg, state);
		break;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = argp_options, .parser = parse_option,
		.args_doc = "FILE…\n--dump FILE [KERNEL]",
		.doc = "Compiles the kernels of programs, libraries, fatbins and PTX files ahead of "
		       "time, into ~/.cache/memcast/ptx (MEMCAST_PTX_CACHE)."
		       "\vmemcast-vm --host does it for its program and the libraries that this is "
		       "linked with.\n\n"
		       "Exit status: 0, also if there are kernels that cannot be compiled; 1 if a "
		       "file cannot be read, or its code not linked, or if the time was up.",
	};
	struct request request = {};
	const char *target;
	cpu_set_t cpus;

	argp_err_exit_status = 2;
	argp_program_version = TOOLS_VERSION("memcast-ptx");
	request.all.jobs = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);
	/* options come first, wherever they stand */
	argp_parse(&argp, argc, argv, 0, NULL, &request);
	if (request.shows)
		return show_file(&request);
	target = getenv("MEMCAST_PTX_TARGET");
	if (request.all.stopped)
		fprintf(stderr, "memcast-ptx: the time is up; the rest is compiled when it is "
			"launched, or now by memcast-ptx%s%s and the same files\n",
			target ? " --target=" : "", target ? target : "");
	if (!request.quiet)
		printf("%u functions are compiled; %u cannot be\n", request.all.compiled,
		       request.all.lacking);
	return request.failed || request.all.stopped || request.all.incomplete || request.all.wrong;
}
