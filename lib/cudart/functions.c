// SPDX-License-Identifier: MIT
/*
 * The functions that are not supported, generated from functions.def. This file does without
 * headers and prototypes: these functions ignore their arguments.
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
