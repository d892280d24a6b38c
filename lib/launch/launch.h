/* SPDX-License-Identifier: MIT */
/*
 * Launches: a kernel's C function, or its PTX, run in the order of a stream or by a graph.
 *
 *   registry.c	finds the function of a kernel's name; MEMCAST_KERNELS
 *   invocation.c	a launch that has been checked: function and parameters
 *   attribute.c	a launch's attributes
 *   launch.c	the calls that launch
 *   old_calls.c	those from before CUDA 4.0
 *   node.c	kernel nodes, for lib/graph/
 *   run.c	calls the function, and catches its faults
 *   block_threads.c	threads that wait for each other
 *   translated.c	kernels that were translated from PTX
 *   reach.c	which memory they may access, for MEMCAST_PTX_CHECK
 *
 * No lock is held while a kernel runs. registry_lock is innermost.
 */
#ifndef MEMCAST_LAUNCH_H
#define MEMCAST_LAUNCH_H

#include <setjmp.h>

#include "stream/capture.h"
#include "fiber/fiber.h"
#include "kernel/kernel.h"

#pragma GCC visibility push(default)
#include <memcast/kernel.h>
#pragma GCC visibility pop

/* registry.c: entries stay until the process ends */
struct name {
	const char *at;			/* NULL: no name */
	size_t length;
};

struct registered {
	struct name name;		/* first: the key of a tree */
	struct registered *next;	/* of the same name */
	enum memcast_shape shape;
	memcast_kernel_function function;
	void *user;
	unsigned int count;
	size_t *sizes;
	char text[];			/* of the name */
};

CUresult registered_find(struct function *function, const struct registered **registered);
CUresult registered_missing(const struct code *code, const char *why);
void registered_say_refused(void);
CUresult kernels_load(void);

/* The arguments of a launch, whichever call makes it */
struct request {
	unsigned int grid[3], block[3], shared;
	unsigned int cluster[3];	/* all 0: none */
	bool cooperative;
	bool has_priority;		/* of its own, not the stream's */
	int priority;
	void *const *parameters, *const *extra;
	CUevent events[2];		/* recorded after the launch, or NULL */
};

/* A launch that has been checked: work of a stream, or what a node or a step of a graph does */
struct invocation {
	struct work work;
	struct module *module;		/* with a reference */
	struct function *function;	/* of it */
	const struct code *code;
	const struct registered *registered;	/* NULL: the kernel is translated */
	const struct ptx_kernel *translated;
	unsigned int resident;		/* blocks that run at the same time, if it is translated */
	unsigned int grid[3], block[3], cluster[3], shared;
	unsigned int asked[3];		/* the cluster that the launch, not the function, has asked for */
	bool cooperative;
	CUstream stream;
	/* by CUlaunchAttributeID; of a node whose attributes were set; else NULL */
	CUlaunchAttributeValue *attributes;
	size_t bytes;			/* of the whole struct with its values */
	void *parameters[];		/* addresses of the values, which follow */
};

/* invocation.c */
CUresult invocation_new(struct function *function, const struct request *request,
			struct invocation **invocation);
/* What a launch asks for beside its shape. On failure the invocation is unchanged. */
CUresult invocation_ask(struct invocation *invocation, bool cooperative,
			const unsigned int *cluster);
struct invocation *invocation_copy(const struct invocation *invocation);
/* It becomes as another one of the same code, in its own place. The other is only to be freed. */
void invocation_take(struct invocation *invocation, struct invocation *from);
void invocation_free(struct invocation *invocation);

/* attribute.c */
CUresult attributes_read(const CUlaunchConfig *config, struct request *request);

/* launch.c */
CUresult launch(CUfunction handle, const struct request *request, CUstream stream);

#define ATTRIBUTES	17	/* numbers of attributes, from 0 */

/* run.c */
CUresult invocation_run(const struct invocation *invocation);

/* translated.c */
CUresult translated_find(struct function *function, struct invocation *invocation);
struct activity;
CUresult translated_run(const struct invocation *invocation, struct activity *activity);

/* A launch of a translated kernel, while it runs */
struct translated {
	struct slot *slot;
	struct stream *stream;
	const char *name;
	struct activity *activity;	/* for memcast-smi, or NULL */
	atomic_bool said;		/* that it waits */
};

/* reach.c */
struct ptx_reach;

bool reach_find(void *data, uint64_t address, struct ptx_reach *reach);

struct gang;

struct runner {			/* of a stream's thread, for all its launches */
	struct memcast_launch *at;	/* the launch, and the thread of it that runs */
	sigjmp_buf back;
	CUresult result;		/* the error that has ended it */
	const char *reason;
	int signal;
	void *address;
	bool store;
	struct gang *gang;		/* of the launch, or NULL */
	void *alternate;		/* stack for signals */
	char *shared;			/* memory of a block */
	size_t shared_room;
	struct stacks stacks;		/* of a gang's threads */
	void *gang_memory;
};

struct runner *runner_here(void);
void end_with_context(const struct memcast_launch *at);

/* block_threads.c */
void gang_run(struct runner *runner, const struct memcast_launch *launch,
	      memcast_kernel_function function);
void gang_run_all(struct runner *runner, const struct memcast_launch *launch,
		  memcast_kernel_function function, size_t block_bytes);
bool gang_yield(struct runner *runner);
bool gang_wait(struct runner *runner, bool grid);
bool stacks_room(struct runner *runner, size_t count);
void stacks_free(struct runner *runner);
#define GANG_MOST	16384U

#endif /* MEMCAST_LAUNCH_H */
