// SPDX-License-Identifier: MIT
/*
 * Calls a kernel's function in a stream's thread, and catches its faults: lib/fault/ handles
 * the signal and calls back, a jump leaves the handler, and the fault becomes the launch's
 * error.
 */
#undef _FORTIFY_SOURCE	/* its longjmp() refuses to change stacks */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fault/fault.h"
#include "base/activity.h"
#include "base/host_access.h"
#include "base/ioctl.h"
#include "launch.h"

#define ALTERNATE_BYTES	(64UL << 10)

static __thread struct runner *here;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key = PTHREAD_KEYS_MAX;	/* if none is left: key 0 is the program's */

/* Frees a runner when its stream's thread ends. */
static void runner_end(void *data)
{
	const stack_t none = { .ss_flags = SS_DISABLE };
	struct runner *runner = data;

	sigaltstack(&none, NULL);
	stacks_free(runner);
	if (runner->alternate)
		munmap(runner->alternate, ALTERNATE_BYTES);
	free(runner->shared);
	free(runner);
}

static void run_begin(void)
{
	pthread_key_create(&key, runner_end);
	fault_take_over();
}

/* Return: the runner of this thread; NULL: no memory */
struct runner *runner_here(void)
{
	stack_t stack = { .ss_size = ALTERNATE_BYTES };

	if (here)
		return here;
	pthread_once(&once, run_begin);
	here = calloc(1, sizeof(*here));
	if (!here)
		return NULL;
	/* a stack for the signal handler when a function overflows its own */
	stack.ss_sp = mmap(NULL, ALTERNATE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack.ss_sp != MAP_FAILED) {
		here->alternate = stack.ss_sp;
		sigaltstack(&stack, NULL);
	}
	pthread_setspecific(key, here);
	return here;
}

/* The signal handler calls this in the thread that runs the kernel. */
static void run_caught(int number, const siginfo_t *info, bool store, uintptr_t rip, uintptr_t rsp)
{
	(void)rip, (void)rsp;
	here->result = CUDA_ERROR_ILLEGAL_ADDRESS;
	here->signal = number;
	here->address = info->si_addr;
	here->store = store;
	siglongjmp(here->back, 1);
}

void memcastKernelFail(const struct memcast_launch *at, CUresult result, const char *reason)
{
	here->at = (struct memcast_launch *)at;
	here->result = result == CUDA_SUCCESS ? CUDA_ERROR_LAUNCH_FAILED : result;
	here->signal = 0;
	here->reason = reason;
	siglongjmp(here->back, 1);
}

static const struct invocation *invocation_at(const struct memcast_launch *at)
{
	return at->internal;
}

void *memcastKernelVariable(const struct memcast_launch *at, const char *name)
{
	CUresult result = CUDA_ERROR_NOT_FOUND;
	CUdeviceptr address;

	if (name)
		result = module_variable(invocation_at(at)->module, name, &address, NULL);
	if (result == CUDA_ERROR_OUT_OF_MEMORY)
		memcastKernelFail(at, result, "a variable of the kernel's module has no memory");
	return result == CUDA_SUCCESS ? (void *)address : NULL;
}

/*
 * Checks that the device can access a range: the module must know all of it, one mapping after
 * the other.
 */
void memcastKernelCheck(const struct memcast_launch *at, const void *address, size_t bytes)
{
	uint64_t from = (uintptr_t)address, end = from + bytes;

	while (from < end) {
		struct memcast_address_info info = { .address = from };

		if (device_ioctl(MEMCAST_ADDRESS_INFO, &info) != CUDA_SUCCESS ||
		    !info.out_mapping_bytes ||
		    info.out_mapping + info.out_mapping_bytes <= from) {
			here->address = (void *)from;
			memcastKernelFail(at, CUDA_ERROR_ILLEGAL_ADDRESS,
					  "the device cannot access what was checked");
		}
		from = info.out_mapping + info.out_mapping_bytes;
	}
}

/* A failure ends all kernels of its device: one that gives its turn away may wait for another. */
void end_with_context(const struct memcast_launch *at)
{
	const struct stream *stream = stream_here();
	CUresult error = stream ? stream->set->error : CUDA_SUCCESS;

	if (error != CUDA_SUCCESS)
		memcastKernelFail(at, error, "it was ended: its context has failed or ended");
}

void memcastYield(const struct memcast_launch *at)
{
	if (gang_yield(here))
		return;
	stream_yields();
	end_with_context(at);
}

void memcastSyncThreads(const struct memcast_launch *at)
{
	if (!gang_wait(here, false))
		memcastKernelFail(at, CUDA_ERROR_LAUNCH_FAILED,
				  "memcastSyncThreads() is for MEMCAST_THREADS and MEMCAST_GRID");
}

void memcastSyncGrid(const struct memcast_launch *at)
{
	if (!gang_wait(here, true))
		memcastKernelFail(at, CUDA_ERROR_LAUNCH_FAILED,
				  "memcastSyncGrid() is for MEMCAST_GRID");
}

