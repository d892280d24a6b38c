// SPDX-License-Identifier: MIT
/*
 * Functions. A kernel's body is a function of a thread's indices; two functions around it are what
 * the runtime calls: one for a thread, and for a kernel that never waits one that loops over the
 * threads of a block, so that LLVM can make vectors of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instructions.h"
#include "ir.h"
#include "ptx/jit/llvm.h"

/* Of a function: LLVM takes 1.5 KiB for each, and ends the process where it gets no memory */
#define STATEMENTS_MOST	(1U << 20)
#define BOUNDED_MOST	1000	/* statements of a kernel that also runs without its tests */

void attribute(struct translator *t, LLVMValueRef function, uint32_t at, const char *name)
{
	uint32_t kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

	LLVMAddAttributeAtIndex(function, at, LLVMCreateEnumAttribute(t->context, kind, 0));
}

/* What a function's argument points to is there: LLVM may load it before it is needed. */
void is_there(struct translator *t, LLVMValueRef function, uint32_t argument, uint64_t bytes)
{
	static const char *const names[] = { "dereferenceable", "align" };
	const uint64_t values[] = { bytes, 8 };

	for (int i = 0; i < 2 && bytes; i++) {
		uint32_t kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));

		LLVMAddAttributeAtIndex(function, 1 + argument,
					LLVMCreateEnumAttribute(t->context, kind, values[i]));
	}
}

static void text_attribute(struct translator *t, LLVMValueRef function, const char *name,
			   const char *value)
{
	LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
				LLVMCreateStringAttribute(t->context, name, strlen(name), value,
							  strlen(value)));
}

/* What all functions have that are made of device code */
void function_common(struct translator *t, LLVMValueRef function)
{
	/* a fault is what an access of address 0 is to make */
	attribute(t, function, LLVMAttributeFunctionIndex, "null_pointer_is_valid");
	attribute(t, function, LLVMAttributeFunctionIndex, "nounwind");
	text_attribute(t, function, "warn-stack-size", "0");
	/* a return address in the stack tells which line has called the runtime */
	text_attribute(t, function, "disable-tail-calls", "true");
	if (t->code->debugged)
		text_attribute(t, function, "frame-pointer", "all");
}

void function_is_pure(struct translator *t, LLVMValueRef function)
{
	attribute(t, function, LLVMAttributeFunctionIndex, "nounwind");
	attribute(t, function, LLVMAttributeFunctionIndex, "willreturn");
	llvm_pure(t->context, function);
}

void function_ends(struct translator *t, LLVMValueRef function)
{
	attribute(t, function, LLVMAttributeFunctionIndex, "noreturn");
	attribute(t, function, LLVMAttributeFunctionIndex, "nounwind");
	attribute(t, function, LLVMAttributeFunctionIndex, "cold");
}

/* LLVM is to keep what a call needs out of the way of code that mostly goes past it. */
void call_is_rare(struct translator *t, LLVMValueRef call)
{
	uint32_t kind = LLVMGetEnumAttributeKindForName("cold", 4);

	LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
				 LLVMCreateEnumAttribute(t->context, kind, 0));
}

/* Notes an address for the linker of the code. */
void root_external(struct root *root, const char *name, void *address)
{
	if (root->externals_count == root->externals_room) {
		uint32_t room = root->externals_room ? 2 * root->externals_room : 64;
		struct external *more = realloc(root->externals, room * sizeof(*more));

		if (!more) {
			root_lacks_memory(root);
			return;
		}
		root->externals = more;
		root->externals_room = room;
	}
	root->externals[root->externals_count].address = address;
	root->externals[root->externals_count].name = strdup(name);
	if (!root->externals[root->externals_count].name)
		root_lacks_memory(root);
	else
		root->externals_count++;
}

/*
 * Device functions get thread, parameters and results; kernels thread, parameters, indices, and of
 * what is cut the place, the state, the thread's number, and whether it stops at turns of loops. Of
 * other loops over threads, the place is enum row, and the number says how many threads of the row
 * follow.
 */
LLVMTypeRef function_type(struct translator *t, bool kernel)
{
	LLVMTypeRef device[] = { t->pointer, t->pointer, t->pointer };
	LLVMTypeRef body[] = { t->pointer, t->pointer, t->i32, t->i32, t->i32, t->i32, t->pointer,
			       t->i64, t->i1 };

	return kernel ? LLVMFunctionType(t->i32, body, ARRAY_SIZE(body), false) :
			LLVMFunctionType(t->nothing, device, 3, false);
}

