/* SPDX-License-Identifier: MIT */
/*
 * The interface between libcuda.so.1 and memcast-trap.so. Both come from one build: if
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

#define TRAP_TEXT		160	/* longest text of an instruction, in bytes */
#define FAULT_OF_A_PAGE		14	/* REG_TRAPNO of a ucontext_t */
#define FAULT_ERROR_WRITE	2	/* in its REG_ERR */

struct trap_window {
	uintptr_t start;
	size_t bytes;
	unsigned int replicas;
	unsigned char *const *replica;	/* of the window's first byte */
};

/* The functions that libcuda.so.1 gives the object. All may be called in a signal handler. */
struct trap_host {
	/* Return: is the address in a window that the CPU may write? */
	bool (*window_at)(uintptr_t address, struct trap_window *window);
	/* Sets this thread's protection keys. Return: the keys before */
	uint32_t (*keys_set)(uint32_t keys);
	/* Prints why a store cannot reach every replica. @instruction: text, or "" */
	void (*say_cannot)(const char *instruction, uintptr_t rip, uintptr_t address,
			   const char *why);
	/*
	 * Prints, once, that a store to @address missed a replica, which has no memory at
	 * @replica
	 */
	void (*say_missed)(uintptr_t address, uintptr_t replica);
};

/* The functions of the object */
struct trap_object {
	uint32_t version;
	/* First of all, once, not in a handler. Return: success; false: errno says why not */
	bool (*start)(const struct trap_host *host);
	/* Did an instruction that the object runs raise the signal? Then its run ends. */
	bool (*caught)(int number, const siginfo_t *info, ucontext_t *context);
	/* Does a store to a window. Return: was it done? If not, @info is for the program. */
	bool (*store)(siginfo_t *info, ucontext_t *context);
	/* Writes the text of an instruction. Return: success */
	bool (*text)(uintptr_t rip, char *text, size_t size);
};

extern const struct trap_object memcast_trap_object __attribute__((visibility("default")));

#endif /* MEMCAST_OBJECT_H */