/* Explains a fault in words, for the log. */
static CUresult run_explain(const struct invocation *invocation, struct runner *runner)
{
	const struct memcast_launch *at = runner->at;
	char where[128] = "", what[200] = "no memory is there";
	int length = 0;

	if (invocation->registered->shape >= MEMCAST_BLOCKS)
		length = snprintf(where, sizeof(where), ", block (%u, %u, %u)",
				  at->block_index.x, at->block_index.y, at->block_index.z);
	if (invocation->registered->shape >= MEMCAST_THREADS_ALONE)
		snprintf(where + length, sizeof(where) - length, ", thread (%u, %u, %u)",
			 at->thread_index.x, at->thread_index.y, at->thread_index.z);
	if (!runner->signal)
		return fail(runner->result, "kernel %.60s%s: %.100s", invocation->code->name, where,
			    runner->reason ? runner->reason : "its C function has failed");
	if (!fault_reason((uintptr_t)runner->address, runner->store, what, sizeof(what)) &&
	    runner->signal == SIGBUS)
		strcpy(what, "its memory is gone");
	return fail(runner->result, "kernel %.60s%s: %s at %p: %.100s", invocation->code->name,
		    where, runner->store ? "store" : "load", runner->address, what);
}

static void each_thread(const struct invocation *invocation, struct memcast_launch *at)
{
	struct memcast_dim *thread = &at->thread_index;

	for (thread->z = 0; thread->z < at->block.z; thread->z++)
		for (thread->y = 0; thread->y < at->block.y; thread->y++)
			for (thread->x = 0; thread->x < at->block.x; thread->x++)
				invocation->registered->function(at);
}

static void each_block(const struct invocation *invocation, struct memcast_launch *at)
{
	struct memcast_dim *block = &at->block_index;
	memcast_kernel_function function = invocation->registered->function;

	for (block->z = 0; block->z < at->grid.z; block->z++)
		for (block->y = 0; block->y < at->grid.y; block->y++)
			for (block->x = 0; block->x < at->grid.x; block->x++) {
				if (invocation->registered->shape == MEMCAST_BLOCKS)
					function(at);
				else if (invocation->registered->shape == MEMCAST_THREADS_ALONE)
					each_thread(invocation, at);
				else
					gang_run(here, at, function);
			}
}

/* Makes room for a block's shared memory; old content stays in it, as on a device. */
static bool shared_room(struct runner *runner, size_t bytes)
{
	char *more;

	if (bytes <= runner->shared_room)
		return true;
	more = realloc(runner->shared, bytes);
	if (!more)
		return false;
	memset(more + runner->shared_room, 0, bytes - runner->shared_room);
	runner->shared = more;
	runner->shared_room = bytes;
	return true;
}

/*
 * Return: the argument of the C function. Dynamic shared memory comes first: its size is
 * aligned.
 */
static struct memcast_launch launch_of(const struct invocation *invocation, char *shared)
{
	const unsigned int *cluster = invocation->cluster;
	size_t dynamic = (invocation->shared + 15UL) & ~15UL;

	return (struct memcast_launch) {
		.name = invocation->code->name,
		.grid = { invocation->grid[0], invocation->grid[1], invocation->grid[2] },
		.block = { invocation->block[0], invocation->block[1], invocation->block[2] },
		.cluster = { cluster[0] ? cluster[0] : 1, cluster[1] ? cluster[1] : 1,
			     cluster[2] ? cluster[2] : 1 },
		.shared_bytes = invocation->shared,
		.stream = invocation->stream,
		.device = invocation->module->device,
		.context = invocation->module->context,
		.parameters = invocation->parameters,
		.parameters_count = invocation->code->parameters_count,
		.user = invocation->registered->user,
		.shared = shared,
		.static_shared = shared ? shared + dynamic : NULL,
		.internal = invocation,
	};
}

static void run_shape(const struct invocation *invocation, struct memcast_launch *at,
		      size_t block_bytes)
{
	if (invocation->registered->shape == MEMCAST_ONCE)
		invocation->registered->function(at);
	else if (invocation->registered->shape == MEMCAST_GRID)
		gang_run_all(here, at, invocation->registered->function, block_bytes);
	else
		each_block(invocation, at);
}

/* Runs the C function of a launch. */
static CUresult run_function(const struct invocation *invocation)
{
	size_t bytes = ((invocation->shared + 15UL) & ~15UL) +
		       ((invocation->code->shared + 15UL) & ~15UL);
	bool all = invocation->registered->shape == MEMCAST_GRID;
	size_t blocks = all ? (size_t)invocation->grid[0] * invocation->grid[1] *
			      invocation->grid[2] : 1;
	struct runner *runner = runner_here();
	struct memcast_launch at;
	CUresult result;
	size_t threads = (size_t)invocation->block[0] * invocation->block[1] *
			 invocation->block[2] * blocks;

	if (!runner || !shared_room(runner, bytes * blocks) ||
	    (invocation->registered->shape >= MEMCAST_THREADS && !stacks_room(runner, threads)))
		return image_no_memory();
	at = launch_of(invocation, bytes ? runner->shared : NULL);
	runner->at = &at;
	runner->result = CUDA_SUCCESS;
	runner->gang = NULL;
	if (!sigsetjmp(runner->back, 0)) {
		fault_catch(run_caught);
		run_shape(invocation, &at, bytes);
	}
	fault_catch(NULL);
	stream_goes_on();
	if (runner->result == CUDA_SUCCESS)
		return CUDA_SUCCESS;
	result = run_explain(invocation, runner);
	/* a stack that has overflowed into another would be taken for one again */
	stacks_free(runner);
	return result;
}

/* Runs one launch, in a stream's thread. */
CUresult invocation_run(const struct invocation *invocation)
{
	struct activity *activity = activity_begin(activity_now(), "kernel ",
						   invocation->code->name);
	uint32_t before = host_access_open();
	CUresult result = invocation->registered ? run_function(invocation) :
						   translated_run(invocation, activity);

	host_access_close(before);
	activity_end(activity);
	return result;
}