/* Return: the function of this module, which is translated with the root */
LLVMValueRef function_value(struct translator *t, struct function *function)
{
	struct root *root = t->root;
	LLVMValueRef value;
	char name[64];

	snprintf(name, sizeof(name), "function.%u", facts_of(function)->number);
	value = LLVMGetNamedFunction(t->module, name);
	if (value)
		return value;
	value = LLVMAddFunction(t->module, name, function_type(t, function->kernel));
	if (function->kernel || root->function != function)
		LLVMSetLinkage(value, LLVMInternalLinkage);
	function_common(t, value);
	if (function->kernel)
		attribute(t, value, LLVMAttributeFunctionIndex,
			  t->code->debugged ? "noinline" : "alwaysinline");
	if (root->functions_count == root->functions_room) {
		uint32_t room = root->functions_room ? 2 * root->functions_room : 16;
		struct function **more = realloc(root->functions, room * sizeof(*more));

		if (!more) {
			root_lacks_memory(root);
			return value;
		}
		root->functions = more;
		root->functions_room = room;
	}
	root->functions[root->functions_count++] = function;
	return value;
}

LLVMBasicBlockRef label_block(struct translator *t, struct symbol *label)
{
	if (!label->value)
		label->value = new_block(t);
	return label->value;
}

/* A branch back may be of a loop without end: the thread gives its turn away now and then. */
void edge(struct translator *t, struct symbol *label)
{
	LLVMBasicBlockRef poll, on;
	LLVMValueRef at, budget;
	bool back = label->used;	/* its statement stood before */
	bool waits, calls;

	if (!back || !t->polls)
		return;
	waits = t->waits_before[t->index].own > t->waits_before[label->count].own;
	calls = t->waits_before[t->index].calls > t->waits_before[label->count].calls;
	poll = new_block(t);
	on = new_block(t);
	at = constant(t, 64, offsetof(struct ptx_thread, poll_budget));
	at = LLVMBuildInBoundsGEP2(t->builder, t->i8, t->thread, &at, 1, "");
	budget = BUILD(Load2, t->i32, at);
	budget = BUILD(Sub, budget, constant(t, 32, waits || calls ? PTX_POLL_WAIT :
					     PTX_POLL_STEP));
	LLVMBuildStore(t->builder, budget, at);
	LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntSLT, budget,
						  constant(t, 32, 0), ""), poll, on);
	LLVMPositionBuilderAtEnd(t->builder, poll);
	call_is_rare(t, call_run(t, waits ? "poll" : "poll_blind", "v:"));
	LLVMBuildBr(t->builder, on);
	LLVMPositionBuilderAtEnd(t->builder, on);
}

/* Gives the body's .local, .param and .shared variables their places. */
static void place_memory(struct translator *t)
{
	uint32_t next = facts_of(t->function)->shared_base;

	for (uint32_t i = 0; i < t->body.memory_count; i++) {
		struct symbol *symbol = t->body.memory[i];

		if (symbol->space == SPACE_SHARED && !symbol->unsized) {
			next = (next + symbol->align - 1) & ~(symbol->align - 1);
			symbol->offset = next;
			next += symbol->bytes;
		} else if (symbol->space == SPACE_LOCAL || symbol->space == SPACE_PARAM) {
			symbol->value = alloca_at_entry(t, t->i8, symbol->bytes ? symbol->bytes : 1,
							symbol->align > 16 ? symbol->align : 16);
		}
	}
}

/* Has each thread memory of its own, beside registers? */
static bool has_own_memory(const struct body *body)
{
	for (uint32_t i = 0; i < body->memory_count; i++)
		if (body->memory[i]->space == SPACE_LOCAL || body->memory[i]->space == SPACE_PARAM)
			return true;
	for (const struct statement *at = body->first; at; at = at->next)
		if (at->kind == STATEMENT_INSTRUCTION && word_is(&at->name, "alloca"))
			return true;
	return false;
}

/* Parameters in registers come in the block, too; results go there at each return. */
static void take_registers(struct translator *t)
{
	const struct parameters *parameters = &t->function->parameters;

	for (uint32_t i = 0; i < parameters->count; i++) {
		struct symbol *symbol = parameters->at[i];
		LLVMValueRef at = constant(t, 64, symbol->offset);

		if (symbol->space != SPACE_REG)
			continue;
		at = LLVMBuildGEP2(t->builder, t->i8, t->parameters, &at, 1, "");
		register_write(t, symbol, 0, BUILD(Load2, int_type(t, 8 * symbol->bytes), at),
			       false);
	}
}

/* Each translation makes new values of the symbols that outlive it. */
static void forget(const struct parameters *parameters)
{
	for (uint32_t i = 0; i < parameters->count; i++) {
		parameters->at[i]->value = NULL;
		memset(parameters->at[i]->values, 0, sizeof(parameters->at[i]->values));
	}
}

