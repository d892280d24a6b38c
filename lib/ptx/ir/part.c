// SPDX-License-Identifier: MIT
/*
 * The part of a kernel that is cut: a function that runs some threads, each from a cut to the next
 * one (ptx_part in run.h). For each cut it has a loop over threads that are at it, and one more for
 * threads that are at any. lib/ptx/run/cuts.c calls it.
 */
#include "instructions.h"
#include "ir.h"
#include "ptx/run/lanes.h"

struct part {
	LLVMValueRef body, state, first, end;
	LLVMValueRef counts[2];		/* threads of a row, and rows of a plane */
	LLVMValueRef tid[3];		/* of the first thread */
	LLVMValueRef wrong, all, any;	/* bits of threads' next cuts: of all, of any */
	uint32_t loops;
};

/* Runs one thread. @from: the cut; NULL: its own, and it does not stop at turns of loops */
static void one_thread(struct translator *t, struct part *part, LLVMValueRef tid[3],
		       LLVMValueRef number, LLVMValueRef from)
{
	LLVMValueRef place = LLVMBuildInBoundsGEP2(t->builder, t->i32, part->state, &number, 1, "");
	LLVMValueRef own = from ? from : BUILD(Load2, t->i32, place), result, next;
	LLVMValueRef arguments[] = {
		t->thread, t->parameters, tid[0], tid[1], tid[2], own, part->state, number,
		constant(t, 1, from != NULL),
	};

	result = LLVMBuildCall2(t->builder, function_type(t, true), part->body, arguments,
				ARRAY_SIZE(arguments), "");
	LLVMBuildStore(t->builder, BUILD(Or, variable_get(t, part->wrong),
					 BUILD(And, result, constant(t, 32, 0xff))), part->wrong);
	next = BUILD(LShr, result, constant(t, 32, 8));
	no_order(t, LLVMBuildStore(t->builder, next, place));
	LLVMBuildStore(t->builder, BUILD(And, variable_get(t, part->all), next), part->all);
	LLVMBuildStore(t->builder, BUILD(Or, variable_get(t, part->any), next), part->any);
}

/*
 * Runs threads row by row, so that the innermost loop has nothing to divide. The first and the last
 * row may not be whole.
 */
static void rows(struct translator *t, struct part *part, LLVMValueRef from)
{
	LLVMValueRef zero = constant(t, 32, 0), one = constant(t, 32, 1);
	LLVMValueRef at = variable_begin(t, part->first), x = variable_begin(t, part->tid[0]);
	LLVMValueRef y = variable_begin(t, part->tid[1]), z = variable_begin(t, part->tid[2]);
	LLVMBasicBlockRef row = new_block(t), after = new_block(t);
	LLVMValueRef tid[3], end, start, distance, wraps;
	struct loop loop;

	LLVMBuildBr(t->builder, row);
	LLVMPositionBuilderAtEnd(t->builder, row);
	start = variable_get(t, x);
	tid[1] = variable_get(t, y);
	tid[2] = variable_get(t, z);
	distance = BUILD(Sub, variable_get(t, at), start);	/* from x to the thread's number */
	end = BUILD(Sub, part->end, distance);
	end = choose(t, LLVMBuildICmp(t->builder, LLVMIntULT, end, part->counts[0], ""), end,
		     part->counts[0]);
	loop_begin(t, &loop, start);
	tid[0] = loop.index;
	one_thread(t, part, tid, BUILD(Add, resize(t, loop.index, 64, false),
				       resize(t, distance, 64, false)), from);
	loop_end(t, &loop, end, t->loop_names[part->loops++]);
	LLVMBuildStore(t->builder, BUILD(Add, distance, end), at);
	LLVMBuildStore(t->builder, zero, x);
	tid[1] = BUILD(Add, tid[1], one);
	wraps = LLVMBuildICmp(t->builder, LLVMIntEQ, tid[1], part->counts[1], "");
	LLVMBuildStore(t->builder, choose(t, wraps, zero, tid[1]), y);
	LLVMBuildStore(t->builder, BUILD(Add, tid[2], resize(t, wraps, 32, false)), z);
	LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntULT, variable_get(t, at),
						  part->end, ""), row, after);
	LLVMPositionBuilderAtEnd(t->builder, after);
}

