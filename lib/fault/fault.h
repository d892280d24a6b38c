/* SPDX-License-Identifier: MIT */
/*
 * Faults at addresses of windows and other mappings:
 *
 *   signal.c	the signal handlers: handle a fault, or pass it on to the program's handler
 *   load.c	when and where from memcast-trap.so is loaded, for plain stores to windows
 *   stack.c	the stacks of the store, and of the program's handler
 *   x86/, arm64/	what differs between processors: registers.h, keys.c, frame.c
 *   say.c	messages on stderr
 *   address.c	window, team or reason of failure at an address
 *   object.h	the interface between memcast-trap.so (lib/trap/) and this folder
 *
 * Except for load.c and the functions that cuInit() calls, all of it runs in signal handlers: no
 * malloc, no locks, no stdio.
 */
#ifndef MEMCAST_FAULT_H
#define MEMCAST_FAULT_H

#include "object.h"

/* signal.c */

/*
 * fault_catch() - set the function that handles this thread's own faults
 *
 * It is called for faults that no window causes, and jumps out of the handler; NULL: none.
 * fault_take_over() installs the signal handler, if it is not installed yet.
 */
typedef void fault_catcher(int number, const siginfo_t *info, bool store, uintptr_t rip,
			   uintptr_t rsp);
void fault_catch(fault_catcher *catcher);
void fault_take_over(void);
bool fault_wanted(void);
void fault_install(void);
bool fault_strict(void);
bool fault_attach(const struct trap_object *trap);

/* stack.c */
struct fault_frame;

void fault_stacks_make(void);
void fault_call(const ucontext_t *context, void (*run)(void *data), void *data);
bool fault_has_moved(const ucontext_t *context);
bool fault_on_alternate(const ucontext_t *context);
bool fault_writable(uintptr_t start, uintptr_t end);

/* x86/frame.c, arm64/frame.c: calls a function with the stack that ends at @end */
void fault_stack_call(void *end, void (*run)(void *data), void *data);
bool fault_has_shadow_stack(void);
struct fault_frame *fault_frame_place(const ucontext_t *context);
void fault_handle_at(struct fault_frame *frame, void *handler, int number, const siginfo_t *info,
		     const ucontext_t *context);

/* x86/keys.c, arm64/keys.c: sets this thread's protection keys. Return: the keys before */
uint32_t fault_keys_set(uint32_t keys);
/* Return: the keys of what a signal interrupted */
uint32_t fault_keys_of(const ucontext_t *context);
/* Called once, before the other two */
void fault_keys_find(void);

/* address.c */
struct fault_place {
	uint64_t team, offset;
};

/* What a process has at an address, for words */
struct fault_memory {
	const char *call;	/* that gave the program the address */
	uint64_t offset, bytes;	/* of what the call gave */
	uint64_t team;		/* whose window is there; 0: no team's */
	uint32_t device;	/* that has the memory; UINT32_MAX: another host's */
};

bool fault_near(uintptr_t address);
bool fault_memory_at(uintptr_t address, struct fault_memory *memory);
bool fault_window_at(uintptr_t address, struct trap_window *window);
bool fault_window_is_bound(uintptr_t address);
bool fault_place_at(uintptr_t address, struct fault_place *place);
bool fault_reason(uintptr_t address, bool store, char *text, size_t size);

/* say.c; @text: of the instruction, or "" */
void fault_say_note(void);
void fault_say_stack(void);
void fault_say_missed(uintptr_t address, uintptr_t replica);
void fault_say_cannot(const char *text, uintptr_t rip, uintptr_t address, const char *why);
void fault_say_strict(const char *text, uintptr_t rip, uintptr_t address,
		      const struct fault_place *place, bool store);
void fault_say_forbidden(const char *text, uintptr_t rip, uintptr_t address, bool store);
void fault_say_end(const char *text, uintptr_t rip, uintptr_t address, const char *why,
		   bool store);

#endif /* MEMCAST_FAULT_H */
