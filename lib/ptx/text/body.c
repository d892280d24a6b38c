// SPDX-License-Identifier: MIT
/* Bodies of functions: scopes, declarations, labels and instructions. */
#include <string.h>

#include "text.h"

#define DEEPEST	200		/* scopes within each other */

struct place {
	struct body *body;
	struct scope *scope;
	struct function *function;
	uint32_t file, line;		/* of .loc */
};

static struct statement *add_statement(struct reader *reader, struct place *place,
				       enum statement_kind kind)
{
	struct body *body = place->body;
	struct statement *statement = arena_take(&body->arena, sizeof(*statement));

	if (!statement)
		return NULL;
	statement->kind = kind;
	statement->line = reader->line;
	statement->source_file = place->file;
	statement->source_line = place->line;
	statement->scope = place->scope;
	*body->last = statement;
	body->last = &statement->next;
	body->count++;
	return statement;
}

static CUresult add_memory(struct body *body, struct symbol *symbol)
{
	body->memory = arena_more(&body->arena, body->memory, body->memory_count, sizeof(symbol));
	if (!body->memory)
		return CUDA_ERROR_OUT_OF_MEMORY;
	body->memory[body->memory_count++] = symbol;
	return CUDA_SUCCESS;
}

static CUresult declarations(struct reader *reader, struct place *place, enum space space)
{
	struct declaration declaration = { .space = space };
	CUresult result;

	ptx_next(reader);
	result = declaration_read(reader, &declaration);
	while (result == CUDA_SUCCESS) {
		struct symbol *symbol = NULL;

		result = declare_name(reader, place->scope, &declaration, &symbol);
		if (result == CUDA_SUCCESS && space != SPACE_REG)
			result = add_memory(place->body, symbol);
		if (result == CUDA_SUCCESS && !ptx_take(reader, ","))
			return ptx_need(reader, ";");
	}
	return result;
}

static CUresult location(struct reader *reader, struct place *place)
{
	struct reader line = *reader;

	ptx_next(&line);
	if (line.word.kind == WORD_NUMBER) {
		place->file = line.word.value;
		ptx_next(&line);
		place->line = line.word.kind == WORD_NUMBER ? line.word.value : 0;
	}
	ptx_skip_line(reader);
	return CUDA_SUCCESS;
}

static CUresult directive(struct reader *reader, struct place *place)
{
	static const struct {
		const char *name;
		enum space space;
	} spaces[] = {
		{ ".reg", SPACE_REG }, { ".param", SPACE_PARAM }, { ".local", SPACE_LOCAL },
		{ ".shared", SPACE_SHARED }, { ".global", SPACE_GLOBAL }, { ".const", SPACE_CONST },
	};

	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++)
		if (ptx_is(reader, spaces[i].name))
			return declarations(reader, place, spaces[i].space);
	if (ptx_is(reader, ".loc"))
		return location(reader, place);
	if (ptx_is(reader, ".file")) {
		ptx_skip_line(reader);
		return CUDA_SUCCESS;
	}
	if (ptx_is(reader, ".pragma")) {
		while (!ptx_is(reader, ";") && reader->word.kind != WORD_END)
			ptx_next(reader);
		return ptx_need(reader, ";");
	}
	return ptx_wrong(reader, "a body has");
}

/* Reads .branchtargets A, B; or .calltargets f, g; */
static CUresult targets(struct reader *reader, struct place *place, struct symbol *symbol)
{
	struct targets *targets = arena_take(&place->body->arena, sizeof(*targets));

	if (!targets)
		return CUDA_ERROR_OUT_OF_MEMORY;
	targets->scope = place->scope;
	symbol->kind = SYMBOL_TARGETS;
	symbol->targets = targets;
	do {
		ptx_next(reader);
		if (reader->word.kind != WORD_NAME)
			return ptx_wrong(reader, "no target is");
		targets->names = arena_more(&place->body->arena, targets->names, targets->count,
					    sizeof(*targets->names));
		if (!targets->names)
			return CUDA_ERROR_OUT_OF_MEMORY;
		targets->names[targets->count++] = reader->word;
		ptx_next(reader);
	} while (ptx_is(reader, ","));
	return ptx_need(reader, ";");
}

/* Reads .callprototype (.param .b32 _) _ (.param .b32 _); */
static CUresult prototype(struct reader *reader, struct place *place, struct symbol *symbol)
{
	struct parameters *both = arena_take(&place->body->arena, 2 * sizeof(*both));
	CUresult result;

	if (!both)
		return CUDA_ERROR_OUT_OF_MEMORY;
	symbol->kind = SYMBOL_PROTOTYPE;
	symbol->prototype = both;	/* results, then parameters */
	ptx_next(reader);
	result = parameters_read(reader, place->scope, &both[0]);
	if (result == CUDA_SUCCESS && !ptx_take(reader, "_"))
		return ptx_wrong(reader, "_ is missing before");
	if (result == CUDA_SUCCESS)
		result = parameters_read(reader, place->scope, &both[1]);
	while (result == CUDA_SUCCESS && reader->word.kind == WORD_DIRECTIVE)
		for (ptx_next(reader); reader->word.kind == WORD_NUMBER; ptx_next(reader))
			;
	return result == CUDA_SUCCESS ? ptx_need(reader, ";") : result;
}

