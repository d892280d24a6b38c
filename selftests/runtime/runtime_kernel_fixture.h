/* SPDX-License-Identifier: MIT */
/* Registers a program's kernels by hand, as nvcc's code does before main(). */
#ifndef RUNTIME_KERNEL_FIXTURE_H
#define RUNTIME_KERNEL_FIXTURE_H

#include "runtime_fixture.h"

/* Functions that nvcc's code calls; no header of the toolkit declares them for C. */
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
char __cudaInitModule(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *device, const char *name,
			    int thread_limit, void *tid, void *bid, dim3 *block, dim3 *grid,
			    int *warp);
void __cudaRegisterVar(void **handle, char *symbol, char *device, const char *name, int ext,
		       size_t bytes, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **pointer, char *device, const char *name,
			      int ext, size_t bytes, int constant, int global);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t bytes,
					 cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *bytes, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
			       size_t bytes, cudaStream_t stream);

static const char image[] =
	".version 9.0\n.target sm_90\n.address_size 64\n"
	".visible .global .align 4 .u32 counter = 5;\n"
	".visible .entry runtime_test_add(.param .u64 a, .param .u32 n)\n"
	".maxntid 256, 1, 1\n{\n\tret;\n}\n"
	".visible .entry runtime_test_plain()\n{\n\tret;\n}\n";

/* The program's kernels and variables: only their addresses count. */
static char add, plain, absent, counter, nowhere __attribute__((unused));
static const dim3 one = { 1, 1, 1 };

static inline void function(void **handle, const char *stub, const char *name)
{
	__cudaRegisterFunction(handle, stub, (char *)stub, name, -1, NULL, NULL, NULL, NULL, NULL);
}

static inline void **register_all(void)
{
	void **handle = __cudaRegisterFatBinary((void *)image);

	if (!handle)
		return NULL;
	function(handle, &add, "runtime_test_add");
	function(handle, &plain, "runtime_test_plain");
	function(handle, &absent, "runtime_test_absent");
	__cudaRegisterVar(handle, &counter, &counter, "counter", 0, 4, 0, 0);
	__cudaRegisterFatBinaryEnd(handle);
	return handle;
}

#endif /* RUNTIME_KERNEL_FIXTURE_H */
