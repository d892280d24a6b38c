// SPDX-License-Identifier: MIT
/* PTX text: finds functions that are called but not defined. */
#include <stdlib.h>
#include <string.h>

#include "ptx.h"

/* Is it a function that CUDA's system defines? */
static bool is_system(const struct word *name)
{
	static const char *const known[] = { "vprintf", "malloc", "free", "__assertfail" };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (name->length == strlen(known[i]) && !memcmp(name->at, known[i], name->length))
			return true;
	return is_libdevice(name->at, name->length) ||
	       (name->length > 4 && !memcmp(name->at, "cuda", 4)) ||
	       (name->length > 6 && !memcmp(name->at, "__cuda", 6));
}

CUresult ptx_function(struct reader *reader, const struct word *name, bool defined, bool called)
{
	struct functions *functions = &reader->functions;
	struct function_seen *moved;

	if (functions->count == functions->room) {
		functions->room = functions->room ? 2 * functions->room : 16;
		moved = realloc(functions->at, functions->room * sizeof(*moved));
		if (!moved)
			return image_no_memory();
		functions->at = moved;
	}
	functions->at[functions->count++] = (struct function_seen) { *name, defined, called,
								     reader->line };
	return CUDA_SUCCESS;
}

CUresult ptx_called(struct reader *reader, const struct word *name)
{
	/* a register has the function's address */
	return *name->at == '%' ? CUDA_SUCCESS : ptx_function(reader, name, false, true);
}

static int compare_functions(const void *one, const void *other)
{
	const struct function_seen *a = one, *b = other;
	size_t length = a->name.length < b->name.length ? a->name.length : b->name.length;
	int order = memcmp(a->name.at, b->name.at, length);

	if (!order)
		order = (a->name.length > b->name.length) - (a->name.length < b->name.length);
	/* the entry of the definition comes first */
	return order ? order : b->defined - a->defined;
}

/* Checks that every called function is defined, after the whole text has been read. */
CUresult ptx_functions_check(struct reader *reader)
{
	struct functions *functions = &reader->functions;
	const struct function_seen *first = NULL;

	if (reader->image->of_parts)
		return CUDA_SUCCESS;
	if (functions->count)
		qsort(functions->at, functions->count, sizeof(*functions->at), compare_functions);
	for (uint32_t i = 0; i < functions->count; i++) {
		struct function_seen *seen = &functions->at[i];

		if (!first || first->name.length != seen->name.length ||
		    memcmp(first->name.at, seen->name.at, seen->name.length))
			first = seen;
		if (seen->called && !first->defined && !is_system(&seen->name)) {
			reader->word = seen->name;
			reader->line = seen->line;
			return ptx_wrong(reader, "nothing defines");
		}
	}
	return CUDA_SUCCESS;
}
