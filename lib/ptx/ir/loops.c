// SPDX-License-Identifier: MIT
/*
 * The form of a kernel that runs a block's threads as loops, of which LLVM makes vectors. One that
 * is cut has its loops in another function (part.c).
 */
#include <llvm-c/IRReader.h>
#include <stdio.h>
#include <string.h>

#include "instructions.h"
#include "ir.h"

#define ROW_EDGE	32	/* threads at both ends of a row, of which one may not pass */

static void mark(struct translator *t, LLVMValueRef instruction, const char *kind,
		 LLVMValueRef metadata)
{
	LLVMSetMetadata(instruction, LLVMGetMDKindIDInContext(t->context, kind, strlen(kind)),
			metadata);
}

/* Return: a group of accesses: a node that is like no other, which only LLVM's text can make */
static LLVMMetadataRef new_group(struct translator *t)
{
	static const char text[] = "!group = !{!0}\n!0 = distinct !{}\n";
	LLVMMemoryBufferRef buffer;
	LLVMMetadataRef group = NULL;
	LLVMModuleRef module;
	LLVMValueRef node;
	char *message;

	buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, sizeof(text) - 1, "group");
	if (!LLVMParseIRInContext(t->context, buffer, &module, &message)) {
		LLVMGetNamedMetadataOperands(module, "group", &node);
		group = LLVMValueAsMetadata(node);
		LLVMDisposeModule(module);
	} else {
		LLVMDisposeMessage(message);
	}
	return group;
}

/* Return: the name of a loop: metadata that has itself as its first part is like no other. */
static LLVMValueRef name_loop(struct translator *t, LLVMMetadataRef says)
{
	LLVMMetadataRef name[] = { LLVMTemporaryMDNode(t->context, NULL, 0), says };
	LLVMMetadataRef node = LLVMMDNodeInContext2(t->context, name, 2);
	LLVMValueRef value = LLVMMetadataAsValue(t->context, node);

	LLVMMetadataReplaceAllUsesWith(name[0], node);
	return value;
}

/* Names the innermost loops, and says which accesses are parallel there. */
void loops_name(struct translator *t)
{
	static const char says[] = "llvm.loop.parallel_accesses";
	LLVMMetadataRef group = new_group(t), pair[2];

	if (!group)
		return;
	t->parallel = LLVMMetadataAsValue(t->context, group);
	pair[0] = LLVMMDStringInContext2(t->context, says, sizeof(says) - 1);
	pair[1] = group;
	for (uint32_t i = 0; i < ARRAY_SIZE(t->loop_names); i++)
		t->loop_names[i] = name_loop(t, LLVMMDNodeInContext2(t->context, pair, 2));
}

/* Says of a loop, by its branch back, that it has few turns: LLVM is not to unroll it. */
void loop_is_short(struct translator *t, LLVMValueRef branch)
{
	static const char says[] = "llvm.loop.unroll.disable";
	LLVMMetadataRef text = LLVMMDStringInContext2(t->context, says, sizeof(says) - 1);

	mark(t, branch, "llvm.loop", name_loop(t, LLVMMDNodeInContext2(t->context, &text, 1)));
}

/*
 * Weak accesses of different threads have no order if nothing between them makes one, and between
 * two cuts nothing does: LLVM need not look for addresses that turns of the loop share. Local
 * memory is one for all turns, and each thread reads there what it has written itself.
 */
void no_order(struct translator *t, LLVMValueRef access)
{
	if (t->loops && !t->own_memory && t->parallel)
		mark(t, access, "llvm.access.group", t->parallel);
}

void loop_begin(struct translator *t, struct loop *loop, LLVMValueRef first)
{
	LLVMBasicBlockRef before = LLVMGetInsertBlock(t->builder);

	loop->head = new_block(t);
	LLVMBuildBr(t->builder, loop->head);
	LLVMPositionBuilderAtEnd(t->builder, loop->head);
	loop->index = BUILD(Phi, t->i32);
	LLVMAddIncoming(loop->index, &first, &before, 1);
}

/* @name: of the innermost loop, or NULL */
void loop_end(struct translator *t, struct loop *loop, LLVMValueRef end, LLVMValueRef name)
{
	LLVMBasicBlockRef here = LLVMGetInsertBlock(t->builder), after = new_block(t);
	LLVMValueRef next = LLVMBuildNUWAdd(t->builder, loop->index, constant(t, 32, 1), "");
	LLVMValueRef branch;

	LLVMAddIncoming(loop->index, &next, &here, 1);
	branch = LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntULT, next, end, ""),
				 loop->head, after);
	if (name)
		mark(t, branch, "llvm.loop", name);
	LLVMPositionBuilderAtEnd(t->builder, after);
}

