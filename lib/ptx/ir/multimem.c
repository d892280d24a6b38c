// SPDX-License-Identifier: MIT
/*
 * multimem: calls of the functions of memcast/multimem.h. The view of a window is looked for once:
 * the thread keeps the one that it has used last.
 */
#include <stdio.h>
#include <string.h>

#include "instructions.h"
#include "ir.h"
#include "ptx/math/multimem.h"

/* Appends a modifier, in the order that the header's names have. */
static void append(struct translator *t, char *name, size_t size, enum modifier modifier,
		   const char *text)
{
	if (has(t, modifier))
		strncat(name, text, size - strlen(name) - 1);
}

static uint32_t name_of(struct translator *t, char *name, size_t size)
{
	bool load = has(t, MOD_ld_reduce), store = has(t, MOD_st);
	enum type type = type_at(t, t->types_count ? t->types_count - 1 : 0);
	const char *order = "_relaxed";
	uint32_t count = 1;

	has(t, MOD_red);
	if (has(t, MOD_weak))
		order = "_weak";
	else if (has(t, MOD_acquire))
		order = "_acquire";
	else if (has(t, MOD_release))
		order = "_release";
	has(t, MOD_relaxed);
	snprintf(name, size, "multimem_%s%s", load ? "ld_reduce" : store ? "st" : "red", order);
	append(t, name, size, MOD_add, "_add");
	append(t, name, size, MOD_min, "_min");
	append(t, name, size, MOD_max, "_max");
	append(t, name, size, MOD_and, "_and");
	append(t, name, size, MOD_or, "_or");
	append(t, name, size, MOD_xor, "_xor");
	append(t, name, size, MOD_acc__f32, "_acc_f32");
	append(t, name, size, MOD_acc__f16, "_acc_f16");
	append(t, name, size, MOD_v2, "_v2");
	append(t, name, size, MOD_v4, "_v4");
	append(t, name, size, MOD_v8, "_v8");
	count = has(t, MOD_v2) ? 2 : has(t, MOD_v4) ? 4 : has(t, MOD_v8) ? 8 : 1;
	strncat(name, "_", size - strlen(name) - 1);
	strncat(name, type_facts[type].name ? type_facts[type].name : "", size - strlen(name) - 1);
	return count;
}

static LLVMValueRef field_at(struct translator *t, size_t offset, LLVMTypeRef type)
{
	LLVMValueRef at = constant(t, 64, offset);

	at = LLVMBuildInBoundsGEP2(t->builder, t->i8, t->thread, &at, 1, "");
	return BUILD(Load2, type, at);
}

/* Finds view and offset of an address, by the thread's last window or by the runtime. */
LLVMValueRef multimem_view(struct translator *t, LLVMValueRef address, LLVMValueRef *offset)
{
	LLVMBasicBlockRef near = new_block(t), far = new_block(t), after = new_block(t);
	LLVMValueRef place = alloca_at_entry(t, t->i64, 1, 8), distance, views[2], offsets[2], all;
	LLVMBasicBlockRef blocks[2];

	distance = BUILD(Sub, address, field_at(t, offsetof(struct ptx_thread, window), t->i64));
	LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntULT, distance,
			field_at(t, offsetof(struct ptx_thread, window_bytes),
				 t->i64), ""), near, far);
	LLVMPositionBuilderAtEnd(t->builder, near);
	views[0] = field_at(t, offsetof(struct ptx_thread, view), t->pointer);
	offsets[0] = distance;
	blocks[0] = near;
	LLVMBuildBr(t->builder, after);
	LLVMPositionBuilderAtEnd(t->builder, far);
	views[1] = call_run(t, "view", "p:lp", address, place);
	offsets[1] = BUILD(Load2, t->i64, place);
	blocks[1] = LLVMGetInsertBlock(t->builder);
	LLVMBuildBr(t->builder, after);
	LLVMPositionBuilderAtEnd(t->builder, after);
	all = BUILD(Phi, t->pointer);
	LLVMAddIncoming(all, views, blocks, 2);
	*offset = BUILD(Phi, t->i64);
	LLVMAddIncoming(*offset, offsets, blocks, 2);
	return all;
}

static LLVMValueRef element_at(struct translator *t, LLVMValueRef place, uint32_t bytes)
{
	LLVMValueRef index = constant(t, 64, bytes);

	return LLVMBuildGEP2(t->builder, t->i8, place, &index, 1, "");
}

void translate_multimem(struct translator *t)
{
	enum type type = type_at(t, t->types_count ? t->types_count - 1 : 0);
	LLVMTypeRef types[] = { t->pointer, t->i64, t->pointer, t->pointer }, function_type;
	const struct multimem_name *entry = multimem_names;
	bool load = has(t, MOD_ld_reduce);
	struct operand *value = operand(t, load ? 0 : 1);
	LLVMValueRef values[4], function, place;
	uint32_t bytes = type_bits(type) / 8, count;
	char name[96] = "";

	if (has(t, MOD_cp)) {
		translate_multimem_bulk(t);
		return;
	}
	has(t, MOD_global);
	has(t, MOD_cta);
	has(t, MOD_cluster);
	has(t, MOD_gpu);
	has(t, MOD_sys);
	count = name_of(t, name, sizeof(name));
	while (entry->name && strcmp(entry->name, name))
		entry++;
	if (!entry->name || !bytes) {
		unsupported(t);
		return;
	}
	function_type = LLVMFunctionType(t->nothing, types, 4, false);
	function = LLVMGetNamedFunction(t->module, name);
	if (!function) {
		function = LLVMAddFunction(t->module, name, function_type);
		root_external(t->root, name, (void *)(uintptr_t)entry->function);
	}
	place = alloca_at_entry(t, t->i8, 64, 16);
	for (uint32_t i = 0; !load && i < count; i++)
		LLVMBuildStore(t->builder, get(t, count > 1 && i < value->count ? &value->items[i] :
					       value, type), element_at(t, place, i * bytes));
	values[0] = multimem_view(t, as_int(t, pointer_to(t, operand(t, load ? 1 : 0), SPACE_GLOBAL,
							  t->root->kernel.checked ? count * bytes :
							  1)), &values[1]);
	values[2] = values[3] = place;
	LLVMBuildCall2(t->builder, function_type, function, values, 4, "");
	for (uint32_t i = 0; load && i < count; i++)
		put(t, count > 1 && i < value->count ? &value->items[i] : value,
		    BUILD(Load2, int_type(t, 8 * bytes), element_at(t, place, i * bytes)), type);
}
