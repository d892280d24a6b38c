// SPDX-License-Identifier: MIT
/*
 * The configuration between <<< and >>>: the program pushes it before it evaluates the
 * arguments of a kernel, which may launch other kernels, and the kernel's stub pops it.
 */
#include "kernel.h"

#define DEEPEST	64

static __thread cudaLaunchConfig_t configurations[DEEPEST];
static __thread unsigned int count;

/* Return: 0; otherwise the program does not call the stub. */
EXPORTED unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
						  cudaStream_t stream)
{
	if (count == DEEPEST)
		return error_keep(refuse("__cudaPushCallConfiguration",
					 cudaErrorMissingConfiguration,
					 "%d launches are under way in this thread", DEEPEST));
	configurations[count++] = (cudaLaunchConfig_t) {
		.gridDim = grid,
		.blockDim = block,
		.dynamicSmemBytes = shared_bytes,
		.stream = stream,
	};
	return 0;
}

EXPORTED cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
						void *stream)
{
	if (!count)
		return error_keep(refuse("__cudaPopCallConfiguration",
					 cudaErrorMissingConfiguration,
					 "a kernel's stub was called, but not with <<<...>>>"));
	count--;
	*grid = configurations[count].gridDim;
	*block = configurations[count].blockDim;
	*shared_bytes = configurations[count].dynamicSmemBytes;
	*(cudaStream_t *)stream = configurations[count].stream;
	return cudaSuccess;
}
