// SPDX-License-Identifier: MIT
/*
 * Runners: give the threads of blocks their turns. A round gives each thread of a block that
 * can run one turn; a thread that waits hands its turn straight to the next one. When all
 * threads of all blocks wait, or only poll, the next block begins; when no block is left or may
 * begin, the runner yields its processor, and in the end sleeps between rounds.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"
#include "processor.h"

#define ROUNDS		64		/* after so many in which a thread polls the next block starts */
#define SPARES_MOST	8		/* clusters' memory that a runner keeps */

static __thread struct runner *here;
static pthread_key_t key = PTHREAD_KEYS_MAX;	/* if none is left: key 0 is the program's */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void spares_free(struct runner *runner)
{
	struct cluster *cluster;

	while ((cluster = runner->spare)) {
		runner->spare = cluster->next;
		cluster_free(cluster);
	}
}

static void runner_end(void *data)
{
	struct runner *runner = data;

	spares_free(runner);
	free(runner);
}

static void make_key(void)
{
	pthread_key_create(&key, runner_end);
}

/* Return: the runner of this thread; NULL: no memory */
struct runner *runner_get(void)
{
	if (here)
		return here;
	pthread_once(&once, make_key);
	here = calloc(1, sizeof(*here));
	if (here)
		pthread_setspecific(key, here);
	return here;
}

void queue_add(struct queue *queue, struct fiber *fiber)
{
	fiber->next = NULL;
	if (queue->first)
		queue->last->next = fiber;
	else
		queue->first = fiber;
	queue->last = fiber;
}

static struct fiber *queue_take(struct ptx_block *block)
{
	struct fiber *fiber = block->ready.first;

	block->ready.first = fiber->next;
	block->queued--;
	return fiber;
}

/* Lets a thread run: it gets its turn after all that wait for theirs. */
void fiber_wake(struct fiber *fiber)
{
	struct ptx_block *block = fiber->at.block;

	fiber->state = FIBER_READY;
	queue_add(&block->ready, fiber);
	block->queued++;
	block->happened = true;
}

/* Wakes all threads of a list, in its order. */
void fibers_wake(struct queue *queue)
{
	struct fiber *fiber = queue->first, *next;

	for (*queue = (struct queue) {}; fiber; fiber = next) {
		next = fiber->next;
		fiber_wake(fiber);
	}
}

/*
 * Leaves a thread that has no turn any more, for the next one of the round. It goes on after
 * fiber_wake(), which may have been called already.
 */
void fiber_wait(struct fiber *fiber)
{
	struct ptx_block *block = fiber->at.block;
	struct runner *runner = block->runner;
	struct fiber *next;

	if (!block->turns || runner->grid->failed) {
		fiber_switch(&fiber->stack, runner->stack);
		return;
	}
	block->turns--;
	next = queue_take(block);
	next->polled = false;
	runner->current = next;
	if (next != fiber)
		fiber_switch(&fiber->stack, next->stack);
}

/* @happened: it has done more than to wait, whatever has_progressed() says */
static void poll(struct fiber *fiber, bool happened)
{
	struct ptx_block *block = fiber->at.block;

	fiber->at.poll_budget = PTX_POLL_BUDGET;
	if (block->serial && !block->runner->grid->failed)
		return;
	fiber->polled = block->runner->polled = true;
	block->happened |= has_progressed(fiber) || happened;
	queue_add(&block->ready, fiber);
	block->queued++;
	fiber_wait(fiber);
}

void ptx_run_poll(struct ptx_thread *thread)
{
	poll(fiber_of(thread), false);
}

/* Of a loop that has no instruction by which it could wait, but in functions that it calls. */
void ptx_run_poll_blind(struct ptx_thread *thread)
{
	struct fiber *fiber = fiber_of(thread);

	poll(fiber, only_computes(fiber));
}

/* Any time from 0 to twice that is right. */
void ptx_run_nanosleep(struct ptx_thread *thread, uint32_t nanoseconds)
{
	struct fiber *fiber = fiber_of(thread);

	poll(fiber, only_delays(fiber, nanoseconds));
}

