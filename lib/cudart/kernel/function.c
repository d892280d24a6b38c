// SPDX-License-Identifier: MIT
/* What is known of a kernel, and what becomes of its launch. */
#include <stdio.h>

#include "kernel.h"

/* Of CUfunction_attribute, which the runtime's attributes have the numbers of */
enum {
	MAX_THREADS_PER_BLOCK, SHARED_SIZE_BYTES, CONST_SIZE_BYTES, LOCAL_SIZE_BYTES, NUM_REGS,
	PTX_VERSION, BINARY_VERSION, CACHE_MODE_CA, MAX_DYNAMIC_SHARED_SIZE_BYTES,
	PREFERRED_SHARED_MEMORY_CARVEOUT, CLUSTER_SIZE_MUST_BE_SET, REQUIRED_CLUSTER_WIDTH,
	REQUIRED_CLUSTER_HEIGHT, REQUIRED_CLUSTER_DEPTH, NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
	CLUSTER_SCHEDULING_POLICY_PREFERENCE, ATTRIBUTES
};

static cudaError_t device_attribute(int *value, CUdevice_attribute attribute)
{
	CUdevice device;
	cudaError_t error = error_of(cuCtxGetDevice(&device));

	return error == cudaSuccess ? error_of(cuDeviceGetAttribute(value, attribute, device)) :
				      error;
}

/*
 * Where the driver does not load the kernel: what its registration and the device tell. What
 * only the code itself could tell (registers, sizes) is 0.
 */
