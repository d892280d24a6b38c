// SPDX-License-Identifier: MIT
/*
 * The table of functions.def as code. This file does without cuda.h, whose macros rename half
 * of the functions, and without prototypes: a function that is not supported ignores its
 * arguments.
 */
#include "entry.h"

#pragma GCC visibility push(default)

#define COMPLETE(symbol, version)		void symbol(void);
#define PARTIAL(symbol, version, missing)	void symbol(void);
#define UNSUPPORTED(symbol, version, lacking)	int symbol(void);
#include "../functions.def"
#undef UNSUPPORTED

#define UNSUPPORTED(symbol, version, lacking)			\
	int symbol(void)					\
	{							\
		return function_unsupported(#symbol, lacking,	\
					    __builtin_return_address(0));	\
	}
#undef COMPLETE
#define COMPLETE(symbol, version)
#undef PARTIAL
#define PARTIAL(symbol, version, missing)
#include "../functions.def"

#pragma GCC visibility pop

#define ENTRY(symbol, version)	{ #symbol, version, (void (*)(void))symbol },
#undef COMPLETE
#define COMPLETE(symbol, version)		ENTRY(symbol, version)
#undef PARTIAL
#define PARTIAL(symbol, version, missing)	ENTRY(symbol, version)
#undef UNSUPPORTED
#define UNSUPPORTED(symbol, version, lacking)	ENTRY(symbol, version)

const struct function functions[] = {
#include "../functions.def"
};

const size_t functions_count = sizeof(functions) / sizeof(functions[0]);
