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

static void attribute(struct translator *t, LLVMValueRef function, uint32_t at, const char *name)
{
	uint32_t kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

	LLVMAddAttributeAtIndex(function, at, LLVMCreateEnumAttribute(t->context, kind, 0));
}

/* What a function's argument points to is there: LLVM may load it before it is needed. */
static void is_there(struct translator *t, LLVMValueRef function, uint32_t argument, uint64_t bytes)
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

/* LLVM makes one call of two only where both are of the same line. */
void function_keeps_lines(struct translator *t, LLVMValueRef function)
{
	attribute(t, function, LLVMAttributeFunctionIndex, "nomerge");
}

/* Notes an address for the linker of the code. */
void root_external(struct root *root, const char *name, void *address)
{
	if (root->externals_count == root->externals_room) {
		uint32_t room = root->externals_room ? 2 * root->externals_room : 64;
		struct external *more = realloc(root->externals, room * sizeof(*more));

		if (!more) {
			root->failed = true;
			return;
		}
		root->externals = more;
		root->externals_room = room;
	}
	root->externals[root->externals_count++] = (struct external) { strdup(name), address };
}

/* Device functions get thread, parameters and results; kernels thread, parameters, indices. */
static LLVMTypeRef function_type(struct translator *t, bool kernel)
{
	LLVMTypeRef device[] = { t->pointer, t->pointer, t->pointer };
	LLVMTypeRef body[] = { t->pointer, t->pointer, t->i32, t->i32, t->i32 };

	return kernel ? LLVMFunctionType(t->i32, body, 5, false) :
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
	/* a fault is what an access of address 0 is to make */
	attribute(t, value, LLVMAttributeFunctionIndex, "null_pointer_is_valid");
	attribute(t, value, LLVMAttributeFunctionIndex, "nounwind");
	text_attribute(t, value, "warn-stack-size", "0");
	/* a return address in the stack tells which line has called the runtime */
	text_attribute(t, value, "disable-tail-calls", "true");
	if (function->kernel)
		attribute(t, value, LLVMAttributeFunctionIndex, "alwaysinline");
	if (root->functions_count == root->functions_room) {
		uint32_t room = root->functions_room ? 2 * root->functions_room : 16;
		struct function **more = realloc(root->functions, room * sizeof(*more));

		if (!more) {
			root->failed = true;
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

	if (!back || !t->polls)
		return;
	poll = new_block(t);
	on = new_block(t);
	at = constant(t, 64, offsetof(struct ptx_thread, poll_budget));
	at = LLVMBuildInBoundsGEP2(t->builder, t->i8, t->thread, &at, 1, "");
	budget = BUILD(Load2, t->i32, at);
	budget = BUILD(Sub, budget, constant(t, 32, t->waits_before[t->index] >
					     t->waits_before[label->count] ?
					     PTX_POLL_WAIT : PTX_POLL_STEP));
	LLVMBuildStore(t->builder, budget, at);
	LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntSLT, budget,
						  constant(t, 32, 0), ""), poll, on);
	LLVMPositionBuilderAtEnd(t->builder, poll);
	call_run(t, "poll", "v:");
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
	uint32_t count = 0, index = 0;

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
			count += statement_may_wait(statement);
			if (!statement->opcode)
				return false;
		}
		index++;
	}
	t->waits_before[index] = count;
	return true;
}

