/* SPDX-License-Identifier: MIT */
/*
 * Plain stores to windows: memcast-trap.so, which libcuda.so.1 loads when a team is first
 * mapped (lib/fault/load.c). It uses the functions in struct trap_host of libcuda.so.1, and Zydis.
 *
 *   object.c		the interface to libcuda.so.1
 *   trap_decode.c	finds what an instruction writes, and how to run it at another address
 *   trap_store.c	runs an instruction on every replica
 *   trap_string.c	movs and stos, whose addresses move
 *   trap_scatter.c	scatters, which have many addresses
 *   trap_edge.c	stores that begin in a window and end outside, or the reverse
 *   trap_run.c		runs one instruction with the program's registers
 *
 * An instruction is not emulated but run: a copy of it, with another memory
 * operand, all of the program's registers and its floating-point state. So the
 * processor decides what it stores and returns, and how it changes the flags.
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

#include "fault/object.h"

#define CHUNK			MEMCAST_GRANULARITY	/* a store may cross the end of one */

/* Numbers of registers, as instructions have them */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, REGISTERS = 16 };

#define TRAP_ARITHMETIC		0x8d5	/* the flags that arithmetic sets */
#define TRAP_DIRECTION		0x400

/* ---- object.c ---- */

/* Return: is the address in a window that the CPU may write? */
bool trap_window_at(uintptr_t address, struct trap_window *window);

/* ---- trap_run.c ---- */

struct trap_fault {
	int signal, code;	/* 0: none */
	uintptr_t address;
	uint64_t trap, error;	/* as in a ucontext_t */
};

/* One run of one instruction; the assembly in trap_run.c knows the offsets. */
struct trap_frame {
	uint64_t reg[REGISTERS];	/* in and out; the stack pointer is ignored */
	uint64_t flags;
	const void *code;
	void *xstate;			/* NULL: vector registers do not matter */
	uint64_t keep;			/* write vector registers back to xstate afterwards */
	struct trap_fault fault;	/* output, if the run faulted */
};

/* Buffers of one store under way, which would be too large for a stack. */
struct trap_work {
	unsigned char scratch[640] __attribute__((aligned(64)));
	unsigned char block[512];
};

bool trap_run_init(void);
bool trap_run_caught(int number, const siginfo_t *info, ucontext_t *context);
bool trap_run(struct trap_frame *frame);

/* A cell with code to run, taken as long as this struct is on the stack */
struct trap_cell {
	uint64_t ticket;		/* unique among all uses of cells */
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
	uintptr_t address;	/* of the first byte that is written */
	size_t bytes;
	ptrdiff_t lead;		/* from the operand's address to @address (bts) */
	unsigned char code[16];	/* the instruction to run, with its operand at (base) */
	unsigned char length;
	unsigned char base;
	signed char stack;	/* register in place of the stack pointer, or -1 */
	bool locked;
	bool reads;		/* the bytes that it writes */
	bool vector;		/* uses the floating-point state */
	bool changes_vector;
	bool rep;
	uint64_t count_mask;	/* the bits that addresses and counts have */
	uint64_t source_base;	/* base of the source's segment */
	uint64_t target_base;
};

/* Copies the program's registers, in the order of the enum above. */
void trap_registers_get(const ucontext_t *context, uint64_t *reg);
void trap_registers_set(ucontext_t *context, const uint64_t *reg);

void trap_init_decoder(void);
bool trap_read(struct trap_op *op, uintptr_t rip);
const char *trap_decode(struct trap_op *op, const uint64_t *reg, uintptr_t rip);

/* ---- trap_store.c, trap_string.c, trap_scatter.c, trap_edge.c ---- */

enum trap_result {
	TRAP_DONE,		/* the program goes on */
	TRAP_FAULT,		/* the program's own fault: trap->fault */
	TRAP_CANNOT,		/* the store cannot be done: trap->why */
};

struct trap {
	struct trap_op op;
	ucontext_t *context;
	uint64_t reg[REGISTERS];
	struct trap_fault fault;
	uintptr_t missed;	/* address in a replica that has no memory there; 0: none */
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

/* Reports a fault at a replica as one at the window. */
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
