// SPDX-License-Identifier: MIT
/*
 * Launches. The thread that calls ptx_run() runs blocks itself; threads of a pool help it, as
 * many as there are processors besides. They sleep while there is nothing to help with. A launch
 * needs none of them, so that launches of all streams go on side by side.
 */
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inside.h"
#include "processor.h"

#define ALTERNATE_BYTES	(64UL << 10)
#define SERIAL_STACK	(256U << 10)
#define STACK_LEAST	(16U << 10)	/* of a kernel whose frame is not known */
/*
 * Of one whose stack gets as deep as its calls and allocas have it. Functions that NCCL calls through
 * pointers have frames of up to 200 KiB, and a recursive one's is larger than on a device, for which
 * a program has chosen its limit. It is address space; memory is taken for what is used of it.
 */
#define STACK_DEEP	(1U << 20)

/* Runners take so many shares of a grid, so that all end at about the same time. */
#define SHARES		256
#define SHARE_MOST	16
/* Blocks that run as one: the longer its rows are, the better */
#define SHARE_MOST_JOINED	64
#define SHARES_EACH	8		/* of blocks with loops, for each processor at least */

/* Protects the list of grids, their helpers and offered, and the counts. Taken alone. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t offers = PTHREAD_COND_INITIALIZER;
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static struct ptx_grid *grids;
static uint32_t helpers, sleeping;
static pid_t helpers_process;		/* a child of fork() has no helpers */

/* Ends a launch. The first reason counts. */
void launch_failed(struct ptx_grid *grid, int result, const char *format, ...)
{
	va_list list;

	if (atomic_exchange(&grid->failed, true))
		return;
	grid->outcome->result = result;
	va_start(list, format);
	vsnprintf(grid->outcome->reason, sizeof(grid->outcome->reason), format, list);
	va_end(list);
	if (grid->launch->kernel->checked)
		fprintf(stderr, "memcast[%d]: MEMCAST_PTX_CHECK: %s\n", (int)getpid(),
			grid->outcome->reason);
}

static uint32_t helpers_wanted(void)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return 0;
	return CPU_COUNT(&cpus) - 1;
}

/* A stack for signals, as the kernel's own may have overflowed */
static void signal_stack(struct runner *runner)
{
	stack_t stack = { .ss_size = ALTERNATE_BYTES };

	stack.ss_sp = mmap(NULL, ALTERNATE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack.ss_sp == MAP_FAILED)
		return;
	runner->alternate = stack.ss_sp;
	sigaltstack(&stack, NULL);
}

/* With the lock held. Return: a grid that has blocks to start */
static struct ptx_grid *find_work(void)
{
	struct ptx_grid *grid = grids;

	while (grid && (grid->failed || grid->started >= grid->clusters ||
			grid->running >= grid->resident))
		grid = grid->next;
	return grid;
}

static void *help(void *unused)
{
	struct runner *runner = runner_get();
	struct ptx_grid *grid;

	(void)unused;
	pthread_setname_np(pthread_self(), "memcast-block");
	if (!runner)
		return NULL;
	signal_stack(runner);
	pthread_mutex_lock(&lock);
	for (;;) {
		grid = find_work();
		if (!grid) {
			sleeping++;
			pthread_cond_wait(&offers, &lock);
			sleeping--;
			continue;
		}
		grid->helpers++;
		pthread_mutex_unlock(&lock);
		runner_work(runner, grid);
		pthread_mutex_lock(&lock);
		if (!--grid->helpers)
			pthread_cond_broadcast(&left);
	}
	return NULL;
}

/*
 * With the lock held: starts helpers that are missing. Signals are for other threads, but for those
 * that an instruction raises.
 */
