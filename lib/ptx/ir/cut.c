// SPDX-License-Identifier: MIT
/*
 * Cuts of a kernel (lib/ptx/jit/cut.c says where). The body is a function that runs a thread from
 * the beginning, or from one cut, to the next cut. It returns that cut's number (0: the thread has
 * ended) in bits 8 and up, and in bits 0 to 7 the low bits of addresses that were not aligned.
 * Between two cuts, memory holds the threads' registers: for each register, all threads' values
 * side by side.
 */
#include "instructions.h"
#include "ir.h"

/* The builder stands in @block, which ends there; what follows is where the thread goes on. */
void cut_here(struct translator *t, LLVMBasicBlockRef block, uint32_t number)
{
	t->cut[number] = block;
	t->resume[number] = new_block(t);
	LLVMPositionBuilderAtEnd(t->builder, t->resume[number]);
	t->epoch++;
}

static LLVMTypeRef kept_type(struct translator *t, const struct symbol *symbol)
{
	return int_type(t, type_bits(symbol->type) < 8 ? 8 : type_bits(symbol->type));
}

static LLVMValueRef kept_at(struct translator *t, const struct symbol *symbol, uint32_t slot)
{
	LLVMValueRef at = constant(t, 64, (uint64_t)slot * 8 * PTX_BLOCK_THREADS), number;

	at = LLVMBuildInBoundsGEP2(t->builder, t->i8, t->state, &at, 1, "");
	number = resize(t, t->number, 64, false);
	return LLVMBuildInBoundsGEP2(t->builder, kept_type(t, symbol), at, &number, 1, "");
}

static void keep(struct translator *t, struct symbol *symbol, uint32_t slot)
{
	LLVMValueRef place = register_place(t, symbol, 0), value;

	value = as_int(t, BUILD(Load2, LLVMGetAllocatedType(place), place));
	if (type_bits(symbol->type) < 8)
		value = resize(t, value, 8, false);
	no_order(t, LLVMBuildStore(t->builder, value, kept_at(t, symbol, slot)));
}

static void take_back(struct translator *t, struct symbol *symbol, uint32_t slot)
{
	LLVMValueRef place = register_place(t, symbol, 0), value;
	LLVMTypeRef type = LLVMGetAllocatedType(place);

	value = BUILD(Load2, kept_type(t, symbol), kept_at(t, symbol, slot));
	no_order(t, value);
	if (type_bits(symbol->type) < 8)
		value = resize(t, value, type_bits(symbol->type), false);
	LLVMBuildStore(t->builder, LLVMTypeOf(value) == type ? value : BUILD(BitCast, value, type),
		       place);
}

/* Ends the blocks of all cuts, and the function's entry. */
void cuts_end(struct translator *t, const struct kept *kept)
{
	LLVMBasicBlockRef first, rest, again;
	LLVMValueRef jump, result;

	/* other values of the entry stand before its end */
	LLVMPositionBuilderBefore(t->entry_builder, LLVMBuildBr(t->entry_builder, t->before));
	LLVMPositionBuilderAtEnd(t->builder, t->before);
	jump = LLVMBuildSwitch(t->builder, t->which, t->start, t->cuts);
	t->slots = kept->count;
	for (uint32_t k = 1; k <= t->cuts; k++) {
		if (!t->cut[k])
			continue;
		first = new_block(t);
		rest = new_block(t);
		again = new_block(t);
		LLVMPositionBuilderAtEnd(t->builder, t->cut[k]);
		LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntEQ, t->which,
							  constant(t, 32, 0), ""), first, rest);
		LLVMPositionBuilderAtEnd(t->builder, first);
		for (uint32_t i = 0; i < kept->count; i++)
			if (kept->at[i]->flow.stays)
				keep(t, kept->at[i], i);
		LLVMBuildBr(t->builder, rest);
		LLVMPositionBuilderAtEnd(t->builder, rest);
		for (uint32_t i = 0; i < kept->count; i++)
			if (!kept->at[i]->flow.stays)
				keep(t, kept->at[i], i);
		result = BUILD(Or, BUILD(Load2, t->i32, t->misaligned), constant(t, 32, k << 8));
		LLVMBuildRet(t->builder, result);
		LLVMPositionBuilderAtEnd(t->builder, again);
		for (uint32_t i = 0; i < kept->count; i++)
			take_back(t, kept->at[i], i);
		LLVMBuildBr(t->builder, t->resume[k]);
		LLVMAddCase(jump, constant(t, 32, k), again);
	}
}
