// SPDX-License-Identifier: MIT
/* The names of result codes, and the descriptions that cuGetErrorString() gives. */
#include "base.h"

static const struct description {
	CUresult result;
	const char *name;
	const char *text;
} descriptions[] = {
#define BOTH(result, error, sentence)	ONLY_DRIVER(result, sentence)
#define ONLY_DRIVER(result, sentence)	{ result, #result, sentence },
#define ONLY_RUNTIME(error, sentence)
#include "errors.def"
};

static const struct description *error_describe(CUresult result)
{
	for (size_t i = 0; i < ARRAY_SIZE(descriptions); i++)
		if (descriptions[i].result == result)
			return &descriptions[i];
	return NULL;
}

bool error_known(CUresult result)
{
	return error_describe(result);
}

const char *error_name(CUresult result)
{
	const struct description *found = error_describe(result);

	return found ? found->name : "no such result";
}

/* The output is NULL for a number that is no result. */
#define DEFINE_GET(call, field)								\
	DEFINE_BY(LOGGED, call, (CUresult result, const char **field), result, field)	\
	{										\
		const struct description *found = error_describe(result);		\
											\
		if (!field)								\
			return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");		\
		*field = found ? found->field : NULL;					\
		return found ? CUDA_SUCCESS :						\
			       fail(CUDA_ERROR_INVALID_VALUE, "no such result");	\
	}

DEFINE_GET(cuGetErrorName, name)
DEFINE_GET(cuGetErrorString, text)