static CUresult label(struct reader *reader, struct place *place)
{
	struct symbol *symbol;

	if (scope_has(place->scope, reader->word.at, reader->word.length))
		return ptx_wrong(reader, "declared twice is");
	symbol = scope_add(place->scope, &reader->word);
	if (!symbol)
		return CUDA_ERROR_OUT_OF_MEMORY;
	symbol->line = reader->line;
	ptx_next(reader);
	ptx_next(reader);
	if (ptx_is(reader, ".branchtargets") || ptx_is(reader, ".calltargets"))
		return targets(reader, place, symbol);
	if (ptx_is(reader, ".callprototype"))
		return prototype(reader, place, symbol);
	symbol->kind = SYMBOL_LABEL;
	struct statement *statement = add_statement(reader, place, STATEMENT_LABEL);

	if (!statement)
		return CUDA_ERROR_OUT_OF_MEMORY;
	statement->label = symbol;
	return CUDA_SUCCESS;
}

static CUresult guard(struct reader *reader, struct place *place, struct statement *statement)
{
	ptx_next(reader);
	statement->guard_negated = ptx_take(reader, "!");
	statement->guard = scope_find(place->scope, reader->word.at, reader->word.length);
	if (!statement->guard || statement->guard->kind != SYMBOL_REGISTER ||
	    statement->guard->type != TYPE_PRED)
		return ptx_wrong(reader, "no predicate is");
	ptx_next(reader);
	return CUDA_SUCCESS;
}

static CUresult instruction(struct reader *reader, struct place *place)
{
	struct statement *statement = add_statement(reader, place, STATEMENT_INSTRUCTION);
	struct word modifiers[PTX_MODIFIERS_MOST];
	CUresult result = CUDA_SUCCESS;

	if (!statement)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (ptx_is(reader, "@"))
		result = guard(reader, place, statement);
	if (result != CUDA_SUCCESS)
		return result;
	if (reader->word.kind != WORD_NAME)
		return ptx_wrong(reader, "no instruction is");
	statement->name = reader->word;
	statement->text = reader->word;
	if (ptx_is(reader, "mapa") || ptx_is(reader, "getctarank"))
		place->function->unit->clusters = true;
	for (ptx_next(reader); reader->word.kind == WORD_DIRECTIVE; ptx_next(reader)) {
		if (statement->modifiers_count == PTX_MODIFIERS_MOST)
			return ptx_wrong(reader, "too many modifiers at");
		if (ptx_is(reader, ".cluster") || ptx_is(reader, ".shared::cluster"))
			place->function->unit->clusters = true;
		modifiers[statement->modifiers_count++] = reader->word;
		statement->text.length = reader->word.at + reader->word.length -
					 statement->text.at;
	}
	statement->modifiers = arena_take(&place->body->arena,
					  (statement->modifiers_count + 1) * sizeof(*modifiers));
	if (!statement->modifiers)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(statement->modifiers, modifiers, statement->modifiers_count * sizeof(*modifiers));
	return operands_read(reader, place->scope, statement);
}

static CUresult one(struct reader *reader, struct place *place)
{
	struct reader ahead = *reader;

	if (reader->word.kind == WORD_DIRECTIVE)
		return directive(reader, place);
	if (reader->word.kind == WORD_NAME) {
		ptx_next(&ahead);
		if (ptx_is(&ahead, ":"))
			return label(reader, place);
	}
	return instruction(reader, place);
}

/* Reads a body; its statements live until body_free(). */
CUresult body_read(struct function *function, struct body *body, struct complaint *complaint)
{
	struct source source = { .unit = function->unit, .arena = &body->arena };
	struct place place = { .body = body, .function = function };
	struct reader *reader = &source.reader;
	CUresult result = CUDA_SUCCESS;

	*body = (struct body) {};
	body->last = &body->first;
	body->scope = place.scope = scope_new(&body->arena, function->scope);
	if (!place.scope)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*reader = (struct reader) {
		.begin = function->unit->text, .at = function->body, .end = function->unit->end,
		.line = function->body_line, .complaint = complaint,
	};
	ptx_next(reader);
	while (result == CUDA_SUCCESS) {
		if (ptx_is(reader, "{")) {
			place.scope = scope_new(&body->arena, place.scope);
			if (!place.scope)
				return CUDA_ERROR_OUT_OF_MEMORY;
			if (place.scope->depth > DEEPEST)
				return ptx_wrong(reader, "too many scopes at");
			ptx_next(reader);
		} else if (ptx_is(reader, "}")) {
			if (place.scope == body->scope)
				return CUDA_SUCCESS;
			place.scope = place.scope->outer;
			ptx_next(reader);
		} else if (reader->word.kind == WORD_END) {
			return ptx_wrong(reader, "} is missing before");
		} else if (!ptx_take(reader, ";")) {
			result = one(reader, &place);
		}
	}
	return result;
}

void body_free(struct body *body)
{
	arena_free(&body->arena);
}
