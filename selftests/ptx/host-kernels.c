// SPDX-License-Identifier: MIT
/*
 * Whole kernels without a device: what they write and print, against kernels.txt, which was
 * recorded on an H100.
 *
 *	host-kernels MEMCAST-PTX.SO KERNELS.TXT
 *
 * A kernel gets 64 KiB of input (%di), words of output for each thread (%do) and 64 KiB of zeros
 * (%ds). A result is the FNV-1a hash of all words of output and the first bytes at %ds. Each kernel
 * runs twice, the second time as one for windows: its plain stores to output go to a copy as well.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "memcast/view.h"
#include "catch_faults.h"
#include "translate/ptx_object.h"

#define INPUT	(256 << 10)
#define OUTPUT	(1 << 20)
#define SCRATCH	(64 << 10)
#define SLEEPS	1000		/* fewer than of one that computes and is taken to wait */
#define WINDOW	0x700000000000UL	/* of a multicast object that shows both replicas */

static const struct ptx_object *object;
/* as device memory begins */
static unsigned char __attribute__((aligned(256)))
	input[INPUT], output[OUTPUT], copy[OUTPUT], scratch[SCRATCH], replica[2][SCRATCH];
static struct ptx_window window = { WINDOW, { .replicas = 2, .bytes = SCRATCH } };
/* at output itself, for plain stores */
static struct ptx_window outputs = { .view = { .replicas = 2, .bytes = OUTPUT } };
static int number, failed;

/* A kernel of kernels.txt */
struct kernel {
	char name[200], body[8192], declared[4096], says[512], reason[512];
	unsigned int grid, block, cluster, words, left;
	unsigned long long hash;
	int result;
	bool window;			/* %ds is one; scratch then has both replicas' bytes */
	bool computes;			/* its threads wait for nobody, so that they never sleep */
};

static uint64_t variable_at(void *data, const char *name, uint32_t text, size_t bytes, size_t align)
{
	(void)data, (void)name, (void)text, (void)align;
	return (uintptr_t)calloc(1, bytes + 16);
}

static const struct ptx_window *window_at(uint64_t address, size_t *offset)
{
	*offset = address - WINDOW;
	return *offset < SCRATCH ? &window : NULL;
}

static unsigned char pattern(unsigned int i)
{
	uint32_t x = i * 2654435761U + 12345;

	x ^= x >> 15;
	x *= 2246822519U;
	return x ^ x >> 13;
}

static unsigned long long hash_of(unsigned long long hash, const unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hash = (hash ^ bytes[i]) * 1099511628211ULL;
	return hash;
}

static char *text_of(const struct kernel *kernel)
{
	char *text = malloc(sizeof(kernel->body) + sizeof(kernel->declared) + 2048), at[64] = "";

	if (kernel->cluster > 1)
		snprintf(at, sizeof(at), ".explicitcluster .reqnctapercluster %u, 1, 1 ",
			 kernel->cluster);
	sprintf(text, ".version 8.7\n.target sm_90\n.address_size 64\n%s"
		".visible .entry k(.param .u64 pi, .param .u64 po, .param .u64 ps) %s{\n"
		".reg .b32 %%r<128>, %%t, %%gt, %%f<64>; .reg .b64 %%d<64>, %%di, %%do, %%ds;\n"
		".reg .b16 %%h<32>; .reg .pred %%p<16>; .reg .b128 %%q<4>;\n"
		"ld.param.u64 %%di, [pi]; ld.param.u64 %%do, [po]; ld.param.u64 %%ds, [ps];\n"
		"mov.u32 %%r0, %%ctaid.x; mov.u32 %%r1, %%ntid.x; mov.u32 %%t, %%tid.x;\n"
		"mad.lo.u32 %%gt, %%r0, %%r1, %%t; mad.wide.u32 %%do, %%gt, %u, %%do;\n"
		"%s\nret;\n}\n", kernel->declared, at, 4 * kernel->words, kernel->body);
	return text;
}

/* @windows: what the kernel stores to output is stored to copy, too */
static int run(const struct kernel *kernel, bool windows, struct ptx_log *log)
{
	static const struct ptx_run_host host = { .catch = set_catcher, .window_at = window_at };
	void *parameters[] = { input, output, kernel->window ? (void *)WINDOW : scratch };
	struct ptx_launch launch = {
		.parameters = parameters, .grid = { kernel->grid, 1, 1 },
		.block = { kernel->block, 1, 1 }, .cluster = { kernel->cluster, 1, 1 },
		.is_cluster = kernel->cluster > 1, .multiprocessors = 132, .resident = 264,
		.stack_limit = 65536, .heap_limit = 8 << 20, .host = &host,
	};
	struct ptx_variables where = { .address = variable_at };
	struct ptx_outcome outcome = {};
	char *text = text_of(kernel);
	struct ptx_text texts[] = { { text, strlen(text) }, { text, 50 } };
	struct ptx_code *code;
	int result;

	log->text[0] = '\0';
	/* a second text, of only a head: then the object writes initial values by itself */
	texts[1].bytes = strchr(strstr(text, ".address"), '\n') - text;
	result = object->code_new(texts, 2, &where, &code, log);
	if (result) {
		free(text);
		return result;
	}
	result = object->kernel(code, "k", &launch.kernel, log);
	if (!result && windows) {
		launch.kernel = object->for_windows(code, launch.kernel);
		launch.window = &outputs;
	}
	if (!result) {
		object->run(&launch, &outcome);
		snprintf(log->text, sizeof(log->text), "%s", outcome.reason);
		result = outcome.result;
	}
	object->code_free(code);
	free(text);
	return result;
}

