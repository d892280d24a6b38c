// SPDX-License-Identifier: MIT
/*
 * The functions that are not supported, as functions.def lists them. Without nvml.h: they
 * look at none of their arguments.
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
