// SPDX-License-Identifier: MIT
/* Properties and settings of devices. */
#include "runtime.h"

cudaError_t cudaDriverGetVersion(int *version)
{
	return error_keep(error_of(cuDriverGetVersion(version)));
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	if (!version)
		return error_keep(refuse("cudaRuntimeGetVersion", cudaErrorInvalidValue,
					 "NULL output"));
	*version = CUDART_VERSION;
	return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
	return DRIVER_LOADED(cuDeviceGetCount(count));
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	return DRIVER_LOADED(cuDeviceGetAttribute(value, (CUdevice_attribute)attribute, device));
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device)
{
	return DRIVER_LOADED(cuDeviceGetPCIBusId(id, length, device));
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
	return DRIVER_LOADED(cuDeviceGetByPCIBusId(device, id));
}

cudaError_t cudaDeviceSynchronize(void)
{
	return DRIVER(cuCtxSynchronize());
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
	return DRIVER(cuCtxSetLimit((CUlimit)limit, value));
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
	return DRIVER(cuCtxGetLimit(value, (CUlimit)limit));
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
	return DRIVER(cuCtxGetCacheConfig((CUfunc_cache *)config));
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
	return DRIVER(cuCtxSetCacheConfig((CUfunc_cache)config));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	return DRIVER(cuCtxGetStreamPriorityRange(least, greatest));
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
	return DRIVER(cuCtxResetPersistingL2Cache());
}

cudaError_t cudaProfilerStart(void)
{
	return CALL(cudaSuccess);
}

cudaError_t cudaProfilerStop(void)
{
	return CALL(cudaSuccess);
}

/* Peers */

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	return DRIVER_LOADED(cuDeviceCanAccessPeer(can, device, peer));
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int device,
				      int peer)
{
	return DRIVER_LOADED(cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attribute,
						     device, peer));
}

/* Checks the flags first, then the peer, whose context is made. */
static cudaError_t enable_peer(int peer, unsigned int flags)
{
	CUcontext context;
	CUdevice found;
	cudaError_t error;

	if (flags)
		return refuse("cudaDeviceEnablePeerAccess", cudaErrorInvalidValue,
			      "flags %#x", flags);
	error = error_of(cuDeviceGet(&found, peer));
	if (error == cudaSuccess)
		error = primary_context(&context, peer);
	return error == cudaSuccess ? error_of(cuCtxEnablePeerAccess(context, 0)) : error;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
	return CALL(enable_peer(peer, flags));
}

static cudaError_t disable_peer(int peer)
{
	CUcontext context;
	CUdevice found;
	cudaError_t error = error_of(cuDeviceGet(&found, peer));

	if (error == cudaSuccess)
		error = primary_context(&context, peer);
	return error == cudaSuccess ? error_of(cuCtxDisablePeerAccess(context)) : error;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
	return CALL(disable_peer(peer));
}

cudaError_t
cudaDeviceFlushGPUDirectRDMAWrites(enum cudaFlushGPUDirectRDMAWritesTarget target,
				   enum cudaFlushGPUDirectRDMAWritesScope scope)
{
	return DRIVER(cuFlushGPUDirectRDMAWrites((CUflushGPUDirectRDMAWritesTarget)target,
						 (CUflushGPUDirectRDMAWritesScope)scope));
}
