// SPDX-License-Identifier: MIT
/* Heads of functions and prototypes: parameters, results and what limits their launches. */
#include <string.h>

#include "text.h"

#define PARAMETERS_MOST	(1U << 20)	/* bytes of a function's; lib/image limits kernels */

static CUresult add_parameter(struct reader *reader, struct scope *scope,
			      struct parameters *parameters, struct symbol *symbol)
{
	uint64_t offset;

	if (symbol->unsized)
		symbol->bytes = 0;
	if (!symbol->align)
		symbol->align = 1;
	offset = ((uint64_t)parameters->bytes + symbol->align - 1) & ~((uint64_t)symbol->align - 1);
	if (symbol->bytes > PARAMETERS_MOST || offset + symbol->bytes > PARAMETERS_MOST)
		return ptx_wrong(reader, "parameters are too large before");
	symbol->parameter = true;
	symbol->offset = offset;
	parameters->bytes = offset + symbol->bytes;
	parameters->at = arena_more(scope->arena, parameters->at, parameters->count, sizeof(symbol));
	if (!parameters->at)
		return CUDA_ERROR_OUT_OF_MEMORY;
	parameters->at[parameters->count++] = symbol;
	return CUDA_SUCCESS;
}

/* In prototypes, all parameters may be called _. */
static CUresult nameless(struct reader *reader, struct scope *scope,
			 const struct declaration *declaration, struct symbol **symbol)
{
	struct scope *alone = scope_new(scope->arena, NULL);

	return alone ? declare_name(reader, alone, declaration, symbol) :
		       CUDA_ERROR_OUT_OF_MEMORY;
}

/* Reads (.param .b32 a, .reg .b64 b), if it stands here. */
CUresult parameters_read(struct reader *reader, struct scope *scope,
			 struct parameters *parameters)
{
	CUresult result = CUDA_SUCCESS;

	*parameters = (struct parameters) {};
	if (!ptx_take(reader, "("))
		return CUDA_SUCCESS;
	while (result == CUDA_SUCCESS && !ptx_take(reader, ")")) {
		struct declaration declaration = { .space = SPACE_PARAM };
		struct symbol *symbol = NULL;

		if (ptx_is(reader, ".reg"))
			declaration.space = SPACE_REG;
		else if (!ptx_is(reader, ".param"))
			return ptx_wrong(reader, ".param is missing before");
		ptx_next(reader);
		result = declaration_read(reader, &declaration);
		if (result == CUDA_SUCCESS)
			result = ptx_is(reader, "_") ?
				 nameless(reader, scope, &declaration, &symbol) :
				 declare_name(reader, scope, &declaration, &symbol);
		if (result == CUDA_SUCCESS)
			result = add_parameter(reader, scope, parameters, symbol);
		if (result == CUDA_SUCCESS && !ptx_is(reader, ")"))
			result = ptx_need(reader, ",");
	}
	return result;
}

static CUresult limits(struct reader *reader, struct function *function)
{
	uint32_t three[3];

	while (reader->word.kind == WORD_DIRECTIVE) {
		if (ptx_take(reader, ".maxntid")) {
			ptx_numbers(reader, three);
			function->max_threads = three[0] * three[1] * three[2];
		} else if (ptx_take(reader, ".reqntid")) {
			ptx_numbers(reader, function->required);
		} else if (ptx_take(reader, ".reqnctapercluster")) {
			ptx_numbers(reader, function->cluster);
			function->unit->clusters = true;
		} else if (ptx_take(reader, ".noreturn")) {
			function->noreturn = true;
		} else if (ptx_take(reader, ".pragma")) {
			while (reader->word.kind == WORD_STRING || ptx_is(reader, ","))
				ptx_next(reader);
			ptx_take(reader, ";");
		} else if (ptx_is(reader, ".minnctapersm") || ptx_is(reader, ".maxnctapersm") ||
			   ptx_is(reader, ".maxnreg") || ptx_is(reader, ".explicitcluster") ||
			   ptx_is(reader, ".maxclusterrank") ||
			   ptx_is(reader, ".blocksareclusters") ||
			   ptx_is(reader, ".unique") || ptx_is(reader, ".language") ||
			   ptx_is(reader, ".abi_preserve") || ptx_is(reader,
								     ".abi_preserve_control")) {
			ptx_next(reader);
			ptx_numbers(reader, three);
		} else {
			return ptx_wrong(reader, "a function has");
		}
	}
	return CUDA_SUCCESS;
}