static void translate_function(struct translator *t, struct function *function)
{
	struct complaint complaint = {};
	LLVMBasicBlockRef entry;

	t->function = function;
	t->unit = function->unit;
	t->at = NULL;
	t->value = function_value(t, function);
	lines_function(t, function->line);
	t->epoch = 1;
	t->ended = false;
	t->carry = t->misaligned = t->lane = NULL;
	memset(&t->body, 0, sizeof(t->body));
	forget(&function->parameters);
	forget(&function->results);
	if (body_read(function, &t->body, &complaint) != CUDA_SUCCESS || !count_waits(t)) {
		unsupported(t);
		return;
	}
	registers_look(&t->body);
	entry = LLVMAppendBasicBlockInContext(t->context, t->value, "");
	LLVMPositionBuilderAtEnd(t->entry_builder, entry);
	t->start = new_block(t);
	LLVMPositionBuilderAtEnd(t->builder, t->start);
	t->thread = LLVMGetParam(t->value, 0);
	t->parameters = LLVMGetParam(t->value, 1);
	t->loops = function->kernel && !t->root->kernel.waits;
	t->polls = t->root->polls;
	if (function->kernel)
		for (int i = 0; i < 3; i++)
			t->tid[i] = LLVMGetParam(t->value, 2 + i);
	else
		t->results = LLVMGetParam(t->value, 2);
	t->carry = alloca_at_entry(t, t->i1, 1, 0);
	LLVMBuildStore(t->entry_builder, constant(t, 1, 0), t->carry);
	if (function->kernel) {
		t->misaligned = alloca_at_entry(t, t->i32, 1, 0);
		LLVMBuildStore(t->entry_builder, constant(t, 32, 0), t->misaligned);
	} else {
		for (int i = 0; i < 3; i++)
			t->tid[i] = thread_field(t, offsetof(struct ptx_thread, tid) + 4 * i,
						 t->i32);
	}
	place_memory(t);
	checked_begin(t);
	take_registers(t);
	t->index = 0;
	for (struct statement *statement = t->body.first; statement;
	     statement = statement->next, t->index++) {
		if (statement->kind == STATEMENT_LABEL)
			statement->label->used = true;
		lines_at(t, statement->line);
		translate_statement(t, statement);
	}
	if (!t->ended)
		translate_return(t);
	LLVMBuildBr(t->entry_builder, t->start);
}

static const char *form_name(struct translator *t, const char *kind, char *name, size_t size)
{
	snprintf(name, size, "%s.%u", kind, facts_of(t->root->function)->number);
	return name;
}

/* The function for one thread: it takes the indices from the thread. */
static void thread_form(struct translator *t, LLVMValueRef body)
{
	LLVMTypeRef types[] = { t->pointer, t->pointer };
	LLVMValueRef arguments[5];
	char name[64];

	t->value = LLVMAddFunction(t->module, form_name(t, "thread", name, sizeof(name)),
				   LLVMFunctionType(t->nothing, types, 2, false));
	attribute(t, t->value, LLVMAttributeFunctionIndex, "nounwind");
	attribute(t, t->value, LLVMAttributeFunctionIndex, "null_pointer_is_valid");
	text_attribute(t, t->value, "warn-stack-size", "0");
	text_attribute(t, t->value, "disable-tail-calls", "true");
	lines_function(t, t->root->function->line);
	LLVMPositionBuilderAtEnd(t->builder, LLVMAppendBasicBlockInContext(t->context, t->value,
									   ""));
	t->thread = arguments[0] = LLVMGetParam(t->value, 0);
	arguments[1] = LLVMGetParam(t->value, 1);
	for (int i = 0; i < 3; i++)
		arguments[2 + i] = thread_field(t, offsetof(struct ptx_thread, tid) + 4 * i,
						t->i32);
	LLVMBuildCall2(t->builder, function_type(t, true), body, arguments, 5, "");
	LLVMBuildRetVoid(t->builder);
}

/*
 * A name for the innermost loop of the form for blocks. Metadata that has itself as its first part
 * is like no other.
 */
static LLVMValueRef name_loop(struct translator *t)
{
	LLVMMetadataRef empty = LLVMTemporaryMDNode(t->context, NULL, 0), name;
	LLVMValueRef value;

	name = LLVMMDNodeInContext2(t->context, &empty, 1);
	value = LLVMMetadataAsValue(t->context, name);
	LLVMMetadataReplaceAllUsesWith(empty, name);
	return value;
}

static void mark(struct translator *t, LLVMValueRef instruction, const char *kind)
{
	LLVMSetMetadata(instruction, LLVMGetMDKindIDInContext(t->context, kind, strlen(kind)),
			t->parallel);
}

/*
 * Weak accesses of different threads have no order if nothing between them makes one, and a kernel
 * that never waits has nothing: LLVM need not look for addresses that turns of the loop share.
 */
void no_order(struct translator *t, LLVMValueRef access)
{
	if (t->loops)
		mark(t, access, "llvm.mem.parallel_loop_access");
}

/* A loop of the form for blocks: from 0 to what the thread says the block has */
struct loop {
	LLVMBasicBlockRef head;
	LLVMValueRef index;
	uint32_t dimension;
};