void ptx_run_exit(struct ptx_thread *thread)
{
	struct fiber *fiber = fiber_of(thread);
	struct ptx_block *block = thread->block;

	block->live--;
	block->cluster->live--;
	block->happened = true;
	if (block->serial) {
		fiber_switch(&fiber->stack, block->runner->stack);
		__builtin_unreachable();
	}
	fiber->state = FIBER_DONE;
	block->warps[thread->warpid].live &= ~(1U << thread->laneid);
	warp_left(fiber);
	barriers_left(fiber);
	fiber_wait(fiber);
	__builtin_unreachable();
}

void ptx_run_host(struct ptx_thread *thread, void (*function)(void *), void *data)
{
	struct runner *runner = thread->block->runner;

	runner->call = function;
	runner->call_data = data;
	fiber_switch(&fiber_of(thread)->stack, runner->stack);
}

/* Gives a thread its turn; the turn may end in another thread. */
static void resume(struct runner *runner, struct fiber *fiber)
{
	fiber->polled = false;
	runner->current = fiber;
	fiber_switch(&runner->stack, fiber->stack);
	while (runner->call) {
		void (*call)(void *data) = runner->call;

		runner->call = NULL;
		call(runner->call_data);
		fiber_switch(&runner->stack, runner->current->stack);
	}
}

/* Gives each thread of a block that can run a turn. Return: did one do more than poll? */
static bool block_round(struct runner *runner, struct ptx_block *block)
{
	block->happened = false;
	if (block->serial) {
		resume(runner, queue_take(block));
		return true;
	}
	for (block->turns = block->queued; block->turns && !runner->grid->failed;) {
		block->turns--;
		resume(runner, queue_take(block));
	}
	warps_meet(block);
	return block->happened;
}

static void cluster_finish(struct runner *runner, struct cluster *cluster)
{
	struct cluster **last = &runner->spare;

	runner->grid->running--;
	runner->active_count--;
	cluster->next = runner->spare;
	runner->spare = cluster;
	for (int i = 0; *last && i < SPARES_MOST; i++)
		last = &(*last)->next;
	/* the one that has served nobody for longest */
	cluster_free(*last);
	*last = NULL;
}

/* Gives all threads of a cluster a turn. Return: did one do more than poll? */
static bool cluster_round(struct runner *runner, struct cluster *cluster)
{
	bool happened = false, can_run = false;

	for (uint32_t i = 0; i < cluster->count; i++) {
		struct ptx_block *block = &cluster->blocks[i];

		if (!block->live)
			continue;
		happened |= block_round(runner, block);
		if (!block->live)
			cluster->live_blocks--;
	}
	for (uint32_t i = 0; i < cluster->count; i++)
		can_run |= cluster->blocks[i].queued;
	if (cluster->live_blocks && !can_run && !runner->grid->failed)
		stuck_explain(runner, cluster);
	return happened;
}

/* Starts the next cluster, if there is one and it may run with the others. */
static bool start_next(struct runner *runner, struct ptx_grid *grid)
{
	struct cluster *cluster;
	uint64_t number;

	if (grid->started >= grid->clusters)
		return false;
	if (++grid->running > grid->resident) {
		grid->running--;
		return false;
	}
	number = grid->started++;
	if (number >= grid->clusters) {
		grid->running--;
		return false;
	}
	cluster = cluster_start(runner, grid, number);
	if (!cluster) {
		grid->running--;
		launch_failed(grid, RESULT_OUT_OF_MEMORY, "no memory for threads of kernel %.80s",
			      grid->launch->kernel->name);
		return false;
	}
	cluster->next = runner->active;
	runner->active = cluster;
	runner->active_count++;
	return true;
}

/*
 * Starts the next cluster; more of them if threads have polled for many rounds, which may wait for
 * all clusters of the grid. Return: was there one?
 */
