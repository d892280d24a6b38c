// SPDX-License-Identifier: MIT
/* The table of all functions that translated code calls */
#include "ptx_math.h"

const struct math_name math_names[] = {
#define NAME(name, signature) { #name, signature, (void *)(uintptr_t)ptx_math_##name },
	MATH_FUNCTIONS(NAME)
#undef NAME
	{},
};
