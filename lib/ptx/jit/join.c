// SPDX-License-Identifier: MIT
/*
 * Which kernels have blocks that can run as one: those whose threads use %tid.x and %ctaid.x only
 * for their sum, %ctaid.x * %ntid.x + %tid.x. Threads of blocks side by side then make one long
 * row, which reads and writes memory in order.
 */
#include <stdlib.h>

#include "code.h"
#include "ptx/ir/instructions.h"
#include "ptx/ir/ir.h"

#define KEPT_MOST	8	/* registers of a thread: 64 KiB of 1,024 threads */

/* What a register has of a thread's place */
enum place { PLACE_NONE, PLACE_THREAD, PLACE_BLOCK, PLACE_SIZE, PLACE_FIRST };

static enum place place_of(const struct operand *operand)
{
	if (operand->kind != OPERAND_REGISTER || operand->part.length || operand->second)
		return PLACE_NONE;
	return operand->symbol->flow.place;
}

static enum place special_place(const struct operand *operand)
{
	if (operand->kind != OPERAND_SPECIAL || !word_is(&operand->part, ".x"))
		return PLACE_NONE;
	return word_is(&operand->name, "%tid") ? PLACE_THREAD :
	       word_is(&operand->name, "%ctaid") ? PLACE_BLOCK :
	       word_is(&operand->name, "%ntid") ? PLACE_SIZE : PLACE_NONE;
}

static bool is_32_bits(const struct statement *at)
{
	return statement_has(at, ".u32") || statement_has(at, ".s32") || statement_has(at, ".b32");
}

/* Is it the block's number times its size? */
static bool is_product(const struct statement *at)
{
	enum place a, b;

	if ((!word_is(&at->name, "mul") && !word_is(&at->name, "mad")) ||
	    !statement_has(at, ".lo") || !is_32_bits(at) || at->modifiers_count != 2)
		return false;
	a = place_of(&at->operands[1]);
	b = place_of(&at->operands[2]);
	return (a == PLACE_BLOCK && b == PLACE_SIZE) || (a == PLACE_SIZE && b == PLACE_BLOCK);
}

/* Is it a thread's place in the grid? */
static bool is_sum(const struct statement *at)
{
	enum place a = place_of(&at->operands[1]), b = place_of(&at->operands[2]);

	if (word_is(&at->name, "mad"))
		return is_product(at) && place_of(&at->operands[3]) == PLACE_THREAD;
	return word_is(&at->name, "add") && is_32_bits(at) && at->modifiers_count == 1 &&
	       ((a == PLACE_FIRST && b == PLACE_THREAD) ||
		(a == PLACE_THREAD && b == PLACE_FIRST));
}

/* Is the special register the same in all threads of blocks side by side? */
static bool is_shared_by_all(const struct operand *operand)
{
	static const char *const all[] = { "%ntid", "%nctaid", "%gridid" };
	static const char *const beside_x[] = { "%tid", "%ctaid" };

	if (word_is_one_of(&operand->name, all, ARRAY_SIZE(all)))
		return true;
	return word_is_one_of(&operand->name, beside_x, ARRAY_SIZE(beside_x)) &&
	       (word_is(&operand->part, ".y") || word_is(&operand->part, ".z"));
}

/* May the operand stand where no place is made? */
static bool operand_joins(const struct operand *operand)
{
	enum place place = operand->symbol && operand->symbol->kind == SYMBOL_REGISTER ?
			   operand->symbol->flow.place : PLACE_NONE;

	if (operand->kind == OPERAND_SPECIAL && !is_shared_by_all(operand))
		return false;
	if (place != PLACE_NONE && place != PLACE_SIZE)
		return false;
	for (uint32_t i = 0; i < operand->count; i++)
		if (!operand_joins(&operand->items[i]))
			return false;
	return !operand->second || operand_joins(operand->second);
}

static bool statement_joins(struct statement *at, bool *sums)
{
	/* these say where a thread is, or in which space an address is */
	static const char *const out[] = { "call", "trap", "brkpt", "exit", "alloca", "isspacep",
					   "mapa", "getctarank" };
	enum place place;

	if (at->kind == STATEMENT_LABEL)
		return true;
	if (word_is_one_of(&at->name, out, ARRAY_SIZE(out)))
		return false;
	for (uint32_t i = 0; i < at->modifiers_count; i++)
		if (at->modifiers[i].length >= 7 && !memcmp(at->modifiers[i].at, ".shared", 7))
			return false;
	if (!at->guard && statement_writes_once(at)) {
		place = at->operands_count == 2 && word_is(&at->name, "mov") && is_32_bits(at) ?
			special_place(&at->operands[1]) : PLACE_NONE;
		if (place == PLACE_NONE && word_is(&at->name, "mul") && is_product(at))
			place = PLACE_FIRST;
		if (place != PLACE_NONE) {
			at->operands[0].symbol->flow.place = place;
			return true;
		}
	}
	if (at->operands_count > 2 && is_sum(at)) {
		*sums = true;
		return true;
	}
	for (uint32_t i = 0; i < at->operands_count; i++)
		if (!operand_joins(&at->operands[i]))
			return false;
	return true;
}

/*
 * Can blocks of a kernel run as one that never waits? Labels know their statements. Return: how
 * many threads they may have together; 0: they cannot. One that is cut has room for those of the
 * largest block, and each of its turns goes through all that threads keep.
 */
uint32_t body_joins(const struct body *body, bool cut)
{
	struct kept kept = {};
	bool sums = false, good;

	good = registers_look(body, cut ? &kept : NULL) && kept.count <= KEPT_MOST;
	free(kept.at);
	for (struct statement *at = body->first; at && good; at = at->next)
		good = statement_joins(at, &sums);
	if (!good || !sums)
		return 0;
	return cut ? PTX_BLOCK_THREADS : UINT32_MAX;
}
