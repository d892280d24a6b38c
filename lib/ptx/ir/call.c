// SPDX-License-Identifier: MIT
/*
 * Calls. A function gets one block with its parameters at their PTX offsets, and one for its
 * results; LLVM makes values of them where it inlines the function. A pointer to a function is the
 * address of its slot.
 */
#include <string.h>

#include "instructions.h"
#include "ir.h"
#include "ptx/math/ptx_math.h"

/* Return: a pointer to a byte of what is at a pointer */
LLVMValueRef at_offset(struct translator *t, LLVMValueRef block, uint64_t offset)
{
	LLVMValueRef at = constant(t, 64, offset);

	return LLVMBuildGEP2(t->builder, t->i8, block, &at, 1, "");
}

static bool is_parameter(const struct operand *operand)
{
	return operand->kind == OPERAND_SYMBOL && operand->symbol->space == SPACE_PARAM;
}

static void give(struct translator *t, LLVMValueRef block, const struct parameters *parameters,
		 const struct operand *list)
{
	for (uint32_t i = 0; i < parameters->count && i < list->count; i++) {
		const struct symbol *to = parameters->at[i];
		const struct operand *from = &list->items[i];
		LLVMValueRef place = at_offset(t, block, to->offset);

		if (is_parameter(from)) {
			uint64_t bytes = to->bytes < from->symbol->bytes ? to->bytes :
					 from->symbol->bytes;

			LLVMBuildMemCpy(t->builder, place, 1, symbol_address(t, from->symbol), 1,
					constant(t, 64, bytes));
		} else {
			LLVMBuildStore(t->builder, get(t, from, to->type), place);
		}
	}
}

static void take(struct translator *t, LLVMValueRef block, const struct parameters *results,
		 const struct operand *list)
{
	for (uint32_t i = 0; i < results->count && i < list->count; i++) {
		const struct symbol *from = results->at[i];
		const struct operand *to = &list->items[i];
		LLVMValueRef place = at_offset(t, block, from->offset);

		if (is_parameter(to))
			LLVMBuildMemCpy(t->builder, symbol_address(t, to->symbol), 1, place, 1,
					constant(t, 64, from->bytes < to->symbol->bytes ?
						 from->bytes : to->symbol->bytes));
		else
			put(t, to, BUILD(Load2, int_type(t, type_bits(from->type)), place),
			    from->type);
	}
}

/*
 * Where a kernel loops over its threads, only the loop knows which one it is at: the thread gets
 * the indices before a call that may name it.
 */
void name_thread(struct translator *t)
{
	if (!t->loops)
		return;
	for (int i = 0; i < 3; i++)
		LLVMBuildStore(t->builder, t->tid[i],
			       at_offset(t, t->thread, offsetof(struct ptx_thread, tid) + 4 * i));
	LLVMBuildStore(t->builder, constant(t, 32, 1),
		       at_offset(t, t->thread, offsetof(struct ptx_thread, named)));
}

static LLVMValueRef value_in(struct translator *t, const struct operand *list, uint32_t index,
			     enum type type)
{
	const struct operand *item;

	if (index >= list->count) {
		unsupported(t);
		return constant(t, type_bits(type), 0);
	}
	item = &list->items[index];
	if (is_parameter(item))
		return BUILD(Load2, int_type(t, type_bits(type)), symbol_address(t, item->symbol));
	return get(t, item, type);
}

static LLVMValueRef pointer_in(struct translator *t, const struct operand *list, uint32_t index)
{
	return BUILD(IntToPtr, value_in(t, list, index, TYPE_B64), t->pointer);
}

static void result_out(struct translator *t, const struct operand *list, LLVMValueRef value)
{
	if (list && list->count && is_parameter(&list->items[0]))
		LLVMBuildStore(t->builder, as_int(t, value),
			       symbol_address(t, list->items[0].symbol));
	else if (list && list->count)
		put(t, &list->items[0], value, TYPE_NONE);
}

/* Return: a parameter of a call as the type that a letter of a signature stands for */
static LLVMValueRef letter_in(struct translator *t, const struct operand *list, uint32_t index,
			      char letter)
{
	switch (letter) {
	case 'p': return pointer_in(t, list, index);
	case 'f': return BUILD(BitCast, value_in(t, list, index, TYPE_B32), t->f32);
	case 'd': return BUILD(BitCast, value_in(t, list, index, TYPE_B64), t->f64);
	default: return value_in(t, list, index, TYPE_B32);
	}
}

/* __nv_sinf() and others. Return: is it one of them? */
static bool libdevice_call(struct translator *t, const struct word *name,
			   const struct operand *results, const struct operand *list)
{
	static const char prefix[] = "__";
	const struct math_name *found;
	LLVMValueRef values[3] = {};

	if (!is_libdevice(name->at, name->length))
		return false;
	found = math_find(name->at + strlen(prefix), name->length - strlen(prefix));
	for (uint32_t i = 0; found && found->signature[2 + i]; i++)
		values[i] = letter_in(t, list, i, found->signature[2 + i]);
	if (found)
		result_out(t, results, call_math(t, found->name, values[0], values[1], values[2]));
	return found;
}

