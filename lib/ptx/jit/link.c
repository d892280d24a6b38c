// SPDX-License-Identifier: MIT
/* Names of an image's texts: which definition counts, and whether they fit together. */
#include <stdio.h>
#include <string.h>

#include "code.h"

static bool is_global_name(const struct symbol *symbol)
{
	return symbol->linkage != LINK_PRIVATE;
}

static bool is_defined(const struct symbol *symbol)
{
	if (symbol->kind == SYMBOL_FUNCTION)
		return symbol->function->defined;
	return symbol->linkage != LINK_EXTERN ||
	       (symbol->space == SPACE_SHARED && symbol->unsized);
}

/* Of two definitions, one that is weak or common gives way. */
static bool gives_way(const struct symbol *symbol)
{
	return symbol->linkage == LINK_WEAK || symbol->linkage == LINK_COMMON ||
	       (symbol->space == SPACE_SHARED && symbol->unsized);
}

/*
 * Return: what a name stands for over all texts; NULL: nothing defines it. A variable of a text
 * that is alone is defined by its declaration.
 */
struct symbol *code_resolve(struct ptx_code *code, struct symbol *symbol)
{
	struct symbol *global;

	if (!is_global_name(symbol))
		return is_defined(symbol) || symbol->kind != SYMBOL_FUNCTION ? symbol : NULL;
	global = scope_find_here(code->globals, symbol->name, symbol->length);
	if (!global && code->units_count == 1 && symbol->kind == SYMBOL_VARIABLE)
		return symbol;
	return global ? global->value : NULL;
}

/* Alone, a text is what a compiler refuses; of several, it is the linker that does. */
CUresult link_error(const struct ptx_code *code)
{
	return code->units_count > 1 ? CUDA_ERROR_INVALID_SOURCE : CUDA_ERROR_INVALID_PTX;
}

/* Writes which of two texts defined a name first. */
static int twice(struct ptx_code *code, const char *what, const struct symbol *symbol,
		 uint32_t second, uint32_t first, struct ptx_log *log)
{
	char names[2][40];

	for (int i = 0; i < 2; i++)
		snprintf(names[i], sizeof(names[i]), "text %u", (i ? first : second) + 1);
	snprintf(log->text, sizeof(log->text),
		 "nvlink: %s of '%.*s' in '%.200s', first in '%.200s'",
		 what, (int)(symbol->length < 200 ? symbol->length : 200), symbol->name,
		 code->names ? code->names[second] : names[0],
		 code->names ? code->names[first] : names[1]);
	return CUDA_ERROR_INVALID_SOURCE;
}

static bool same_blocks(const struct parameters *one, const struct parameters *other)
{
	return one->count == other->count && one->bytes == other->bytes;
}

static int add_global(struct ptx_code *code, uint32_t number, struct symbol *symbol,
		      struct ptx_log *log)
{
	struct word name = { .at = symbol->name, .length = symbol->length };
	struct symbol *global, *old;

	if (!is_global_name(symbol) || !is_defined(symbol))
		return CUDA_SUCCESS;
	global = scope_find_here(code->globals, name.at, name.length);
	if (!global) {
		global = scope_add(code->globals, &name);
		if (!global)
			return CUDA_ERROR_OUT_OF_MEMORY;
		global->value = symbol;
		global->offset = number;
		return CUDA_SUCCESS;
	}
	old = global->value;
	if (gives_way(symbol))
		return CUDA_SUCCESS;
	if (!gives_way(old))
		return twice(code, "two definitions", symbol, number, global->offset, log);
	global->value = symbol;
	global->offset = number;
	return CUDA_SUCCESS;
}

/* What a text declares must be what another defines. */
static int check_declared(struct ptx_code *code, uint32_t number, struct function *function,
			  struct ptx_log *log)
{
	struct symbol *defined = code_resolve(code, function->symbol), *global;

	if (function->defined || !defined || defined->kind != SYMBOL_FUNCTION ||
	    (same_blocks(&function->parameters, &defined->function->parameters) &&
	     same_blocks(&function->results, &defined->function->results)))
		return CUDA_SUCCESS;
	global = scope_find_here(code->globals, defined->name, defined->length);
	return twice(code, "other parameters", function->symbol, number,
		     global ? global->offset : 0,
		     log);
}

/* Gives each name that texts share its one meaning. */
int code_link(struct ptx_code *code, struct ptx_log *log)
{
	int result = CUDA_SUCCESS;

	for (uint32_t u = 0; u < code->units_count && !result; u++) {
		struct unit *unit = &code->units[u];

		for (uint32_t i = 0; i < unit->variables_count && !result; i++)
			result = add_global(code, u, unit->variables[i], log);
		for (struct function *function = unit->functions; function && !result;
		     function = function->next)
			result = add_global(code, u, function->symbol, log);
	}
	for (uint32_t u = 0; u < code->units_count && !result; u++)
		for (struct function *function = code->units[u].functions; function && !result;
		     function = function->next)
			result = check_declared(code, u, function, log);
	return result;
}
