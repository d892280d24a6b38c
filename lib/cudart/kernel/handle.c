// SPDX-License-Identifier: MIT
/* Calls that ask the driver about a registered kernel, and libraries that the program loads. */
#include "kernel.h"

DEFINE_CALL(cudaFuncGetName, (const char **name, const void *stub), name, stub)
{
	const struct kernel *kernel = kernel_find(stub);
	CUkernel handle;

	if (!name)
		return refuse("cudaFuncGetName", cudaErrorInvalidValue, "NULL output");
	if (kernel) {
		*name = kernel->name;
		return cudaSuccess;
	}
	return kernel_handle("cudaFuncGetName", &handle, stub) ?:
		error_of(cuKernelGetName(name, handle));
}

DEFINE_CALL(cudaGetKernel, (cudaKernel_t *kernel, const void *stub), kernel, stub)
{
	if (!kernel)
		return refuse("cudaGetKernel", cudaErrorInvalidValue, "NULL output");
	return kernel_handle("cudaGetKernel", kernel, stub);
}

/* A program's stub calls this before its first launch, for a handle to launch with. */
EXPORTED cudaError_t __cudaGetKernel(cudaKernel_t *handle, const void *stub)
{
	*handle = (cudaKernel_t)stub;
	return error_keep(kernel_find(stub) ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

/* Finds a kernel's function in the current context. */
static cudaError_t function_of(const char *call, cudaFunction_t *function, const void *stub)
{
	CUkernel handle;

	if (!function)
		return refuse(call, cudaErrorInvalidValue, "NULL output");
	return kernel_handle(call, &handle, stub) ?:
		error_of(cuKernelGetFunction(function, handle));
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *stub)
{
	return CALL(function_of("cudaGetFuncBySymbol", function, stub));
}

FORWARD_WITH(cudaFuncGetParamInfo, (const void *stub, size_t index, size_t *offset, size_t *size),
	     CUkernel handle,
	     kernel_handle(__func__, &handle, stub) ?:
	     error_of(cuKernelGetParamInfo(handle, index, offset, size)))
FORWARD_WITH(cudaFuncSetCacheConfig, (const void *stub, enum cudaFuncCache config),
	     CUfunction function,
	     function_of(__func__, &function, stub) ?:
	     error_of(cuFuncSetCacheConfig(function, (CUfunc_cache)config)))
FORWARD_WITH(cudaFuncSetSharedMemConfig, (const void *stub, enum cudaSharedMemConfig config),
	     CUfunction function,
	     function_of(__func__, &function, stub) ?:
	     error_of(cuFuncSetSharedMemConfig(function, (CUsharedconfig)config)))
FORWARD_WITH(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, const void *stub,
							     int block_size, size_t dynamic_bytes),
	     CUfunction function,
	     function_of(__func__, &function, stub) ?:
	     error_of(cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size,
								  dynamic_bytes)))
FORWARD_WITH(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int *blocks, const void *stub,
								      int block_size,
								      size_t dynamic_bytes,
								      unsigned int flags),
	     CUfunction function,
	     function_of(__func__, &function, stub) ?:
	     error_of(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function,
									   block_size,
									   dynamic_bytes, flags)))
FORWARD_WITH(cudaOccupancyAvailableDynamicSMemPerBlock, (size_t *bytes, const void *stub,
							 int blocks, int block_size),
	     CUfunction function,
	     function_of(__func__, &function, stub) ?:
	     error_of(cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, block_size)))

static cudaError_t clusters(const char *call, int *output, const void *stub,
			    const cudaLaunchConfig_t *config,
			    CUresult (*ask)(int *, CUfunction, const CUlaunchConfig *))
{
	CUlaunchConfig drivers;
	CUfunction function;

	if (!config)
		return refuse(call, cudaErrorInvalidValue, "NULL configuration");
	drivers = kernel_config(config);
	return function_of(call, &function, stub) ?: error_of(ask(output, function, &drivers));
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *stub,
						 const cudaLaunchConfig_t *config)
{
	return CALL(clusters("cudaOccupancyMaxPotentialClusterSize", size, stub, config,
			     cuOccupancyMaxPotentialClusterSize));
}

cudaError_t cudaOccupancyMaxActiveClusters(int *count, const void *stub,
					   const cudaLaunchConfig_t *config)
{
	return CALL(clusters("cudaOccupancyMaxActiveClusters", count, stub, config,
			     cuOccupancyMaxActiveClusters));
}

/* Libraries: device code that the program loads itself */

FORWARD(cudaLibraryLoadData, (cudaLibrary_t *library, const void *code, enum cudaJitOption *options,
			      void **values, unsigned int count,
			      enum cudaLibraryOption *library_options, void **library_values,
			      unsigned int library_count),
	cuLibraryLoadData(library, code, (CUjit_option *)options, values, count,
			  (CUlibraryOption *)library_options, library_values, library_count))
FORWARD(cudaLibraryLoadFromFile, (cudaLibrary_t *library, const char *path,
				  enum cudaJitOption *options, void **values, unsigned int count,
				  enum cudaLibraryOption *library_options, void **library_values,
				  unsigned int library_count),
	cuLibraryLoadFromFile(library, path, (CUjit_option *)options, values, count,
			      (CUlibraryOption *)library_options, library_values, library_count))
FORWARD(cudaLibraryUnload, (cudaLibrary_t library), cuLibraryUnload(library))
FORWARD(cudaLibraryGetKernel, (cudaKernel_t *kernel, cudaLibrary_t library, const char *name),
	cuLibraryGetKernel(kernel, library, name))
FORWARD(cudaLibraryGetKernelCount, (unsigned int *count, cudaLibrary_t library),
	cuLibraryGetKernelCount(count, library))
FORWARD(cudaLibraryEnumerateKernels, (cudaKernel_t *kernels, unsigned int count,
				      cudaLibrary_t library),
	cuLibraryEnumerateKernels(kernels, count, library))
FORWARD(cudaLibraryGetGlobal, (void **pointer, size_t *bytes, cudaLibrary_t library,
			       const char *name),
	cuLibraryGetGlobal((CUdeviceptr *)pointer, bytes, library, name))
FORWARD(cudaLibraryGetManaged, (void **pointer, size_t *bytes, cudaLibrary_t library,
				const char *name),
	cuLibraryGetManaged((CUdeviceptr *)pointer, bytes, library, name))
FORWARD(cudaLibraryGetUnifiedFunction, (void **function, cudaLibrary_t library, const char *name),
	cuLibraryGetUnifiedFunction(function, library, name))
FORWARD_WITH(cudaKernelSetAttributeForDevice, (cudaKernel_t kernel,
					       enum cudaFuncAttribute attribute, int value,
					       int device),
	     CUkernel handle,
	     kernel_handle(__func__, &handle, kernel) ?:
	     error_of(cuKernelSetAttribute((CUfunction_attribute)attribute, value, handle, device)))
