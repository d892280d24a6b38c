// SPDX-License-Identifier: MIT
/*
 * The driver's functions for device code, found by name when they are first wanted: a driver
 * that has none of them serves as well.
 */
#include <stdatomic.h>

#include "kernel.h"

#define DRIVER_VERSION	13000

/* What a stream's launch is described by: CUlaunchConfig */
struct launch {
	unsigned int grid[3];
	unsigned int block[3];
	unsigned int shared_bytes;
	cudaStream_t stream;
	const cudaLaunchAttribute *attributes;
	unsigned int attributes_count;
};

static void *function_of(_Atomic(void *) *known, const char *name)
{
	CUdriverProcAddressQueryResult status;
	void *function = *known;

	if (!function && cuGetProcAddress(name, &function, DRIVER_VERSION,
					  CU_GET_PROC_ADDRESS_DEFAULT, &status) == CUDA_SUCCESS)
		*known = function;
	return function;
}

/* Calls the driver's function of that name with @arguments, of such types. */
#define DRIVERS(name, types, arguments)						\
({										\
	static _Atomic(void *) known_;						\
	CUresult (*function_) types = function_of(&known_, name);		\
										\
	function_ ? function_ arguments : CUDA_ERROR_NOT_SUPPORTED;		\
})

CUresult driver_library_load(cudaLibrary_t *library, const void *image)
{
	return DRIVERS("cuLibraryLoadData",
		       (cudaLibrary_t *, const void *, void *, void **, unsigned int, void *,
			void **, unsigned int),
		       (library, image, NULL, NULL, 0, NULL, NULL, 0));
}

CUresult driver_library_unload(cudaLibrary_t library)
{
	return DRIVERS("cuLibraryUnload", (cudaLibrary_t), (library));
}

CUresult driver_library_kernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
	return DRIVERS("cuLibraryGetKernel", (cudaKernel_t *, cudaLibrary_t, const char *),
		       (kernel, library, name));
}

CUresult driver_library_global(CUdeviceptr *pointer, size_t *bytes, cudaLibrary_t library,
			       const char *name)
{
	return DRIVERS("cuLibraryGetGlobal",
		       (CUdeviceptr *, size_t *, cudaLibrary_t, const char *),
		       (pointer, bytes, library, name));
}

CUresult driver_kernel_function(cudaFunction_t *function, cudaKernel_t kernel)
{
	return DRIVERS("cuKernelGetFunction", (cudaFunction_t *, cudaKernel_t),
		       (function, kernel));
}

CUresult driver_kernel_attribute(int *value, int attribute, cudaKernel_t kernel, CUdevice device)
{
	return DRIVERS("cuKernelGetAttribute", (int *, int, cudaKernel_t, CUdevice),
		       (value, attribute, kernel, device));
}

CUresult driver_kernel_set_attribute(int attribute, int value, cudaKernel_t kernel,
				     CUdevice device)
{
	return DRIVERS("cuKernelSetAttribute", (int, int, cudaKernel_t, CUdevice),
		       (attribute, value, kernel, device));
}

CUresult driver_launch(const cudaLaunchConfig_t *config, cudaKernel_t kernel, void **arguments)
{
	struct launch launch = {
		.grid = { config->gridDim.x, config->gridDim.y, config->gridDim.z },
		.block = { config->blockDim.x, config->blockDim.y, config->blockDim.z },
		.shared_bytes = config->dynamicSmemBytes,
		.stream = config->stream,
		.attributes = config->attrs,
		.attributes_count = config->numAttrs,
	};

	return DRIVERS("cuLaunchKernelEx",
		       (const struct launch *, cudaKernel_t, void **, void **),
		       (&launch, kernel, arguments, NULL));
}
