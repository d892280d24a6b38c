// SPDX-License-Identifier: MIT
/*
 * Addresses. Those of global, const, param and local memory are the processor's. A shared address
 * is an offset into the block's window, whose blocks of a cluster lie one after the other.
 */
#include <stdio.h>
#include <string.h>

#include "ir.h"

/* An address that only the linker of the code writes into it */
static LLVMValueRef external(struct translator *t, const char *name, void *address)
{
	LLVMValueRef global = LLVMGetNamedGlobal(t->module, name);

	if (!global) {
		global = LLVMAddGlobal(t->module, t->i8, name);
		root_external(t->root, name, address);
	}
	return global;
}

static LLVMValueRef variable(struct translator *t, struct symbol *symbol)
{
	struct symbol *defined = code_resolve(t->code, symbol);
	char name[64];

	if (!defined || !defined->address) {
		unsupported(t);
		return LLVMConstNull(t->pointer);
	}
	snprintf(name, sizeof(name), "variable.%u", defined->offset);
	return external(t, name, (void *)(uintptr_t)defined->address);
}

/*
 * With clusters, a shared address has its block's rank in the highest byte: in all texts, as they hand
 * such addresses to each other. Return: the address of a place in the block's own shared memory
 */
LLVMValueRef own_shared(struct translator *t, LLVMValueRef offset)
{
	LLVMValueRef rank;

	if (!t->code->clusters)
		return offset;
	rank = thread_field(t, offsetof(struct ptx_thread, cluster_ctarank), t->i32);
	return BUILD(Or, offset, BUILD(Shl, rank, constant(t, 32, 24)));
}

static LLVMValueRef shared_offset(struct translator *t, struct symbol *symbol)
{
	struct symbol *defined = code_resolve(t->code, symbol);
	LLVMValueRef offset;

	if (!defined) {
		unsupported(t);
		return constant(t, 32, 0);
	}
	if (!defined->unsized)
		offset = constant(t, 32, defined->offset);
	else if (t->root->function->kernel)
		offset = constant(t, 32, t->root->kernel.dynamic_first);
	else
		offset = thread_field(t, offsetof(struct ptx_thread, dynamic_first), t->i32);
	return own_shared(t, offset);
}

LLVMValueRef shared_window(struct translator *t)
{
	return thread_field(t, t->code->clusters ? offsetof(struct ptx_thread, cluster_shared) :
			    offsetof(struct ptx_thread, shared), t->pointer);
}

static LLVMValueRef offset_of(struct translator *t, LLVMValueRef base, LLVMValueRef offset)
{
	return LLVMBuildGEP2(t->builder, t->i8, base, &offset, 1, "");
}

static LLVMValueRef parameter(struct translator *t, struct symbol *symbol)
{
	LLVMValueRef block = t->parameters;

	if (!symbol->parameter)
		return symbol->value;
	for (uint32_t i = 0; i < t->function->results.count; i++)
		if (t->function->results.at[i] == symbol)
			block = t->results;
	return offset_of(t, block, constant(t, 64, symbol->offset));
}

static LLVMValueRef slot(struct translator *t, struct symbol *symbol)
{
	struct symbol *defined = code_resolve(t->code, symbol);
	char name[64];

	if (!defined || !defined->function->defined) {
		unsupported(t);
		return LLVMConstNull(t->pointer);
	}
	snprintf(name, sizeof(name), "slot.%u", facts_of(defined->function)->number);
	return external(t, name, function_slot(defined->function));
}

/* Return: the symbol's address: an i32 for shared memory, else a pointer */
LLVMValueRef symbol_address(struct translator *t, struct symbol *symbol)
{
	if (symbol->kind == SYMBOL_FUNCTION)
		return slot(t, symbol);
	switch (symbol->space) {
	case SPACE_GLOBAL:
	case SPACE_CONST:
		return variable(t, symbol);
	case SPACE_SHARED:
		return shared_offset(t, symbol);
	case SPACE_PARAM:
		return parameter(t, symbol);
	default:
		if (!symbol->value) {
			unsupported(t);
			return LLVMConstNull(t->pointer);
		}
		return symbol->value;
	}
}

