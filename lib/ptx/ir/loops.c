// SPDX-License-Identifier: MIT
/*
 * The form of a kernel that runs a block's threads as loops, of which LLVM makes vectors. A kernel
 * that is cut has a loop for the beginning and one for each cut, for threads that are all at the
 * same; and one for threads that are at different ones, or of which some have ended.
 */
#include <string.h>

#include "instructions.h"
#include "ir.h"

static void mark(struct translator *t, LLVMValueRef instruction, const char *kind,
		 LLVMValueRef metadata)
{
	LLVMSetMetadata(instruction, LLVMGetMDKindIDInContext(t->context, kind, strlen(kind)),
			metadata);
}

/* Names the innermost loops. Metadata that has itself as its first part is like no other. */
void loops_name(struct translator *t)
{
	LLVMMetadataRef names[PTX_CUTS_MOST + 2];

	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++) {
		LLVMMetadataRef empty = LLVMTemporaryMDNode(t->context, NULL, 0);

		names[i] = LLVMMDNodeInContext2(t->context, &empty, 1);
		t->loop_names[i] = LLVMMetadataAsValue(t->context, names[i]);
		LLVMMetadataReplaceAllUsesWith(empty, names[i]);
	}
	t->parallel = LLVMMetadataAsValue(t->context, LLVMMDNodeInContext2(t->context, names,
									   ARRAY_SIZE(names)));
}

/*
 * Weak accesses of different threads have no order if nothing between them makes one, and between
 * two cuts nothing does: LLVM need not look for addresses that turns of the loop share. Local memory
 * is one for all turns, which each thread finds as it has left it.
 */
void no_order(struct translator *t, LLVMValueRef access)
{
	if (t->loops && !t->own_memory)
		mark(t, access, "llvm.mem.parallel_loop_access", t->parallel);
}

/* A loop from 0 to what the thread says the block has */
struct loop {
	LLVMBasicBlockRef head;
	LLVMValueRef index;
};

static void loop_begin(struct translator *t, struct loop *loop)
{
	LLVMBasicBlockRef before = LLVMGetInsertBlock(t->builder);
	LLVMValueRef zero = constant(t, 32, 0);

	loop->head = new_block(t);
	LLVMBuildBr(t->builder, loop->head);
	LLVMPositionBuilderAtEnd(t->builder, loop->head);
	loop->index = BUILD(Phi, t->i32);
	LLVMAddIncoming(loop->index, &zero, &before, 1);
}

/* @name: of the innermost loop, or NULL */
static void loop_end(struct translator *t, struct loop *loop, LLVMValueRef count,
		     LLVMValueRef name)
{
	LLVMBasicBlockRef here = LLVMGetInsertBlock(t->builder), after = new_block(t);
	LLVMValueRef next = LLVMBuildNUWAdd(t->builder, loop->index, constant(t, 32, 1), "");
	LLVMValueRef branch;

	LLVMAddIncoming(loop->index, &next, &here, 1);
	branch = LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntULT, next, count, ""),
				 loop->head, after);
	if (name)
		mark(t, branch, "llvm.loop", name);
	LLVMPositionBuilderAtEnd(t->builder, after);
}

struct form {
	LLVMValueRef body, parameters, counts[3];
	LLVMValueRef wrong;		/* bits of addresses that are not aligned */
	LLVMValueRef state, next;	/* what threads keep; the cut that each is at, 0: none */
	LLVMValueRef lowest, highest;	/* of all next */
	uint32_t loops;
};

static LLVMValueRef load(struct translator *t, LLVMValueRef place)
{
	return BUILD(Load2, t->i32, place);
}

static void fold(struct translator *t, LLVMValueRef place, LLVMValueRef value, LLVMIntPredicate is)
{
	LLVMValueRef old = load(t, place);

	value = choose(t, LLVMBuildICmp(t->builder, is, value, old, ""), value, old);
	LLVMBuildStore(t->builder, value, place);
}

static LLVMValueRef call_body(struct translator *t, struct form *form, const struct loop *loops,
			      LLVMValueRef which, LLVMValueRef number)
{
	LLVMValueRef arguments[] = {
		t->thread, form->parameters, loops[0].index, loops[1].index, loops[2].index, which,
		form->state, number,
	}, result;

	result = LLVMBuildCall2(t->builder, function_type(t, true), form->body, arguments,
				ARRAY_SIZE(arguments), "");
	LLVMBuildStore(t->builder, BUILD(Or, load(t, form->wrong),
					 BUILD(And, result, constant(t, 32, 0xff))), form->wrong);
	return BUILD(LShr, result, constant(t, 32, 8));
}

