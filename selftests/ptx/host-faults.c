// SPDX-License-Identifier: MIT
/*
 * Faulty kernels, one in a file, without a device: how each launch ends, and what it says.
 *
 *	host-faults MEMCAST-PTX.SO FILE.ptx…
 *
 * Lines of a file that begin with "//" tell the test:
 *
 *	// check		with MEMCAST_PTX_CHECK=1
 *	// launch GRID BLOCK DYNAMIC	blocks, threads of a block, bytes of dynamic shared memory
 *	// result NUMBER	of the launch
 *	// says TEXT		a part of its words
 *	// writes NUMBER	the first word of the memory afterwards, if the launch succeeds
 *
 * A line that ends in "// here" is the one that the words name, and "// there" one that they name
 * as well. Kernel k gets addresses: of 256 bytes of memory, of a window, of 256 bytes that the
 * device may only read, of memory that the process has and the device has not, and 0.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "memcast/view.h"
#include "catch_faults.h"

#define GROUP "faults"
#include "translate.h"

#define WINDOW	0x700000000000UL	/* of a multicast object with one replica */
#define BYTES	256

static struct {
	_Alignas(256) unsigned char before[BYTES], memory[BYTES], after[BYTES], only_read[BYTES],
		last[BYTES];
} all;
static unsigned char replica[BYTES];
static struct ptx_window window = { WINDOW, { .replicas = 1, .bytes = BYTES } };
static char *stack;				/* of the process */

static const struct ptx_window *window_at(uint64_t address, size_t *offset)
{
	/* a kernel's stack is too small for what the program does as it hears of an error */
	if (labs(stack - (char *)__builtin_frame_address(0)) > 65536)
		abort();
	*offset = address - WINDOW;
	return *offset < BYTES ? &window : NULL;
}

static bool reach(void *data, uint64_t address, struct ptx_reach *found)
{
	const struct {
		uint64_t start, bytes;
		bool stores, window;
	} ranges[] = {
		{ (uintptr_t)all.memory, BYTES, true, false },
		{ (uintptr_t)all.only_read, BYTES, false, false },
		{ (uintptr_t)variables, sizeof(variables), true, false },
		{ WINDOW, BYTES, true, true },
	};

	(void)data;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (address - ranges[i].start < ranges[i].bytes) {
			*found = (struct ptx_reach) {
				.start = ranges[i].start,
				.end = ranges[i].start + ranges[i].bytes,
				.stores = ranges[i].stores, .window = ranges[i].window,
			};
			return true;
		}
	snprintf(found->text, sizeof(found->text), "not the context's");
	return false;
}

/* What a file tells */
struct fault {
	bool checks, writes;
	int result;
	unsigned int launch[3], value;
	char says[12][160];
	int says_count;
};

/* Return: the file's text, in memory that stays */
static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 65536);

	if (!file || !text || !fread(text, 1, 65535, file)) {
		perror(path);
		exit(2);
	}
	fclose(file);
	return text;
}

static void says(struct fault *fault, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	if (fault->says_count == 12)
		abort();
	vsnprintf(fault->says[fault->says_count++], sizeof(fault->says[0]), format, list);
	va_end(list);
}

static void read_fault(const char *text, struct fault *fault)
{
	char line[400];
	int number_of_line = 1;

	*fault = (struct fault) { .launch = { 1, 64, 0 } };
	for (const char *at = text; *at; at += strcspn(at, "\n") + 1, number_of_line++) {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		if (!strcmp(line, "// check"))
			fault->checks = true;
		else if (!strncmp(line, "// says ", 8))
			says(fault, "%s", line + 8);
		else if (sscanf(line, "// result %d", &fault->result) == 1)
			continue;
		else if (sscanf(line, "// writes %u", &fault->value) == 1)
			fault->writes = true;
		else if (sscanf(line, "// launch %u %u %u", &fault->launch[0], &fault->launch[1],
				&fault->launch[2]) == 3)
			continue;
		else if (strstr(line, "// here") || strstr(line, "// there"))
			says(fault, "line %d", number_of_line);
	}
}

