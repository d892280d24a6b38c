// SPDX-License-Identifier: MIT
/*
 * What is found in bodies when an image is read: errors, and facts for launches. Statements are
 * forgotten again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "ptx/ir/instructions.h"

#define JOINED_MOST	4000	/* statements of a kernel of which blocks may be joined */

static bool add_callee(struct facts *facts, struct function *function)
{
	for (uint32_t i = 0; i < facts->callees_count; i++)
		if (facts->callees[i] == function)
			return true;
	if (facts->callees_count == facts->callees_room) {
		uint32_t room = facts->callees_room ? 2 * facts->callees_room : 8;
		struct function **more = realloc(facts->callees, room * sizeof(*more));

		if (!more)
			return false;
		facts->callees = more;
		facts->callees_room = room;
	}
	facts->callees[facts->callees_count++] = function;
	return true;
}

struct checking {
	struct ptx_code *code;
	struct function *function;
	struct facts *facts;
	struct statement *statement;
	struct complaint *complaint;
};

static CUresult wrong(struct checking *checking, const char *what, const struct word *word)
{
	snprintf(checking->complaint->text, sizeof(checking->complaint->text),
		 "ptxas: line %u: %s '%.*s'", checking->statement->line, what,
		 (int)(word->length < 60 ? word->length : 60), word->at);
	return CUDA_ERROR_INVALID_PTX;
}

static void reads_thread(struct checking *checking, const struct operand *operand)
{
	const struct word *name = &operand->name;

	if (operand->kind == OPERAND_SPECIAL &&
	    (word_is(name, "%tid") || word_is(name, "%laneid") || word_is(name, "%warpid") ||
	     (name->length > 9 && !memcmp(name->at, "%lanemask", 9))))
		checking->facts->own_thread = true;
}

/* Names that no scope knows are errors, unless they are labels that follow. */
static CUresult operand_check(struct checking *checking, const struct operand *operand)
{
	struct symbol *symbol = operand->symbol;
	CUresult result = CUDA_SUCCESS;

	reads_thread(checking, operand);
	if (operand->kind == OPERAND_NAME) {
		symbol = scope_find(checking->statement->scope, operand->name.at,
				    operand->name.length);
		if (!symbol)
			return wrong(checking, "nothing declares", &operand->name);
	}
	if (symbol && symbol->kind == SYMBOL_VARIABLE && symbol->space == SPACE_SHARED)
		checking->facts->shared = true;
	if (symbol && symbol->kind == SYMBOL_FUNCTION && operand->kind == OPERAND_SYMBOL &&
	    !word_is(&checking->statement->name, "call")) {
		struct symbol *defined = code_resolve(checking->code, symbol);

		checking->facts->indirect = true;
		if (defined)
			facts_of(defined->function)->by_pointer = true;
	}
	for (uint32_t i = 0; i < operand->count && result == CUDA_SUCCESS; i++)
		result = operand_check(checking, &operand->items[i]);
	if (result == CUDA_SUCCESS && operand->second)
		result = operand_check(checking, operand->second);
	return result;
}

/* Functions that no text defines, and that the runtime has */
bool is_system_function(const struct symbol *symbol)
{
	static const char *const known[] = { "vprintf", "malloc", "free", "__assertfail" };
	struct word name = { .at = symbol->name, .length = symbol->length };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (word_is(&name, known[i]))
			return true;
	/* of libdevice and of dynamic parallelism: a launch says which of them memcast lacks */
	return is_libdevice(name.at, name.length) ||
	       (name.length > 4 && !memcmp(name.at, "cuda", 4)) ||
	       (name.length > 6 && !memcmp(name.at, "__cuda", 6));
}

static CUresult call_check(struct checking *checking)
{
	struct statement *statement = checking->statement;
	struct symbol *defined;

	for (uint32_t i = 0; i < statement->operands_count; i++) {
		const struct operand *operand = &statement->operands[i];

		if (operand->kind == OPERAND_REGISTER) {
			checking->facts->indirect = true;
			return CUDA_SUCCESS;
		}
		if (operand->kind != OPERAND_SYMBOL || operand->symbol->kind != SYMBOL_FUNCTION)
			continue;
		defined = code_resolve(checking->code, operand->symbol);
		if (defined && defined->function->defined)
			return add_callee(checking->facts, defined->function) ? CUDA_SUCCESS :
			       CUDA_ERROR_OUT_OF_MEMORY;
		if (word_is(&operand->name, "__assertfail"))
			checking->facts->own_thread = true;
		if (is_system_function(operand->symbol) || checking->code->incomplete) {
			checking->facts->calls_system |=
				!is_libdevice(operand->name.at, operand->name.length);
			return CUDA_SUCCESS;
		}
		wrong(checking, "nothing defines the function", &operand->name);
		return link_error(checking->code);
	}
	return CUDA_SUCCESS;
}

/* How many statements before one may wait, and how many call */
struct before {
	uint32_t waits, calls;
};