/* Runs all threads to their next cuts. @which: where all are; NULL: where each is */
static void all_threads(struct translator *t, struct form *form, LLVMValueRef which)
{
	LLVMValueRef number = constant(t, 32, 0), place, at, values[2], next;
	LLVMBasicBlockRef run, after, from[2];
	struct loop loops[3];

	if (t->cuts) {
		LLVMBuildStore(t->builder, constant(t, 32, UINT32_MAX), form->lowest);
		LLVMBuildStore(t->builder, constant(t, 32, 0), form->highest);
	}
	for (int i = 2; i >= 0; i--)
		loop_begin(t, &loops[i]);
	if (!t->cuts) {
		call_body(t, form, loops, which, number);
	} else {
		for (int i = 2; i >= 0; i--)
			number = BUILD(Add, BUILD(Mul, number, form->counts[i]), loops[i].index);
		at = resize(t, number, 64, false);
		place = LLVMBuildInBoundsGEP2(t->builder, t->i32, form->next, &at, 1, "");
		if (which) {
			next = call_body(t, form, loops, which, number);
		} else {
			run = new_block(t);
			after = new_block(t);
			values[0] = load(t, place);
			from[0] = LLVMGetInsertBlock(t->builder);
			LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntEQ, values[0],
								  constant(t, 32, 0), ""), after,
					run);
			LLVMPositionBuilderAtEnd(t->builder, run);
			values[1] = call_body(t, form, loops, values[0], number);
			from[1] = LLVMGetInsertBlock(t->builder);
			LLVMBuildBr(t->builder, after);
			LLVMPositionBuilderAtEnd(t->builder, after);
			next = BUILD(Phi, t->i32);
			LLVMAddIncoming(next, values, from, 2);
		}
		no_order(t, LLVMBuildStore(t->builder, next, place));
		fold(t, form->lowest, next, LLVMIntULT);
		fold(t, form->highest, next, LLVMIntUGT);
	}
	for (int i = 0; i < 3; i++)
		loop_end(t, &loops[i], form->counts[i], i ? NULL : t->loop_names[form->loops]);
	form->loops++;
}

/* Goes on with all threads from cut to cut, until none is left. */
static void go_on(struct translator *t, struct form *form)
{
	LLVMBasicBlockRef head = new_block(t), some = new_block(t), mixed = new_block(t);
	LLVMBasicBlockRef end = new_block(t), block;
	LLVMValueRef low, high, jump, same;

	LLVMBuildBr(t->builder, head);
	LLVMPositionBuilderAtEnd(t->builder, head);
	high = load(t, form->highest);
	low = load(t, form->lowest);
	LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntEQ, high, constant(t, 32, 0),
						  ""), end, some);
	LLVMPositionBuilderAtEnd(t->builder, some);
	same = LLVMBuildICmp(t->builder, LLVMIntEQ, low, high, "");
	jump = LLVMBuildSwitch(t->builder, choose(t, same, high, constant(t, 32, 0)), mixed,
			       t->cuts);
	for (uint32_t k = 1; k <= t->cuts; k++) {
		block = new_block(t);
		LLVMAddCase(jump, constant(t, 32, k), block);
		LLVMPositionBuilderAtEnd(t->builder, block);
		all_threads(t, form, constant(t, 32, k));
		LLVMBuildBr(t->builder, head);
	}
	LLVMPositionBuilderAtEnd(t->builder, mixed);
	all_threads(t, form, NULL);
	LLVMBuildBr(t->builder, head);
	LLVMPositionBuilderAtEnd(t->builder, end);
}

static void form_begin(struct translator *t)
{
	LLVMTypeRef types[] = { t->pointer, t->pointer };
	char name[64];

	t->value = LLVMAddFunction(t->module, form_name(t, "block", name, sizeof(name)),
				   LLVMFunctionType(t->nothing, types, 2, false));
	function_common(t, t->value);
	attribute(t, t->value, 1, "noalias");
	attribute(t, t->value, 2, "noalias");
	is_there(t, t->value, 0, sizeof(struct ptx_thread));
	is_there(t, t->value, 1, t->root->function->parameters.bytes);
	lines_function(t, t->root->function->line, "memcast_block");
	LLVMPositionBuilderAtEnd(t->entry_builder,
				 LLVMAppendBasicBlockInContext(t->context, t->value, ""));
	LLVMPositionBuilderAtEnd(t->builder, LLVMGetEntryBasicBlock(t->value));
	t->thread = LLVMGetParam(t->value, 0);
}

void block_form(struct translator *t, LLVMValueRef body)
{
	struct form form = { .body = body, .state = LLVMConstNull(t->pointer) };
	LLVMBasicBlockRef bad, good;
	LLVMValueRef found;

	form_begin(t);
	form.parameters = LLVMGetParam(t->value, 1);
	form.wrong = alloca_at_entry(t, t->i32, 1, 0);
	LLVMBuildStore(t->builder, constant(t, 32, 0), form.wrong);
	if (t->cuts) {
		form.lowest = alloca_at_entry(t, t->i32, 1, 0);
		form.highest = alloca_at_entry(t, t->i32, 1, 0);
		form.next = alloca_at_entry(t, t->i32, PTX_BLOCK_THREADS, 64);
		form.state = alloca_at_entry(t, t->i64, (uint64_t)PTX_BLOCK_THREADS *
					     (t->slots ? t->slots : 1), 64);
	}
	for (int i = 0; i < 3; i++)
		form.counts[i] = thread_field(t, offsetof(struct ptx_thread, ntid) + 4 * i, t->i32);
	all_threads(t, &form, constant(t, 32, 0));
	if (t->cuts)
		go_on(t, &form);
	bad = new_block(t);
	good = new_block(t);
	found = load(t, form.wrong);
	LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntEQ, found, constant(t, 32, 0),
						  ""), good, bad);
	LLVMPositionBuilderAtEnd(t->builder, bad);
	lines_at(t, 0);		/* any instruction of the kernel */
	call_run(t, "misaligned", "v:l", resize(t, found, 64, false));
	LLVMBuildUnreachable(t->builder);
	LLVMPositionBuilderAtEnd(t->builder, good);
	LLVMBuildRetVoid(t->builder);
}