static int launch(const struct fault *fault, const char *text, struct ptx_outcome *outcome)
{
	static const struct ptx_run_host host = {
		.catch = set_catcher, .window_at = window_at, .reach = reach,
	};
	void *parameters[] = {
		all.memory, (void *)WINDOW, all.only_read, all.last, NULL,
	};
	struct ptx_launch launch = {
		.parameters = parameters, .grid = { fault->launch[0], 1, 1 },
		.block = { fault->launch[1], 1, 1 }, .cluster = { 1, 1, 1 },
		.dynamic_shared = fault->launch[2], .multiprocessors = 1, .stack_limit = 1024,
		.heap_limit = 1 << 20, .host = &host,
	};
	struct ptx_code *code;
	struct ptx_log log = {};
	int result;

	setenv("MEMCAST_PTX_CHECK", fault->checks ? "1" : "0", 1);
	result = load(text, strlen(text), &code, &log);
	/* what was set as the code was loaded counts, for all of it */
	setenv("MEMCAST_PTX_CHECK", fault->checks ? "0" : "1", 1);
	if (!result) {
		result = object->kernel(code, "k", &launch.kernel, &log);
		if (!result) {
			object->run(&launch, outcome);
			result = outcome->result;
		}
		object->code_free(code);
	}
	if (*log.text)
		snprintf(outcome->reason, sizeof(outcome->reason), "%.500s", log.text);
	return result;
}

/* Reads what was written to standard error, from a file that is in its place. */
static void read_said(FILE *file, char *said, size_t size)
{
	fflush(stderr);
	rewind(file);
	said[fread(said, 1, size - 1, file)] = '\0';
	if (ftruncate(fileno(file), 0))
		abort();
	rewind(file);
}

/* A number at the end of the words ends there in the text, too. */
static bool has_words(const char *text, const char *words)
{
	size_t length = strlen(words);

	while ((text = strstr(text, words)) && isdigit(words[length - 1]) && isdigit(text[length]))
		text++;
	return text;
}

static void judge(const char *path, FILE *file)
{
	const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path;
	struct ptx_outcome outcome = {};
	char name[64], said[2048], why[4096];
	struct fault fault;
	char *text = read_file(path);
	uint32_t word;
	bool good;
	int result;

	read_fault(text, &fault);
	memset(&all, 0, sizeof(all));
	result = launch(&fault, text, &outcome);
	read_said(file, said, sizeof(said));
	memcpy(&word, all.memory, sizeof(word));
	good = result == fault.result && (!fault.writes || word == fault.value) &&
	       (!fault.result || fault.says_count > 1);
	for (int i = 0; i < fault.says_count; i++)
		good &= has_words(outcome.reason, fault.says[i]);
	/* a finding is on standard error, too, word for word; nothing else is */
	if (fault.checks && fault.result)
		good &= strstr(said, outcome.reason) && strstr(said, "MEMCAST_PTX_CHECK: ");
	else if (fault.result != 710)
		good &= !*said;
	snprintf(why, sizeof(why), "result %d, not %d; word %u; it says: %s; and %s", result,
		 fault.result, word, outcome.reason, said);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(start, "."), start);
	told(name, good, why);
	free(text);
}

int main(int argc, char **argv)
{
	FILE *file = tmpfile();
	int kept = dup(2);

	if (!open_object(argc > 1 ? argv[1] : NULL) || !file)
		return 2;
	window.view.replica[0] = replica;
	stack = __builtin_frame_address(0);
	catch_faults();
	dup2(fileno(file), 2);
	for (int i = 2; i < argc; i++)
		judge(argv[i], file);
	dup2(kept, 2);
	printf("1..%d\n", number);
	return failed;
}
