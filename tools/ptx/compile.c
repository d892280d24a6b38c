// SPDX-License-Identifier: MIT
/* Compiles an image's functions in several processes, and shows how far they are. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptx.h"
#include "shared/now.h"

#define JOBS_MOST	256

/* Variables only need to be somewhere: the code that is kept has no addresses. */
uint64_t variable_at(void *data, const char *name, uint32_t text, size_t bytes, size_t align)
{
	void *memory = NULL;

	(void)data, (void)name, (void)text;
	if (posix_memalign(&memory, align < 16 ? 16 : align, bytes + 16))
		return 0;
	memset(memory, 0, bytes + 16);
	return (uintptr_t)memory;
}

/* A process has compiled a function: one letter says so. */
static void told(void *data, const char *name, const char *wrong)
{
	(void)name;
	if (write(*(int *)data, wrong ? "-" : "+", 1) != 1)
		_exit(1);
}

static void show(const struct compiling *all, const char *path, uint32_t done, int count)
{
	static double shown;

	if (!shown)
		shown = now();
	if (!all->shows || now() - shown < 2)
		return;
	shown = now();
	fprintf(stderr, "memcast-ptx: %s: %u of %d functions compiled\n", path, done, count);
}

/* Reads what processes tell until all have ended, or until the time is up. */
static void listen(struct compiling *all, const char *path, int from, int count)
{
	struct pollfd ready = { .fd = from, .events = POLLIN };
	uint32_t done = 0;
	char letter;

	for (;;) {
		double left = all->until ? all->until - now() : 1;

		if (left <= 0) {
			all->stopped = true;
			return;
		}
		if (poll(&ready, 1, left < 1 ? (int)(left * 1000) + 1 : 1000) < 1)
			continue;
		if (read(from, &letter, 1) != 1)
			return;
		all->compiled += letter == '+';
		all->lacking += letter == '-';
		show(all, path, ++done, count);
	}
}

void compile_image(struct compiling *all, const char *path, const struct image *image)
{
	struct ptx_variables variables = { .address = variable_at };
	struct ptx_code *code;
	pid_t child[JOBS_MOST];
	struct ptx_log log;
	uint32_t jobs = all->jobs < JOBS_MOST ? all->jobs : JOBS_MOST;
	int pipes[2], count, status;

	if (!image->texts_count)
		return;
	if (all->object->code_new(image->texts, image->texts_count, &variables, &code, &log)) {
		fprintf(stderr, "memcast-ptx: %s: %s\n", path, log.text);
		all->wrong = true;
		return;
	}
	count = all->object->count(code);
	if (pipe(pipes)) {
		perror("memcast-ptx");
		exit(1);
	}
	for (uint32_t i = 0; i < jobs; i++) {
		child[i] = fork();
		if (child[i] < 0)
			all->incomplete = true;
		if (child[i])
			continue;
		close(pipes[0]);
		all->object->compile(code, i, jobs, all->windows, told, &pipes[1]);
		_exit(0);
	}
	close(pipes[1]);
	listen(all, path, pipes[0], count);
	close(pipes[0]);
	for (uint32_t i = 0; i < jobs; i++)
		if (child[i] > 0) {
			if (all->stopped)
				kill(child[i], SIGTERM);
			if (waitpid(child[i], &status, 0) < 0 || status)
				all->incomplete = true;
		}
	all->object->code_free(code);
}
