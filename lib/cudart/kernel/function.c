// SPDX-License-Identifier: MIT
/* Attributes of kernels, and their launch. */
#include <limits.h>

#include "kernel.h"

SAME_LAYOUT(cudaLaunchAttribute, CUlaunchAttribute);

/*
 * Return: the error of a driver's result about a kernel. If memcast cannot run it, the driver has
 * said why, once in a process, and the log gets the kernel's name.
 */
cudaError_t kernel_result(const char *call, const struct kernel *kernel, CUresult result)
{
	if (result != CUDA_ERROR_NOT_SUPPORTED)
		return error_of(result);
	return refuse(call, cudaErrorNotSupported, "kernel %.400s cannot run", kernel->name);
}

/* Finds the driver's handle of a kernel, which is loaded then. @stub may be a handle itself. */
cudaError_t kernel_handle(const char *call, CUkernel *handle, const void *stub)
{
	struct kernel *kernel = kernel_find(stub);
	cudaError_t error;
	const char *name;

	if (!kernel) {
		*handle = (CUkernel)stub;
		return stub && cuKernelGetName(&name, *handle) == CUDA_SUCCESS ? cudaSuccess :
			refuse(call, cudaErrorInvalidDeviceFunction,
			       "no kernel is registered at %p", stub);
	}
	error = error_of(kernel_load(kernel));
	if (error == cudaSuccess)
		*handle = kernel->handle;
	return error;
}

static CUresult ask(int *values, CUkernel handle)
{
	CUdevice device;
	CUresult result = cuCtxGetDevice(&device);

	for (int i = 0; i < CU_FUNC_ATTRIBUTE_MAX && result == CUDA_SUCCESS; i++)
		result = cuKernelGetAttribute(&values[i], i, handle, device);
	return result;
}

static cudaError_t attribute_values(int *values, const void *stub)
{
	CUkernel handle;
	cudaError_t error = kernel_handle("cudaFuncGetAttributes", &handle, stub);

	return error == cudaSuccess ? error_of(ask(values, handle)) : error;
}

DEFINE_CALL(cudaFuncGetAttributes, (struct cudaFuncAttributes *attributes, const void *stub),
	    attributes, stub)
{
	int values[CU_FUNC_ATTRIBUTE_MAX] = {};
	cudaError_t error;

	if (!attributes)
		return refuse("cudaFuncGetAttributes", cudaErrorInvalidValue, "NULL output");
	error = attribute_values(values, stub);
	if (error != cudaSuccess)
		return error;
#define VALUE(attribute)	values[CU_FUNC_ATTRIBUTE_##attribute]
	*attributes = (struct cudaFuncAttributes) {
		.sharedSizeBytes = VALUE(SHARED_SIZE_BYTES),
		.constSizeBytes = VALUE(CONST_SIZE_BYTES),
		.localSizeBytes = VALUE(LOCAL_SIZE_BYTES),
		.maxThreadsPerBlock = VALUE(MAX_THREADS_PER_BLOCK),
		.numRegs = VALUE(NUM_REGS),
		.ptxVersion = VALUE(PTX_VERSION),
		.binaryVersion = VALUE(BINARY_VERSION),
		.cacheModeCA = VALUE(CACHE_MODE_CA),
		.maxDynamicSharedSizeBytes = VALUE(MAX_DYNAMIC_SHARED_SIZE_BYTES),
		.preferredShmemCarveout = VALUE(PREFERRED_SHARED_MEMORY_CARVEOUT),
		.clusterDimMustBeSet = VALUE(CLUSTER_SIZE_MUST_BE_SET),
		.requiredClusterWidth = VALUE(REQUIRED_CLUSTER_WIDTH),
		.requiredClusterHeight = VALUE(REQUIRED_CLUSTER_HEIGHT),
		.requiredClusterDepth = VALUE(REQUIRED_CLUSTER_DEPTH),
		.clusterSchedulingPolicyPreference = VALUE(CLUSTER_SCHEDULING_POLICY_PREFERENCE),
		.nonPortableClusterSizeAllowed = VALUE(NON_PORTABLE_CLUSTER_SIZE_ALLOWED),
	};
#undef VALUE
	return cudaSuccess;
}

DEFINE_CALL(cudaFuncSetAttribute, (const void *stub, enum cudaFuncAttribute attribute, int value),
	    stub, attribute, value)
{
	CUdevice device;
	CUkernel handle;

	return kernel_handle("cudaFuncSetAttribute", &handle, stub) ?:
		error_of(cuCtxGetDevice(&device)) ?:
		error_of(cuKernelSetAttribute((CUfunction_attribute)attribute, value, handle,
					      device));
}

CUlaunchConfig kernel_config(const cudaLaunchConfig_t *config)
{
	return (CUlaunchConfig) {
		.gridDimX = config->gridDim.x,
		.gridDimY = config->gridDim.y,
		.gridDimZ = config->gridDim.z,
		.blockDimX = config->blockDim.x,
		.blockDimY = config->blockDim.y,
		.blockDimZ = config->blockDim.z,
		/* the driver refuses the most that it can be told */
		.sharedMemBytes = config->dynamicSmemBytes > UINT_MAX ? UINT_MAX :
				  config->dynamicSmemBytes,
		.hStream = config->stream,
		.attrs = (CUlaunchAttribute *)config->attrs,
		.numAttrs = config->numAttrs,
	};
}

/* Can the device have such blocks, and so many? If not, the runtime has an error of its own. */
static bool fits_device(const cudaLaunchConfig_t *config)
{
	/* in the order of the attributes, which begin with MAX_BLOCK_DIM_X */
	const unsigned int shape[] = {
		config->blockDim.x, config->blockDim.y, config->blockDim.z,
		config->gridDim.x, config->gridDim.y, config->gridDim.z,
	};
	unsigned long long threads = 1;
	CUdevice device;
	int most = 0;

	if (cuCtxGetDevice(&device) != CUDA_SUCCESS)
		return false;
	for (int i = 0; i < 6; i++)
		if (cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i, device) !=
		    CUDA_SUCCESS || !shape[i] || shape[i] > (unsigned int)most)
			return false;
	for (int i = 0; i < 3; i++)
		threads *= shape[i];
	return cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device) ==
	       CUDA_SUCCESS && threads <= (unsigned int)most;
}

static cudaError_t launch(const char *call, const struct kernel *kernel, CUkernel handle,
			  const cudaLaunchConfig_t *config, void **arguments)
{
	CUlaunchConfig launched = kernel_config(config);
	CUresult result = cuLaunchKernelEx(&launched, (CUfunction)handle, arguments, NULL);

	if (result == CUDA_ERROR_INVALID_VALUE && !fits_device(config))
		return refuse(call, cudaErrorInvalidConfiguration,
			      "a grid of %u, %u, %u blocks of %u, %u, %u threads",
			      config->gridDim.x, config->gridDim.y, config->gridDim.z,
			      config->blockDim.x, config->blockDim.y, config->blockDim.z);
	return kernel ? kernel_result(call, kernel, result) : error_of(result);
}

cudaError_t kernel_launch(const char *call, const void *stub, const cudaLaunchConfig_t *config,
			  void **arguments)
{
	CUkernel handle;

	return kernel_handle(call, &handle, stub) ?:
		launch(call, kernel_find(stub), handle, config, arguments);
}
