// SPDX-License-Identifier: MIT
/*
 * Stores that begin in a window and end outside, or the reverse: beside the window is ordinary
 * memory, another window or nothing. The instruction is run on a copy of the bytes there, once for
 * each replica, and the bytes that it wrote are copied back.
 *
 * That is not atomic, so locked instructions are refused; other stores over the edge of a page are
 * not atomic anyway.
 */
#include <string.h>
#include <memcast/view.h>

#include "trap.h"

#define MOST		64	/* bytes; longer stores save state (xsave) */
#define BOUND_WORDS	((MEMCAST_VIEW_MAX + 63) / 64)

/* The part of a store on one side of the edge */
struct piece {
	uintptr_t address;
	size_t at, bytes;		/* the part of the operand */
	bool is_window;
	struct trap_window window;
	unsigned int replicas;		/* 1: ordinary memory */
	bool any_bound;
	uint64_t bound[BOUND_WORDS];	/* a bit per replica */
};

static bool is_bound(const struct piece *piece, unsigned int replica)
{
	return piece->bound[replica / 64] >> replica % 64 & 1;
}

static void set_bound(struct piece *piece, unsigned int replica)
{
	piece->bound[replica / 64] |= 1ULL << replica % 64;
	piece->any_bound = true;
}

static unsigned char *piece_at(const struct piece *piece, unsigned int replica)
{
	if (!piece->is_window)
		return (unsigned char *)piece->address;
	return piece->window.replica[replica] + (piece->address - piece->window.start);
}

static void piece_init(struct piece *piece, const struct trap_op *op, size_t at, size_t bytes)
{
	piece->at = at;
	piece->bytes = bytes;
	piece->address = op->address + at;
	piece->is_window = trap_window_at(piece->address, &piece->window);
	piece->replicas = piece->is_window ? piece->window.replicas : 1;
}

static bool writes(const unsigned char *mask, const struct piece *piece)
{
	return memchr(mask + piece->at, 1, piece->bytes);
}

/* Can a piece be written? For a window, finds the replicas that can be. */
static bool piece_check(struct trap *trap, struct piece *piece)
{
	struct trap_fault fault = {};
	unsigned char unused[MOST];

	/* A piece has MOST bytes at most and ends or begins at a window's edge: it is in one page. */
	if (!piece->is_window) {
		set_bound(piece, 0);
		return trap_writable(piece->address, &trap->fault);
	}
	for (unsigned int i = 0; i < piece->replicas; i++) {
		if (trap_copy(unused, piece_at(piece, i), piece->bytes, 1, &fault) ==
		    piece->bytes)
			set_bound(piece, i);
		else if (fault.signal == SIGBUS)
			trap->missed = (uintptr_t)piece_at(piece, i);
		else
			break;
	}
	trap_fault_at(trap, &fault, piece->address);
	return piece->any_bound;
}

/*
 * Finds the bytes that the instruction writes; others must stay as they are. An instruction
 * that reads the bytes first writes them all.
 */
static bool find_mask(const struct trap *trap, unsigned char *operand, unsigned char *mask)
{
	size_t bytes = trap->op.bytes;
	struct trap_frame frame;

	if (trap->op.reads) {
		memset(mask, 1, bytes);
		return true;
	}
	memset(operand, 0, bytes);
	trap_frame_init(trap, &frame);
	if (!trap_run_at(trap, &frame, (uintptr_t)operand))
		return false;
	memcpy(mask, operand, bytes);
	memset(operand, 0xff, bytes);
	trap_frame_init(trap, &frame);
	if (!trap_run_at(trap, &frame, (uintptr_t)operand))
		return false;
	for (size_t i = 0; i < bytes; i++)
		mask[i] = mask[i] == operand[i];
	return true;
}

