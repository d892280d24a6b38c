// SPDX-License-Identifier: MIT
/*
 * The names that tables of facts know: all constants and functions of cuda.h, by the meaning
 * that they have in a program that includes it, and the struct members listed here.
 */
#include <dlfcn.h>
#include <string.h>
#include <cuda.h>

#include "facts.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

#define CONSTANT(constant)	{ #constant, (int64_t)(constant) },
#define FUNCTION(function)
static const struct {
	const char *name;
	int64_t value;
} constants[] = {
#include "facts-names.h"	/* made from cuda.h */
	{ "CU_STREAM_LEGACY", 1 },
	{ "CU_STREAM_PER_THREAD", 2 },
};

#undef CONSTANT
#undef FUNCTION
#define CONSTANT(constant)
/* The name as a program writes it, and the function to which cuda.h maps the name */
#define FUNCTION(function)	{ #function, (void *)(function) },
static const struct {
	const char *name;
	void *function;
} functions[] = {
#include "facts-names.h"
};

#define FIELD(type, member)	\
	{ #type, #member, offsetof(type, member), sizeof(((type *)0)->member), sizeof(type) }
static const struct fact_field fields[] = {
	FIELD(CUmemLocation, type),
	FIELD(CUmemLocation, id),
	FIELD(CUmemAllocationProp, type),
	FIELD(CUmemAllocationProp, requestedHandleTypes),
	FIELD(CUmemAllocationProp, location.type),
	FIELD(CUmemAllocationProp, location.id),
	FIELD(CUmemAllocationProp, win32HandleMetaData),
	FIELD(CUmemAllocationProp, allocFlags.compressionType),
	FIELD(CUmemAllocationProp, allocFlags.gpuDirectRDMACapable),
	FIELD(CUmemAllocationProp, allocFlags.usage),
	FIELD(CUmemAllocationProp, allocFlags.reserved),
	FIELD(CUmemAccessDesc, location.type),
	FIELD(CUmemAccessDesc, location.id),
	FIELD(CUmemAccessDesc, flags),
	FIELD(CUmemPoolProps, allocType),
	FIELD(CUmemPoolProps, handleTypes),
	FIELD(CUmemPoolProps, location.type),
	FIELD(CUmemPoolProps, location.id),
	FIELD(CUmemPoolProps, maxSize),
	FIELD(CUmemPoolProps, usage),
	FIELD(CUctxCreateParams, execAffinityParams),
	FIELD(CUctxCreateParams, numExecAffinityParams),
	FIELD(CUmulticastObjectProp, numDevices),
	FIELD(CUmulticastObjectProp, size),
	FIELD(CUmulticastObjectProp, handleTypes),
	FIELD(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, type),
	FIELD(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, handle.fd),
	FIELD(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size),
	FIELD(CUDA_MEMCPY2D, srcMemoryType),
	FIELD(CUDA_MEMCPY2D, srcHost),
	FIELD(CUDA_MEMCPY2D, srcDevice),
	FIELD(CUDA_MEMCPY2D, srcPitch),
	FIELD(CUDA_MEMCPY2D, dstMemoryType),
	FIELD(CUDA_MEMCPY2D, dstHost),
	FIELD(CUDA_MEMCPY2D, dstDevice),
	FIELD(CUDA_MEMCPY2D, dstPitch),
	FIELD(CUDA_MEMCPY2D, WidthInBytes),
	FIELD(CUDA_MEMCPY2D, Height),
};

bool fact_constant(const char *name, int64_t *value)
{
	for (size_t i = 0; i < COUNT(constants); i++) {
		if (!strcmp(constants[i].name, name)) {
			*value = constants[i].value;
			return true;
		}
	}
	return false;
}

/* Functions outside the table, of older versions or the C library, go by their symbols' names. */
void *fact_function(const char *name)
{
	for (size_t i = 0; i < COUNT(functions); i++)
		if (!strcmp(functions[i].name, name))
			return functions[i].function;
	return dlsym(RTLD_DEFAULT, name);
}

const struct fact_field *fact_field(const char *type, const char *name)
{
	for (size_t i = 0; i < COUNT(fields); i++)
		if (!strcmp(fields[i].type, type) && (!*name || !strcmp(fields[i].name, name)))
			return &fields[i];
	return NULL;
}
