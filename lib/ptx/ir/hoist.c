// SPDX-License-Identifier: MIT
/*
 * What a cut kernel's threads compute from their indices and parameters alone is not kept at cuts,
 * but computed again behind each. LLVM drops what the part behind a cut does not use, and sees how
 * the values differ from thread to thread: it can make vector accesses of addresses that are
 * computed, but not of addresses that were loaded.
 */
#include "instructions.h"
#include "ir.h"

/* Cheap, and the same wherever they run */
static const char *const pure[] = {
	"add", "sub", "mul", "mad", "mul24", "mad24", "shl", "shr", "and", "or", "xor", "not",
	"neg", "min", "max", "mov", "cvt", "cvta", "ld", "setp", "selp", "bfe", "lop3",
};

bool statement_is_pure(const struct statement *at)
{
	if (!word_is_one_of(&at->name, pure, ARRAY_SIZE(pure)) || at->guard ||
	    statement_has(at, ".cc"))
		return false;
	return !word_is(&at->name, "ld") || statement_has(at, ".param");
}

static bool is_fixed(const struct statement *at, const struct operand *operand)
{
	switch (operand->kind) {
	case OPERAND_NUMBER:
		return true;
	case OPERAND_SPECIAL:
		return word_is(&operand->name, "%tid") || word_is(&operand->name, "%ntid") ||
		       word_is(&operand->name, "%ctaid") || word_is(&operand->name, "%nctaid") ||
		       word_is(&operand->name, "%laneid") || word_is(&operand->name, "%warpid");
	case OPERAND_SYMBOL:
		return word_is(&at->name, "mov") && operand->symbol->kind == SYMBOL_VARIABLE;
	case OPERAND_REGISTER:
		return operand->symbol->flow.hoisted && !operand->part.length && !operand->second;
	case OPERAND_ADDRESS:
		return word_is(&at->name, "ld") && operand->symbol && operand->symbol->parameter;
	default:
		return false;
	}
}

/* Gives a statement its first operand, a register, the only value that this ever has? */
bool statement_writes_once(const struct statement *at)
{
	const struct operand *operand = at->operands;
	const struct symbol *to;

	if (at->operands_count < 2 || operand->kind != OPERAND_REGISTER || operand->part.length ||
	    operand->second)
		return false;
	to = operand->symbol;
	return to->flow.known && to->flow.written == 1 && !to->flow.zeroed && to->vector == 1 &&
	       !to->parameter;
}

/*
 * Marks a statement if it can stand before all cuts. Those before it in the text are marked. A
 * product that a sum may take in (float.c) has to stay in the straight code of the sum.
 */
void hoist(struct statement *at)
{
	if (at->kind == STATEMENT_LABEL || !statement_is_pure(at) || !statement_writes_once(at) ||
	    (word_is(&at->name, "mul") && !statement_has(at, ".rn") &&
	     (statement_has(at, ".f32") || statement_has(at, ".f64"))))
		return;
	for (uint32_t i = 1; i < at->operands_count; i++)
		if (!is_fixed(at, &at->operands[i]))
			return;
	at->operands[0].symbol->flow.hoisted = at->hoisted = true;
}
