// SPDX-License-Identifier: MIT
/*
 * MEMCAST_INJECT: calls that are to fail in this process.
 *
 *   MEMCAST_INJECT="cuMulticastBindMem:802*3"		the first three calls
 *   MEMCAST_INJECT="cuMemCreate:2"			every call
 *   MEMCAST_INJECT="cuMemMap:0*5,cuMemMap:1*1"		the sixth
 *
 * A call that fails so looks at none of its arguments. Entries for a function are used up in
 * order; 0 lets a call through.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "base/base.h"

#define VARIABLE	"MEMCAST_INJECT"
#define INJECTIONS	64
#define FOREVER		UINT_MAX

static struct injection {
	char function[64];
	CUresult result;
	atomic_uint left;
} injections[INJECTIONS];

static bool names_a_function(const char *name)
{
	for (size_t i = 0; i < functions_count; i++)
		if (function_has_name(functions[i].symbol, name))
			return true;
	return false;
}

/* Reads a number that ends at @stop or at the end of the text. */
static bool inject_number(const char **text, char stop, unsigned int *value)
{
	char *end;
	unsigned long read;

	errno = 0;
	read = strtoul(*text, &end, 10);
	if (end == *text || errno || read >= FOREVER || (*end && *end != stop))
		return false;
	*value = read;
	*text = *end ? end + 1 : end;
	return true;
}

/* Return: what is wrong with an entry of MEMCAST_INJECT, or NULL. */
static const char *inject_parse(const char *text, struct injection *injection)
{
	const char *colon = strchr(text, ':');
	const char *rest = colon + 1;
	unsigned int result, times = FOREVER;

	if (!colon || (size_t)(colon - text) >= sizeof(injection->function))
		return "not of the form FUNCTION:RESULT or FUNCTION:RESULT*TIMES";
	snprintf(injection->function, sizeof(injection->function), "%.*s",
		 (int)(colon - text), text);
	if (!names_a_function(injection->function))
		return "no such function";
	if (!inject_number(&rest, '*', &result) || (result && !error_known((CUresult)result)))
		return "no such result";
	if (rest[-1] == '*' && !inject_number(&rest, '\0', &times))
		return "not a number of times";
	injection->result = (CUresult)result;
	injection->left = times;
	return NULL;
}

static bool use_up(struct injection *injection)
{
	unsigned int left = injection->left;

	while (left && left != FOREVER)
		if (atomic_compare_exchange_weak(&injection->left, &left, left - 1))
			return true;
	return left == FOREVER;
}

static CUresult use_up_one(const char *symbol)
{
	for (unsigned int i = 0; i < inject_count; i++) {
		struct injection *injection = &injections[i];

		if (!function_has_name(symbol, injection->function) || !use_up(injection))
			continue;
		if (injection->result == CUDA_SUCCESS)
			return CUDA_SUCCESS;
		return fail(injection->result, "injected by " VARIABLE);
	}
	return CUDA_SUCCESS;
}

__attribute__((constructor))
static void inject_load(void)
{
	const char *given = secure_getenv(VARIABLE);
	char *list = given ? strdup(given) : NULL;
	char *rest = list, *text;

	inject_result = use_up_one;
	while ((text = strsep(&rest, ","))) {
		const char *wrong = inject_count == INJECTIONS ? "too many" :
				    inject_parse(text, &injections[inject_count]);

		if (wrong)
			fprintf(stderr, "memcast: " VARIABLE ": '%s' is ignored: %s\n",
				text, wrong);
		else
			inject_count++;
	}
	free(list);
}