/* Return: the value that mov gives a register: an i32 for shared memory, else an i64 */
LLVMValueRef address_value(struct translator *t, const struct operand *operand)
{
	LLVMValueRef value = as_int(t, symbol_address(t, operand->symbol));
	LLVMTypeRef type = LLVMTypeOf(value);

	return BUILD(Add, value, LLVMConstInt(type, operand->number.integer, false));
}

/*
 * Return: the pointer to an address that is a number. LLVM knows numbers that were added to a
 * pointer, and makes vectors of loads and stores there. But it takes such a pointer for one that
 * cannot be of an alloca, as the former was there before the alloca's address was: so where a thread
 * has, or may have been given, addresses of local memory, pointers are made of numbers alone.
 */
static LLVMValueRef pointer_of(struct translator *t, LLVMValueRef address)
{
	if (!t->function->kernel || t->own_memory)
		return BUILD(IntToPtr, address, t->pointer);
	return offset_of(t, thread_field(t, offsetof(struct ptx_thread, origin), t->pointer),
			 address);
}

/* Return: where [operand] points to, checked to be a multiple of @align */
LLVMValueRef pointer_to(struct translator *t, const struct operand *operand, enum space space,
			uint32_t align)
{
	struct symbol *symbol = operand->symbol;
	uint64_t added = operand->number.integer;
	LLVMValueRef base, pointer, low;
	bool known = false;

	if (operand->kind != OPERAND_ADDRESS) {
		unsupported(t);
		return LLVMConstNull(t->pointer);
	}
	if (symbol && symbol->kind == SYMBOL_REGISTER) {
		base = as_int(t, register_read(t, symbol, 0));
	} else if (symbol) {
		base = symbol_address(t, symbol);
		if (symbol->space)
			space = symbol->space;
		known = symbol->align >= align && !(added & (align - 1)) &&
			!(symbol->parameter && symbol->offset & (align - 1));
	} else {
		base = constant(t, 64, 0);
	}
	low = as_int(t, base);
	if (space == SPACE_SHARED) {
		/*
		 * Shared addresses wrap around at 32 bits: base - x, with x - y added, is one of a block
		 * though it is below 0 before the sum. Those of blocks are below 2^28.
		 */
		base = resize(t, resize(t, low, 32, false), 64, true);
		added = (uint64_t)(int32_t)added;
		pointer = offset_of(t, shared_window(t), base);
	} else if (LLVMGetTypeKind(LLVMTypeOf(base)) == LLVMPointerTypeKind) {
		pointer = base;
	} else {
		pointer = pointer_of(t, resize(t, base, 64, false));
	}
	if (added)
		pointer = offset_of(t, pointer, constant(t, 64, added));
	if (align > 1 && !known)
		align_check(t, pointer,
			    BUILD(Add, resize(t, low, 32, false), constant(t, 32, added)), align,
			    symbol && symbol->kind == SYMBOL_REGISTER && space != SPACE_SHARED ?
			    symbol : NULL, added);
	return pointer;
}

enum space space_of_modifiers(struct translator *t)
{
	static const struct {
		enum modifier modifier;
		enum space space;
	} spaces[] = {
		{ MOD_global, SPACE_GLOBAL }, { MOD_shared, SPACE_SHARED },
		{ MOD_shared__cta, SPACE_SHARED }, { MOD_shared__cluster, SPACE_SHARED },
		{ MOD_local, SPACE_LOCAL }, { MOD_const, SPACE_CONST }, { MOD_param, SPACE_PARAM },
		{ MOD_param__entry, SPACE_PARAM }, { MOD_param__func, SPACE_PARAM },
	};

	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++)
		if (has(t, spaces[i].modifier))
			return spaces[i].space;
	return SPACE_NONE;
}

static LLVMValueRef within(struct translator *t, LLVMValueRef address, LLVMValueRef first,
			   uint64_t bytes)
{
	return LLVMBuildICmp(t->builder, LLVMIntULT, BUILD(Sub, address, first),
			     constant(t, 64, bytes), "");
}

