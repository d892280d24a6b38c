// SPDX-License-Identifier: MIT
/*
 * Where kernels can be cut, so that a block's threads are loops and none needs a stack: at barriers
 * of the whole block, or, without barriers, where the first loop begins its turns. Each thread runs
 * from a cut to the next one, then all go on. Then barriers hold wherever they stand, as all
 * threads that have not ended are at one; and the threads of a loop take their turns side by side,
 * as they do on hardware, and so do their accesses.
 */
#include "code.h"
#include "ptx/ir/instructions.h"

#define COPIES_MOST	2000	/* statements of all loops: each has those that it may reach */

/* A barrier for all threads of the block */
bool statement_is_barrier(const struct statement *at)
{
	if (at->kind == STATEMENT_LABEL || at->guard || at->operands_count != 1 ||
	    !(word_is(&at->name, "bar") || word_is(&at->name, "barrier")) ||
	    at->operands[0].kind != OPERAND_NUMBER || at->operands[0].number.integer)
		return false;
	for (uint32_t i = 0; i < at->modifiers_count; i++)
		if (!word_is(&at->modifiers[i], ".sync") && !word_is(&at->modifiers[i], ".cta") &&
		    !word_is(&at->modifiers[i], ".aligned"))
			return false;
	return true;
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
	return statement_is_barrier(at) || !(at->opcode && at->opcode->flags & OPCODE_WAITS);
}

/* Return: the first label that a branch further down goes back to; labels know their index */
static struct statement *first_loop(const struct body *body)
{
	const struct statement *at;
	struct symbol *first = NULL, *label;
	uint32_t index = 0;

	for (at = body->first; at; at = at->next, index++) {
		if (at->kind == STATEMENT_LABEL || !word_is(&at->name, "bra") ||
		    at->operands[0].kind != OPERAND_NAME)
			continue;
		label = scope_find(at->scope, at->operands[0].name.at,
				   at->operands[0].name.length);
		if (label && label->kind == SYMBOL_LABEL && label->count < index &&
		    (!first || label->count < first->count))
			first = label;
	}
	for (struct statement *found = body->first; found && first; found = found->next)
		if (found->kind == STATEMENT_LABEL && found->label == first)
			return found;
	return NULL;
}

/* Gives the statements of a kernel's cuts their numbers. Return: how many; 0: it has none */
uint32_t cuts_find(const struct body *body)
{
	uint32_t count = 0;
	struct statement *at;

	for (uint32_t i = 0; i < body->memory_count; i++)
		if (body->memory[i]->space == SPACE_LOCAL || body->memory[i]->space == SPACE_PARAM)
			return 0;
	for (at = body->first; at; at = at->next) {
		if (!statement_allows(at))
			return 0;
		if (statement_is_barrier(at))
			at->cut = ++count;
	}
	if (!count) {
		at = first_loop(body);
		if (at)
			at->cut = ++count;
	}
	return count > PTX_CUTS_MOST || (count + 2) * body->count > COPIES_MOST ? 0 : count;
}