/* Functions that no text defines. Return: is it one of them? */
static bool system_call(struct translator *t, const struct symbol *symbol,
			const struct operand *results, const struct operand *list)
{
	struct word name = { .at = symbol->name, .length = symbol->length };

	if (word_is(&name, "vprintf")) {
		result_out(t, results, call_run(t, "vprintf", "i:pp", pointer_in(t, list, 0),
						pointer_in(t, list, 1)));
	} else if (word_is(&name, "malloc")) {
		result_out(t, results, call_run(t, "malloc", "p:l", value_in(t, list, 0,
									     TYPE_B64)));
	} else if (word_is(&name, "free")) {
		call_run(t, "free", "v:p", pointer_in(t, list, 0));
	} else if (word_is(&name, "cudaGraphSetConditional")) {
		name_thread(t);
		call_run(t, "condition", "v:li", value_in(t, list, 0, TYPE_B64),
			 value_in(t, list, 1, TYPE_B32));
	} else if (word_is(&name, "__assertfail")) {
		name_thread(t);
		call_run(t, "assertfail", "v:ppipl", pointer_in(t, list, 0), pointer_in(t, list, 1),
			 value_in(t, list, 2, TYPE_B32), pointer_in(t, list, 3),
			 value_in(t, list, 4, TYPE_B64));
	} else {
		return libdevice_call(t, &name, results, list);
	}
	return true;
}

static void call_slot(struct translator *t, LLVMValueRef slot, LLVMValueRef parameters,
		      LLVMValueRef results)
{
	LLVMTypeRef types[] = { t->pointer, t->pointer, t->pointer, t->pointer };
	LLVMValueRef values[] = { t->thread, parameters, results, slot };
	LLVMValueRef code = BUILD(Load2, t->pointer, slot);

	LLVMBuildCall2(t->builder, LLVMFunctionType(t->nothing, types, 4, false), code, values, 4,
		       "");
}

static void call_function(struct translator *t, struct symbol *symbol, LLVMValueRef parameters,
			  LLVMValueRef results)
{
	struct function *function = code_resolve(t->code, symbol)->function;
	LLVMTypeRef types[] = { t->pointer, t->pointer, t->pointer };
	LLVMValueRef values[] = { t->thread, parameters, results };

	if (function->statements > PTX_LARGE_CALLEE || function->kernel) {
		call_slot(t, symbol_address(t, symbol), parameters, results);
		return;
	}
	LLVMBuildCall2(t->builder, LLVMFunctionType(t->nothing, types, 3, false),
		       function_value(t, function), values, 3, "");
}

/* A function that was called through a table may have ended the launch by noreturn. */
void translate_call(struct translator *t)
{
	struct operand none = {}, *results = &none, *list = &none, *callee;
	const struct parameters *declared, *returned;
	LLVMValueRef given, got;
	uint32_t next = 0;

	has(t, MOD_uni);
	if (operand(t, 0)->kind == OPERAND_VECTOR)
		results = operand(t, next++);
	callee = operand(t, next++);
	if (operand(t, next)->kind == OPERAND_VECTOR)
		list = operand(t, next++);
	if (callee->kind == OPERAND_SYMBOL && callee->symbol->kind == SYMBOL_FUNCTION) {
		struct symbol *defined = code_resolve(t->code, callee->symbol);

		if (!defined || !defined->function->defined) {
			if (!system_call(t, callee->symbol, results, list))
				unsupported_about(t, callee->symbol);
			return;
		}
		declared = &defined->function->parameters;
		returned = &defined->function->results;
	} else if (callee->kind == OPERAND_REGISTER && operand(t, next)->kind == OPERAND_SYMBOL) {
		struct symbol *about = operand(t, next)->symbol;

		if (about->kind == SYMBOL_TARGETS && about->targets->count) {
			const struct word *name = &about->targets->names[0];

			about = scope_find(about->targets->scope, name->at, name->length);
			about = about ? code_resolve(t->code, about) : NULL;
		}
		if (about && about->kind == SYMBOL_FUNCTION) {
			declared = &about->function->parameters;
			returned = &about->function->results;
		} else if (about && about->kind == SYMBOL_PROTOTYPE) {
			returned = &about->prototype[0];
			declared = &about->prototype[1];
		} else {
			unsupported(t);
			return;
		}
	} else {
		unsupported(t);
		return;
	}
	given = alloca_at_entry(t, t->i8, declared->bytes + 16, 16);
	got = alloca_at_entry(t, t->i8, returned->bytes + 16, 16);
	give(t, given, declared, list);
	if (callee->kind == OPERAND_REGISTER)
		call_slot(t, BUILD(IntToPtr, get(t, callee, TYPE_B64), t->pointer), given, got);
	else
		call_function(t, callee->symbol, given, got);
	take(t, got, returned, results);
}
