// SPDX-License-Identifier: MIT
/*
 * Where kernels can be cut, so that a block's threads are loops and none needs a stack: at barriers
 * of the whole block, at operations of a warp, and where loops without any of these begin their
 * turns. Each thread runs from a cut to the next one. lib/ptx/run/cuts.c lets threads go on from
 * there, wherever the others are, so it does not matter which threads come to a cut. The threads of
 * a loop take their turns side by side, as they do on hardware, and so do their accesses.
 */
#include <stdlib.h>

#include "code.h"
#include "ptx/ir/instructions.h"

#define COPIES_MOST	2000	/* statements of all loops: each has those that it may reach */

static bool is_bar(const struct statement *at)
{
	return word_is(&at->name, "bar") || word_is(&at->name, "barrier");
}

/* A barrier for all threads of the block: bar.sync 0, or bar.red.op d, 0, p */
static bool is_block_barrier(const struct statement *at)
{
	static const char *const known[] = { ".sync", ".cta", ".aligned", ".red", ".popc", ".and",
					     ".or", ".u32", ".pred" };
	bool red = statement_has(at, ".red");
	const struct operand *id = &at->operands[red];

	if (!is_bar(at) || at->operands_count != (red ? 3 : 1) || id->kind != OPERAND_NUMBER ||
	    id->number.integer)
		return false;
	for (uint32_t i = 0; i < at->modifiers_count; i++)
		if (!word_is_one_of(&at->modifiers[i], known, ARRAY_SIZE(known)))
			return false;
	return true;
}

/* Does a thread meet others there, so that a kernel can be cut? */
bool statement_is_meeting(const struct statement *at)
{
	static const char *const of_warps[] = { "vote", "shfl", "match", "redux", "elect" };

	if (at->kind == STATEMENT_LABEL)
		return false;
	return (word_is_one_of(&at->name, of_warps, ARRAY_SIZE(of_warps)) &&
		statement_has(at, ".sync")) || word_is(&at->name, "activemask") ||
	       word_is(&at->name, PTX_STEP) || is_block_barrier(at) ||
	       (is_bar(at) && statement_has(at, ".warp"));
}

/* What a thread has beside registers of 64 bits at most would have to be kept, too. */
static bool operand_allows(const struct operand *operand)
{
	const struct symbol *symbol = operand->symbol;

	if (symbol && symbol->kind == SYMBOL_REGISTER &&
	    (symbol->vector != 1 || type_bits(symbol->type) > 64))
		return false;
	for (uint32_t i = 0; i < operand->count; i++)
		if (!operand_allows(&operand->items[i]))
			return false;
	return !operand->second || operand_allows(operand->second);
}

static bool statement_allows(const struct statement *at)
{
	static const char *const out[] = { "call", "addc", "subc", "madc", "brx", "alloca",
					   "stacksave", "stackrestore", "cp", "mbarrier" };

	if (at->kind == STATEMENT_LABEL)
		return true;
	if (word_is_one_of(&at->name, out, ARRAY_SIZE(out)))
		return false;
	for (uint32_t i = 0; i < at->operands_count; i++)
		if (!operand_allows(&at->operands[i]))
			return false;
	return statement_is_meeting(at) || !(at->opcode && at->opcode->flags & OPCODE_WAITS);
}

/* A body, while its cuts are looked for. Labels know their index. */
struct search {
	struct statement **at;		/* all statements */
	uint32_t *seen;			/* by which walk a statement was found last */
	uint32_t *stack;
	uint32_t count;
};

static bool search_begin(struct search *search, const struct body *body)
{
	uint32_t room = body->count + 1, i = 0;

	search->at = calloc(room, sizeof(*search->at));
	search->seen = calloc(room, sizeof(*search->seen));
	search->stack = calloc(room, sizeof(*search->stack));
	if (!search->at || !search->seen || !search->stack)
		return false;
	for (struct statement *at = body->first; at; at = at->next)
		search->at[i++] = at;
	search->count = i;
	return true;
}

static void search_end(struct search *search)
{
	free(search->at);
	free(search->seen);
	free(search->stack);
}

static bool is_branch(const struct statement *at)
{
	return at->kind == STATEMENT_INSTRUCTION && word_is(&at->name, "bra");
}

/* Return: the index of the label that a branch goes to; count: there is none */
static uint32_t target(const struct search *search, const struct statement *at)
{
	const struct operand *to = &at->operands[0];
	const struct symbol *label = to->kind == OPERAND_NAME ? label_find(at->scope, &to->name) :
								NULL;

	return label ? label->count : search->count;
}

/*
 * Marks labels of innermost loops in which threads do not meet. A loop is what stands between a
 * label and the last branch back to it.
 */
static void mark_loops(struct search *search)
{
	for (uint32_t i = search->count; i--; ) {
		uint32_t label = is_branch(search->at[i]) ? target(search, search->at[i]) : i;
		bool inner = label < i;

		for (uint32_t j = label + 1; j <= i && inner; j++) {
			const struct statement *at = search->at[j];

			inner = !statement_is_meeting(at) &&
				!(j < i && is_branch(at) && target(search, at) < j);
		}
		if (inner)
			search->at[label]->cut = 1;
	}
}

static void reach(struct search *search, uint32_t index, uint32_t walk, uint32_t *count)
{
	if (index >= search->count || search->seen[index] == walk)
		return;
	search->seen[index] = walk;
	search->stack[(*count)++] = index;
}

/* Return: how many statements threads may run that go on at one, until their next cuts */
static uint32_t reached(struct search *search, uint32_t from, uint32_t walk)
{
	uint32_t count = 0, next = 0;

	reach(search, from, walk, &count);
	while (next < count) {
		uint32_t index = search->stack[next++];
		const struct statement *at = search->at[index];

		if (at->cut && index != from)
			continue;
		if (is_branch(at))
			reach(search, target(search, at), walk, &count);
		if (at->guard || at->kind == STATEMENT_LABEL ||
		    !(is_branch(at) || (at->opcode && at->opcode->flags & OPCODE_ENDS) ||
		      word_is(&at->name, "ret")))
			reach(search, index + 1, walk, &count);
	}
	return count;
}

static uint32_t number(struct search *search, bool *too_many)
{
	uint32_t count = 0, copies = search->count;

	for (uint32_t i = 0; i < search->count; i++)
		if (search->at[i]->cut || statement_is_meeting(search->at[i]))
			search->at[i]->cut = ++count;
	copies += reached(search, 0, 1);
	for (uint32_t i = 0; i < search->count; i++)
		if (search->at[i]->cut)
			copies += reached(search, i, i + 2);
	*too_many = count > PTX_CUTS_MOST || copies > COPIES_MOST;
	return *too_many ? 0 : count;
}

/* Gives the statements of a kernel's cuts their numbers. Return: how many; 0: it has none */
uint32_t cuts_find(const struct body *body)
{
	struct search search = {};
	uint32_t count = 0;
	bool too_many;

	for (uint32_t i = 0; i < body->memory_count; i++)
		if (body->memory[i]->space == SPACE_LOCAL || body->memory[i]->space == SPACE_PARAM)
			return 0;
	for (const struct statement *at = body->first; at; at = at->next)
		if (!statement_allows(at))
			return 0;
	if (search_begin(&search, body)) {
		mark_loops(&search);
		count = number(&search, &too_many);
	}
	search_end(&search);
	return count;
}