static LLVMValueRef in_local(struct translator *t, LLVMValueRef address)
{
	LLVMValueRef end = thread_field(t, offsetof(struct ptx_thread, stack_end), t->i64);
	LLVMValueRef top = thread_field(t, offsetof(struct ptx_thread, stack_top), t->i64);

	return BUILD(And, LLVMBuildICmp(t->builder, LLVMIntUGE, address, end, ""),
		     LLVMBuildICmp(t->builder, LLVMIntULT, address, top, ""));
}

static LLVMValueRef in_const(struct translator *t, LLVMValueRef address)
{
	LLVMValueRef found = constant(t, 1, 0);

	for (uint32_t u = 0; u < t->code->units_count; u++) {
		const struct unit *unit = &t->code->units[u];

		for (uint32_t i = 0; i < unit->variables_count; i++) {
			struct symbol *symbol = unit->variables[i];

			if (symbol->space == SPACE_CONST && symbol->address)
				found = BUILD(Or, found,
					      within(t, address, as_int(t, variable(t, symbol)),
						     symbol->bytes));
		}
	}
	return found;
}

/* In the windows of all blocks of the cluster? */
static LLVMValueRef in_cluster(struct translator *t, LLVMValueRef address)
{
	LLVMValueRef shared = thread_field(t, offsetof(struct ptx_thread, cluster_shared), t->i64);
	LLVMValueRef blocks = thread_field(t, offsetof(struct ptx_thread, cluster_nctarank),
					   t->i32);

	blocks = BUILD(Shl, resize(t, blocks, 64, false), constant(t, 64, 24));
	return LLVMBuildICmp(t->builder, LLVMIntULT, BUILD(Sub, address, shared), blocks, "");
}

/* All that is in no other space is global memory, parameters too. */
LLVMValueRef is_in_space(struct translator *t, LLVMValueRef address, enum space space,
			 bool cluster)
{
	LLVMValueRef other;

	switch (space) {
	case SPACE_SHARED:
		if (cluster)
			return in_cluster(t, address);
		return within(t, address, thread_field(t, offsetof(struct ptx_thread, shared),
						       t->i64), PTX_SHARED_WINDOW);
	case SPACE_LOCAL:
		return in_local(t, address);
	case SPACE_CONST:
		return in_const(t, address);
	case SPACE_PARAM:
		if (!t->function->kernel)
			return constant(t, 1, 0);
		return within(t, address, as_int(t, t->parameters), t->function->parameters.bytes);
	default:
		other = BUILD(Or, in_cluster(t, address), in_local(t, address));
		return BUILD(Not, BUILD(Or, other, in_const(t, address)));
	}
}

/* The upper half of a policy has its kind and its fraction in sixteenths. */
uint64_t cache_policy(struct translator *t)
{
	uint64_t kind = has(t, MOD_L2__evict_last) ? 4 : has(t, MOD_L2__evict_normal) ? 6 :
			has(t, MOD_L2__evict_first) ? 2 : 0;
	const struct operand *fraction = operand(t, 1);
	double part = 1;

	if (has(t, MOD_cvt) || word_is(&t->at->modifiers[0], ".cvt"))
		return fraction->number.integer;
	if (fraction->kind == OPERAND_NUMBER)
		part = fraction->number.kind == CONSTANT_FLOAT ? fraction->number.real :
		       (double)fraction->number.integer;
	return (0x10000000ULL | kind << 24 | (((uint64_t)(part * 16) - 1) & 15) << 20) << 32;
}

LLVMValueRef intrinsic_plain(struct translator *t, const char *name, LLVMValueRef argument)
{
	unsigned int id = LLVMLookupIntrinsicID(name, strlen(name));
	LLVMTypeRef types[] = { t->pointer };
	uint32_t overloads = LLVMIntrinsicIsOverloaded(id) ? 1 : 0;

	return LLVMBuildCall2(t->builder, LLVMIntrinsicGetType(t->context, id, types, overloads),
			      LLVMGetIntrinsicDeclaration(t->module, id, types,
							  overloads), &argument,
			      argument ? 1 : 0, "");
}
