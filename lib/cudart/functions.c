// SPDX-License-Identifier: MIT
/*
 * The functions that are not supported, made of functions.def. Without the headers, and without
 * prototypes: none looks at its arguments.
 */
#include "unsupported.h"

#define COMPLETE(symbol)
#define PARTIAL(symbol, missing)
#define UNSUPPORTED(symbol, lacking)				\
	__attribute__((visibility("default"))) int symbol(void);	\
	int symbol(void)					\
	{							\
		return function_unsupported(#symbol, lacking);	\
	}
#include "functions.def"
