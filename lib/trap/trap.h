/* SPDX-License-Identifier: MIT */
/*
 * Plain stores to windows: memcast-trap.so, which libcuda.so.1 loads when a team is first
 * mapped (lib/fault/load.c). It uses what struct trap_host has of libcuda.so.1, and Zydis.
 *
 *   object.c		what libcuda.so.1 finds here
 *   trap_decode.c	what the instruction writes, and how to run it elsewhere
 *   trap_store.c	run it on every replica
 *   trap_string.c	movs and stos, whose addresses move
 *   trap_scatter.c	scatters, which have many addresses
 *   trap_edge.c	what begins in a window and ends outside, or the reverse
 *   trap_run.c		run one instruction with the program's registers
 *
 * An instruction is not emulated but run: a copy of it, with another memory
 * operand, all of the program's registers and its floating-point state. So what
 * it stores, returns and does to the flags is what the processor says.
 *
 * All of it but start() runs in a signal handler: no malloc, no locks, no stdio.
 */
#ifndef LIBRARY_TRAP_H
#define LIBRARY_TRAP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>
#include <uapi/memcast.h>
#include <Zydis/Zydis.h>

#include "object.h"

#define CHUNK			MEMCAST_GRANULARITY	/* a store may reach over the end of one */

/* In the order in which instructions number them */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, REGISTERS = 16 };

#define TRAP_ARITHMETIC		0x8d5	/* the flags that arithmetic sets */
#define TRAP_DIRECTION		0x400

/* ---- object.c ---- */

/* Return: is it a window that the CPU may write? */
bool trap_window_at(uintptr_t address, struct trap_window *window);

/* ---- trap_run.c ---- */

struct trap_fault {
	int signal, code;	/* 0: none */
	uintptr_t address;
	uint64_t trap, error;	/* what the processor said, as in a ucontext_t */
};

/* One run of one instruction; the assembly in trap_run.c knows the offsets. */
struct trap_frame {
	uint64_t reg[REGISTERS];	/* in and out; the stack pointer is ignored */
	uint64_t flags;
	const void *code;
	void *xstate;			/* NULL: vector registers do not matter */
	uint64_t keep;			/* write them back to xstate afterwards */
	struct trap_fault fault;	/* what happened instead */
};

/* Room for one instruction under way, and what would be too much for a stack. */
struct trap_work {
	unsigned char scratch[640] __attribute__((aligned(64)));
	unsigned char block[512];
};

bool trap_run_init(void);
bool trap_run_caught(int number, const siginfo_t *info, ucontext_t *context);
bool trap_run(struct trap_frame *frame);

/* Code to run, taken for as long as this is on the stack */
struct trap_cell {
	uint64_t ticket;		/* nobody else ever has the same */
	const void *code;		/* for trap_frame.code */
	struct trap_work *work;
};

bool trap_cell_take(struct trap_cell *cell, const unsigned char *code, size_t length,
		    uintptr_t rip);
void trap_cell_give(const struct trap_cell *cell);
bool trap_in_cell(const struct trap_cell *cell, uintptr_t address);

size_t trap_copy(void *to, const void *from, size_t count, unsigned int width,
		 struct trap_fault *fault);
bool trap_writable(uintptr_t address, struct trap_fault *fault);

/* ---- trap_decode.c ---- */

enum trap_kind {
	TRAP_REPLAY,		/* one memory operand */
	TRAP_POP,		/* from the stack to memory */
	TRAP_MOVS,
	TRAP_STOS,
	TRAP_SCATTER,
};

struct trap_op {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	enum trap_kind kind;
	uintptr_t address;	/* first byte of what is written */
	size_t bytes;
	ptrdiff_t lead;		/* from the operand's address to there (bts) */
	unsigned char code[16];	/* to run: with its operand at (base) */
	unsigned char length;
	unsigned char base;
	signed char stack;	/* the register that stands for the stack pointer; -1 */
	bool locked;
	bool reads;		/* what it writes */
	bool vector;		/* uses the floating-point state */
	bool changes_vector;
	bool rep;
	uint64_t count_mask;	/* of addresses and counts */
	uint64_t source_base;	/* of the source's segment */
	uint64_t target_base;
};

/* The program's registers, in our order */
void trap_registers_get(const ucontext_t *context, uint64_t *reg);
void trap_registers_set(ucontext_t *context, const uint64_t *reg);

void trap_init_decoder(void);
bool trap_read(struct trap_op *op, uintptr_t rip);
const char *trap_decode(struct trap_op *op, const uint64_t *reg, uintptr_t rip);

/* ---- trap_store.c, trap_string.c, trap_scatter.c, trap_edge.c ---- */

enum trap_result {
	TRAP_DONE,		/* and the program goes on */
	TRAP_FAULT,		/* a fault of the program's: trap->fault */
	TRAP_CANNOT,		/* trap->why */
};

struct trap {
	struct trap_op op;
	ucontext_t *context;
	uint64_t reg[REGISTERS];
	struct trap_fault fault;
	uintptr_t missed;	/* an address in a replica that has no memory there; 0 */
	const char *why;
	struct trap_cell cell;
};

enum trap_result trap_store(struct trap *trap, uintptr_t address);
enum trap_result trap_store_value(struct trap *trap, uintptr_t address, uint64_t value);
enum trap_result trap_string(struct trap *trap, const struct trap_window *window);
void trap_scatter_init(void);
enum trap_result trap_scatter(struct trap *trap);
enum trap_result trap_edge(struct trap *trap, struct trap_frame *first);
void trap_frame_init(const struct trap *trap, struct trap_frame *frame);
bool trap_run_at(const struct trap *trap, struct trap_frame *frame, uintptr_t address);

/* A replica's fault, as the window's */
static inline void trap_fault_at(struct trap *trap, const struct trap_fault *fault,
				 uintptr_t address)
{
	trap->fault = *fault;
	trap->fault.address = address;
	trap->fault.error |= FAULT_ERROR_WRITE;
}

static inline bool trap_inside(const struct trap_window *window, uintptr_t address,
			       size_t bytes)
{
	return address >= window->start && bytes <= window->bytes &&
	       address - window->start <= window->bytes - bytes;
}

#endif /* LIBRARY_TRAP_H */