static void loop_begin(struct translator *t, struct loop *loop, uint32_t dimension)
{
	LLVMBasicBlockRef before = LLVMGetInsertBlock(t->builder);
	LLVMValueRef zero = constant(t, 32, 0);

	loop->dimension = dimension;
	loop->head = new_block(t);
	LLVMBuildBr(t->builder, loop->head);
	LLVMPositionBuilderAtEnd(t->builder, loop->head);
	loop->index = BUILD(Phi, t->i32);
	LLVMAddIncoming(loop->index, &zero, &before, 1);
}

static void loop_end(struct translator *t, struct loop *loop, LLVMValueRef count)
{
	LLVMBasicBlockRef here = LLVMGetInsertBlock(t->builder), after = new_block(t);
	LLVMValueRef next = LLVMBuildNUWAdd(t->builder, loop->index, constant(t, 32, 1), "");
	LLVMValueRef branch;

	LLVMAddIncoming(loop->index, &next, &here, 1);
	branch = LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntULT, next, count, ""),
				 loop->head, after);
	if (!loop->dimension)
		mark(t, branch, "llvm.loop");
	LLVMPositionBuilderAtEnd(t->builder, after);
}

static void block_form(struct translator *t, LLVMValueRef body)
{
	LLVMTypeRef types[] = { t->pointer, t->pointer };
	LLVMValueRef counts[3], wrong, found, arguments[5];
	LLVMBasicBlockRef bad, good;
	struct loop loops[3];
	char name[64];

	t->value = LLVMAddFunction(t->module, form_name(t, "block", name, sizeof(name)),
				   LLVMFunctionType(t->nothing, types, 2, false));
	attribute(t, t->value, LLVMAttributeFunctionIndex, "nounwind");
	attribute(t, t->value, LLVMAttributeFunctionIndex, "null_pointer_is_valid");
	attribute(t, t->value, 1, "noalias");
	attribute(t, t->value, 2, "noalias");
	is_there(t, t->value, 0, sizeof(struct ptx_thread));
	is_there(t, t->value, 1, t->root->function->parameters.bytes);
	text_attribute(t, t->value, "warn-stack-size", "0");
	text_attribute(t, t->value, "disable-tail-calls", "true");
	lines_function(t, t->root->function->line);
	LLVMPositionBuilderAtEnd(t->entry_builder,
				 LLVMAppendBasicBlockInContext(t->context, t->value, ""));
	LLVMPositionBuilderAtEnd(t->builder, LLVMGetEntryBasicBlock(t->value));
	t->thread = arguments[0] = LLVMGetParam(t->value, 0);
	arguments[1] = LLVMGetParam(t->value, 1);
	wrong = alloca_at_entry(t, t->i32, 1, 0);
	LLVMBuildStore(t->builder, constant(t, 32, 0), wrong);
	for (int i = 0; i < 3; i++)
		counts[i] = thread_field(t, offsetof(struct ptx_thread, ntid) + 4 * i, t->i32);
	for (int i = 2; i >= 0; i--) {
		loop_begin(t, &loops[i], i);
		arguments[2 + i] = loops[i].index;
	}
	found = LLVMBuildCall2(t->builder, function_type(t, true), body, arguments, 5, "");
	found = BUILD(Or, found, BUILD(Load2, t->i32, wrong));
	LLVMBuildStore(t->builder, found, wrong);
	for (int i = 0; i < 3; i++)
		loop_end(t, &loops[i], counts[i]);
	bad = new_block(t);
	good = new_block(t);
	found = BUILD(Load2, t->i32, wrong);
	LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntEQ, found, constant(t, 32, 0),
						  ""), good, bad);
	LLVMPositionBuilderAtEnd(t->builder, bad);
	lines_at(t, 0);		/* any instruction of the kernel */
	call_run(t, "misaligned", "v:l", resize(t, found, 64, false));
	LLVMBuildUnreachable(t->builder);
	LLVMPositionBuilderAtEnd(t->builder, good);
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
	LLVMValueRef body;

	lines_begin(&t);
	t.parallel = name_loop(&t);
	t.function = root->function;
	t.unit = root->function->unit;
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
		if (root->kernel.waits)
			thread_form(&t, body);
		else
			block_form(&t, body);
	}
	lines_end(&t);
	LLVMDisposeBuilder(t.builder);
	LLVMDisposeBuilder(t.entry_builder);
	return !root->failed;
}