LLVMValueRef variable_begin(struct translator *t, LLVMValueRef value)
{
	LLVMValueRef place = alloca_at_entry(t, LLVMTypeOf(value), 1, 0);

	LLVMBuildStore(t->builder, value, place);
	return place;
}

LLVMValueRef variable_get(struct translator *t, LLVMValueRef place)
{
	return BUILD(Load2, LLVMGetAllocatedType(place), place);
}

/* Begins a function of the kernel; its thread and its parameters are the first arguments. */
LLVMValueRef form_begin(struct translator *t, const char *kind, LLVMTypeRef type)
{
	char name[64];

	t->value = LLVMAddFunction(t->module, form_name(t, kind, name, sizeof(name)), type);
	function_common(t, t->value);
	attribute(t, t->value, 1, "noalias");
	attribute(t, t->value, 2, "noalias");
	is_there(t, t->value, 0, sizeof(struct ptx_thread));
	is_there(t, t->value, 1, t->root->function->parameters.bytes);
	snprintf(name, sizeof(name), "memcast_%s", kind);
	lines_function(t, t->root->function->line, name);
	LLVMPositionBuilderAtEnd(t->entry_builder,
				 LLVMAppendBasicBlockInContext(t->context, t->value, ""));
	LLVMPositionBuilderAtEnd(t->builder, new_block(t));
	t->thread = LLVMGetParam(t->value, 0);
	t->parameters = LLVMGetParam(t->value, 1);
	return t->value;
}

/* Ends its first block, which has the variables, behind them. */
void form_end(struct translator *t)
{
	LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(t->value);

	LLVMPositionBuilderAtEnd(t->entry_builder, entry);
	LLVMBuildBr(t->entry_builder, LLVMGetNextBasicBlock(entry));
}

/* The threads that one call runs */
struct threads {
	LLVMValueRef body, arguments[9], wrong;
	LLVMValueRef count;		/* of a row: of a block, or of blocks side by side */
};

static LLVMValueRef run_thread(struct translator *t, struct threads *all, LLVMValueRef x,
			       enum row way, LLVMValueRef more)
{
	all->arguments[2] = x;
	all->arguments[5] = constant(t, 32, way);
	all->arguments[7] = resize(t, more, 64, false);
	return LLVMBuildCall2(t->builder, function_type(t, true), all->body, all->arguments,
			      ARRAY_SIZE(all->arguments), "");
}

/*
 * Runs threads of a row, one at least. What is wrong with their addresses is collected for each row
 * by itself, so that no row waits for another.
 */
static void run_row(struct translator *t, struct threads *all, LLVMValueRef from, LLVMValueRef end,
		    enum row way)
{
	LLVMValueRef wrong = variable_begin(t, constant(t, 32, 0)), result;
	struct loop loop;

	loop_begin(t, &loop, from);
	result = run_thread(t, all, loop.index, way, constant(t, 32, 0));
	LLVMBuildStore(t->builder, BUILD(Or, variable_get(t, wrong), result), wrong);
	loop_end(t, &loop, end, t->loop_names[way == ROW_PASSES]);
	LLVMBuildStore(t->builder, BUILD(Or, variable_get(t, all->wrong), variable_get(t, wrong)),
		       all->wrong);
}

/* Return: do all threads of a part of a row pass the tests of bounds? (bounds.c) */
static LLVMValueRef passes(struct translator *t, struct threads *all, LLVMValueRef from,
			   LLVMValueRef end)
{
	LLVMValueRef last = BUILD(Sub, end, constant(t, 32, 1)), both;

	both = run_thread(t, all, from, ROW_LOOKS, BUILD(Sub, last, from));
	both = BUILD(And, both, run_thread(t, all, last, ROW_LOOKS, constant(t, 32, 0)));
	return LLVMBuildICmp(t->builder, LLVMIntEQ, both, constant(t, 32, ROW_PASSES), "");
}

/*
 * Where a part of a row ends that is tested by itself, as the whole has a thread that does not
 * pass: data's first and last elements often have threads with nothing to do.
 */
static LLVMValueRef part_end(struct translator *t, const struct threads *all, LLVMValueRef from)
{
	LLVMValueRef edge = constant(t, 32, ROW_EDGE), left = BUILD(Sub, all->count, from), size;
	LLVMValueRef first = LLVMBuildICmp(t->builder, LLVMIntEQ, from, constant(t, 32, 0), "");

	size = choose(t, first, edge, BUILD(Sub, left, edge));
	size = choose(t, LLVMBuildICmp(t->builder, LLVMIntUGT, left, edge, ""), size, left);
	return BUILD(Add, from, size);
}