/* A branch back makes a loop of the statements between. */
static void loop_check(struct checking *checking, uint32_t index, const struct before *before)
{
	struct statement *statement = checking->statement;

	for (uint32_t i = 0; i < statement->operands_count; i++) {
		const struct operand *operand = &statement->operands[i];
		struct symbol *label;

		if (operand->kind == OPERAND_SYMBOL && operand->symbol->kind == SYMBOL_TARGETS)
			checking->facts->loop_waits = true;	/* wherever they are */
		if (operand->kind != OPERAND_NAME)
			continue;
		label = scope_find(statement->scope, operand->name.at, operand->name.length);
		if (!label || !label->used)
			continue;
		if (before[index].waits > before[label->count].waits)
			checking->facts->loop_waits = true;
		if (before[index].calls > before[label->count].calls)
			checking->facts->loop_calls = true;
	}
}

static bool may_be_global(const struct statement *at)
{
	static const char *const others[] = { ".shared", ".local", ".param" };

	for (uint32_t i = 0; i < at->modifiers_count; i++)
		for (size_t j = 0; j < ARRAY_SIZE(others); j++)
			if (at->modifiers[i].length >= strlen(others[j]) &&
			    !memcmp(at->modifiers[i].at, others[j], strlen(others[j])))
				return false;
	return true;
}

static CUresult statement_check(struct checking *checking, uint32_t index, struct before *before)
{
	struct statement *statement = checking->statement;
	const struct opcode *opcode;
	bool call = word_is(&statement->name, "call");
	CUresult result = CUDA_SUCCESS;

	if (statement->kind == STATEMENT_LABEL) {
		statement->label->count = index;
		statement->label->used = true;
		before[index + 1] = before[index];
		return CUDA_SUCCESS;
	}
	opcode = statement->opcode = opcode_find(&statement->name);
	if (!opcode)
		return wrong(checking, "no instruction is called", &statement->name);
	before[index + 1] = before[index];
	if (call) {
		before[index + 1].calls++;
	} else {
		before[index + 1].waits += statement_may_wait(statement);
		checking->facts->may_wait |= callee_may_wait(statement);
	}
	if (statement_is_meeting(statement))
		checking->facts->meetings = true;
	else if (opcode->flags & OPCODE_WAITS)
		checking->facts->waits = true;
	/* what says which thread it is */
	if (word_is(&statement->name, "trap") || word_is(&statement->name, "brkpt"))
		checking->facts->own_thread = true;
	if (word_is(&statement->name, "exit"))
		checking->facts->exits = true;
	if (word_is(&statement->name, "multimem"))
		checking->facts->multimem = true;
	if (word_is(&statement->name, "alloca"))
		checking->facts->allocas = true;
	if (word_is(&statement->name, "st"))
		checking->facts->stores |= may_be_global(statement);
	for (uint32_t i = 0; i < statement->operands_count && result == CUDA_SUCCESS; i++)
		result = operand_check(checking, &statement->operands[i]);
	if (result == CUDA_SUCCESS)
		result = form_check(statement, checking->function->unit, checking->complaint);
	if (result == CUDA_SUCCESS && call)
		result = call_check(checking);
	if (word_is(&statement->name, "bra") || word_is(&statement->name, "brx"))
		loop_check(checking, index, before);
	return result;
}

/* Sizes of the memory that a body declares */
static void memory_check(struct checking *checking, const struct body *body)
{
	struct facts *facts = checking->facts;
	uint64_t shared = 0, local = 0;

	facts->shared_align = 1;
	for (uint32_t i = 0; i < body->memory_count; i++) {
		const struct symbol *symbol = body->memory[i];
		uint64_t align = symbol->align ? symbol->align : 1;

		if (symbol->space == SPACE_SHARED && !symbol->unsized) {
			shared = ((shared + align - 1) & ~(align - 1)) + symbol->bytes;
			if (align > facts->shared_align)
				facts->shared_align = align;
			facts->shared = true;
		} else if (symbol->space == SPACE_LOCAL) {
			local = ((local + align - 1) & ~(align - 1)) + symbol->bytes;
		}
	}
	facts->shared_bytes = shared < UINT32_MAX / 2 ? shared : UINT32_MAX / 2;
	checking->function->local = local < UINT32_MAX ? local : UINT32_MAX;
}

CUresult function_check(struct ptx_code *code, struct function *function,
			struct complaint *complaint)
{
	struct checking checking = { .code = code, .function = function,
				     .facts = facts_of(function), .complaint = complaint };
	struct before *before = NULL;
	uint32_t index = 0;
	struct body body;
	CUresult result = body_read_in_step(function, &body, complaint);

	if (result == CUDA_SUCCESS) {
		before = calloc(body.count + 2, sizeof(*before));
		if (!before)
			result = CUDA_ERROR_OUT_OF_MEMORY;
	}
	for (struct statement *statement = body.first; statement && result == CUDA_SUCCESS;
	     statement = statement->next) {
		checking.statement = statement;
		result = statement_check(&checking, index++, before);
	}
	if (result == CUDA_SUCCESS)
		memory_check(&checking, &body);
	if (result == CUDA_SUCCESS && checking.facts->loop_waits)
		checking.facts->waits |= body_depends(&body);
	if (result == CUDA_SUCCESS && function->kernel) {
		checking.facts->cuts = cuts_find(&body);
		if (!checking.facts->waits && !checking.facts->meetings &&
		    !checking.facts->shared && body.count <= JOINED_MOST)
			checking.facts->joins = body_joins(&body, checking.facts->cuts);
	}
	function->statements = body.count;
	body_free(&body);
	free(before);
	return result;
}
