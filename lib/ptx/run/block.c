// SPDX-License-Identifier: MIT
/*
 * Clusters of blocks: their memory, and their threads' beginnings. A runner keeps the memory of
 * a cluster that has ended for the next one.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "inside.h"
#include "processor.h"

void cluster_free(struct cluster *cluster)
{
	if (!cluster)
		return;
	if (cluster->reserved)
		munmap(cluster->reserved, cluster->reserved_bytes);
	stacks_unmap(&cluster->stacks);
	for (uint32_t i = 0; cluster->blocks && i < cluster->count; i++)
		races_free(cluster->blocks[i].races);
	free(cluster->fibers);
	free(cluster->blocks);
	free(cluster);
}

/* Allows access to the first bytes of each window of shared memory. Behind it, accesses are faults. */
static bool windows_allow(struct cluster *cluster, size_t bytes)
{
	if (bytes > PTX_SHARED_WINDOW)
		bytes = PTX_SHARED_WINDOW;
	if (bytes <= cluster->mapped)
		return true;
	for (uint32_t i = 0; i < cluster->count; i++)
		if (mprotect(cluster->shared + i * PTX_SHARED_WINDOW, bytes,
			     PROT_READ | PROT_WRITE))
			return false;
	cluster->mapped = bytes;
	return true;
}

/* Reserves windows, aligned, and one in front: addresses below 0 are faults, too. */
static bool windows_map(struct cluster *cluster)
{
	size_t bytes = (cluster->count + 2) * PTX_SHARED_WINDOW;
	char *memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			    -1, 0);
	uintptr_t first = ((uintptr_t)memory + PTX_SHARED_WINDOW - 1) & ~(PTX_SHARED_WINDOW - 1);

	if (memory == MAP_FAILED)
		return false;
	cluster->reserved = memory;
	cluster->reserved_bytes = bytes;
	cluster->shared = (char *)first + PTX_SHARED_WINDOW;
	return windows_allow(cluster, SHARED_MAPPED);
}

static bool races_map(struct cluster *cluster)
{
	for (uint32_t i = 0; cluster->checked && i < cluster->count; i++) {
		cluster->blocks[i].races = races_new();
		if (!cluster->blocks[i].races)
			return false;
	}
	return true;
}

static struct cluster *cluster_new(const struct ptx_grid *grid)
{
	struct cluster *new = calloc(1, sizeof(*new));
	size_t fibers;

	if (!new)
		return NULL;
	new->count = grid->blocks_each;
	new->serial = grid->serial;
	new->threads = grid->serial ? 1 : grid->threads;
	new->stack_each = grid->stack_each;
	new->checked = grid->launch->kernel->checked;
	fibers = (size_t)new->count * new->threads;
	new->blocks = calloc(new->count, sizeof(*new->blocks));
	new->fibers = aligned_alloc(64, (fibers * sizeof(*new->fibers) + 63) & ~63UL);
	if (!new->blocks || !new->fibers || !windows_map(new) || !races_map(new) ||
	    !stacks_map(&new->stacks, fibers, grid->stack_each, fibers)) {
		cluster_free(new);
		return NULL;
	}
	return new;
}

/* Finds memory of a cluster that has ended, or makes new memory. */
static struct cluster *cluster_take(struct runner *runner, const struct ptx_grid *grid)
{
	struct cluster **link = &runner->spare, *found;

	for (; (found = *link); link = &found->next)
		if (found->count == grid->blocks_each && found->serial == grid->serial &&
		    found->checked == grid->launch->kernel->checked &&
		    (found->serial || found->threads >= grid->threads) &&
		    found->stack_each >= grid->stack_each) {
			*link = found->next;
			return found;
		}
	return cluster_new(grid);
}

/* The first function on a fiber's stack */
static void begin(void *data)
{
	struct fiber *fiber = data;
	const struct ptx_launch *launch = fiber->at.block->runner->grid->launch;

	launch->kernel->thread(&fiber->at, launch->parameters);
	ptx_run_exit(&fiber->at);
}