/* Skips a body, which is read when it is checked or translated. */
static CUresult skip_body(struct reader *reader, struct function *function)
{
	uint32_t braces = 1;

	function->defined = true;
	function->body = reader->at;
	function->body_line = reader->line;
	for (ptx_next(reader); braces; ptx_next(reader)) {
		if (reader->word.kind == WORD_END)
			return ptx_wrong(reader, "} is missing before");
		if (ptx_is(reader, "{"))
			braces++;
		else if (ptx_is(reader, "}") && !--braces)
			break;
	}
	ptx_next(reader);
	return CUDA_SUCCESS;
}

/* A function's name may have been declared, and is then defined. */
static CUresult named(struct reader *reader, struct unit *unit, bool kernel, enum linkage linkage,
		      struct function **result_function)
{
	struct symbol *symbol;
	struct function *function = NULL;

	if (reader->word.kind != WORD_NAME)
		return ptx_wrong(reader, "a function without name at");
	symbol = scope_find_here(unit->scope, reader->word.at, reader->word.length);
	if (symbol && symbol->kind != SYMBOL_FUNCTION)
		return ptx_wrong(reader, "declared twice is");
	if (!symbol) {
		symbol = scope_add(unit->scope, &reader->word);
		function = arena_take(&unit->arena, sizeof(*function));
		if (!symbol || !function)
			return CUDA_ERROR_OUT_OF_MEMORY;
		symbol->kind = SYMBOL_FUNCTION;
		symbol->function = function;
		symbol->linkage = linkage;
		symbol->line = reader->line;
		function->unit = unit;
		function->symbol = symbol;
		*unit->functions_last = function;
		unit->functions_last = &function->next;
	} else if (linkage != LINK_EXTERN) {
		symbol->linkage = linkage;
	}
	if (!symbol->function->line)
		symbol->function->line = reader->line;
	symbol->function->kernel = kernel;
	ptx_next(reader);
	*result_function = symbol->function;
	return CUDA_SUCCESS;
}

/* Reads .attribute(.unified(1, 2)): all functions of these numbers have the same address. */
static CUresult attribute(struct reader *reader, struct function *head)
{
	CUresult result;

	if (!ptx_take(reader, ".attribute"))
		return CUDA_SUCCESS;
	head->unified = true;
	result = ptx_need(reader, "(");
	if (result == CUDA_SUCCESS)
		result = ptx_need(reader, ".unified");
	for (int i = 0; i < 2 && result == CUDA_SUCCESS; i++) {
		result = ptx_need(reader, i ? "," : "(");
		if (result != CUDA_SUCCESS)
			break;
		if (reader->word.kind != WORD_NUMBER || reader->word.number != NUMBER_INTEGER)
			return ptx_wrong(reader, "no number of a unified function is");
		head->uuid[i] = reader->word.value;
		ptx_next(reader);
	}
	for (int i = 0; i < 2 && result == CUDA_SUCCESS; i++)
		result = ptx_need(reader, ")");
	return result;
}

/* Reads .entry or .func with its head and, if it has one, its body. */
CUresult function_read(struct reader *reader, struct unit *unit, enum linkage linkage)
{
	struct scope *scope = scope_new(&unit->arena, unit->scope);
	bool kernel = ptx_is(reader, ".entry");
	struct parameters results, parameters;
	struct function *function = NULL, head = {};
	struct word name;
	CUresult result;

	if (!scope)
		return CUDA_ERROR_OUT_OF_MEMORY;
	ptx_next(reader);
	result = kernel ? CUDA_SUCCESS : attribute(reader, &head);
	if (result != CUDA_SUCCESS)
		return result;
	if (kernel && ptx_is(reader, "("))
		return ptx_wrong(reader, "a kernel has no result, but");
	result = parameters_read(reader, scope, &results);
	if (result != CUDA_SUCCESS)
		return result;
	name = reader->word;
	result = named(reader, unit, kernel, linkage, &function);
	if (result == CUDA_SUCCESS)
		result = parameters_read(reader, scope, &parameters);
	if (result == CUDA_SUCCESS)
		result = limits(reader, function);
	if (result != CUDA_SUCCESS)
		return result;
	if (function->defined && ptx_is(reader, "{")) {
		reader->word = name;
		return ptx_wrong(reader, "defined twice is");
	}
	if (!function->defined) {
		function->results = results;
		function->parameters = parameters;
		function->scope = scope;
	}
	if (head.unified) {
		function->unified = true;
		memcpy(function->uuid, head.uuid, sizeof(head.uuid));
	}
	return ptx_is(reader, "{") ? skip_body(reader, function) : ptx_need(reader, ";");
}
