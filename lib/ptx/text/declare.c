// SPDX-License-Identifier: MIT
/* Declarations: .space [.align n] [.v2|.v4] .type name[…] [= value], … */
#include <string.h>

#include "text.h"

#define ALIGN_MOST	(1U << 20)
#define BYTES_MOST	(1ULL << 40)
#define REGISTERS_MOST	(1U << 27)

/* Reads what stands before the names. */
CUresult declaration_read(struct reader *reader, struct declaration *declaration)
{
	declaration->vector = 1;
	for (; reader->word.kind == WORD_DIRECTIVE; ptx_next(reader)) {
		const struct word *word = &reader->word;

		if (word_is(word, ".align")) {
			ptx_next(reader);
			if (word->kind != WORD_NUMBER || !word->value || word->value > ALIGN_MOST ||
			    word->value & (word->value - 1))
				return ptx_wrong(reader, "no alignment is");
			if (!declaration->align)	/* a second one is that of a pointer */
				declaration->align = word->value;
		} else if (word_is(word, ".v2") || word_is(word, ".v4") || word_is(word, ".v8")) {
			declaration->vector = word->at[2] - '0';
		} else if (word_is(word, ".attribute")) {
			ptx_skip_attribute(reader, ".managed");
		} else if (word_is(word, ".ptr")) {
			if (!declaration->align)
				declaration->align = type_bits(declaration->type) / 8;
		} else if (word_is(word, ".global") || word_is(word, ".shared") ||
			   word_is(word, ".local") || word_is(word, ".const")) {
			continue;			/* where a pointer points to */
		} else if (!declaration->type) {
			declaration->type = type_of_word(word);
			if (!declaration->type)
				return ptx_wrong(reader, "no type is");
		} else {
			return ptx_wrong(reader, "a declaration has");
		}
	}
	if (!declaration->type)
		return ptx_wrong(reader, "a type is missing before");
	return CUDA_SUCCESS;
}

/* Reads [2][3] or []. */
static CUresult dimensions(struct reader *reader, struct symbol *symbol,
			   struct declared_array *array)
{
	CUresult result = CUDA_SUCCESS;

	while (result == CUDA_SUCCESS && ptx_take(reader, "[")) {
		struct constant length = { .kind = CONSTANT_INTEGER };

		if (array->count == ARRAY_SIZE(array->dimensions))
			return ptx_wrong(reader, "an array has too many dimensions at");
		if (!ptx_is(reader, "]"))
			result = ptx_constant(reader, &length);
		else if (array->count)
			return ptx_wrong(reader, "a dimension is missing before");
		else
			symbol->unsized = true;
		if (result != CUDA_SUCCESS)
			return result;
		if (length.kind != CONSTANT_INTEGER ||
		    (!symbol->unsized && !length.integer) ||
		    (length.integer && __builtin_mul_overflow(symbol->bytes, length.integer,
							      &symbol->bytes)) ||
		    symbol->bytes > BYTES_MOST)
			return ptx_wrong(reader, "an array's size is wrong before");
		array->dimensions[array->count++] = length.integer;
		result = ptx_need(reader, "]");
	}
	return result;
}

static CUresult registers(struct reader *reader, struct symbol *symbol)
{
	if (reader->word.kind != WORD_NUMBER || reader->word.number != NUMBER_INTEGER ||
	    reader->word.value > REGISTERS_MOST)
		return ptx_wrong(reader, "no count of registers is");
	symbol->kind = SYMBOL_REGISTERS;
	symbol->count = reader->word.value;
	ptx_next(reader);
	return ptx_need(reader, ">");
}

/* An extern variable may be declared again, and a weak or extern one be defined later. */
static bool may_replace(const struct symbol *old, const struct declaration *declaration)
{
	return old->kind == SYMBOL_VARIABLE && old->space == declaration->space &&
	       (old->linkage == LINK_EXTERN || declaration->linkage == LINK_EXTERN);
}

static CUresult new_symbol(struct reader *reader, struct scope *scope,
			   const struct declaration *declaration, struct symbol **symbol)
{
	struct word name = reader->word;
	struct symbol *old = scope_find_here(scope, name.at, name.length);
	struct reader ahead = *reader;

	if (name.kind != WORD_NAME)
		return ptx_wrong(reader, "no name is");
	ptx_next(&ahead);
	if (declaration->space == SPACE_REG && ptx_is(&ahead, "<")) {
		if (!scope->ranges)
			scope->ranges = scope_new(scope->arena, NULL);
		if (!scope->ranges)
			return CUDA_ERROR_OUT_OF_MEMORY;
		scope = scope->ranges;
		old = scope_find_here(scope, name.at, name.length);
	}
	if (old && may_replace(old, declaration)) {
		*symbol = old;
		if (declaration->linkage == LINK_EXTERN)
			return CUDA_SUCCESS;
		old->linkage = declaration->linkage;
		old->unsized = false;
		return CUDA_SUCCESS;
	}
	if (old || scope_has(scope, name.at, name.length))
		return ptx_wrong(reader, "declared twice is");
	*symbol = scope_add(scope, &name);
	return *symbol ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Reads a name with its dimensions and its value, and adds it to the scope. */
CUresult declare_name(struct reader *reader, struct scope *scope,
		      const struct declaration *declaration, struct symbol **result_symbol)
{
	struct declared_array array = {};
	struct symbol *symbol = NULL;
	CUresult result = new_symbol(reader, scope, declaration, &symbol);

	if (result != CUDA_SUCCESS)
		return result;
	*result_symbol = symbol;
	symbol->kind = declaration->space == SPACE_REG ? SYMBOL_REGISTER : SYMBOL_VARIABLE;
	symbol->space = declaration->space;
	symbol->linkage = declaration->linkage;
	symbol->type = declaration->type;
	symbol->vector = declaration->vector;
	symbol->line = reader->line;
	symbol->bytes = (uint64_t)declaration->vector * ((type_bits(declaration->type) + 7) / 8);
	symbol->align = declaration->align ? declaration->align : symbol->bytes;
	ptx_next(reader);
	if (declaration->space == SPACE_REG)
		return ptx_take(reader, "<") ? registers(reader, symbol) : CUDA_SUCCESS;
	result = dimensions(reader, symbol, &array);
	if (result == CUDA_SUCCESS && ptx_is(reader, "=")) {
		if (declaration->space != SPACE_GLOBAL && declaration->space != SPACE_CONST)
			return ptx_wrong(reader,
					 "only .global and .const variables have a value, but");
		ptx_next(reader);
		result = initial_read(reader, symbol, &array);
	} else if (symbol->unsized) {
		symbol->bytes = 0;
		if (declaration->linkage != LINK_EXTERN && declaration->space != SPACE_PARAM)
			return ptx_wrong(reader, "an array without size or value ends before");
	}
	return result;
}