/* Runs with standard output and error in a file, and reads it: \n stands for a newline. */
static int run_and_read(const struct kernel *kernel, bool windows, struct ptx_log *log, char *said,
			size_t size)
{
	int kept[2] = { dup(1), dup(2) }, result, byte;
	FILE *file = tmpfile();
	size_t used = 0;

	fflush(stdout);
	dup2(fileno(file), 1);
	dup2(fileno(file), 2);
	result = run(kernel, windows, log);
	fflush(stdout);
	dup2(kept[0], 1);
	dup2(kept[1], 2);
	close(kept[0]);
	close(kept[1]);
	rewind(file);
	while ((byte = getc(file)) != EOF && used + 3 < size)
		used += snprintf(said + used, size - used, byte == '\n' ? "\\n" : "%c", byte);
	said[used] = '\0';
	fclose(file);
	return result;
}

static void judge(const struct kernel *kernel, bool windows)
{
	size_t words = 4UL * kernel->words * kernel->grid * kernel->block;
	unsigned long long hash = 1469598103934665603ULL;
	char said[1024] = "";
	struct rusage before, after;
	struct ptx_log log;
	bool good;
	int result;

	memset(output, 0xee, sizeof(output));
	memset(copy, 0xee, sizeof(copy));
	memset(scratch, 0, sizeof(scratch));
	memset(replica, 0, sizeof(replica));
	getrusage(RUSAGE_SELF, &before);
	result = run_and_read(kernel, windows, &log, said, sizeof(said));
	getrusage(RUSAGE_SELF, &after);
	if (kernel->window)
		for (int i = 0; i < 2; i++)
			hash = hash_of(hash, replica[i], kernel->left);
	hash = hash_of(hash_of(hash, output, words), scratch, kernel->window ? 0 : kernel->left);
	good = result == kernel->result && !strcmp(said, kernel->says) &&
	       strstr(log.text, kernel->reason) && (result || hash == kernel->hash) &&
	       !(windows && memcmp(output, copy, words)) &&
	       !(kernel->computes && after.ru_nvcsw - before.ru_nvcsw > SLEEPS);
	if (!good)
		printf("# result %d %s\n# hash %016llx, not %016llx\n# says %s\n# slept %ld times\n",
		       result, log.text, hash, kernel->hash, said,
		       after.ru_nvcsw - before.ru_nvcsw);
	printf("%sok %d ptx.kernels.%s%s\n", good ? "" : "not ", ++number, kernel->name,
	       windows ? ", with a window" : "");
	failed |= !good;
}

/* Reads the next kernel; see the head of kernels.txt. */
static bool next(FILE *file, struct kernel *kernel)
{
	static char line[8192];
	bool found = false;

	memset(kernel, 0, sizeof(*kernel));
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line == '\t')
			strncat(strcat(kernel->body, "\n"), line,
				sizeof(kernel->body) - strlen(kernel->body) - 2);
		else if (*line == '.')
			strncat(strcat(kernel->declared, line), "\n",
				sizeof(kernel->declared) - strlen(kernel->declared) - 1);
		else if (!strncmp(line, "says ", 5))
			snprintf(kernel->says, sizeof(kernel->says), "%.500s", line + 5);
		else if (!strncmp(line, "reason ", 7))
			snprintf(kernel->reason, sizeof(kernel->reason), "%.500s", line + 7);
		else if (!strncmp(line, "result ", 7))
			kernel->result = atoi(line + 7);
		else if (!strcmp(line, "window"))
			kernel->window = true;
		else if (!strcmp(line, "computes"))
			kernel->computes = true;
		else if (!strncmp(line, "shape ", 6))
			sscanf(line + 6, "%u %u %u %u %u %llx", &kernel->grid, &kernel->block,
			       &kernel->cluster, &kernel->words, &kernel->left, &kernel->hash);
		else if (!*line && found)
			return true;
		else if (*line && *line != '#' && snprintf(kernel->name, sizeof(kernel->name), "%.190s", line))
			found = true;
	}
	return found;
}

int main(int argc, char **argv)
{
	void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	FILE *file = argc == 3 ? fopen(argv[2], "r") : NULL;
	static struct kernel kernel;

	object = library ? dlsym(library, PTX_OBJECT_SYMBOL) : NULL;
	if (!object || object->version != PTX_OBJECT_VERSION || !file) {
		fprintf(stderr, "%s\n", library ? "no object or no kernels" : dlerror());
		return 2;
	}
	for (unsigned int i = 0; i < sizeof(input); i++)
		input[i] = pattern(i);
	for (int i = 0; i < 2; i++)
		window.view.replica[i] = replica[i];
	catch_faults();
	outputs.start = (uintptr_t)output;
	outputs.view.replica[0] = output;
	outputs.view.replica[1] = copy;
	while (next(file, &kernel)) {
		judge(&kernel, false);
		judge(&kernel, true);
	}
	fclose(file);
	printf("1..%d\n", number);
	return failed;
}
