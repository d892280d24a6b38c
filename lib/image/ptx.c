// SPDX-License-Identifier: MIT
/* PTX text: the declarations at its outermost level. */
#include <stdlib.h>
#include <string.h>

#include "ptx.h"

#define MAX_THREADS	1024
#define ALIGN_MOST	(1U << 20)
#define REGISTERS	16	/* a guess: only a compiler could tell */

static uint32_t type_bytes(const struct word *word)
{
	static const struct {
		const char *name;
		uint32_t bytes;
	} types[] = {
		{ ".u8", 1 }, { ".s8", 1 }, { ".b8", 1 }, { ".u16", 2 }, { ".s16", 2 },
		{ ".b16", 2 }, { ".f16", 2 }, { ".bf16", 2 }, { ".u32", 4 }, { ".s32", 4 },
		{ ".b32", 4 }, { ".f32", 4 }, { ".f16x2", 4 }, { ".bf16x2", 4 }, { ".u64", 8 },
		{ ".s64", 8 }, { ".b64", 8 }, { ".f64", 8 }, { ".b128", 16 }, { ".texref", 8 },
		{ ".samplerref", 8 }, { ".surfref", 8 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (word->length == strlen(types[i].name) &&
		    !memcmp(word->at, types[i].name, word->length))
			return types[i].bytes;
	return 0;
}

/* Reads a name that is declared, and its dimensions: name [n]… */
CUresult ptx_declared_name(struct reader *reader, struct declared *declared)
{
	uint64_t row;

	if (reader->word.kind != WORD_NAME)
		return ptx_wrong(reader, "a declaration without type or name at");
	declared->name = reader->word;
	declared->bytes = row = declared->whole;
	declared->dimensions_count = 0;
	for (ptx_next(reader); ptx_take(reader, "["); ) {
		struct constant length = { .kind = CONSTANT_INTEGER };
		CUresult result = ptx_is(reader, "]") ? CUDA_SUCCESS :
							ptx_constant(reader, &length);

		if (result != CUDA_SUCCESS)
			return result;
		if (length.kind != CONSTANT_INTEGER)
			return ptx_wrong(reader, "an array's size is wrong before");
		if (length.integer > UINT32_MAX ||
		    __builtin_mul_overflow(declared->bytes, length.integer, &declared->bytes) ||
		    declared->bytes > SIZE_MAX / 2 ||
		    /* of a first dimension of [], values tell the length */
		    (declared->dimensions_count &&
		     (__builtin_mul_overflow(row, length.integer, &row) || row > SIZE_MAX / 2)))
			return ptx_wrong(reader, "an array is too large before");
		result = ptx_need(reader, "]");
		if (result != CUDA_SUCCESS)
			return result;
		if (declared->dimensions_count < ARRAY_SIZE(declared->dimensions))
			declared->dimensions[declared->dimensions_count++] = length.integer;
	}
	return CUDA_SUCCESS;
}

/* Reads a declaration: [.attribute(…)] [.align n] [.v4] .type [.ptr …] name [n]… */
CUresult ptx_declaration(struct reader *reader, struct declared *declared)
{
	uint32_t align = 0, vector = 1, pointed = 0;
	bool pointer = false;

	*declared = (struct declared) {};
	for (; reader->word.kind == WORD_DIRECTIVE; ptx_next(reader)) {
		if (ptx_is(reader, ".align")) {
			ptx_next(reader);
			if (reader->word.kind != WORD_NUMBER || !reader->word.value ||
			    reader->word.value & (reader->word.value - 1) ||
			    reader->word.value > ALIGN_MOST)
				return ptx_wrong(reader, "no alignment is");
			*(pointer ? &pointed : &align) = reader->word.value;
		} else if (ptx_is(reader, ".v2") || ptx_is(reader, ".v4") ||
			   ptx_is(reader, ".v8")) {
			vector = reader->word.at[2] - '0';
		} else if (ptx_is(reader, ".ptr")) {
			pointer = true;
		} else if (ptx_is(reader, ".attribute")) {
			declared->is_managed |= ptx_skip_attribute(reader, ".managed");
		} else if (!declared->element) {
			declared->element = type_bytes(&reader->word);
			declared->is_float = reader->word.length == 4 &&
					     reader->word.at[1] == 'f';
		}
	}
	if (!declared->element)
		return ptx_wrong(reader, "a declaration without type or name at");
	declared->whole = vector * declared->element;
	declared->align = align ? align : declared->whole;
	return ptx_declared_name(reader, declared);
}

/* Reads the value of an element; an address, which the translator knows, becomes 0. */
static CUresult one_value(struct reader *reader, unsigned char *to, uint32_t bytes, bool is_float)
{
	struct constant constant;
	CUresult result = ptx_constant(reader, &constant);

	if (result == CUDA_SUCCESS && constant.kind == CONSTANT_ADDRESS) {
		constant = (struct constant) {};
		reader->image->has_addresses = true;
	}
	if (result == CUDA_SUCCESS && to)
		ptx_constant_store(&constant, is_float, to, bytes);
	return result;
}

/* Return: the bytes of one element of the first dimension */
static size_t row_bytes(const struct declared *declared)
{
	size_t bytes = declared->whole;

	for (uint32_t i = 1; i < declared->dimensions_count; i++)
		bytes *= declared->dimensions[i];
	return bytes;
}

/*
 * Reads = value, or = { values }; inner braces fill their part of the array. @end: output, where
 * the values end
 */
static CUresult read_value(struct reader *reader, const struct declared *declared,
			   unsigned char *value, size_t at, size_t bytes, unsigned int depth,
			   size_t *end)
{
	CUresult result = CUDA_SUCCESS;
	size_t part = declared->element, used = at, inside;

	if (depth > ARRAY_SIZE(declared->dimensions))
		return ptx_wrong(reader, "too many braces at");
	*end = at + part;
	if (!ptx_take(reader, "{"))
		return one_value(reader, at + part <= declared->bytes ? value + at : NULL, part,
				 declared->is_float);
	if (depth < declared->dimensions_count && declared->dimensions[depth])
		part = bytes / declared->dimensions[depth];
	else if (!depth)
		part = row_bytes(declared);
	while (!ptx_is(reader, "}") && result == CUDA_SUCCESS) {
		bool inner = ptx_is(reader, "{");

		result = read_value(reader, declared, value, used, part, depth + 1, &inside);
		used += inner ? part : declared->element;
		if (result == CUDA_SUCCESS && used > SIZE_MAX / 2)
			return ptx_wrong(reader, "an array is too large before");
		if (result == CUDA_SUCCESS && !ptx_is(reader, "}"))
			result = ptx_need(reader, ",");
	}
	*end = used;
	ptx_next(reader);
	return result;
}

/* name[] = { … }: the values tell the length. They are read twice. */
static CUresult count_values(const struct reader *reader, struct declared *declared)
{
	struct reader again = *reader;
	size_t each = row_bytes(declared);
	struct image image = {};	/* the second reading tells what the image has */
	CUresult result;

	again.image = &image;
	result = read_value(&again, declared, NULL, 0, 0, 0, &declared->bytes);
	if (each)
		declared->bytes = (declared->bytes + each - 1) / each * each;
	return result;
}

static CUresult variable(struct reader *reader, bool constant, bool external)
{
	struct declared declared;
	struct variable *new;
	unsigned char *value;
	CUresult result = ptx_declaration(reader, &declared);

	while (result == CUDA_SUCCESS) {
		size_t end;

		value = NULL;
		if (ptx_take(reader, "=")) {
			if (declared.dimensions_count && !declared.dimensions[0])
				result = count_values(reader, &declared);
			if (result != CUDA_SUCCESS)
				return result;
			value = image_keep(reader->image, NULL, declared.bytes + 1);
			if (!value)
				return image_no_memory();
			result = read_value(reader, &declared, value, 0, declared.bytes, 0, &end);
			if (result != CUDA_SUCCESS)
				return result;
		}
		new = external ? NULL : image_add_variable(reader->image);
		if (new) {
			new->name = image_keep_name(reader->image, declared.name.at,
						    declared.name.length);
			new->bytes = declared.bytes;
			new->value = value;
			new->text = reader->image->texts_count;	/* it is kept when it is read */
			new->is_private = reader->is_private;
			new->is_managed = declared.is_managed;
		}
		if (!external && (!new || !new->name))
			return image_no_memory();
		if (constant && !external)
			reader->image->constant_bytes += declared.bytes;
		if (!ptx_take(reader, ","))
			return ptx_need(reader, ";");
		result = ptx_declared_name(reader, &declared);
	}
	return result;
}

static CUresult add_parameter(struct reader *reader, struct code *code,
			      const struct declared *declared)
{
	uint64_t offset = ((uint64_t)code->parameters_bytes + declared->align - 1) /
			  declared->align * declared->align;
	struct parameter *more = code->parameters;

	/* below, sums of 32 bits cannot wrap */
	if (declared->bytes > KERNEL_PARAMETERS_MOST ||
	    offset + declared->bytes > KERNEL_PARAMETERS_MOST)
		return ptx_wrong(reader, "the parameters need over 32764 bytes before");
	/* grow to room for 8, 16, 32, … */
	if (!(code->parameters_count & (code->parameters_count - 1)) &&
	    (!code->parameters_count || code->parameters_count >= 8)) {
		more = image_keep(reader->image, NULL,
				  (code->parameters_count ? 2 * code->parameters_count : 8) *
				  sizeof(*more));
		if (!more)
			return image_no_memory();
		if (code->parameters_count)
			memcpy(more, code->parameters, code->parameters_count * sizeof(*more));
	}
	code->parameters = more;
	more[code->parameters_count++] = (struct parameter) { offset, declared->bytes };
	code->parameters_bytes = offset + declared->bytes;
	return CUDA_SUCCESS;
}

/* Reads (.param …, .param …). */
static CUresult parameters(struct reader *reader, struct code *code)
{
	struct declared declared;
	CUresult result = CUDA_SUCCESS;

	if (!ptx_take(reader, "("))
		return CUDA_SUCCESS;
	while (!ptx_take(reader, ")") && result == CUDA_SUCCESS) {
		if (!ptx_take(reader, ".param") && !ptx_take(reader, ".reg"))
			return ptx_wrong(reader, ".param is missing before");
		result = ptx_declaration(reader, &declared);
		if (result == CUDA_SUCCESS && code)
			result = add_parameter(reader, code, &declared);
		if (result == CUDA_SUCCESS && !ptx_is(reader, ")"))
			result = ptx_need(reader, ",");
	}
	return result;
}

/* Return: how many threads a block may have whose lengths a text bounds */
static uint32_t most_threads(const uint32_t *lengths)
{
	uint64_t threads = lengths[0];

	for (int i = 1; i < 3; i++)
		threads = threads < UINT32_MAX ? threads * lengths[i] : threads;
	return threads < MAX_THREADS ? threads : MAX_THREADS;
}

static void about_kernel(struct reader *reader, struct code *code)
{
	uint32_t threads[3], unused[3];

	while (reader->word.kind == WORD_DIRECTIVE) {
		if (ptx_take(reader, ".maxntid")) {
			ptx_numbers(reader, threads);
			if (code)
				code->max_threads = most_threads(threads);
		} else if (ptx_take(reader, ".reqntid")) {
			ptx_numbers(reader, code ? code->block : unused);
		} else if (ptx_take(reader, ".reqnctapercluster")) {
			ptx_numbers(reader, code ? code->cluster : unused);
		} else {
			bool pragma = ptx_is(reader, ".pragma");

			ptx_next(reader);
			while (reader->word.kind == WORD_NUMBER || ptx_is(reader, ",") ||
			       reader->word.kind == WORD_STRING)
				ptx_next(reader);
			/* a declaration, .extern .func f() .noreturn;, ends with its own */
			if (pragma)
				ptx_take(reader, ";");
		}
	}
}

static CUresult function(struct reader *reader, bool kernel)
{
	struct code *code = NULL, new = { .max_threads = MAX_THREADS, .registers = REGISTERS };
	struct body_memory body = {};
	struct word name;
	CUresult result = kernel ? CUDA_SUCCESS : parameters(reader, NULL);

	name = reader->word;
	if (result == CUDA_SUCCESS && name.kind != WORD_NAME)
		result = ptx_wrong(reader, "a function without name at");
	if (result != CUDA_SUCCESS)
		return result;
	ptx_next(reader);
	result = parameters(reader, kernel ? &new : NULL);
	if (result == CUDA_SUCCESS)
		about_kernel(reader, kernel ? &new : NULL);
	if (result == CUDA_SUCCESS && !ptx_is(reader, "{"))
		return ptx_need(reader, ";");	/* only declared */
	if (result == CUDA_SUCCESS)
		result = ptx_body(reader, &body);
	if (result != CUDA_SUCCESS || !kernel)
		return result;
	code = image_add_kernel(reader->image);
	new.name = image_keep_name(reader->image, name.at, name.length);
	if (!code || !new.name)
		return image_no_memory();
	new.is_weak = reader->is_weak;
	new.shared = body.shared;
	new.local = body.local;
	*code = new;
	return CUDA_SUCCESS;
}

/* Reads one statement of the outermost level. */
CUresult ptx_outermost(struct reader *reader)
{
	bool external = false;

	reader->is_private = true;
	reader->is_weak = false;
	while (ptx_is(reader, ".visible") || ptx_is(reader, ".extern") ||
	       ptx_is(reader, ".weak") || ptx_is(reader, ".common")) {
		external |= ptx_is(reader, ".extern");
		reader->is_weak |= ptx_is(reader, ".weak");
		reader->is_private = false;
		ptx_next(reader);
	}
	if (ptx_is(reader, ".entry") || ptx_is(reader, ".func")) {
		bool kernel = ptx_is(reader, ".entry");

		for (ptx_next(reader); ptx_is(reader, ".attribute"); ptx_next(reader))
			ptx_skip_attribute(reader, ".unified");
		return function(reader, kernel);
	}
	if (ptx_take(reader, ".global"))
		return variable(reader, false, external);
	if (ptx_take(reader, ".const"))
		return variable(reader, true, external);
	if (ptx_take(reader, ".shared"))
		return variable(reader, false, true);
	if (ptx_is(reader, ".local"))
		return ptx_wrong(reader, "outside of functions, there is no");
	if (ptx_is(reader, ".file") || ptx_is(reader, ".loc") || ptx_is(reader, "@")) {
		ptx_skip_line(reader);
		return CUDA_SUCCESS;
	}
	if (ptx_take(reader, ".pragma") || ptx_take(reader, ".alias")) {
		while (!ptx_is(reader, ";") && reader->word.kind != WORD_END)
			ptx_next(reader);
		return ptx_need(reader, ";");
	}
	if (ptx_take(reader, ".section")) {
		while (!ptx_is(reader, "}") && reader->word.kind != WORD_END)
			ptx_next(reader);
		return ptx_need(reader, "}");
	}
	return ptx_wrong(reader, "nothing is declared by");
}
