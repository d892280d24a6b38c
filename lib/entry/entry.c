// SPDX-License-Identifier: MIT
/*
 * The driver's version, and functions by name and version, for programs that do not link the
 * library.
 */
#include <ctype.h>
#include <string.h>

#include "entry.h"
#include "base/base.h"

/* The newest CUDA version whose interfaces functions.def has */
#define DRIVER_VERSION	13010

#define FLAGS_ALL	(CU_GET_PROC_ADDRESS_LEGACY_STREAM | \
			 CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)

DEFINE_BY(LOGGED, cuDriverGetVersion, (int *version), version)
{
	if (!version)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	*version = DRIVER_VERSION;
	return CUDA_SUCCESS;
}

static bool is_per_thread(const char *symbol)
{
	size_t length = strlen(symbol);

	return length > 5 && (!strcmp(symbol + length - 5, "_ptds") ||
			      !strcmp(symbol + length - 5, "_ptsz"));
}

/* Is @symbol the name itself, or the name with a suffix (_v2, _ptds, or both)? */
bool function_has_name(const char *symbol, const char *name)
{
	size_t length = strlen(symbol);

	if (is_per_thread(symbol))
		length -= 5;
	if (length > 3 && !strncmp(symbol + length - 3, "_v", 2) &&
	    isdigit(symbol[length - 1]))
		length -= 3;
	return length == strlen(name) && !strncmp(symbol, name, length);
}

/* cuGetProcAddress() never returns this symbol, which is for programs to link with. */
static bool for_lookup(const struct function *function)
{
	return strcmp(function->symbol, "cuGetProcAddress_v2_ptsz");
}

/* Kinds of interfaces that a name has: bits of *@kinds */
enum { HAS_ORDINARY = 1, HAS_PER_THREAD = 2 };

/* Return: the newest interface of a name up to @version, a per-thread one if @per_thread. */
static const struct function *newest(const char *name, int version, bool per_thread,
				     unsigned int *kinds)
{
	const struct function *best = NULL;

	for (size_t i = 0; i < functions_count; i++) {
		const struct function *function = &functions[i];
		bool threads = is_per_thread(function->symbol);

		if (!function_has_name(function->symbol, name) || !for_lookup(function))
			continue;
		*kinds |= threads ? HAS_PER_THREAD : HAS_ORDINARY;
		if (threads == per_thread && function->version <= version &&
		    (!best || best->version < function->version))
			best = function;
	}
	return best;
}

/*
 * Results are those recorded on hardware: a name that is unknown, or newer than the version, is
 * no failure, but gives NULL and a status. A version below zero stands for any. A program that
 * asks for per-thread streams gets no ordinary interface of a name that has both kinds.
 */
static CUresult function_find(const char *name, void **pointer, int version, cuuint64_t flags,
			      CUdriverProcAddressQueryResult *status)
{
	const struct function *found = NULL;
	unsigned int kinds = 0;

	if (!name || !pointer)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (flags & ~(cuuint64_t)FLAGS_ALL)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags %#llx",
			    (unsigned long long)flags);
	if (version > DRIVER_VERSION)
		return fail(CUDA_ERROR_INVALID_VALUE, "version %d is newer than the driver's %d",
			    version, DRIVER_VERSION);
	if (version < 0)
		version = DRIVER_VERSION;

	if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
		found = newest(name, version, true, &kinds);
	if (!(flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) || !(kinds & HAS_PER_THREAD))
		found = newest(name, version, false, &kinds);

	*pointer = found ? (void *)found->entry : NULL;
	if (status)
		*status = found ? CU_GET_PROC_ADDRESS_SUCCESS :
			  kinds ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT :
				  CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return CUDA_SUCCESS;
}

/* The older interface has no status: a name that is not found is a failure there. */
static CUresult find_or_fail(const char *name, void **pointer, int version, cuuint64_t flags)
{
	CUdriverProcAddressQueryResult status;
	CUresult result = function_find(name, pointer, version, flags, &status);

	if (result != CUDA_SUCCESS || *pointer)
		return result;
	if (status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)
		return asked(fail(CUDA_ERROR_NOT_FOUND,
				  "%s is not a function of any version up to %d", name,
				  DRIVER_VERSION));
	return asked(fail(CUDA_ERROR_NOT_FOUND, "%s is not in version %d", name, version));
}

CUresult cuGetProcAddress_v2(const char *name, void **function, int version,
			     cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
	return LOGGED(function_find(name, function, version, flags, status),
		      name, function, version, flags, status);
}

#undef cuGetProcAddress
EXPORTED CUresult cuGetProcAddress(const char *name, void **function, int version,
				   cuuint64_t flags)
{
	return LOGGED(find_or_fail(name, function, version, flags), name, function, version, flags);
}

/* Programs built for the per-thread default stream import this symbol. */
EXPORTED CUresult cuGetProcAddress_v2_ptsz(const char *name, void **function, int version,
					   cuuint64_t flags,
					   CUdriverProcAddressQueryResult *status)
{
	if (flags == CU_GET_PROC_ADDRESS_DEFAULT)
		flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	return LOGGED(function_find(name, function, version, flags, status),
		      name, function, version, flags, status);
}

int function_unsupported(const char *symbol, const char *lacking, const void *caller)
{
	CUresult result = inject_count ? inject_result(symbol) : CUDA_SUCCESS;
	bool lacks;

	if (result == CUDA_SUCCESS)
		result = library_ready();
	lacks = result == CUDA_SUCCESS;
	if (lacks)
		result = fail(CUDA_ERROR_NOT_SUPPORTED,
			      "%s is not supported: memcast has no %s", symbol, lacking);
	log_failure(symbol, result, ARGUMENTS());
	/* a failure that the user asked for, or that is about devices, says nothing of the runtime */
	if (lacks && !strcmp(symbol, "cuGetExportTable"))
		table_refused(caller);
	return result;
}
