// SPDX-License-Identifier: MIT
/*
 * A store to every replica: the instruction is run once for each, wholly or not at all. A replica
 * without memory at the address is left out, as copies do; if none has memory there, the program
 * gets SIGBUS. Registers and flags are those of the first run.
 */
#include "trap.h"

void trap_frame_init(const struct trap *trap, struct trap_frame *frame)
{
	const struct trap_op *op = &trap->op;

	for (unsigned int i = 0; i < REGISTERS; i++)
		frame->reg[i] = trap->reg[i];
	if (op->stack >= 0)
		frame->reg[op->stack] = trap->reg[RSP];
	frame->flags = trap->context->uc_mcontext.gregs[REG_EFL] &
		       (TRAP_ARITHMETIC | TRAP_DIRECTION);
	frame->code = trap->cell.code;
	frame->xstate = op->vector ? trap->context->uc_mcontext.fpregs : NULL;
	frame->keep = false;
}

/* Runs an instruction whose written bytes are at @address. */
bool trap_run_at(const struct trap *trap, struct trap_frame *frame, uintptr_t address)
{
	frame->reg[trap->op.base] = address - trap->op.lead;
	return trap_run(frame);
}

/*
 * Processors differ in what x87 keeps of an instruction's own address and of its operand's:
 * AMD's keep nothing without an exception, Intel's do, and fnsave clears both. Addresses of the
 * run in the cell are replaced by the program's.
 */
static void keep_vector(struct trap *trap)
{
	uintptr_t scratch = (uintptr_t)trap->cell.work->scratch + trap->op.address % 64;
	fpregset_t state = trap->context->uc_mcontext.fpregs;
	struct trap_frame frame;

	trap_frame_init(trap, &frame);
	frame.keep = true;
	trap_run_at(trap, &frame, scratch);
	if (trap_in_cell(&trap->cell, state->rip))
		state->rip = trap->context->uc_mcontext.gregs[REG_RIP];
	if (state->rdp == scratch)
		state->rdp = trap->op.address;
}

/*
 * Sets the program's registers to those after a run, behind the instruction. The floating-point
 * state is the same after each run; one more run produces it.
 */
static void trap_finish(struct trap *trap, const struct trap_frame *result)
{
	greg_t *greg = trap->context->uc_mcontext.gregs;
	const struct trap_op *op = &trap->op;

	if (op->changes_vector)
		keep_vector(trap);
	for (unsigned int i = 0; i < REGISTERS; i++)
		if (i != op->base && i != RSP && (int)i != op->stack)
			trap->reg[i] = result->reg[i];
	if (op->stack >= 0)
		trap->reg[RSP] = result->reg[op->stack];
	trap_registers_set(trap->context, trap->reg);
	greg[REG_EFL] = (greg[REG_EFL] & ~TRAP_ARITHMETIC) |
			(result->flags & TRAP_ARITHMETIC);
	greg[REG_RIP] += op->instruction.length;
}

static enum trap_result write_inside(struct trap *trap, const struct trap_window *window,
				     struct trap_frame *first)
{
	size_t offset = trap->op.address - window->start;
	struct trap_frame frame;
	bool done = false;

	for (unsigned int i = 0; i < window->replicas; i++) {
		trap_frame_init(trap, &frame);
		if (trap_run_at(trap, &frame, (uintptr_t)window->replica[i] + offset)) {
			if (!done)
				*first = frame;
			done = true;
			continue;
		}
		trap_fault_at(trap, &frame.fault, trap->op.address);
		if (frame.fault.signal != SIGBUS)
			return TRAP_FAULT;
		trap->missed = (uintptr_t)window->replica[i] + offset;
	}
	return done ? TRAP_DONE : TRAP_FAULT;
}

static enum trap_result replay(struct trap *trap, const struct trap_window *window)
{
	struct trap_frame first;
	enum trap_result result;

	result = window ? write_inside(trap, window, &first) : trap_edge(trap, &first);
	if (result == TRAP_DONE)
		trap_finish(trap, &first);
	return result;
}

/* Stores to ordinary memory, which an instruction with many addresses has beside a window. */
static enum trap_result write_outside(struct trap *trap)
{
	struct trap_frame frame;

	trap_frame_init(trap, &frame);
	if (trap_run_at(trap, &frame, trap->op.address))
		return TRAP_DONE;
	trap->fault = frame.fault;
	return TRAP_FAULT;
}

/* Stores a value, as a mov from the accumulator: in a window, over its edge, or outside. */
enum trap_result trap_store_value(struct trap *trap, uintptr_t address, uint64_t value)
{
	uint64_t accumulator = trap->reg[RAX];
	struct trap_op *op = &trap->op;
	struct trap_window window;
	enum trap_result result;
	struct trap_frame first;

	op->address = address;
	trap->reg[RAX] = value;
	if (trap_window_at(address, &window) && trap_inside(&window, address, op->bytes))
		result = write_inside(trap, &window, &first);
	else if (trap_window_at(address, &window) ||
		 trap_window_at(address + op->bytes - 1, &window))
		result = trap_edge(trap, &first);
	else
		result = write_outside(trap);
	trap->reg[RAX] = accumulator;
	return result;
}

/* Does a pop: the value is on the program's stack. */
static enum trap_result pop(struct trap *trap)
{
	const struct trap_op *op = &trap->op;
	enum trap_result result;
	uint64_t value = 0;

	if (trap_copy(&value, (void *)trap->reg[RSP], op->bytes, 1, &trap->fault) < op->bytes)
		return TRAP_FAULT;
	result = trap_store_value(trap, op->address, value);
	if (result == TRAP_DONE) {
		trap->reg[RSP] += op->bytes;
		trap_registers_set(trap->context, trap->reg);
		trap->context->uc_mcontext.gregs[REG_RIP] += op->instruction.length;
	}
	return result;
}

/* Could the run raise a SIGFPE? The program would get it. */
static bool raises(const struct trap *trap)
{
	const unsigned int masks = 0x1f80;

	return trap->op.instruction.mnemonic == ZYDIS_MNEMONIC_VCVTPS2PH &&
	       (trap->context->uc_mcontext.fpregs->mxcsr & masks) != masks;
}

/**
 * trap_store() - do the store of the program's instruction
 * @trap: the instruction decoded
 * @address: address of the fault
 */
enum trap_result trap_store(struct trap *trap, uintptr_t address)
{
	struct trap_op *op = &trap->op;
	struct trap_window window;
	enum trap_result result;
	bool inside;

	if (op->kind != TRAP_SCATTER && address - op->address >= op->bytes) {
		trap->why = "what it writes is elsewhere";
		return TRAP_CANNOT;
	}
	if (!trap_window_at(address, &window)) {
		trap->why = "the window has gone";
		return TRAP_CANNOT;
	}
	if (raises(trap)) {
		trap->why = "its floating-point exceptions are not masked";
		return TRAP_CANNOT;
	}
	if (!trap_cell_take(&trap->cell, op->code, op->length,
			    trap->context->uc_mcontext.gregs[REG_RIP])) {
		trap->why = "too many are under way";
		return TRAP_CANNOT;
	}
	inside = trap_inside(&window, op->address, op->bytes);
	if (op->kind == TRAP_MOVS || op->kind == TRAP_STOS)
		result = trap_string(trap, &window);
	else if (op->kind == TRAP_SCATTER)
		result = trap_scatter(trap);
	else if (op->kind == TRAP_POP)
		result = pop(trap);
	else
		result = replay(trap, inside ? &window : NULL);
	trap_cell_give(&trap->cell);
	return result;
}