/* Runs a row: parts of which all threads pass without tests, others with them. */
static void run_tested_row(struct translator *t, struct threads *all)
{
	LLVMBasicBlockRef part = new_block(t), some = new_block(t), with = new_block(t);
	LLVMBasicBlockRef without = new_block(t), next = new_block(t), after = new_block(t);
	LLVMValueRef from = variable_begin(t, constant(t, 32, 0)), start, finish;
	LLVMValueRef end = variable_begin(t, all->count);

	LLVMBuildBr(t->builder, part);
	LLVMPositionBuilderAtEnd(t->builder, part);
	start = variable_get(t, from);
	LLVMBuildStore(t->builder, all->count, end);
	LLVMBuildCondBr(t->builder, passes(t, all, start, all->count), without, some);
	LLVMPositionBuilderAtEnd(t->builder, some);
	finish = part_end(t, all, start);
	LLVMBuildStore(t->builder, finish, end);
	LLVMBuildCondBr(t->builder, passes(t, all, start, finish), without, with);
	LLVMPositionBuilderAtEnd(t->builder, without);
	run_row(t, all, variable_get(t, from), variable_get(t, end), ROW_PASSES);
	LLVMBuildBr(t->builder, next);
	LLVMPositionBuilderAtEnd(t->builder, with);
	run_row(t, all, variable_get(t, from), variable_get(t, end), ROW_TESTS);
	LLVMBuildBr(t->builder, next);
	LLVMPositionBuilderAtEnd(t->builder, next);
	finish = variable_get(t, end);
	LLVMBuildStore(t->builder, finish, from);
	LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntULT, finish, all->count, ""),
			part, after);
	LLVMPositionBuilderAtEnd(t->builder, after);
}

/* Return: how many threads a row has: of the block, or of all blocks that run as one */
LLVMValueRef row_threads(struct translator *t)
{
	LLVMValueRef count = thread_field(t, offsetof(struct ptx_thread, ntid), t->i32);

	if (!t->root->kernel.joins)
		return count;
	return BUILD(Mul, count, thread_field(t, offsetof(struct ptx_thread, blocks), t->i32));
}

/* Runs all threads of the block. Return: bits of addresses that are not aligned */
static LLVMValueRef all_threads(struct translator *t, LLVMValueRef body)
{
	struct threads all = {
		.body = body, .arguments = { t->thread, t->parameters },
		.wrong = variable_begin(t, constant(t, 32, 0)),
		.count = row_threads(t),
	};
	struct loop loops[3];

	all.arguments[6] = LLVMConstNull(t->pointer);
	all.arguments[8] = constant(t, 1, 0);
	for (int i = 2; i; i--) {
		loop_begin(t, &loops[i], constant(t, 32, 0));
		all.arguments[2 + i] = loops[i].index;
	}
	if (t->bounds)
		run_tested_row(t, &all);
	else
		run_row(t, &all, constant(t, 32, 0), all.count, ROW_TESTS);
	for (int i = 1; i < 3; i++)
		loop_end(t, &loops[i], thread_field(t, offsetof(struct ptx_thread, ntid) + 4 * i,
						    t->i32), NULL);
	return variable_get(t, all.wrong);
}

void block_form(struct translator *t, LLVMValueRef body)
{
	LLVMTypeRef types[] = { t->pointer, t->pointer };
	LLVMTypeRef type = LLVMFunctionType(t->nothing, types, ARRAY_SIZE(types), false);
	LLVMValueRef part = t->cuts ? part_form(t, body) : NULL, wrong = NULL;
	LLVMBasicBlockRef bad, good;

	form_begin(t, "block", type);
	if (!t->cuts)
		wrong = all_threads(t, body);
	lines_at(t, 0);		/* any instruction of the kernel */
	if (t->cuts)
		wrong = run_parts(t, part);
	bad = new_block(t);
	good = new_block(t);
	LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntEQ, wrong, constant(t, 32, 0),
						  ""), good, bad);
	LLVMPositionBuilderAtEnd(t->builder, bad);
	call_run(t, "misaligned", "v:l", constant(t, 64, 0));
	LLVMBuildUnreachable(t->builder);
	LLVMPositionBuilderAtEnd(t->builder, good);
	LLVMBuildRetVoid(t->builder);
	form_end(t);
}