static bool start_more(struct runner *runner, struct ptx_grid *grid, bool polled)
{
	uint32_t count = polled ? 1 + runner->active_count / 2 : 1, i = 0;

	while (i < count && start_next(runner, grid))
		i++;
	return i;
}

/* Gives each cluster a round. Return: did a thread do more than poll? */
static bool all_rounds(struct runner *runner)
{
	struct cluster **link = &runner->active, *cluster;
	bool happened = false;

	while ((cluster = *link) && !runner->grid->failed) {
		happened |= cluster_round(runner, cluster);
		if (cluster->live_blocks || runner->grid->failed) {
			link = &cluster->next;
			continue;
		}
		*link = cluster->next;
		cluster_finish(runner, cluster);
		happened = true;
	}
	return happened;
}

/*
 * A failure ends all kernels of its device: threads may wait for one that has failed. Return: has
 * the launch's context failed?
 */
static bool ends_with_context(struct ptx_grid *grid)
{
	const struct ptx_launch *launch = grid->launch;
	int error = launch->host->failed ? launch->host->failed(launch->host_data) : 0;

	if (error && !atomic_exchange(&grid->failed, true)) {
		grid->outcome->result = error;
		snprintf(grid->outcome->reason, sizeof(grid->outcome->reason),
			 "kernel %.80s was ended: its context has failed or ended",
			 launch->kernel->name);
	}
	return error;
}

static void work(struct runner *runner, struct ptx_grid *grid)
{
	struct waiting waiting = {};
	uint32_t rounds = 0;

	while (!grid->failed) {
		bool happened;

		runner->polled = false;
		happened = all_rounds(runner);
		if (happened) {
			wait_over(runner, &waiting);
			/*
			 * What goes on may still wait for a block that has not started. Then it polls. Of
			 * blocks whose threads only meet, the first are to end before they are many.
			 */
			rounds += runner->polled ? runner->active_count : 1;
			if (runner->active && rounds < ROUNDS * runner->active_count)
				continue;
			rounds = 0;
		}
		if (runner->active && ends_with_context(grid))
			break;
		if (start_more(runner, grid, happened && runner->polled)) {
			launch_more(grid);
			continue;
		}
		/* nothing of this grid is left for this runner */
		if (!runner->active && grid->started >= grid->clusters)
			break;
		if (!happened)
			wait_outside(runner, &waiting);
	}
	wait_over(runner, &waiting);
}

/* The signal handler calls this in the thread that runs the block. */
static void caught(int number, uintptr_t address, uintptr_t rip, uintptr_t rsp, bool store)
{
	if (here->peeks) {
		/* the host calls a catcher once */
		here->grid->launch->host->catch(caught);
		siglongjmp(here->peek_back, 1);
	}
	here->signal = number;
	here->address = address;
	here->rip = rip;
	here->rsp = rsp;
	here->store = store;
	siglongjmp(here->back, 1);
}

/*
 * Works on a grid until nothing of it is left to begin, and all that began here has ended. Kernels
 * compute as PTX has it, whatever the program's threads have set for themselves.
 */
void runner_work(struct runner *runner, struct ptx_grid *grid)
{
	const struct processor_floats floats = processor_set_floats(PROCESSOR_FLOATS_USUAL);
	const struct ptx_run_host *host = grid->launch->host;
	struct cluster *cluster;

	grid->runners++;
	runner->grid = grid;
	runner->call = NULL;
	runner->peeks = false;
	memset(runner->reached, 0, sizeof(runner->reached));
	if (!sigsetjmp(runner->back, 0)) {
		if (host->catch)
			host->catch(caught);
		work(runner, grid);
	} else {
		fault_explain(runner, grid);
	}
	if (host->catch)
		host->catch(NULL);
	/* after a failure: threads that have not ended are never run again */
	while ((cluster = runner->active)) {
		runner->active = cluster->next;
		cluster_finish(runner, cluster);
	}
	counts_tell(runner, host);
	runner->grid = NULL;
	grid->runners--;
	processor_set_floats(floats);
}
