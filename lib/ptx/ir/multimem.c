// SPDX-License-Identifier: MIT
/*
 * Windows. multimem: stores, and sums of f32, as loops over the replicas; all else as calls of the functions
 * of memcast/multimem.h. A window is looked for once: the thread keeps the one that it has used last.
 */
#include <stdio.h>
#include <string.h>

#include "instructions.h"
#include "ir.h"
#include "memcast/view.h"
#include "ptx/math/multimem.h"

#define PREFETCHED	4096	/* bytes behind what is read: a page */

/* Appends a modifier, in the order that the header's names have. */
static void append(struct translator *t, char *name, size_t size, enum modifier modifier,
		   const char *text)
{
	if (has(t, modifier))
		strncat(name, text, size - strlen(name) - 1);
}

static uint32_t write_name(struct translator *t, char *name, size_t size)
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

/* One more operation at the thread's window: memcast-smi shows how many a team has had. */
static void count_operation(struct translator *t)
{
	LLVMValueRef at = field_at(t, offsetof(struct ptx_thread, operations), t->pointer);

	LLVMBuildStore(t->builder, BUILD(Add, BUILD(Load2, t->i64, at), constant(t, 64, 1)), at);
}

/* Volatile: the window may become another one, and its start is read before its size. */
static LLVMValueRef window_field(struct translator *t, LLVMValueRef view, size_t offset)
{
	LLVMValueRef value;

	offset -= offsetof(struct ptx_window, view);
	value = BUILD(Load2, t->i64, at_offset(t, view, offset));
	LLVMSetVolatile(value, true);
	return value;
}

/*
 * Asks whether an address is in the window whose view a field of the thread has. The builder stands
 * where it is. @offset: output. Return: the view
 */
static LLVMValueRef window_has(struct translator *t, size_t field, LLVMValueRef address,
			       LLVMBasicBlockRef outside, LLVMValueRef *offset)
{
	LLVMValueRef view = field_at(t, field, t->pointer);
	LLVMBasicBlockRef inside = new_block(t);

	*offset = BUILD(Sub, address, window_field(t, view, offsetof(struct ptx_window, start)));
	LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntULT, *offset,
			window_field(t, view, offsetof(struct ptx_window, view.bytes)), ""),
			inside, outside);
	LLVMPositionBuilderAtEnd(t->builder, inside);
	return view;
}

/* Finds view and offset of an address, by the thread's last window or by the runtime. */
LLVMValueRef multimem_view(struct translator *t, LLVMValueRef address, LLVMValueRef *offset)
{
	LLVMBasicBlockRef far = new_block(t), after = new_block(t), blocks[2];
	LLVMValueRef place = alloca_at_entry(t, t->i64, 1, 8), views[2], offsets[2], all;

	views[0] = window_has(t, offsetof(struct ptx_thread, view), address, far, &offsets[0]);
	blocks[0] = LLVMGetInsertBlock(t->builder);
	LLVMBuildBr(t->builder, after);
	LLVMPositionBuilderAtEnd(t->builder, far);
	views[1] = call_run(t, "view", "p:lp", address, place);
	call_is_rare(t, views[1]);
	offsets[1] = BUILD(Load2, t->i64, place);
	blocks[1] = LLVMGetInsertBlock(t->builder);
	LLVMBuildBr(t->builder, after);
	LLVMPositionBuilderAtEnd(t->builder, after);
	all = BUILD(Phi, t->pointer);
	LLVMAddIncoming(all, views, blocks, 2);
	*offset = BUILD(Phi, t->i64);
	LLVMAddIncoming(*offset, offsets, blocks, 2);
	count_operation(t);
	return all;
}

/*
 * The replicas of a view. Two are done without a loop; others by one, two in a turn, as most views
 * have an even number. One that is left comes after it.
 */
struct replicas {
	LLVMValueRef view, offset, index, count;
	LLVMBasicBlockRef others, head, before, single, after;
};

static LLVMValueRef replica_at(struct translator *t, const struct replicas *all, LLVMValueRef index)
{
	LLVMValueRef place = at_offset(t, all->view, offsetof(struct memcast_view, replica));
	LLVMValueRef base;

	place = LLVMBuildGEP2(t->builder, t->pointer, place, &index, 1, "");
	base = invariant(t, BUILD(Load2, t->pointer, place));
	return LLVMBuildGEP2(t->builder, t->i8, base, (LLVMValueRef *)&all->offset, 1, "");
}

/* Asks whether the view has two replicas. The builder stands where it has. */
static void replicas_pair(struct translator *t, struct replicas *all)
{
	LLVMBasicBlockRef pair = new_block(t);
	LLVMValueRef count = invariant(t, BUILD(Load2, t->i32, all->view));

	all->others = new_block(t);
	all->after = new_block(t);
	all->count = resize(t, count, 64, false);
	LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntEQ, count,
						  constant(t, 32, 2), ""), pair, all->others);
	LLVMPositionBuilderAtEnd(t->builder, pair);
}

