/* SPDX-License-Identifier: MIT */
/*
 * Faults at addresses of ours:
 *
 *   signal.c	the signals: ours, or the program's own
 *   load.c	when and where from memcast-trap.so is loaded, for plain stores to windows
 *   say.c	what stands on stderr
 *   where.c	what is at an address
 *   object.h	what memcast-trap.so (lib/trap/) and this folder know of each other
 *
 * But for load.c and what cuInit() calls, all of it runs in signal handlers: no malloc, no
 * locks, no stdio.
 */
#ifndef MEMCAST_FAULT_H
#define MEMCAST_FAULT_H

#include "object.h"

/* signal.c */

/*
 * fault_catch() - from now on this thread's own faults that no window is the reason of are
 * told to a function, which jumps away; NULL: not any more. The handler is installed by
 * fault_take_over(), if it is not yet.
 */
typedef void fault_catcher(int number, const siginfo_t *info, bool store);
void fault_catch(fault_catcher *catcher);
void fault_take_over(void);
bool fault_wanted(void);
void fault_install(void);
bool fault_strict(void);
bool fault_attach(const struct trap_object *trap);

/* where.c */
struct fault_place {
	uint64_t team, offset;
};

bool fault_window_at(uintptr_t address, struct trap_window *window);
bool fault_place_at(uintptr_t address, struct fault_place *place);
bool fault_reason(uintptr_t address, bool store, char *text, size_t size);

/* say.c; @text: of the instruction, or "" */
void fault_say_note(void);
void fault_say_missed(uintptr_t address, uintptr_t replica);
void fault_say_cannot(const char *text, uintptr_t rip, uintptr_t address, const char *why);
void fault_say_strict(const char *text, uintptr_t rip, uintptr_t address,
		      const struct fault_place *place, bool store);
void fault_say_end(const char *text, uintptr_t rip, uintptr_t address, const char *why,
		   bool store);

#endif /* MEMCAST_FAULT_H */
