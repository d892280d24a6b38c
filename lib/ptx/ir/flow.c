// SPDX-License-Identifier: MIT
/* Branches, ends, and waiting for time. */
#include "instructions.h"
#include "ir.h"

static struct symbol *label_of(struct translator *t, const struct word *name, struct scope *scope)
{
	struct symbol *label = label_find(scope, name);

	if (!label)
		unsupported(t);
	return label;
}

void translate_bra(struct translator *t)
{
	struct operand *to = operand(t, 0);
	struct symbol *label = label_of(t, &to->name, t->at->scope);

	has(t, MOD_uni);
	if (!label)
		return;
	edge(t, label);
	LLVMBuildBr(t->builder, label_block(t, label));
	t->ended = true;
}

void translate_brx(struct translator *t)
{
	struct operand *table = operand(t, 1);
	struct targets *targets;
	LLVMValueRef jump, index;
	LLVMBasicBlockRef nowhere;

	has(t, MOD_idx);
	has(t, MOD_uni);
	if (table->kind != OPERAND_SYMBOL || table->symbol->kind != SYMBOL_TARGETS) {
		unsupported(t);
		return;
	}
	targets = table->symbol->targets;
	index = get(t, operand(t, 0), TYPE_U32);
	nowhere = new_block(t);
	jump = LLVMBuildSwitch(t->builder, index, nowhere, targets->count);
	for (uint32_t i = 0; i < targets->count; i++) {
		struct symbol *label = label_of(t, &targets->names[i], targets->scope);
		LLVMBasicBlockRef block = new_block(t);

		if (!label)
			return;
		LLVMAddCase(jump, constant(t, 32, i), block);
		LLVMPositionBuilderAtEnd(t->builder, block);
		edge(t, label);
		LLVMBuildBr(t->builder, label_block(t, label));
	}
	LLVMPositionBuilderAtEnd(t->builder, nowhere);
	LLVMBuildUnreachable(t->builder);
	t->ended = true;
}

/* Writes results that are in registers, and returns; a body without statements ends here, too. */
void translate_return(struct translator *t)
{
	const struct parameters *results = &t->function->results;

	if (t->at)
		has(t, MOD_uni);
	checked_end(t);
	if (t->function->kernel) {
		LLVMBuildRet(t->builder, BUILD(Load2, t->i32, t->misaligned));
		t->ended = true;
		return;
	}
	for (uint32_t i = 0; i < results->count; i++) {
		struct symbol *symbol = results->at[i];
		LLVMValueRef at = constant(t, 64, symbol->offset);

		if (symbol->space != SPACE_REG)
			continue;
		at = LLVMBuildGEP2(t->builder, t->i8, t->results, &at, 1, "");
		LLVMBuildStore(t->builder, register_read(t, symbol, 0), at);
	}
	LLVMBuildRetVoid(t->builder);
	t->ended = true;
}

void translate_exit(struct translator *t)
{
	if (t->function->kernel) {
		translate_return(t);
		return;
	}
	call_run(t, "exit", "v:");
	LLVMBuildUnreachable(t->builder);
	t->ended = true;
}

void translate_trap(struct translator *t)
{
	name_thread(t);
	call_run(t, "trap", "v:");
	LLVMBuildUnreachable(t->builder);
	t->ended = true;
}

void translate_brkpt(struct translator *t)
{
	name_thread(t);
	call_run(t, "brkpt", "v:");
}

TRANSLATE(nanosleep, call_run(t, "nanosleep", "v:i", get(t, operand(t, 0), TYPE_U32)))

/* Hints, and events for profilers: they change nothing. */
TRANSLATE(nothing, t->used = (1U << t->at->modifiers_count) - 1)
