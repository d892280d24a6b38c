// SPDX-License-Identifier: MIT
/*
 * movs and stos. The source is read once for all replicas; if the elements of a block could be
 * their own source, they are copied one by one. After a fault the registers say how many elements
 * are done, as the processor's do.
 *
 * A run ends with the window, with a chunk, or when it has taken long enough for other signals to
 * wait. The program then comes to the same instruction again, with fewer elements to go.
 */
#include <string.h>

#include "trap.h"

#define LONG_ENOUGH	(1UL << 20)

struct string {
	struct trap *trap;
	const struct trap_window *window;
	unsigned int width;
	bool down;
	bool moves;		/* movs */
	uint64_t count;		/* elements to go */
};

static uint64_t target_of(const struct string *string)
{
	const struct trap *trap = string->trap;

	return (trap->reg[RDI] & trap->op.count_mask) + trap->op.target_base;
}

static uint64_t source_of(const struct string *string)
{
	const struct trap *trap = string->trap;

	return (trap->reg[RSI] & trap->op.count_mask) + trap->op.source_base;
}

static void advance(struct string *string, uint64_t elements)
{
	uint64_t bytes = elements * string->width;
	struct trap *trap = string->trap;
	uint64_t mask = trap->op.count_mask;

	if (string->down)
		bytes = -bytes;
	trap->reg[RDI] = (trap->reg[RDI] + bytes) & mask;
	if (string->moves)
		trap->reg[RSI] = (trap->reg[RSI] + bytes) & mask;
	if (trap->op.rep)
		trap->reg[RCX] = (trap->reg[RCX] - elements) & mask;
	string->count -= elements;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Return: how many elements the next block has: one, or several that are in one chunk. */
static uint64_t block_elements(const struct string *string)
{
	uint64_t target = target_of(string), width = string->width;
	const struct trap_window *window = string->window;
	uint64_t bytes = sizeof(string->trap->cell.work->block), distance;

	if (target % CHUNK + width > CHUNK || !trap_inside(window, target, width))
		return 1;
	if (string->down) {
		bytes = least(bytes, target % CHUNK + width);
		bytes = least(bytes, target - window->start + width);
	} else {
		bytes = least(bytes, CHUNK - target % CHUNK);
		bytes = least(bytes, window->start + window->bytes - target);
	}
	if (string->moves) {
		distance = string->down ? source_of(string) - target :
					  target - source_of(string);
		if (distance < bytes)
			return 1;
	}
	return least(bytes / width, string->count);
}

/* Return: the lowest address of a number of elements, of which the first is at @address. */
static uint64_t lowest(const struct string *string, uint64_t address, uint64_t elements)
{
	return string->down ? address - (elements - 1) * string->width : address;
}

/* Return: how many elements were read; if not all, trap->fault says why. */
static uint64_t read_block(struct string *string, uint64_t elements)
{
	struct trap *trap = string->trap;
	unsigned char *block = trap->cell.work->block;
	uint64_t done;

	if (!string->moves) {
		for (uint64_t i = 0; i < elements; i++)
			memcpy(block + i * string->width, &trap->reg[RAX], string->width);
		return elements;
	}
	done = trap_copy(block, (void *)lowest(string, source_of(string), elements),
			 elements, string->width, &trap->fault);
	/* downwards, only the first element is certain to be readable */
	if (done < elements && string->down && elements > 1)
		return read_block(string, 1);
	return done;
}

static enum trap_result write_block(struct string *string, uint64_t elements)
{
	const struct trap_window *window = string->window;
	size_t offset = lowest(string, target_of(string), elements) - window->start;
	struct trap *trap = string->trap;
	struct trap_fault fault = {};
	bool done = false;

	for (unsigned int i = 0; i < window->replicas; i++) {
		if (trap_copy(window->replica[i] + offset, trap->cell.work->block, elements,
			      string->width, &fault) == elements)
			done = true;
		else if (fault.signal == SIGBUS)
			trap->missed = (uintptr_t)window->replica[i] + offset;
		else
			break;
	}
	if (done && (!fault.signal || fault.signal == SIGBUS))
		return TRAP_DONE;
	trap_fault_at(trap, &fault, target_of(string));
	return TRAP_FAULT;
}

/* Stores one element that is not wholly in this window. */
static enum trap_result write_over_edge(struct string *string)
{
	uint64_t value = 0;

	memcpy(&value, string->trap->cell.work->block, string->width);
	return trap_store_value(string->trap, target_of(string), value);
}

/* Sets the program's registers to the point where it goes on. */
enum trap_result trap_string(struct trap *trap, const struct trap_window *window)
{
	const struct trap_op *op = &trap->op;
	greg_t *greg = trap->context->uc_mcontext.gregs;
	struct string string = {
		.trap = trap,
		.window = window,
		.width = op->bytes,
		.down = greg[REG_EFL] & TRAP_DIRECTION,
		.moves = op->kind == TRAP_MOVS,
		.count = op->rep ? trap->reg[RCX] & op->count_mask : 1,
	};
	enum trap_result result = TRAP_DONE;

	for (size_t done = 0; string.count && done < LONG_ENOUGH;) {
		bool inside = trap_inside(window, target_of(&string), string.width);
		uint64_t elements;

		/*
		 * The first element may begin outside the window; later ones there are for
		 * another signal.
		 */
		if (!inside && done)
			break;
		elements = read_block(&string, block_elements(&string));
		if (!elements) {
			result = TRAP_FAULT;
			break;
		}
		result = inside ? write_block(&string, elements) : write_over_edge(&string);
		if (result != TRAP_DONE)
			break;
		advance(&string, elements);
		done += elements * string.width;
	}
	trap_registers_set(trap->context, trap->reg);
	if (result == TRAP_DONE && !string.count)
		greg[REG_RIP] += op->instruction.length;
	return result;
}