/* Counts instructions that may wait for other threads, so that loops know whether they do. */
static bool count_waits(struct translator *t)
{
	struct waits count = {};
	uint32_t index = 0;

	t->waits_before = calloc(t->body.count + 1, sizeof(*t->waits_before));
	if (!t->waits_before)
		return false;
	for (struct statement *statement = t->body.first; statement; statement = statement->next) {
		t->waits_before[index] = count;
		if (statement->kind == STATEMENT_LABEL) {
			statement->label->count = index;
			statement->label->used = false;
		} else {
			statement->opcode = opcode_find(&statement->name);
			/* what copies asynchronously mostly computes: ptx_run_poll_blind() finds out */
			if (word_is(&statement->name, "call"))
				count.calls++;
			else if (!word_is(&statement->name, "cp"))
				count.own += statement_may_wait(statement);
			if (!statement->opcode)
				return false;
		}
		index++;
	}
	t->waits_before[index] = count;
	return true;
}

/* Translates what a cut kernel computes first wherever it begins. */
static void translate_hoisted(struct translator *t)
{
	LLVMBasicBlockRef start = LLVMGetInsertBlock(t->builder);

	t->before = new_block(t);
	LLVMPositionBuilderAtEnd(t->builder, t->before);
	for (struct statement *at = t->body.first; at; at = at->next)
		if (at->hoisted) {
			lines_statement(t, at);
			translate_statement(t, at);
		}
	t->before = LLVMGetInsertBlock(t->builder);
	LLVMPositionBuilderAtEnd(t->builder, start);
	t->epoch++;
}

static void translate_function(struct translator *t, struct function *function)
{
	struct complaint complaint = {};
	struct kept kept = {};
	LLVMBasicBlockRef entry;
	bool is_cut;

	t->function = function;
	t->unit = function->unit;
	t->at = NULL;
	t->value = function_value(t, function);
	t->epoch = 1;
	t->ended = false;
	t->carry = t->misaligned = t->lane = NULL;
	memset(&t->body, 0, sizeof(t->body));
	forget(&function->parameters);
	forget(&function->results);
	if (function->statements > STATEMENTS_MOST) {
		lacks(t, "a function of more than %u instructions", STATEMENTS_MOST);
		return;
	}
	/* it was read before, and had no fault */
	if (body_read_in_step(function, &t->body, &complaint) != CUDA_SUCCESS || !count_waits(t)) {
		root_lacks_memory(t->root);
		return;
	}
	is_cut = function->kernel && t->root->is_cut;
	t->cuts = is_cut ? cuts_find(&t->body) : 0;
	/* gdb finds each register in memory */
	if ((is_cut && !t->cuts) ||
	    (!t->code->debugged && !registers_look(&t->body, is_cut ? &kept : NULL))) {
		root_lacks_memory(t->root);
		return;
	}
	lines_function(t, function->line, NULL);
	entry = LLVMAppendBasicBlockInContext(t->context, t->value, "");
	LLVMPositionBuilderAtEnd(t->entry_builder, entry);
	t->start = new_block(t);
	LLVMPositionBuilderAtEnd(t->builder, t->start);
	t->thread = LLVMGetParam(t->value, 0);
	t->parameters = LLVMGetParam(t->value, 1);
	t->loops = function->kernel && !t->root->kernel.waits;
	if (function->kernel)
		t->bounds = t->loops && !t->cuts && t->body.count <= BOUNDED_MOST ?
			    bounds_find(&t->body) : 0;
	t->own_memory = has_own_memory(&t->body);
	t->polls = t->root->polls;
	if (function->kernel) {
		for (int i = 0; i < 3; i++)
			t->tid[i] = LLVMGetParam(t->value, 2 + i);
		t->which = LLVMGetParam(t->value, 5);
		t->state = LLVMGetParam(t->value, 6);
		t->number = LLVMGetParam(t->value, 7);
		t->turns = LLVMGetParam(t->value, 8);
	} else {
		t->results = LLVMGetParam(t->value, 2);
	}
	t->carry = alloca_at_entry(t, t->i1, 1, 0);
	LLVMBuildStore(t->entry_builder, constant(t, 1, 0), t->carry);
	if (function->kernel) {
		t->misaligned = alloca_at_entry(t, t->i32, 1, 0);
		LLVMBuildStore(t->entry_builder, constant(t, 32, 0), t->misaligned);
		if (t->bounds) {
			t->wraps = alloca_at_entry(t, t->i1, 1, 0);
			LLVMBuildStore(t->entry_builder, constant(t, 1, 0), t->wraps);
		}
	} else {
		for (int i = 0; i < 3; i++)
			t->tid[i] = thread_field(t, offsetof(struct ptx_thread, tid) + 4 * i,
						 t->i32);
	}
	variables_begin(t);
	place_memory(t);
	checked_begin(t);
	take_registers(t);
	/* recursion goes through such functions */
	if (!function->kernel && (function == t->root->function || facts_of(function)->recursive))
		check_room(t, constant(t, 64, 0), 0);
	if (t->cuts)
		translate_hoisted(t);
	t->index = 0;
	for (struct statement *statement = t->body.first; statement;
	     statement = statement->next, t->index++) {
		if (statement->hoisted)
			continue;
		if (statement->kind == STATEMENT_LABEL)
			statement->label->used = true;
		lines_statement(t, statement);
		translate_statement(t, statement);
		if (t->bounds)
			bounds_after(t, statement);
	}
	if (!t->ended)
		translate_return(t);
	if (t->cuts)
		cuts_end(t, &kept);
	else
		LLVMBuildBr(t->entry_builder, t->start);
	free(kept.at);
}

