// SPDX-License-Identifier: MIT
/* Initial values: = value, or = { values }; inner braces fill their part of the array. */
#include <string.h>

#include "text.h"

struct filling {
	struct symbol *symbol;
	struct initial *initial;
	const struct declared_array *array;
	uint64_t element, room;		/* bytes */
};

/* An array without a size has as many elements as values: its memory doubles. */
static bool grow(struct reader *reader, struct filling *filling, uint64_t need)
{
	uint64_t room = filling->room ? 2 * filling->room : 64;
	unsigned char *bytes;

	if (need <= filling->room)
		return true;
	if (room < need)
		room = need;
	bytes = arena_take(source_of(reader)->arena, room);
	if (!bytes)
		return false;
	if (filling->room)
		memcpy(bytes, filling->initial->bytes, filling->room);
	filling->initial->bytes = bytes;
	filling->room = room;
	return true;
}

static CUresult address(struct reader *reader, struct filling *filling,
			const struct constant *constant, uint64_t at)
{
	struct relocation *relocation = arena_take(source_of(reader)->arena, sizeof(*relocation));

	if (!relocation)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (filling->element != 8 && !constant->mask)
		return ptx_wrong(reader, "an address needs 64 bits, before");
	*relocation = (struct relocation) {
		.next = filling->initial->relocations, .name = constant->name, .at = at,
		.added = constant->integer, .mask = constant->mask, .bytes = filling->element,
		.line = reader->line,
	};
	filling->initial->relocations = relocation;
	return CUDA_SUCCESS;
}

static CUresult one_value(struct reader *reader, struct filling *filling, uint64_t at)
{
	struct constant constant;
	CUresult result = ptx_constant(reader, &constant);
	bool is_float = type_is(filling->symbol->type, KIND_FLOAT);

	if (result != CUDA_SUCCESS)
		return result;
	if (filling->symbol->unsized ? at + filling->element > (1ULL << 32) :
	    at + filling->element > filling->symbol->bytes)
		return ptx_wrong(reader, "there are more values than elements before");
	if (!grow(reader, filling, at + filling->element))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (at + filling->element > filling->initial->size)
		filling->initial->size = at + filling->element;
	if (constant.kind == CONSTANT_ADDRESS)
		return address(reader, filling, &constant, at);
	if (constant.kind == CONSTANT_FLOAT && !is_float)
		return ptx_wrong(reader, "a value of an integer is none, before");
	ptx_constant_store(&constant, is_float, filling->initial->bytes + at, filling->element);
	return CUDA_SUCCESS;
}

static CUresult values(struct reader *reader, struct filling *filling, uint64_t at, uint64_t bytes,
		       uint32_t depth)
{
	const struct declared_array *array = filling->array;
	uint64_t part = filling->element, used = at;
	CUresult result = CUDA_SUCCESS;

	if (!ptx_take(reader, "{"))
		return one_value(reader, filling, at);
	if (depth > array->count + 1)
		return ptx_wrong(reader, "too many braces at");
	if (depth < array->count && array->dimensions[depth])
		part = bytes / array->dimensions[depth];
	else if (!depth && filling->symbol->unsized)
		part = filling->symbol->bytes;
	while (!ptx_is(reader, "}") && result == CUDA_SUCCESS) {
		bool inner = ptx_is(reader, "{");

		result = values(reader, filling, used, part, depth + 1);
		used += inner ? part : filling->element;
		if (result == CUDA_SUCCESS && !ptx_is(reader, "}"))
			result = ptx_need(reader, ",");
	}
	if (result == CUDA_SUCCESS)
		ptx_next(reader);
	return result;
}

CUresult initial_read(struct reader *reader, struct symbol *symbol,
		      const struct declared_array *array)
{
	struct filling filling = { .symbol = symbol, .array = array };
	CUresult result;

	filling.initial = arena_take(source_of(reader)->arena, sizeof(*filling.initial));
	if (!filling.initial)
		return CUDA_ERROR_OUT_OF_MEMORY;
	filling.element = type_bits(symbol->type) / 8;
	/* a predicate is a register's only */
	if (!filling.element)
		return ptx_wrong(reader, "a variable of this type has no values, before");
	result = values(reader, &filling, 0, symbol->bytes, 0);
	if (result != CUDA_SUCCESS)
		return result;
	if (symbol->unsized) {
		uint64_t row = symbol->bytes;

		symbol->unsized = false;
		symbol->bytes = (filling.initial->size + row - 1) / row * row;
	}
	symbol->initial = filling.initial;
	return CUDA_SUCCESS;
}
