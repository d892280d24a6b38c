// SPDX-License-Identifier: MIT
/*
 * Threads of a block that wait for each other: each has a stack, and they take turns in the one
 * thread that runs the launch. A thread at a barrier gets no turn until all threads of its
 * block, or of the grid, have reached the barrier or returned.
 */
#include <stdlib.h>

#include "launch.h"

/*
 * One guard for 16 stacks: a mapping can be split into parts so often only (vm.max_map_count). An
 * overflow reaches the guard, or is seen when the thread ends.
 */
#define STACK_BYTES	(60UL << 10)
#define GUARDED		16

enum member_state { READY, IN_BLOCK, IN_GRID, DONE };

struct member {
	void *stack;			/* where the member goes on */
	enum member_state state;
	struct memcast_launch at;
};

struct gang {
	void *back;			/* the thread that runs the launch */
	memcast_kernel_function function;
	struct member *current;
	unsigned int count;		/* number of members */
	unsigned int each;		/* number of a block's members */
	bool all;			/* all blocks of the grid are members */
	bool yielded;			/* the current member only gave its turn away */
	struct member members[];
};

void stacks_free(struct runner *runner)
{
	stacks_unmap(&runner->stacks);
	free(runner->gang_memory);
	runner->gang_memory = NULL;
}

/* Makes room for so many members, with stacks; it stays for later launches. */
bool stacks_room(struct runner *runner, size_t count)
{
	if (count <= runner->stacks.count)
		return true;
	if (count > GANG_MOST)
		return false;
	stacks_free(runner);
	runner->gang_memory = calloc(1, sizeof(struct gang) + count * sizeof(struct member));
	if (runner->gang_memory && stacks_map(&runner->stacks, count, STACK_BYTES, GUARDED))
		return true;
	stacks_free(runner);
	return false;
}

static void turn_over(struct gang *gang)
{
	fiber_switch(&gang->current->stack, gang->back);
}

/* Gives the current member's turn to the others. Return: false: there is no gang. */
bool gang_yield(struct runner *runner)
{
	struct gang *gang = runner->gang;

	if (!gang)
		return false;
	gang->yielded = true;
	turn_over(gang);
	return true;
}

/*
 * Waits at a barrier of the block, or of the grid. Return: false: the launch has no such
 * barrier.
 */
bool gang_wait(struct runner *runner, bool grid)
{
	struct gang *gang = runner->gang;

	if (!gang || (grid && !gang->all))
		return false;
	gang->current->state = grid ? IN_GRID : IN_BLOCK;
	turn_over(gang);
	return true;
}

/*
 * Has a member that gave its turn away used more than its stack? If it has ended, the lowest
 * word tells, which was 0.
 */
static bool overflowed(const struct runner *runner, const struct member *member)
{
	const char *lowest = stack_at(&runner->stacks, member - runner->gang->members);

	return (const char *)member->stack < lowest ||
	       (member->state == DONE && *(const uint64_t *)lowest);
}

static void member_run(void *data)
{
	struct runner *runner = runner_here();
	struct member *member = data;

	runner->gang->function(&member->at);
	member->state = DONE;
	fiber_switch(&member->stack, runner->gang->back);
}

/* Opens a barrier if all members that have not returned are there. Return: is it open? */
static bool open_barrier(struct member *members, unsigned int count, enum member_state state)
{
	bool any = false;

	for (unsigned int i = 0; i < count; i++) {
		if (members[i].state != state && members[i].state != DONE)
			return false;
		any |= members[i].state == state;
	}
	for (unsigned int i = 0; i < count && any; i++)
		if (members[i].state == state)
			members[i].state = READY;
	return any;
}

/* Gives each member that may run a turn. Return: has any member done something? */
static bool take_turns(struct runner *runner, struct gang *gang, unsigned int *left)
{
	bool happened = false;

	for (unsigned int i = 0; i < gang->count; i++) {
		struct member *member = &gang->members[i];

		if (member->state != READY)
			continue;
		gang->current = member;
		gang->yielded = false;
		runner->at = &member->at;
		fiber_switch(&gang->back, member->stack);
		if (overflowed(runner, member))
			memcastKernelFail(&member->at, CUDA_ERROR_ILLEGAL_ADDRESS,
					  "the thread's stack has overflowed");
		*left -= member->state == DONE;
		happened |= !gang->yielded;
	}
	for (unsigned int i = 0; i < gang->count; i += gang->each)
		happened |= open_barrier(&gang->members[i], gang->each, IN_BLOCK);
	return open_barrier(gang->members, gang->count, IN_GRID) || happened;
}

static void run(struct runner *runner, struct gang *gang)
{
	unsigned int left = gang->count;

	runner->gang = gang;
	while (left) {
		bool happened = take_turns(runner, gang, &left);
		bool may_run = false;

		for (unsigned int i = 0; i < gang->count && !may_run; i++)
			may_run = gang->members[i].state == READY;
		if (left && !may_run)
			memcastKernelFail(runner->at, CUDA_ERROR_LAUNCH_FAILED,
					  "threads wait at different barriers, and for ever");
		/* all members wait for something else, perhaps for another process */
		if (!happened)
			stream_yields();
		else
			stream_goes_on();
		if (left)
			end_with_context(runner->at);
	}
	runner->gang = NULL;
}

static void member_begin(struct runner *runner, struct member *member, unsigned int number,
			 const struct memcast_launch *at)
{
	member->state = READY;
	member->at = *at;
	member->stack = fiber_begin(stack_at(&runner->stacks, number) + STACK_BYTES, member_run,
				    member);
}

/* Begins the threads of one block, from member @first on. */
static void block_begin(struct runner *runner, struct gang *gang, unsigned int first,
			struct memcast_launch *at)
{
	struct memcast_dim *thread = &at->thread_index;
	unsigned int number = first;

	for (thread->z = 0; thread->z < at->block.z; thread->z++)
		for (thread->y = 0; thread->y < at->block.y; thread->y++)
			for (thread->x = 0; thread->x < at->block.x; thread->x++, number++)
				member_begin(runner, &gang->members[number], number, at);
}

static struct gang *gang_begin(struct runner *runner, const struct memcast_launch *at,
			       memcast_kernel_function function)
{
	struct gang *gang = runner->gang_memory;

	gang->function = function;
	gang->each = at->block.x * at->block.y * at->block.z;
	gang->count = gang->each;
	gang->all = false;
	return gang;
}

/* Runs one block. The caller has called stacks_room(). */
void gang_run(struct runner *runner, const struct memcast_launch *launch,
	      memcast_kernel_function function)
{
	struct gang *gang = gang_begin(runner, launch, function);
	struct memcast_launch at = *launch;

	block_begin(runner, gang, 0, &at);
	run(runner, gang);
}

/* Runs all blocks at the same time, each with shared memory of its own. */
void gang_run_all(struct runner *runner, const struct memcast_launch *launch,
		  memcast_kernel_function function, size_t block_bytes)
{
	struct gang *gang = gang_begin(runner, launch, function);
	struct memcast_launch at = *launch;
	struct memcast_dim *block = &at.block_index;
	unsigned int number = 0;

	for (block->z = 0; block->z < at.grid.z; block->z++)
		for (block->y = 0; block->y < at.grid.y; block->y++)
			for (block->x = 0; block->x < at.grid.x; block->x++) {
				block_begin(runner, gang, number, &at);
				number += gang->each;
				if (!block_bytes)
					continue;
				at.shared = (char *)at.shared + block_bytes;
				at.static_shared = (char *)at.static_shared + block_bytes;
			}
	gang->count = number;
	gang->all = true;
	run(runner, gang);
}
