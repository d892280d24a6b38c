/* SPDX-License-Identifier: MIT */
/*
 * What libcuda.so.1 and memcast-trap.so know of each other. They come from one build: where
 * TRAP_OBJECT_VERSION differs, the object is not used.
 */
#ifndef MEMCAST_OBJECT_H
#define MEMCAST_OBJECT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define TRAP_OBJECT		"memcast-trap.so"
#define TRAP_OBJECT_SYMBOL	"memcast_trap_object"
#define TRAP_OBJECT_VERSION	2

#define TRAP_TEXT		160	/* bytes that an instruction's text has at most */
#define FAULT_OF_A_PAGE		14	/* REG_TRAPNO of a ucontext_t */
#define FAULT_ERROR_WRITE	2	/* in its REG_ERR */

struct trap_window {
	uintptr_t start;
	size_t bytes;
	unsigned int replicas;
	unsigned char *const *replica;	/* of the window's first byte */
};

/* What the object is given. All of it may be called in a signal handler. */
struct trap_host {
	/* Return: is it a window that the CPU may write? */
	bool (*window_at)(uintptr_t address, struct trap_window *window);
	/* Protection keys of this thread: may what they say. Return: what they said before */
	uint32_t (*keys_set)(uint32_t keys);
	/* On stderr: why a store cannot reach every replica. @instruction: text, or "" */
	void (*say_cannot)(const char *instruction, uintptr_t rip, uintptr_t address,
			   const char *why);
	/* On stderr, once: a store to @address left out a replica, which has no memory at @replica */
	void (*say_missed)(uintptr_t address, uintptr_t replica);
};

/* What the object has */
struct trap_object {
	uint32_t version;
	/* Once, before all else and not in a handler. Return: false, errno: no memory for it */
	bool (*start)(const struct trap_host *host);
	/* Was it an instruction that the object runs that raised the signal? Then it is over. */
	bool (*caught)(int number, const siginfo_t *info, ucontext_t *context);
	/* A store to a window. Return: was it done? Else @info is what the program is to see. */
	bool (*store)(siginfo_t *info, ucontext_t *context);
	/* The text of an instruction. Return: can it be read? */
	bool (*text)(uintptr_t rip, char *text, size_t size);
};

extern const struct trap_object memcast_trap_object __attribute__((visibility("default")));

#endif /* MEMCAST_OBJECT_H */