static void helpers_start(void)
{
	static const int raised[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
	sigset_t all, before;
	pthread_t thread;

	if (helpers_process != getpid()) {
		helpers = 0;
		sleeping = 0;
		helpers_process = getpid();
	}
	sigfillset(&all);
	for (size_t i = 0; i < sizeof(raised) / sizeof(*raised); i++)
		sigdelset(&all, raised[i]);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (; helpers < helpers_wanted(); helpers++) {
		if (pthread_create(&thread, NULL, help, NULL))
			break;
		pthread_detach(thread);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A block of a grid has started here: others may start elsewhere. */
void launch_more(struct ptx_grid *grid)
{
	if (grid->offered || grid->started >= grid->clusters)
		return;
	pthread_mutex_lock(&lock);
	if (!grid->offered) {
		grid->offered = true;
		grid->next = grids;
		grids = grid;
		helpers_start();
		if (sleeping)
			pthread_cond_broadcast(&offers);
	}
	pthread_mutex_unlock(&lock);
}

/* No further helper comes; waits for those that are there. */
static void withdraw(struct ptx_grid *grid)
{
	struct ptx_grid **link = &grids;

	if (!grid->offered)
		return;
	pthread_mutex_lock(&lock);
	while (*link != grid)
		link = &(*link)->next;
	*link = grid->next;
	while (grid->helpers)
		pthread_cond_wait(&left, &lock);
	pthread_mutex_unlock(&lock);
}

static uint32_t stack_of(const struct ptx_launch *launch, bool serial)
{
	uint32_t frame = launch->kernel->frame;

	if (!frame) {
		frame = launch->stack_limit;
		if (frame < STACK_LEAST)
			frame = STACK_LEAST;
		if (launch->kernel->deep && frame < STACK_DEEP)
			frame = STACK_DEEP;
	}
	frame += FRAME_SLACK;
	if (serial && frame < SERIAL_STACK)
		frame = SERIAL_STACK;
	/* an odd number of cache lines, so that stacks do not all begin in the same set of a cache */
	return ((frame + 63) & ~63U) | 64;
}

/* Return: how many clusters a runner takes at a time */
static uint32_t share_of(const struct ptx_grid *grid)
{
	uint32_t joins = grid->launch->kernel->joins / grid->threads;
	uint64_t most = joins > 1 ? SHARE_MOST_JOINED : SHARE_MOST, few;
	uint64_t share = grid->clusters / SHARES;

	if (joins > 1 && share < joins && joins <= PTX_BLOCK_THREADS && grid->clusters > 1) {
		few = grid->clusters / (SHARES_EACH * (1 + helpers_wanted()));
		few = few < joins ? few : joins;
		share = few > share ? few : share;
	}
	return share < 1 ? 1 : share > most ? most : share;
}

const struct ptx_kernel *ptx_run_kernel(const struct ptx_thread *thread)
{
	return thread->block->runner->grid->launch->kernel;
}

/* Runs all blocks of a launch. When it returns, the launch has ended, well or not. */
void ptx_run(const struct ptx_launch *launch, struct ptx_outcome *outcome)
{
	static atomic_ullong ids = 1;
	struct runner *runner = runner_get();
	struct ptx_grid grid = {
		.launch = launch, .outcome = outcome, .id = ids++,
		.threads = launch->block[0] * launch->block[1] * launch->block[2],
		.blocks_each = launch->cluster[0] * launch->cluster[1] * launch->cluster[2],
		.clusters = 1, .resident = UINT64_MAX,
		.serial = !launch->kernel->waits,
	};

	outcome->result = 0;
	outcome->reason[0] = '\0';
	grid.workspace[0] = sizeof(grid.workspace);
	grid.stack_each = stack_of(launch, grid.serial);
	for (int i = 0; i < 3; i++) {
		grid.nclusterid[i] = launch->grid[i] / launch->cluster[i];
		grid.clusters *= grid.nclusterid[i];
	}
	grid.share = share_of(&grid);
	if (launch->resident && !launch->cooperative)
		grid.resident = launch->resident / grid.blocks_each ?
				launch->resident / grid.blocks_each : 1;
	if (!runner) {
		launch_failed(&grid, RESULT_OUT_OF_MEMORY, "no memory to run blocks");
		return;
	}
	runner_work(runner, &grid);
	withdraw(&grid);
}