static void part_begin(struct translator *t, struct part *part)
{
	LLVMTypeRef types[] = { t->pointer, t->pointer, t->pointer, t->i32, t->i32, t->i32 };
	LLVMValueRef row;

	form_begin(t, "part", LLVMFunctionType(t->i64, types, ARRAY_SIZE(types), false));
	LLVMSetLinkage(t->value, LLVMInternalLinkage);
	attribute(t, t->value, LLVMAttributeFunctionIndex, "noinline");
	attribute(t, t->value, 3, "noalias");
	is_there(t, t->value, 2, sizeof(struct ptx_state));
	part->state = LLVMGetParam(t->value, 2);
	part->first = LLVMGetParam(t->value, 4);
	part->end = LLVMGetParam(t->value, 5);
	part->counts[0] = row_threads(t);
	part->counts[1] = thread_field(t, offsetof(struct ptx_thread, ntid) + 4, t->i32);
	part->wrong = variable_begin(t, constant(t, 32, 0));
	part->all = variable_begin(t, constant(t, 32, UINT32_MAX));
	part->any = variable_begin(t, constant(t, 32, 0));
	row = BUILD(UDiv, part->first, part->counts[0]);
	part->tid[0] = BUILD(URem, part->first, part->counts[0]);
	part->tid[1] = BUILD(URem, row, part->counts[1]);
	part->tid[2] = BUILD(UDiv, row, part->counts[1]);
}

static void part_end(struct translator *t, const struct part *part)
{
	LLVMValueRef place = at_offset(t, part->state, offsetof(struct ptx_state, wrong));
	LLVMValueRef wrong = variable_get(t, part->wrong), any;

	LLVMBuildStore(t->builder, BUILD(Or, wrong, BUILD(Load2, t->i32, place)), place);
	any = resize(t, variable_get(t, part->any), 64, false);
	any = BUILD(Shl, any, constant(t, 64, 32));
	LLVMBuildRet(t->builder, BUILD(Or, any, resize(t, variable_get(t, part->all), 64,
							false)));
	form_end(t);
}

/* Return: the function */
LLVMValueRef part_form(struct translator *t, LLVMValueRef body)
{
	LLVMBasicBlockRef end, any, one;
	struct part part = { .body = body };
	LLVMValueRef jump;

	part_begin(t, &part);
	end = new_block(t);
	any = new_block(t);
	jump = LLVMBuildSwitch(t->builder, LLVMGetParam(t->value, 3), any, t->cuts + 1);
	for (uint32_t k = 0; k <= t->cuts; k++) {
		one = new_block(t);
		LLVMAddCase(jump, constant(t, 32, k), one);
		LLVMPositionBuilderAtEnd(t->builder, one);
		rows(t, &part, constant(t, 32, k));
		LLVMBuildBr(t->builder, end);
	}
	LLVMPositionBuilderAtEnd(t->builder, any);
	rows(t, &part, NULL);
	LLVMBuildBr(t->builder, end);
	LLVMPositionBuilderAtEnd(t->builder, end);
	part_end(t, &part);
	return t->value;
}

static void find_sources(struct ptx_cut *cut)
{
	for (uint32_t lane = 0; lane < PTX_WARP; lane++) {
		bool inside;

		cut->source[lane] = lane_source(cut->operation, lane, cut->b, cut->c, &inside);
		cut->inside |= (uint32_t)inside << lane;
	}
}

/* The cuts, as words that code has; number 0 is where threads have ended */
static LLVMValueRef table(struct translator *t)
{
	enum { WORDS = sizeof(struct ptx_cut) / 4 };
	LLVMValueRef words[(PTX_CUTS_MOST + 1) * WORDS], global;
	uint32_t count = (t->cuts + 1) * WORDS;

	for (uint32_t k = 1; k <= t->cuts; k++)
		if (t->about[k].kind == PTX_CUT_SHFL)
			find_sources(&t->about[k]);
	for (uint32_t i = 0; i < count; i++)
		words[i] = constant(t, 32, ((const uint32_t *)t->about)[i]);
	global = LLVMAddGlobal(t->module, LLVMArrayType(t->i32, count), "cuts");
	LLVMSetInitializer(global, LLVMConstArray(t->i32, words, count));
	LLVMSetGlobalConstant(global, true);
	LLVMSetLinkage(global, LLVMInternalLinkage);
	LLVMSetAlignment(global, 8);
	return global;
}

/* Runs a block's threads by calls of the part. Return: bits of addresses that are not aligned */
LLVMValueRef run_parts(struct translator *t, LLVMValueRef part)
{
	uint64_t bytes = sizeof(struct ptx_state) + t->slots * PTX_STATE_REGISTER;
	LLVMValueRef state = alloca_at_entry(t, t->i8, bytes, 64);

	LLVMBuildStore(t->builder, constant(t, 32, 0),
		       at_offset(t, state, offsetof(struct ptx_state, wrong)));
	return call_run(t, "cuts", "i:pppp", t->parameters, part, state, table(t));
}
