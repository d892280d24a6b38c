// SPDX-License-Identifier: MIT
/* A text's outermost level: its head, variables and functions. */
#include <stdlib.h>
#include <string.h>

#include "text.h"

static CUresult skip_to(struct reader *reader, const char *end)
{
	while (!ptx_is(reader, end) && reader->word.kind != WORD_END)
		ptx_next(reader);
	return ptx_need(reader, end);
}

/* Reads .version 8.6 .target sm_90, debug .address_size 64; lib/image has judged the numbers. */
static CUresult head(struct reader *reader, struct unit *unit)
{
	if (!ptx_take(reader, ".version"))
		return ptx_wrong(reader, ".version is missing before");
	for (size_t i = 0; i < reader->word.length && i < 5; i++)
		if (reader->word.at[i] >= '0' && reader->word.at[i] <= '9')
			unit->version = 10 * unit->version + reader->word.at[i] - '0';
	ptx_next(reader);
	if (!ptx_take(reader, ".target"))
		return ptx_wrong(reader, ".target is missing before");
	if (reader->word.length > 3)
		unit->target = atoi((char[4]) { reader->word.at[3],
				    reader->word.length > 4 ? reader->word.at[4] : 0,
				    reader->word.length > 5 ? reader->word.at[5] : 0 });
	if (reader->word.length)
		unit->own_features = strchr("af", reader->word.at[reader->word.length - 1]) != NULL;
	for (ptx_next(reader); ptx_take(reader, ","); ptx_next(reader))
		;
	if (ptx_take(reader, ".address_size")) {
		if (reader->word.kind != WORD_NUMBER || reader->word.value != 64)
			return ptx_wrong(reader, "addresses have 64 bits, not");
		ptx_next(reader);
	}
	return CUDA_SUCCESS;
}

static CUresult add_variable(struct unit *unit, struct symbol *symbol)
{
	unit->variables = arena_more(&unit->arena, unit->variables, unit->variables_count,
				     sizeof(symbol));
	if (!unit->variables)
		return CUDA_ERROR_OUT_OF_MEMORY;
	unit->variables[unit->variables_count++] = symbol;
	symbol->used = true;
	return CUDA_SUCCESS;
}

static CUresult variables(struct reader *reader, struct unit *unit, enum space space,
			  enum linkage linkage)
{
	struct declaration declaration = { .space = space, .linkage = linkage };
	CUresult result;

	ptx_next(reader);
	if (reader->word.kind == WORD_NUMBER || ptx_is(reader, "["))	/* .const[2] of old texts */
		return ptx_wrong(reader, "banks of constants are not supported:");
	result = declaration_read(reader, &declaration);
	while (result == CUDA_SUCCESS) {
		struct symbol *symbol = NULL;

		result = declare_name(reader, unit->scope, &declaration, &symbol);
		if (result == CUDA_SUCCESS && !symbol->used)
			result = add_variable(unit, symbol);
		if (result == CUDA_SUCCESS && !ptx_take(reader, ","))
			return ptx_need(reader, ";");
	}
	return result;
}

/* Reads .alias other, function; */
static CUresult alias(struct reader *reader, struct unit *unit)
{
	struct symbol *other, *symbol;

	ptx_next(reader);
	other = scope_find(unit->scope, reader->word.at, reader->word.length);
	if (!other || other->kind != SYMBOL_FUNCTION)
		return ptx_wrong(reader, "no function is");
	ptx_next(reader);
	if (!ptx_take(reader, ","))
		return ptx_need(reader, ",");
	symbol = scope_find(unit->scope, reader->word.at, reader->word.length);
	if (!symbol || symbol->kind != SYMBOL_FUNCTION)
		return ptx_wrong(reader, "no function is");
	other->function = symbol->function;
	ptx_next(reader);
	return ptx_need(reader, ";");
}

static enum space space_of(const struct reader *reader)
{
	return ptx_is(reader, ".global") ? SPACE_GLOBAL : ptx_is(reader, ".const") ? SPACE_CONST :
	       ptx_is(reader, ".shared") ? SPACE_SHARED : ptx_is(reader, ".local") ? SPACE_LOCAL :
	       SPACE_NONE;
}

static CUresult outermost(struct reader *reader, struct unit *unit)
{
	enum linkage linkage = LINK_PRIVATE;

	for (;; ptx_next(reader)) {
		if (ptx_is(reader, ".visible"))
			linkage = LINK_VISIBLE;
		else if (ptx_is(reader, ".extern"))
			linkage = LINK_EXTERN;
		else if (ptx_is(reader, ".weak"))
			linkage = LINK_WEAK;
		else if (ptx_is(reader, ".common"))
			linkage = LINK_COMMON;
		else
			break;
	}
	if (ptx_is(reader, ".entry") || ptx_is(reader, ".func"))
		return function_read(reader, unit, linkage);
	if (space_of(reader))
		return variables(reader, unit, space_of(reader), linkage);
	if (ptx_is(reader, ".file") || ptx_is(reader, ".loc") || ptx_is(reader, "@")) {
		ptx_skip_line(reader);
		return CUDA_SUCCESS;
	}
	if (ptx_is(reader, ".pragma"))
		return skip_to(reader, ";");
	if (ptx_is(reader, ".alias"))
		return alias(reader, unit);
	if (ptx_is(reader, ".section"))
		return skip_to(reader, "}");
	return ptx_wrong(reader, "nothing is declared by");
}

/* Names in initial values may stand before what they name. */
static CUresult resolve(struct reader *reader, struct unit *unit)
{
	for (uint32_t i = 0; i < unit->variables_count; i++) {
		struct symbol *variable = unit->variables[i];
		struct relocation *relocation;

		if (variable->space == SPACE_SHARED || !variable->initial)
			continue;
		for (relocation = variable->initial->relocations; relocation;
		     relocation = relocation->next) {
			relocation->symbol = scope_find(unit->scope, relocation->name.at,
							relocation->name.length);
			if (relocation->symbol && relocation->symbol->kind != SYMBOL_REGISTER)
				continue;
			reader->word = relocation->name;
			reader->line = relocation->line;
			return ptx_wrong(reader, "nothing declares");
		}
	}
	return CUDA_SUCCESS;
}

/* Reads all of a text but the bodies of its functions. */
CUresult unit_read(struct unit *unit, const char *text, size_t bytes, struct complaint *complaint)
{
	struct source source = { .unit = unit, .arena = &unit->arena };
	struct reader *reader = &source.reader;
	CUresult result;

	while (bytes && !text[bytes - 1])
		bytes--;
	*unit = (struct unit) { .text = text, .end = text + bytes, .complaint = complaint };
	unit->functions_last = &unit->functions;
	unit->scope = scope_new(&unit->arena, NULL);
	if (!unit->scope)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*reader = (struct reader) {
		.begin = text, .at = text, .end = text + bytes, .line = 1, .complaint = complaint,
	};
	ptx_next(reader);
	result = head(reader, unit);
	while (result == CUDA_SUCCESS && reader->word.kind != WORD_END)
		result = outermost(reader, unit);
	if (result == CUDA_SUCCESS)
		result = resolve(reader, unit);
	return result;
}

void unit_free(struct unit *unit)
{
	arena_free(&unit->arena);
}