static cudaError_t known_without_code(int *values, const struct kernel *kernel)
{
	int major = 0, minor = 0;
	cudaError_t error;

	error = device_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
	if (error == cudaSuccess)
		error = device_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
	if (error == cudaSuccess)
		error = device_attribute(&values[MAX_THREADS_PER_BLOCK],
					 CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
	if (error == cudaSuccess)
		error = device_attribute(&values[MAX_DYNAMIC_SHARED_SIZE_BYTES],
					 CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
	if (kernel->thread_limit > 0 && kernel->thread_limit < values[MAX_THREADS_PER_BLOCK])
		values[MAX_THREADS_PER_BLOCK] = kernel->thread_limit;
	if (kernel->dynamic_bytes)
		values[MAX_DYNAMIC_SHARED_SIZE_BYTES] = kernel->dynamic_bytes;
	values[PTX_VERSION] = 10 * major + minor;
	values[BINARY_VERSION] = 10 * major + minor;
	values[PREFERRED_SHARED_MEMORY_CARVEOUT] = -1;
	return error;
}

static cudaError_t ask(int *values, struct kernel *kernel)
{
	CUresult result = kernel_load(kernel);
	CUdevice device;

	if (result == CUDA_SUCCESS)
		result = cuCtxGetDevice(&device);
	for (int i = 0; i < ATTRIBUTES && result == CUDA_SUCCESS; i++)
		result = driver_kernel_attribute(&values[i], i, kernel->handle, device);
	return result == CUDA_ERROR_NOT_SUPPORTED ? known_without_code(values, kernel) :
						    error_of(result);
}

static cudaError_t attributes_of(struct cudaFuncAttributes *attributes, const void *stub)
{
	int values[ATTRIBUTES] = {};
	struct kernel *kernel;
	cudaError_t error;

	if (!attributes)
		return refuse("cudaFuncGetAttributes", cudaErrorInvalidValue, "NULL output");
	kernel = kernel_find_or_refuse("cudaFuncGetAttributes", stub);
	if (!kernel)
		return cudaErrorInvalidDeviceFunction;
	error = ask(values, kernel);
	if (error != cudaSuccess)
		return error;
	*attributes = (struct cudaFuncAttributes) {
		.sharedSizeBytes = values[SHARED_SIZE_BYTES],
		.constSizeBytes = values[CONST_SIZE_BYTES],
		.localSizeBytes = values[LOCAL_SIZE_BYTES],
		.maxThreadsPerBlock = values[MAX_THREADS_PER_BLOCK],
		.numRegs = values[NUM_REGS],
		.ptxVersion = values[PTX_VERSION],
		.binaryVersion = values[BINARY_VERSION],
		.cacheModeCA = values[CACHE_MODE_CA],
		.maxDynamicSharedSizeBytes = values[MAX_DYNAMIC_SHARED_SIZE_BYTES],
		.preferredShmemCarveout = values[PREFERRED_SHARED_MEMORY_CARVEOUT],
		.clusterDimMustBeSet = values[CLUSTER_SIZE_MUST_BE_SET],
		.requiredClusterWidth = values[REQUIRED_CLUSTER_WIDTH],
		.requiredClusterHeight = values[REQUIRED_CLUSTER_HEIGHT],
		.requiredClusterDepth = values[REQUIRED_CLUSTER_DEPTH],
		.clusterSchedulingPolicyPreference = values[CLUSTER_SCHEDULING_POLICY_PREFERENCE],
		.nonPortableClusterSizeAllowed = values[NON_PORTABLE_CLUSTER_SIZE_ALLOWED],
	};
	return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *stub)
{
	return CALL(attributes_of(attributes, stub));
}

/* Without code all attributes are taken, and one is kept, up to what the device has. */
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

static cudaError_t set_attribute(const void *stub, enum cudaFuncAttribute attribute, int value)
{
	struct kernel *kernel = kernel_find_or_refuse("cudaFuncSetAttribute", stub);
	CUdevice device;
	CUresult result;

	if (!kernel)
		return cudaErrorInvalidDeviceFunction;
	result = kernel_load(kernel);
	if (result == CUDA_SUCCESS)
		result = cuCtxGetDevice(&device);
	if (result == CUDA_SUCCESS)
		result = driver_kernel_set_attribute(attribute, value, kernel->handle, device);
	return result == CUDA_ERROR_NOT_SUPPORTED ? keep(kernel, attribute, value) :
						    error_of(result);
}

cudaError_t cudaFuncSetAttribute(const void *stub, enum cudaFuncAttribute attribute, int value)
{
	return CALL(set_attribute(stub, attribute, value));
}

static cudaError_t set_cache(const void *stub, enum cudaFuncCache config)
{
	if ((int)config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual)
		return refuse("cudaFuncSetCacheConfig", cudaErrorInvalidValue, "config %d",
			      config);
	return kernel_find_or_refuse("cudaFuncSetCacheConfig", stub) ?
		cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t cudaFuncSetCacheConfig(const void *stub, enum cudaFuncCache config)
{
	return CALL(set_cache(stub, config));
}

static cudaError_t name_of(const char **name, const void *stub)
{
	const struct kernel *kernel;

	if (!name)
		return refuse("cudaFuncGetName", cudaErrorInvalidValue, "NULL output");
	kernel = kernel_find_or_refuse("cudaFuncGetName", stub);
	if (!kernel)
		return cudaErrorInvalidDeviceFunction;
	*name = kernel->name;
	return cudaSuccess;
}

cudaError_t cudaFuncGetName(const char **name, const void *stub)
{
	return CALL(name_of(name, stub));
}

/* What takes code that the driver has not loaded */
cudaError_t kernel_refuse(const char *call, const struct kernel *kernel)
{
	char text[512];

	snprintf(text, sizeof(text), "kernel %.400s: memcast runs no kernels", kernel->name);
	log_aloud(text);
	return refuse(call, cudaErrorNotSupported, "%s", text);
}

static cudaError_t handle_of(cudaKernel_t *handle, const void *stub)
{
	struct kernel *kernel;
	CUresult result;

	if (!handle)
		return refuse("cudaGetKernel", cudaErrorInvalidValue, "NULL output");
	kernel = kernel_find_or_refuse("cudaGetKernel", stub);
	if (!kernel)
		return cudaErrorInvalidDeviceFunction;
	result = kernel_load(kernel);
	if (result == CUDA_ERROR_NOT_SUPPORTED)
		return kernel_refuse("cudaGetKernel", kernel);
	if (result == CUDA_SUCCESS)
		*handle = kernel->handle;
	return error_of(result);
}

cudaError_t cudaGetKernel(cudaKernel_t *handle, const void *stub)
{
	return CALL(handle_of(handle, stub));
}

static cudaError_t function_of(cudaFunction_t *function, const void *stub)
{
	struct kernel *kernel;
	CUresult result;

	if (!function)
		return refuse("cudaGetFuncBySymbol", cudaErrorInvalidValue, "NULL output");
	kernel = kernel_find_or_refuse("cudaGetFuncBySymbol", stub);
	if (!kernel)
		return cudaErrorInvalidDeviceFunction;
	result = kernel_load(kernel);
	if (result == CUDA_SUCCESS)
		result = driver_kernel_function(function, kernel->handle);
	return result == CUDA_ERROR_NOT_SUPPORTED ?
		kernel_refuse("cudaGetFuncBySymbol", kernel) : error_of(result);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *stub)
{
	return CALL(function_of(function, stub));
}

/* A program's stub asks this before its first launch. It launches by what it was given. */
EXPORTED cudaError_t __cudaGetKernel(cudaKernel_t *handle, const void *stub)
{
	*handle = (cudaKernel_t)stub;
	return kernel_find(stub) ? cudaSuccess : error_keep(cudaErrorInvalidDeviceFunction);
}

cudaError_t kernel_launch(const char *call, const void *stub, const cudaLaunchConfig_t *config,
			  void **arguments)
{
	struct kernel *kernel = kernel_find_or_refuse(call, stub);
	CUresult result;

	if (!kernel)
		return cudaErrorInvalidDeviceFunction;
	result = kernel_load(kernel);
	if (result == CUDA_SUCCESS)
		result = driver_launch(config, kernel->handle, arguments);
	return result == CUDA_ERROR_NOT_SUPPORTED ? kernel_refuse(call, kernel) :
						    error_of(result);
}
