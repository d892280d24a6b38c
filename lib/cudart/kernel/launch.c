// SPDX-License-Identifier: MIT
/* Launches. Compiled twice: per_thread.c. */
#include "kernel.h"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define NO_STREAM		cudaStreamPerThread
#define LAUNCH_BY_HANDLE	__cudaLaunchKernel_ptsz
#else
#define NO_STREAM		NULL
#define LAUNCH_BY_HANDLE	__cudaLaunchKernel
#endif

static cudaError_t launch(const char *call, const void *stub, dim3 grid, dim3 block,
			  void **arguments, size_t shared_bytes, cudaStream_t stream,
			  bool cooperative)
{
	cudaLaunchAttribute attribute = {
		.id = cudaLaunchAttributeCooperative,
		.val.cooperative = 1,
	};
	cudaLaunchConfig_t config = {
		.gridDim = grid,
		.blockDim = block,
		.dynamicSmemBytes = shared_bytes,
		.stream = stream ? stream : NO_STREAM,
		.attrs = &attribute,
		.numAttrs = cooperative,
	};

	return kernel_launch(call, stub, &config, arguments);
}

cudaError_t cudaLaunchKernel(const void *stub, dim3 grid, dim3 block, void **arguments,
			     size_t shared_bytes, cudaStream_t stream)
{
	return CALL(launch("cudaLaunchKernel", stub, grid, block, arguments, shared_bytes, stream,
			   false));
}

cudaError_t cudaLaunchCooperativeKernel(const void *stub, dim3 grid, dim3 block, void **arguments,
					size_t shared_bytes, cudaStream_t stream)
{
	return CALL(launch("cudaLaunchCooperativeKernel", stub, grid, block, arguments,
			   shared_bytes, stream, true));
}

DEFINE_CALL(cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *stub,
				  void **arguments),
	    config, stub, arguments)
{
	cudaLaunchConfig_t copy;

	if (!config)
		return refuse("cudaLaunchKernelExC", cudaErrorInvalidValue, "NULL configuration");
	copy = *config;
	if (!copy.stream)
		copy.stream = NO_STREAM;
	return kernel_launch("cudaLaunchKernelExC", stub, &copy, arguments);
}

/* The programs' stubs call this with the handle that __cudaGetKernel() gave them. */
EXPORTED cudaError_t LAUNCH_BY_HANDLE(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
				      size_t shared_bytes, cudaStream_t stream);
cudaError_t LAUNCH_BY_HANDLE(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
			     size_t shared_bytes, cudaStream_t stream)
{
	return CALL(launch("cudaLaunchKernel", kernel, grid, block, arguments, shared_bytes,
			   stream, false));
}

#undef NO_STREAM
#undef LAUNCH_BY_HANDLE
