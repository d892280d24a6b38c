// SPDX-License-Identifier: MIT
/*
 * The functions that are not supported, generated from functions.def. This file does without
 * nvml.h: these functions ignore their arguments.
 */
#include "unsupported.h"

#pragma GCC visibility push(default)

#define COMPLETE(symbol)
#define PARTIAL(symbol, missing)
#define UNSUPPORTED(symbol, lacking)	int symbol(void);
#include "functions.def"
#undef UNSUPPORTED

#define UNSUPPORTED(symbol, lacking)				\
	int symbol(void)					\
	{							\
		return nvml_unsupported(#symbol, lacking);	\
	}
#include "functions.def"

#pragma GCC visibility pop