/* Ends what is done for two replicas, and begins the loop for other numbers of them. */
static void replicas_begin(struct translator *t, struct replicas *all, uint64_t first)
{
	LLVMValueRef start = constant(t, 64, first);

	LLVMBuildBr(t->builder, all->after);
	LLVMPositionBuilderAtEnd(t->builder, all->others);
	all->before = LLVMGetInsertBlock(t->builder);
	all->head = new_block(t);
	LLVMBuildBr(t->builder, all->head);
	LLVMPositionBuilderAtEnd(t->builder, all->head);
	all->index = BUILD(Phi, t->i64);
	LLVMAddIncoming(all->index, &start, &all->before, 1);
}

/* Are there two more? The builder stands where there are. Return: the second one's index */
static LLVMValueRef replicas_two(struct translator *t, struct replicas *all)
{
	LLVMValueRef second = LLVMBuildNUWAdd(t->builder, all->index, constant(t, 64, 1), "");
	LLVMBasicBlockRef two = new_block(t);

	all->single = new_block(t);
	LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntULT, second, all->count, ""),
			two, all->single);
	LLVMPositionBuilderAtEnd(t->builder, two);
	return second;
}

/* Ends the loop, and asks whether one replica is left. The builder stands where one is. */
static void replicas_one(struct translator *t, const struct replicas *all)
{
	LLVMBasicBlockRef here = LLVMGetInsertBlock(t->builder), one = new_block(t);
	LLVMValueRef next = LLVMBuildNUWAdd(t->builder, all->index, constant(t, 64, 2), "");

	LLVMAddIncoming(all->index, &next, &here, 1);
	loop_is_short(t, LLVMBuildBr(t->builder, all->head));
	LLVMPositionBuilderAtEnd(t->builder, all->single);
	LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntULT, all->index, all->count,
						  ""), one, all->after);
	LLVMPositionBuilderAtEnd(t->builder, one);
}

/* Ends what is done for the one that is left. The builder stands where all replicas are done. */
static void replicas_end(struct translator *t, const struct replicas *all)
{
	LLVMBuildBr(t->builder, all->after);
	LLVMPositionBuilderAtEnd(t->builder, all->after);
}

/* Each register is read or written whole: an access has as many as the instruction has. */
static LLVMValueRef whole(struct translator *t, LLVMValueRef access)
{
	LLVMSetAlignment(access, 4);
	LLVMSetVolatile(access, !has(t, MOD_weak));
	return access;
}

/* Return: an element of what the instruction reads or writes, a vector or not */
static struct operand *element(struct operand *value, uint32_t index)
{
	return value->kind == OPERAND_VECTOR && index < value->count ? &value->items[index] : value;
}

/* Adds what a replica has to a sum. */
static LLVMValueRef add_replica(struct translator *t, const struct replicas *all, LLVMValueRef sum,
				LLVMValueRef index)
{
	LLVMTypeRef type = LLVMTypeOf(sum);

	return BUILD(FAdd, sum, whole(t, BUILD(Load2, type, replica_at(t, all, index))));
}

/*
 * Kernels read windows in the order of addresses, mostly. Processors foresee that within a page, but
 * not each replica's next page. With more than two replicas memory itself is the limit.
 */
static void prefetch(struct translator *t, LLVMValueRef place)
{
	LLVMTypeRef types[] = { t->pointer, t->i32, t->i32, t->i32 }, type;
	LLVMValueRef ahead = constant(t, 64, PREFETCHED), function, arguments[] = {
		LLVMBuildGEP2(t->builder, t->i8, place, &ahead, 1, ""),
		/* data that is to be read, and near */
		constant(t, 32, 0), constant(t, 32, 3), constant(t, 32, 1),
	};

	type = LLVMFunctionType(t->nothing, types, ARRAY_SIZE(types), false);
	function = LLVMGetNamedFunction(t->module, "llvm.prefetch.p0");
	if (!function)
		function = LLVMAddFunction(t->module, "llvm.prefetch.p0", type);
	LLVMBuildCall2(t->builder, type, function, arguments, ARRAY_SIZE(arguments), "");
}

/* ((r0 + r1) + r2) + …, as memcast/multimem.h has it */
static void sum_f32(struct translator *t, struct replicas *all, struct operand *to, uint32_t count)
{
	LLVMTypeRef type = LLVMVectorType(t->f32, count);
	LLVMValueRef sum, first, second, next, results[3];
	LLVMBasicBlockRef from[3];

	first = whole(t, BUILD(Load2, type, replica_at(t, all, constant(t, 64, 0))));
	replicas_pair(t, all);
	prefetch(t, replica_at(t, all, constant(t, 64, 0)));
	prefetch(t, replica_at(t, all, constant(t, 64, 1)));
	results[2] = add_replica(t, all, first, constant(t, 64, 1));
	from[2] = LLVMGetInsertBlock(t->builder);
	replicas_begin(t, all, 1);
	sum = BUILD(Phi, type);
	LLVMAddIncoming(sum, &first, &all->before, 1);
	second = replicas_two(t, all);
	next = add_replica(t, all, add_replica(t, all, sum, all->index), second);
	from[0] = LLVMGetInsertBlock(t->builder);
	LLVMAddIncoming(sum, &next, from, 1);
	replicas_one(t, all);
	results[0] = add_replica(t, all, sum, all->index);
	from[0] = LLVMGetInsertBlock(t->builder);
	results[1] = sum;
	from[1] = all->single;
	replicas_end(t, all);
	sum = BUILD(Phi, type);
	LLVMAddIncoming(sum, results, from, 3);
	if (has(t, MOD_acquire))
		LLVMBuildFence(t->builder, LLVMAtomicOrderingAcquire, false, "");
	for (uint32_t i = 0; i < count; i++)
		put(t, element(to, i),
		    LLVMBuildExtractElement(t->builder, sum, constant(t, 32, i), ""), TYPE_F32);
}