static void thread_place(struct ptx_thread *at, uint32_t number)
{
	at->tid[0] = number % at->ntid[0];
	at->tid[1] = number / at->ntid[0] % at->ntid[1];
	at->tid[2] = number / at->ntid[0] / at->ntid[1];
	at->laneid = number % PTX_WARP;
	at->warpid = number / PTX_WARP;
}

/* Which block of the grid it is */
static void block_place(struct ptx_thread *at, const struct ptx_grid *grid, uint64_t cluster,
			uint32_t rank)
{
	const struct ptx_launch *launch = grid->launch;
	uint32_t in_cluster[3], of_grid[3];

	at->smid = (cluster * grid->blocks_each + rank) % at->nsmid;
	of_grid[0] = cluster % grid->nclusterid[0];
	of_grid[1] = cluster / grid->nclusterid[0] % grid->nclusterid[1];
	of_grid[2] = cluster / grid->nclusterid[0] / grid->nclusterid[1];
	in_cluster[0] = rank % launch->cluster[0];
	in_cluster[1] = rank / launch->cluster[0] % launch->cluster[1];
	in_cluster[2] = rank / launch->cluster[0] / launch->cluster[1];
	for (int i = 0; i < 3; i++) {
		at->clusterid[i] = of_grid[i];
		at->cluster_ctaid[i] = in_cluster[i];
		at->ctaid[i] = of_grid[i] * launch->cluster[i] + in_cluster[i];
	}
}

/* Return: how many blocks, of those from a number to an end, run as one: they are side by side. */
static uint32_t blocks_of(const struct ptx_grid *grid, uint64_t number, uint64_t end)
{
	uint32_t row = grid->nclusterid[0] - number % grid->nclusterid[0];
	uint32_t most = grid->launch->kernel->joins / grid->threads;

	if (most < 2)
		return 1;
	row = row < most ? row : most;
	return end - number < row ? end - number : row;
}

/*
 * Runs blocks whose threads are one loop. Such a block may run for less time than block_start()
 * takes, so the runner does not start the next blocks: it gives this one their places in the grid.
 */
static void run_loops(struct fiber *fiber, struct ptx_grid *grid)
{
	const struct ptx_launch *launch = grid->launch;
	uint64_t next, end;

	launch->kernel->block(&fiber->at, launch->parameters);
	while (grid->blocks_each == 1 && !grid->failed) {
		next = atomic_fetch_add(&grid->started, grid->share);
		end = next + grid->share < grid->clusters ? next + grid->share : grid->clusters;
		if (next >= end)
			break;
		for (; next < end && !grid->failed; next += fiber->at.blocks) {
			block_place(&fiber->at, grid, next, 0);
			fiber->at.named = 0;
			fiber->at.blocks = blocks_of(grid, next, end);
			launch->kernel->block(&fiber->at, launch->parameters);
		}
	}
}

/* Runs a block's threads by one function: the kernel never waits. */
static void begin_serial(void *data)
{
	struct fiber *fiber = data;
	struct ptx_block *block = fiber->at.block;

	run_loops(fiber, block->runner->grid);
	block->live = 1;
	ptx_run_exit(&fiber->at);
}

static bool halves;

__attribute__((constructor)) static void look_at_processor(void)
{
	halves = processor_halves();
}

/* No address is in it. */
static const struct ptx_window no_window;

