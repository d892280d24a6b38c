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

static CUresult error_get_name(CUresult result, const char **name)
{
	const struct description *found = error_describe(result);

	if (!name)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	*name = found ? found->name : NULL;
	return found ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_VALUE, "no such result");
}

CUresult cuGetErrorName(CUresult result, const char **name)
{
	return LOGGED(error_get_name(result, name), result, name);
}

static CUresult text_of(CUresult result, const char **text)
{
	const struct description *found = error_describe(result);

	if (!text)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	*text = found ? found->text : NULL;
	return found ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_VALUE, "no such result");
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
	return LOGGED(text_of(result, text), result, text);
}