/* Copies the bytes that the instruction wrote to a piece; the others are not touched. */
static bool write_back(struct piece *piece, unsigned int replica,
		       const unsigned char *operand, const unsigned char *mask,
		       struct trap_fault *fault)
{
	unsigned char *to = piece_at(piece, replica);
	size_t from, end;

	for (from = 0; from < piece->bytes; from = end) {
		size_t at = piece->at + from;

		for (end = from; end < piece->bytes && mask[piece->at + end]; end++)
			;
		if (end == from)
			end++;
		else if (trap_copy(to + from, operand + at, end - from, 1, fault) < end - from)
			return false;
	}
	return true;
}

/*
 * Runs the instruction on replica @i of each piece; a piece without that replica counts as
 * zeros.
 */
static bool run_replica(struct trap *trap, struct piece *pieces, unsigned int i,
			unsigned char *operand, const unsigned char *mask,
			const unsigned char *plain, struct trap_frame *frame)
{
	memcpy(operand, plain, trap->op.bytes);
	for (struct piece *piece = pieces; piece < pieces + 2; piece++)
		if (piece->is_window && is_bound(piece, i) &&
		    trap_copy(operand + piece->at, piece_at(piece, i), piece->bytes, 1,
			      &trap->fault) < piece->bytes)
			return false;
	trap_frame_init(trap, frame);
	if (!trap_run_at(trap, frame, (uintptr_t)operand)) {
		trap->fault = frame->fault;
		return false;
	}
	for (struct piece *piece = pieces; piece < pieces + 2; piece++)
		if (is_bound(piece, i) &&
		    !write_back(piece, i, operand, mask, &trap->fault))
			return false;
	return true;
}

static enum trap_result run_all(struct trap *trap, struct piece *pieces,
				unsigned char *operand, const unsigned char *mask,
				struct trap_frame *first)
{
	unsigned char plain[MOST] = {};
	struct trap_frame frame;
	bool done = false;

	/* Some instructions fault even if their mask is empty. */
	if (!pieces[0].any_bound && !pieces[1].any_bound) {
		trap_frame_init(trap, first);
		return trap_run_at(trap, first, (uintptr_t)operand) ? TRAP_DONE : TRAP_FAULT;
	}
	/* Every replica runs on ordinary memory as it was before the first run changed it. */
	for (struct piece *piece = pieces; piece < pieces + 2; piece++)
		if (!piece->is_window && piece->any_bound &&
		    trap_copy(plain + piece->at, (void *)piece->address, piece->bytes, 1,
			      &trap->fault) < piece->bytes)
			return TRAP_FAULT;
	for (unsigned int i = 0; i < MEMCAST_VIEW_MAX; i++) {
		if (!is_bound(&pieces[0], i) && !is_bound(&pieces[1], i))
			continue;
		if (!run_replica(trap, pieces, i, operand, mask, plain, &frame))
			return TRAP_FAULT;
		if (!done)
			*first = frame;
		done = true;
	}
	return done ? TRAP_DONE : TRAP_FAULT;
}

enum trap_result trap_edge(struct trap *trap, struct trap_frame *first)
{
	const struct trap_op *op = &trap->op;
	size_t head = CHUNK - op->address % CHUNK;
	unsigned char *operand = trap->cell.work->scratch + op->address % 64;
	unsigned char mask[MOST];
	struct piece pieces[2] = {};

	trap->why = "it goes over the edge of a window, which can only be done piece by piece";
	if (op->locked || op->bytes > MOST || head >= op->bytes)
		return TRAP_CANNOT;
	if (!find_mask(trap, operand, mask)) {
		trap->why = "it faults on any memory";
		return TRAP_CANNOT;
	}
	piece_init(&pieces[0], op, 0, head);
	piece_init(&pieces[1], op, head, op->bytes - head);
	for (unsigned int i = 0; i < 2; i++)
		if (writes(mask, &pieces[i]) && !piece_check(trap, &pieces[i]))
			return TRAP_FAULT;
	return run_all(trap, pieces, operand, mask, first);
}
