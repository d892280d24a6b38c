/* SPDX-License-Identifier: MIT */
/*
 * Fibers: threads of kernels, many of which take turns in one thread of the process. Each has a
 * stack, and fiber_switch() leaves one stack for another: x86/switch.c, arm64/switch.c.
 * libcuda.so.1 and memcast-ptx.so are both built with these files.
 */
#ifndef MEMCAST_FIBER_H
#define MEMCAST_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * fiber_switch() - leave this stack, and go on with another
 * @own: output, where this stack can be continued
 * @other: what fiber_begin() returned, or fiber_switch() wrote
 *
 * The registers that a function has to preserve are kept, and the control words of floating
 * point arithmetic; signal masks are not a fiber's.
 */
void fiber_switch(void **own, void *other);

/* Return: a fiber for fiber_switch(), which calls @function; it must never return. */
void *fiber_begin(void *top, void (*function)(void *), void *data);

/* Stacks of one size. A guard below every @guarded of them stops accesses to what lies below. */
struct stacks {
	char *memory;
	size_t bytes;			/* of the whole mapping */
	size_t each;			/* of a stack; a multiple of 64 */
	size_t count;
	size_t guarded;			/* stacks above a guard */
	size_t guard;			/* bytes of a guard: a page */
};

bool stacks_map(struct stacks *stacks, size_t count, size_t each, size_t guarded);
void stacks_unmap(struct stacks *stacks);

/* Return: the bytes of a group of stacks with its guard */
static inline size_t stacks_group(const struct stacks *stacks)
{
	return stacks->guard + ((stacks->guarded * stacks->each + stacks->guard - 1) &
				~(stacks->guard - 1));
}

/* Return: the lowest address of a stack; it ends @each bytes above. */
static inline char *stack_at(const struct stacks *stacks, size_t number)
{
	return stacks->memory + number / stacks->guarded * stacks_group(stacks) + stacks->guard +
	       number % stacks->guarded * stacks->each;
}

#endif /* MEMCAST_FIBER_H */