static void store_replica(struct translator *t, const struct replicas *all, LLVMValueRef value,
			  LLVMValueRef index)
{
	whole(t, LLVMBuildStore(t->builder, value, replica_at(t, all, index)));
}

static void store_all(struct translator *t, struct replicas *all, struct operand *from,
		      enum type type, uint32_t count)
{
	LLVMValueRef value = LLVMGetUndef(LLVMVectorType(int_type(t, type_bits(type)), count));
	LLVMValueRef first = constant(t, 64, 0), second = constant(t, 64, 1);

	for (uint32_t i = 0; i < count; i++)
		value = LLVMBuildInsertElement(t->builder, value,
					       get(t, element(from, i), type),
					       constant(t, 32, i), "");
	if (has(t, MOD_release))
		LLVMBuildFence(t->builder, LLVMAtomicOrderingRelease, false, "");
	replicas_pair(t, all);
	store_replica(t, all, value, first);
	store_replica(t, all, value, second);
	replicas_begin(t, all, 0);
	second = replicas_two(t, all);
	store_replica(t, all, value, all->index);
	store_replica(t, all, value, second);
	replicas_one(t, all);
	store_replica(t, all, value, all->index);
	replicas_end(t, all);
}

/*
 * A plain store of a kernel for windows: to all replicas if it goes to the launch's window, else as
 * ever. It is aligned, so it crosses no edge.
 */
void store_to_window(struct translator *t, LLVMValueRef pointer, plain_store *store,
		     const void *data)
{
	LLVMBasicBlockRef outside = new_block(t), after = new_block(t), inside, end;
	LLVMValueRef next, count, first = constant(t, 64, 0);
	struct replicas all = { .head = new_block(t) };

	all.view = window_has(t, offsetof(struct ptx_thread, given), as_int(t, pointer), outside,
			      &all.offset);
	inside = LLVMGetInsertBlock(t->builder);
	LLVMPositionBuilderAtEnd(t->builder, outside);
	store(t, data, pointer);
	LLVMBuildBr(t->builder, after);
	LLVMPositionBuilderAtEnd(t->builder, inside);
	count = resize(t, invariant(t, BUILD(Load2, t->i32, all.view)), 64, false);
	LLVMBuildBr(t->builder, all.head);
	LLVMPositionBuilderAtEnd(t->builder, all.head);
	all.index = BUILD(Phi, t->i64);
	LLVMAddIncoming(all.index, &first, &inside, 1);
	store(t, data, replica_at(t, &all, all.index));
	next = LLVMBuildNUWAdd(t->builder, all.index, constant(t, 64, 1), "");
	end = LLVMGetInsertBlock(t->builder);
	LLVMAddIncoming(all.index, &next, &end, 1);
	loop_is_short(t, LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntULT, next,
								   count, ""), all.head, after));
	LLVMPositionBuilderAtEnd(t->builder, after);
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
	struct replicas all = {};
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
	count = write_name(t, name, sizeof(name));
	while (entry->name && strcmp(entry->name, name))
		entry++;
	if (!entry->name || !bytes) {
		unsupported(t);
		return;
	}
	all.view = multimem_view(t, as_int(t, pointer_to(t, operand(t, load ? 1 : 0), SPACE_GLOBAL,
							 t->root->kernel.checked ? count * bytes :
							 1)), &all.offset);
	/* a window itself may be closed to plain loads, by which a thread that waits looks again */
	if (load)
		note_looked_at(t, replica_at(t, &all, constant(t, 64, 0)), bytes);
	else
		note_deed(t);
	if (!t->root->kernel.checked &&
	    (!load ? has(t, MOD_st) && bytes * count >= 4 :
		    type == TYPE_F32 && has(t, MOD_add))) {
		if (load)
			sum_f32(t, &all, value, count);
		else
			store_all(t, &all, value, type, count);
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
		LLVMBuildStore(t->builder, get(t, element(value, i), type),
			       at_offset(t, place, i * bytes));
	values[0] = all.view;
	values[1] = all.offset;
	values[2] = values[3] = place;
	LLVMBuildCall2(t->builder, function_type, function, values, 4, "");
	for (uint32_t i = 0; load && i < count; i++)
		put(t, element(value, i),
		    BUILD(Load2, int_type(t, 8 * bytes), at_offset(t, place, i * bytes)), type);
}
