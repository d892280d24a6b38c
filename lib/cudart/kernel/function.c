// SPDX-License-Identifier: MIT
/* Attributes of kernels, and their launch. */
#include <limits.h>
#include <stdio.h>

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

/* As kernel_result(), of loading a kernel's code: here the runtime says it, once in a process. */
static cudaError_t load_result(const char *call, const struct kernel *kernel, CUresult result)
{
	char text[512];

	if (result == CUDA_ERROR_NOT_SUPPORTED) {
		snprintf(text, sizeof(text), "kernel %.300s cannot be loaded: build it with "
			 "nvcc -arch=compute_90 (docs/stack/runtime.md)", kernel->name);
		log_aloud(text);
	}
	return kernel_result(call, kernel, result);
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
	error = load_result(call, kernel, kernel_load(kernel));
	if (error == cudaSuccess)
		*handle = kernel->handle;
	return error;
}

static cudaError_t device_attribute(int *value, CUdevice_attribute attribute)
{
	CUdevice device;
	cudaError_t error = error_of(cuCtxGetDevice(&device));

	return error == cudaSuccess ? error_of(cuDeviceGetAttribute(value, attribute, device)) :
				      error;
}

/*
 * Attributes of a kernel that the driver does not load: those that its registration and the
 * device tell. Those that only its code could tell (registers, sizes) are 0.
 */
static cudaError_t known_without_code(int *values, const struct kernel *kernel)
{
	int major = 0, minor = 0;
	cudaError_t error;

	error = device_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) ?:
		device_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) ?:
		device_attribute(&values[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK],
				 CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) ?:
		device_attribute(&values[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES],
				 CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
	if (kernel->thread_limit > 0 &&
	    kernel->thread_limit < values[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK])
		values[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = kernel->thread_limit;
	if (kernel->dynamic_bytes)
		values[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = kernel->dynamic_bytes;
	values[CU_FUNC_ATTRIBUTE_PTX_VERSION] = 10 * major + minor;
	values[CU_FUNC_ATTRIBUTE_BINARY_VERSION] = 10 * major + minor;
	values[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = -1;
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
	struct kernel *kernel = kernel_find(stub);
	CUkernel handle;
	cudaError_t error;

	if (kernel && kernel_load(kernel) == CUDA_ERROR_NOT_SUPPORTED)
		return known_without_code(values, kernel);
	error = kernel_handle("cudaFuncGetAttributes", &handle, stub);
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

/* Keeps an attribute of a kernel without code, for cudaFuncGetAttributes(). */
static cudaError_t keep(struct kernel *kernel, enum cudaFuncAttribute attribute, int value)
{
	int most;
	cudaError_t error;

	if (attribute < cudaFuncAttributeMaxDynamicSharedMemorySize ||
	    attribute >= cudaFuncAttributeMax)
		return refuse("cudaFuncSetAttribute", cudaErrorInvalidValue, "attribute %d",
			      attribute);
	if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
		return cudaSuccess;
	error = device_attribute(&most,
				 CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
	if (error == cudaSuccess && (value < 0 || value > most))
		return refuse("cudaFuncSetAttribute", cudaErrorInvalidValue,
			      "%d bytes of shared memory; the device has %d", value, most);
	if (error == cudaSuccess)
		kernel->dynamic_bytes = value;
	return error;
}

DEFINE_CALL(cudaFuncSetAttribute, (const void *stub, enum cudaFuncAttribute attribute, int value),
	    stub, attribute, value)
{
	struct kernel *kernel = kernel_find(stub);
	CUdevice device;
	CUkernel handle;

	if (kernel && kernel_load(kernel) == CUDA_ERROR_NOT_SUPPORTED)
		return keep(kernel, attribute, value);
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
	int most = 0;

	for (int i = 0; i < 6; i++)
		if (device_attribute(&most, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i) !=
		    cudaSuccess || !shape[i] || shape[i] > (unsigned int)most)
			return false;
	for (int i = 0; i < 3; i++)
		threads *= shape[i];
	return device_attribute(&most, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == cudaSuccess &&
	       threads <= (unsigned int)most;
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