/* What all threads of a block have in common */
static struct ptx_thread thread_of(const struct ptx_grid *grid, struct ptx_block *block,
				   uint64_t cluster, uint32_t rank)
{
	const struct ptx_launch *launch = grid->launch;
	struct ptx_thread at = {
		.blocks = 1,
		.dynamic_shared = launch->dynamic_shared,
		.dynamic_first = launch->kernel->dynamic_first,
		.nwarpid = 64,			/* of a multiprocessor */
		.poll_budget = PTX_POLL_BUDGET,
		.shared = block->cluster->shared + rank * PTX_SHARED_WINDOW,
		.cluster_shared = block->cluster->shared,
		.cluster_ctarank = rank, .cluster_nctarank = grid->blocks_each,
		.is_cluster = launch->is_cluster,
		.nsmid = launch->multiprocessors ? launch->multiprocessors : 1,
		.halves = halves,
		.view = &no_window.view,
		.given = launch->window ? &launch->window->view : &no_window.view,
		.gridid = grid->id,
		.envreg[1] = (uintptr_t)grid->workspace >> 32,
		.envreg[2] = (uint32_t)(uintptr_t)grid->workspace,
		.block = block,
	};

	at.total_shared = (launch_shared(launch) + 127) & ~127U;
	if (!launch->cooperative)
		at.envreg[1] = at.envreg[2] = 0;
	for (int i = 0; i < 3; i++) {
		at.ntid[i] = launch->block[i];
		at.nctaid[i] = launch->grid[i];
		at.nclusterid[i] = grid->nclusterid[i];
		at.cluster_nctaid[i] = launch->cluster[i];
	}
	block_place(&at, grid, cluster, rank);
	return at;
}

static void block_start(struct ptx_block *block, const struct ptx_grid *grid, uint64_t cluster,
			uint32_t rank)
{
	const struct stacks *stacks = &block->cluster->stacks;
	uint32_t count = grid->serial ? 1 : grid->threads;
	struct ptx_thread at = thread_of(grid, block, cluster, rank);

	block->threads = grid->threads;
	block->live = grid->threads;
	block->serial = grid->serial;
	block->ready = (struct queue) {};
	block->queued = 0;
	block->met = block->at_sites = 0;
	/* a launch that has failed leaves barriers with threads */
	for (uint32_t i = 0; block->barriers >> i; i++)
		if (block->barriers >> i & 1)
			memset(&block->barrier[i], 0, sizeof(block->barrier[i]));
	block->barriers = 0;
	if (block->races)
		races_start(block->races);
	for (uint32_t i = 0; i * PTX_WARP < grid->threads; i++) {
		uint32_t lanes = grid->threads - i * PTX_WARP;

		block->warps[i].live = lanes >= PTX_WARP ? -1U : (1U << lanes) - 1;
		block->warps[i].waiting = block->warps[i].strangers = 0;
		block->warps[i].parted = 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct fiber *fiber = &block->fibers[i];

		thread_place(&at, i);
		at.stack_end = stack_at(stacks, (size_t)rank * block->cluster->threads + i);
		at.stack_top = at.stack_end + stacks->each;
		*fiber = (struct fiber) { .at = at };
		fiber->stack = fiber_begin(at.stack_top, grid->serial ? begin_serial : begin,
					   fiber);
		fiber_wake(fiber);
	}
}

/* Starts a cluster's blocks. NULL: there is no memory. */
struct cluster *cluster_start(struct runner *runner, struct ptx_grid *grid, uint64_t number)
{
	const struct ptx_launch *launch = grid->launch;
	struct cluster *cluster = cluster_take(runner, grid);

	if (!cluster)
		return NULL;
	/* a kernel's window also has variables that only other kernels of its code use */
	if (!windows_allow(cluster, launch->kernel->dynamic_first + launch->dynamic_shared)) {
		cluster_free(cluster);
		return NULL;
	}
	cluster->runner = runner;
	cluster->live_blocks = cluster->count;
	cluster->live = cluster->count * grid->threads;
	cluster->arrived = 0;
	cluster->waiting = (struct queue) {};
	for (uint32_t i = 0; i < cluster->count; i++) {
		struct ptx_block *block = &cluster->blocks[i];

		block->runner = runner;
		block->cluster = cluster;
		block->fibers = cluster->fibers + (size_t)i * cluster->threads;
		block_start(block, grid, number, i);
	}
	return cluster;
}
