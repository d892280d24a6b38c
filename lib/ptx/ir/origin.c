// SPDX-License-Identifier: MIT
/*
 * Shifts of which NVIDIA's compiler makes something else, by what their operands come from:
 *
 *   - A product by a number that is not 0, also with a number added, is not shifted at all where
 *     shl.b64 shifts it by a number of 64 or more.
 *   - A number by which 16 bits are shifted is taken for signed, so that negative ones are 0, if
 *     a function has it from ld.param.s8 or .s16.
 *
 * Where a function has such a shift, each register gets a byte that says what it comes from.
 */
#include "ir.h"

static bool is_modified(const struct translator *t, enum modifier modifier)
{
	for (uint32_t i = 0; i < t->at->modifiers_count; i++)
		if (t->modifiers[i] == modifier)
			return true;
	return false;
}

static bool is_number(struct translator *t, uint32_t index)
{
	return operand(t, index)->kind == OPERAND_NUMBER;
}

/* Does the function have a shift that asks where its operands come from? */
void origins_begin(struct translator *t)
{
	t->origins = false;
	for (const struct statement *at = t->body.first; at && !t->origins; at = at->next) {
		const struct operand *count = at->operands + 2;
		bool left = at->kind != STATEMENT_LABEL && word_is(&at->name, "shl");

		if (at->kind == STATEMENT_LABEL || at->operands_count != 3 ||
		    !at->modifiers_count || (!left && !word_is(&at->name, "shr")))
			continue;
		if (count->kind == OPERAND_NUMBER)
			t->origins = left && type_bits(type_of_word(&at->modifiers[0])) == 64 &&
				     (uint32_t)count->number.integer >= 64;
		else
			t->origins = !t->function->kernel &&
				     type_bits(type_of_word(&at->modifiers[0])) == 16;
	}
}

static LLVMValueRef place(struct translator *t, struct symbol *symbol)
{
	if (!symbol->origin) {
		symbol->origin = alloca_at_entry(t, t->i8, 1, 0);
		LLVMBuildStore(t->entry_builder, constant(t, 8, ORIGIN_OTHER), symbol->origin);
	}
	return symbol->origin;
}

/* Return: does the operand come from there? An i1 */
LLVMValueRef origin_is(struct translator *t, const struct operand *from, enum origin origin)
{
	if (!t->origins || from->kind != OPERAND_REGISTER)
		return constant(t, 1, 0);
	return LLVMBuildICmp(t->builder, LLVMIntEQ, BUILD(Load2, t->i8, place(t, from->symbol)),
			     constant(t, 8, origin), "");
}

void origin_note(struct translator *t, struct symbol *symbol, LLVMValueRef origin)
{
	if (t->origins)
		LLVMBuildStore(t->builder, origin ? origin : constant(t, 8, ORIGIN_OTHER),
			       place(t, symbol));
}

/* Return: what the statement's result will come from, an i8; NULL: something else */
LLVMValueRef origin_of_result(struct translator *t)
{
	const struct word *name = &t->at->name;
	enum type type = type_at(t, 0);
	bool wide = type_bits(type) == 64 && !type_is(type, KIND_FLOAT);

	if (operand(t, 0)->kind != OPERAND_REGISTER)
		return NULL;
	if (word_is(name, "mul") || word_is(name, "mad")) {
		bool adds = word_is(name, "mad");

		if (!is_number(t, 2) || !operand(t, 2)->number.integer ||
		    (adds && !is_number(t, 3)) ||
		    !((wide && is_modified(t, MOD_lo)) ||
		      (!adds && type_bits(type) == 32 && is_modified(t, MOD_wide))))
			return NULL;
		return constant(t, 8, ORIGIN_PRODUCT);
	}
	if (word_is(name, "ld") && is_modified(t, MOD_param) && !t->function->kernel &&
	    (type == TYPE_S8 || type == TYPE_S16))
		return constant(t, 8, ORIGIN_SIGNED);
	if ((word_is(name, "mov") || ((word_is(name, "add") || word_is(name, "sub")) &&
				      is_number(t, 2))) &&
	    wide && operand(t, 1)->kind == OPERAND_REGISTER)
		return BUILD(Load2, t->i8, place(t, operand(t, 1)->symbol));
	return NULL;
}
