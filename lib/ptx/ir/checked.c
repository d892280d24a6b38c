// SPDX-License-Identifier: MIT
/*
 * What MEMCAST_PTX_CHECK adds: a call of the runtime before each access, which looks whether the
 * thread may do it, and at what orders accesses of threads. Without it, nothing is added.
 */
#include "instructions.h"
#include "ir.h"

/*
 * @pointer: from pointer_to(), with @operand and @space; @bytes: an i32; @kind: mask of
 * PTX_ACCESS_…; @value: what is stored, or NULL
 */
void checked_access(struct translator *t, LLVMValueRef pointer, const struct operand *operand,
		    enum space space, LLVMValueRef bytes, uint32_t kind, LLVMValueRef value)
{
	const struct symbol *symbol = operand ? operand->symbol : NULL;

	if (!t->root->kernel.checked)
		return;
	if (symbol && symbol->kind != SYMBOL_REGISTER) {
		/* parameters of calls are where this code has put them */
		if (symbol->space == SPACE_PARAM)
			return;
		if (symbol->space)
			space = symbol->space;
	}
	if (space == SPACE_SHARED)
		kind |= PTX_ACCESS_SHARED;
	if (!value) {
		value = constant(t, 64, 0);
	} else if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMIntegerTypeKind &&
		   LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64) {
		kind |= PTX_ACCESS_VALUE;
		value = resize(t, value, 64, false);
	} else {
		LLVMValueRef place = alloca_at_entry(t, LLVMTypeOf(value), 1, 32);

		kind |= PTX_ACCESS_VALUE_AT;
		LLVMBuildStore(t->builder, value, place);
		value = as_int(t, place);
	}
	call_run(t, "access", "v:liil", as_int(t, pointer), bytes, constant(t, 32, kind), value);
}

void checked_order(struct translator *t, LLVMValueRef kind)
{
	if (t->root->kernel.checked)
		call_run(t, "order", "v:i", kind);
}

static void local(struct translator *t, LLVMValueRef pointer, uint32_t bytes)
{
	LLVMValueRef place;

	if (!bytes)
		return;
	place = alloca_at_entry(t, t->i8, sizeof(struct ptx_local), 8);
	if (!t->outer_locals) {
		t->outer_locals = alloca_at_entry(t, t->pointer, 1, 0);
		LLVMBuildStore(t->builder, call_run(t, "locals", "p:"), t->outer_locals);
	}
	call_run(t, "local", "v:ppi", place, pointer, constant(t, 32, bytes));
}

/* At a function's beginning: tells the runtime what of the stack is the thread's local memory. */
void checked_begin(struct translator *t)
{
	t->outer_locals = NULL;
	if (!t->root->kernel.checked)
		return;
	for (uint32_t i = 0; i < t->body.memory_count; i++) {
		const struct symbol *symbol = t->body.memory[i];

		if (symbol->value && symbol->space != SPACE_SHARED)
			local(t, symbol->value, symbol->bytes);
	}
	if (t->function->kernel)
		return;
	local(t, t->parameters, t->function->parameters.bytes);
	local(t, t->results, t->function->results.bytes);
}

/* Where a function returns */
void checked_end(struct translator *t)
{
	if (t->outer_locals)
		call_run(t, "locals_end", "v:p", BUILD(Load2, t->pointer, t->outer_locals));
}
