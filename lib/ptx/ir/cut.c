// SPDX-License-Identifier: MIT
/*
 * Cuts of a kernel (lib/ptx/jit/cut.c says where). The body is a function that runs a thread from
 * the beginning, or from one cut, to the next cut. It returns that cut's number (0: the thread has
 * ended) in bits 8 and up, and in bits 0 to 7 the low bits of addresses that were not aligned.
 * Between two cuts, struct ptx_state and memory behind it hold what threads bring to an operation,
 * and their registers: for each register, all threads' values side by side.
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

/* Where one of the arrays of struct ptx_state has this thread's word */
static LLVMValueRef word_at(struct translator *t, size_t array)
{
	LLVMValueRef at = constant(t, 64, array);

	at = LLVMBuildInBoundsGEP2(t->builder, t->i8, t->state, &at, 1, "");
	return LLVMBuildInBoundsGEP2(t->builder, t->i32, at, &t->number, 1, "");
}

static void bring(struct translator *t, size_t array, LLVMValueRef value)
{
	no_order(t, LLVMBuildStore(t->builder, resize(t, value, 32, false), word_at(t, array)));
}

static LLVMValueRef get_word(struct translator *t, size_t array)
{
	LLVMValueRef value = BUILD(Load2, t->i32, word_at(t, array));

	no_order(t, value);
	return value;
}

/* Stores an operand that differs from thread to thread; one that is a number is of the cut. */
static void bring_operand(struct translator *t, struct ptx_cut *cut, uint32_t fixed,
			  uint32_t *number, size_t array, LLVMValueRef value)
{
	if (value && LLVMIsAConstantInt(value)) {
		cut->fixed |= fixed;
		*number = LLVMConstIntGetZExtValue(value);
	} else if (value) {
		bring(t, array, value);
	}
}

/* Cuts at the statement, an operation for which threads meet. Return: what it gives the thread */
LLVMValueRef cut_meet(struct translator *t, enum ptx_cut_kind kind, uint32_t operation,
		      const struct brought *brought)
{
	struct ptx_cut *cut = &t->about[t->at->cut];

	*cut = (struct ptx_cut) { .kind = kind, .operation = operation, .line = t->at->line };
	if (brought->value) {
		bring(t, offsetof(struct ptx_state, value), brought->value);
		if (LLVMGetIntTypeWidth(LLVMTypeOf(brought->value)) == 64)
			bring(t, offsetof(struct ptx_state, high),
			      BUILD(LShr, brought->value, constant(t, 64, 32)));
	}
	bring_operand(t, cut, PTX_FIXED_MASK, &cut->mask, offsetof(struct ptx_state, mask),
		      brought->mask);
	bring_operand(t, cut, PTX_FIXED_B, &cut->b, offsetof(struct ptx_state, b), brought->b);
	bring_operand(t, cut, PTX_FIXED_C, &cut->c, offsetof(struct ptx_state, c), brought->c);
	cut_here(t, LLVMGetInsertBlock(t->builder), t->at->cut);
	return get_word(t, offsetof(struct ptx_state, outcome));
}

/* Return: the predicate that an operation of a warp gives beside its outcome, as 0 or 1 */
LLVMValueRef cut_agreed(struct translator *t)
{
	t->about[t->at->cut].fixed |= PTX_AGREES;
	return get_word(t, offsetof(struct ptx_state, agreed));
}

static LLVMTypeRef kept_type(struct translator *t, const struct symbol *symbol)
{
	return int_type(t, type_bits(symbol->type) < 8 ? 8 : type_bits(symbol->type));
}

static LLVMValueRef kept_at(struct translator *t, const struct symbol *symbol, uint32_t slot)
{
	LLVMValueRef at = constant(t, 64, sizeof(struct ptx_state) + slot * PTX_STATE_REGISTER);

	at = LLVMBuildInBoundsGEP2(t->builder, t->i8, t->state, &at, 1, "");
	return LLVMBuildInBoundsGEP2(t->builder, kept_type(t, symbol), at, &t->number, 1, "");
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

/* A thread that does not stop at turns of loops goes on; others leave. */
static void maybe_leave(struct translator *t, uint32_t number, LLVMBasicBlockRef leave)
{
	if (t->about[number].kind == PTX_CUT_TURN)
		LLVMBuildCondBr(t->builder, t->turns, leave, t->resume[number]);
	else
		LLVMBuildBr(t->builder, leave);
}

/*
 * Keeps registers, and returns the cut. All cuts share this block: LLVM would make one of several,
 * and forget that their stores have no order.
 */
static void leave_end(struct translator *t, const struct kept *kept, LLVMBasicBlockRef leave)
{
	LLVMBasicBlockRef first = new_block(t), rest = new_block(t);
	LLVMValueRef number, value, result;

	LLVMPositionBuilderAtEnd(t->builder, leave);
	number = BUILD(Phi, t->i32);
	for (uint32_t k = 1; k <= t->cuts; k++) {
		value = constant(t, 32, k << 8);
		if (t->cut[k])
			LLVMAddIncoming(number, &value, &t->cut[k], 1);
	}
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
	result = BUILD(Or, BUILD(Load2, t->i32, t->misaligned), number);
	LLVMBuildRet(t->builder, result);
}

/* Ends the blocks of all cuts, and the function's entry. */
void cuts_end(struct translator *t, const struct kept *kept)
{
	LLVMBasicBlockRef again, leave = new_block(t);
	LLVMValueRef jump;

	/* other values of the entry stand before its end */
	LLVMPositionBuilderBefore(t->entry_builder, LLVMBuildBr(t->entry_builder, t->before));
	LLVMPositionBuilderAtEnd(t->builder, t->before);
	jump = LLVMBuildSwitch(t->builder, t->which, t->start, t->cuts);
	t->slots = kept->count;
	for (uint32_t k = 1; k <= t->cuts; k++) {
		if (!t->cut[k])
			continue;
		LLVMPositionBuilderAtEnd(t->builder, t->cut[k]);
		maybe_leave(t, k, leave);
		again = new_block(t);
		LLVMPositionBuilderAtEnd(t->builder, again);
		for (uint32_t i = 0; i < kept->count; i++)
			take_back(t, kept->at[i], i);
		LLVMBuildBr(t->builder, t->resume[k]);
		LLVMAddCase(jump, constant(t, 32, k), again);
	}
	leave_end(t, kept, leave);
}