const char *form_name(struct translator *t, const char *kind, char *name, size_t size)
{
	root_name(t->root, kind, name, size);
	return name;
}

/*
 * The function for one thread. It comes first in memory: its address, which the runtime has on the
 * stack, is then none behind a line of the body.
 */
static LLVMValueRef thread_function(struct translator *t)
{
	LLVMTypeRef types[] = { t->pointer, t->pointer };
	char name[64];

	return LLVMAddFunction(t->module, form_name(t, "thread", name, sizeof(name)),
			       LLVMFunctionType(t->nothing, types, 2, false));
}

/* It takes the indices from the thread. */
static void thread_form(struct translator *t, LLVMValueRef body, LLVMValueRef function)
{
	LLVMValueRef arguments[9];

	t->value = function;
	function_common(t, t->value);
	lines_function(t, t->root->function->line, "memcast_thread");
	LLVMPositionBuilderAtEnd(t->builder, LLVMAppendBasicBlockInContext(t->context, t->value,
									   ""));
	t->thread = arguments[0] = LLVMGetParam(t->value, 0);
	arguments[1] = LLVMGetParam(t->value, 1);
	for (int i = 0; i < 3; i++)
		arguments[2 + i] = thread_field(t, offsetof(struct ptx_thread, tid) + 4 * i,
						t->i32);
	arguments[5] = constant(t, 32, 0);
	arguments[6] = LLVMConstNull(t->pointer);
	arguments[7] = constant(t, 64, 0);
	arguments[8] = constant(t, 1, 0);
	LLVMBuildCall2(t->builder, function_type(t, true), body, arguments,
		       ARRAY_SIZE(arguments), "");
	LLVMBuildRetVoid(t->builder);
}

/* Translates a function and all that it calls directly. Return: false: the root says why */
bool translate_root(struct ptx_code *code, struct root *root, LLVMContextRef context,
		    LLVMModuleRef module)
{
	struct translator t = {
		.context = context, .module = module, .code = code, .root = root,
		.builder = LLVMCreateBuilderInContext(context),
		.entry_builder = LLVMCreateBuilderInContext(context),
		.i1 = LLVMInt1TypeInContext(context), .i8 = LLVMInt8TypeInContext(context),
		.i16 = LLVMInt16TypeInContext(context), .i32 = LLVMInt32TypeInContext(context),
		.i64 = LLVMInt64TypeInContext(context), .i128 = LLVMInt128TypeInContext(context),
		.f32 = LLVMFloatTypeInContext(context), .f64 = LLVMDoubleTypeInContext(context),
		.pointer = LLVMPointerTypeInContext(context, 0),
		.nothing = LLVMVoidTypeInContext(context),
	};
	LLVMValueRef body, thread = NULL;

	lines_begin(&t);
	loops_name(&t);
	t.function = root->function;
	t.unit = root->function->unit;
	if (root->function->kernel && root->kernel.waits)
		thread = thread_function(&t);
	body = function_value(&t, root->function);
	for (uint32_t i = 0; i < root->functions_count && !root->failed; i++) {
		translate_function(&t, root->functions[i]);
		body_free(&t.body);
		free(t.waits_before);
		t.waits_before = NULL;
	}
	if (root->function->kernel && !root->failed) {
		t.function = root->function;
		t.unit = root->function->unit;
		t.at = NULL;
		if (thread)
			thread_form(&t, body, thread);
		else
			block_form(&t, body);
	}
	lines_end(&t);
	LLVMDisposeBuilder(t.builder);
	LLVMDisposeBuilder(t.entry_builder);
	return !root->failed;
}
