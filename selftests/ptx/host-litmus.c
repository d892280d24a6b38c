// SPDX-License-Identifier: MIT
/*
 * Orders of memory: two blocks of a launch, and two processes, exchange words as NCCL does and as
 * books on memory orders do. What no order of PTX allows is never seen.
 *
 *	host-litmus MEMCAST-PTX.SO [ROUNDS]
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define GROUP	"litmus"
#include "translate.h"
#include "litmus_kernels.h"

static uint32_t rounds = 2000;
static struct ptx_code *code;

static void launch_sides(const char *kernel, void *at, uint32_t threads, uint32_t side,
			 uint32_t sides, char *reason, size_t size)
{
	static const struct ptx_run_host host;
	struct { uint64_t at; uint32_t side, rounds; } parameters = {
		(uintptr_t)at, side, rounds,
	};
	struct ptx_launch launch = {
		.parameters = &parameters, .grid = { sides, 1, 1 }, .block = { threads, 1, 1 },
		.cluster = { 1, 1, 1 }, .multiprocessors = 2, .resident = sides,
		.cooperative = true, .stack_limit = 65536, .host = &host,
	};
	struct ptx_outcome outcome = {};
	struct ptx_log log = {};

	if (object->kernel(code, kernel, &launch.kernel, &log)) {
		snprintf(reason, size, "%.200s", log.text);
		return;
	}
	object->run(&launch, &outcome);
	if (outcome.result)
		snprintf(reason, size, "%.200s", outcome.reason);
}

static void by_processes(const char *kernel, void *at, uint32_t threads, char *reason, size_t size)
{
	int status;
	pid_t child = fork();

	if (!child) {
		launch_sides(kernel, at, threads, 1, 1, reason, size);
		_exit(*reason != 0);
	}
	launch_sides(kernel, at, threads, 0, 1, reason, size);
	if (waitpid(child, &status, 0) != child || status)
		snprintf(reason, size, "the other process has failed");
}

static void litmus(const char *kernel, uint32_t threads, bool processes)
{
	size_t bytes = 8192 + 8 * (size_t)rounds;
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char reason[256] = "", name[64];
	uint32_t wrong;

	if (processes)
		by_processes(kernel, at, threads, reason, sizeof(reason));
	else
		launch_sides(kernel, at, threads, 0, 2, reason, sizeof(reason));
	wrong = *(uint32_t *)(at + 1024);
	if (!strcmp(kernel, "store_buffer"))
		for (uint32_t round = 1; round <= rounds; round++) {
			const uint32_t *saw = (uint32_t *)(at + 4096 + 8 * (size_t)round);

			wrong += saw[0] < round && saw[1] < round;
		}
	if (!*reason && wrong)
		snprintf(reason, sizeof(reason), "%u of %u rounds are wrong", wrong, rounds);
	snprintf(name, sizeof(name), "%s.%s", processes ? "processes" : "blocks", kernel);
	told(name, !*reason, reason);
	munmap(at, bytes);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *kernel;
		uint32_t threads;
	} tests[] = {
		{ "message_release", 1 }, { "message_fence", 1 }, { "message_volatile", 1 },
		{ "message_atomic", 1 }, { "store_buffer", 1 }, { "low_latency", 1 },
		{ "low_latency_128", 32 },
	};
	size_t count = sizeof(tests) / sizeof(*tests);
	struct ptx_log log;

	if (!open_object(argc > 1 ? argv[1] : NULL))
		return 2;
	if (argc > 2)
		rounds = strtoul(argv[2], NULL, 0);
	printf("TAP version 13\n1..%zu\n", 2 * count);
	fflush(stdout);
	if (load(litmus_kernels, sizeof(litmus_kernels) - 1, &code, &log)) {
		printf("Bail out! %s\n", log.text);
		return 1;
	}
	for (size_t i = 0; i < 2 * count; i++) {
		litmus(tests[i / 2].kernel, tests[i / 2].threads, i & 1);
		fflush(stdout);
	}
	return failed;
}
