// SPDX-License-Identifier: MIT
/* The table of all functions that translated code calls */
#include "ptx_math.h"

const struct math_name math_names[] = {
#define NAME(name, signature) { #name, signature, (void *)(uintptr_t)ptx_math_##name },
	MATH_FUNCTIONS(NAME)
#undef NAME
	{},
};

static const struct math_name *find_in(const struct math_name *names, const char *name,
				       size_t length)
{
	for (; names->name; names++)
		if (strlen(names->name) == length && !memcmp(names->name, name, length))
			return names;
	return NULL;
}

/* Return: a function of one of the tables; NULL: there is none of that name */
const struct math_name *math_find(const char *name, size_t length)
{
	const struct math_name *found = find_in(math_names, name, length);

	return found ? found : find_in(libdevice_names, name, length);
}
