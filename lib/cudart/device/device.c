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

FORWARD_LOADED(cudaGetDeviceCount, (int *count), cuDeviceGetCount(count))
FORWARD_LOADED(cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attribute, int device),
	       cuDeviceGetAttribute(value, (CUdevice_attribute)attribute, device))
FORWARD_LOADED(cudaDeviceGetPCIBusId, (char *id, int length, int device),
	       cuDeviceGetPCIBusId(id, length, device))
FORWARD_LOADED(cudaDeviceGetByPCIBusId, (int *device, const char *id),
	       cuDeviceGetByPCIBusId(device, id))
FORWARD(cudaDeviceSynchronize, (void), cuCtxSynchronize())
FORWARD(cudaDeviceSetLimit, (enum cudaLimit limit, size_t value),
	cuCtxSetLimit((CUlimit)limit, value))
FORWARD(cudaDeviceGetLimit, (size_t *value, enum cudaLimit limit),
	cuCtxGetLimit(value, (CUlimit)limit))
FORWARD(cudaDeviceGetCacheConfig, (enum cudaFuncCache *config),
	cuCtxGetCacheConfig((CUfunc_cache *)config))
FORWARD(cudaDeviceSetCacheConfig, (enum cudaFuncCache config),
	cuCtxSetCacheConfig((CUfunc_cache)config))
FORWARD(cudaDeviceGetSharedMemConfig, (enum cudaSharedMemConfig *config),
	cuCtxGetSharedMemConfig((CUsharedconfig *)config))
FORWARD(cudaDeviceSetSharedMemConfig, (enum cudaSharedMemConfig config),
	cuCtxSetSharedMemConfig((CUsharedconfig)config))
FORWARD(cudaDeviceGetStreamPriorityRange, (int *least, int *greatest),
	cuCtxGetStreamPriorityRange(least, greatest))
FORWARD(cudaCtxResetPersistingL2Cache, (void), cuCtxResetPersistingL2Cache())

cudaError_t cudaProfilerStart(void)
{
	return CALL(cudaSuccess);
}

cudaError_t cudaProfilerStop(void)
{
	return CALL(cudaSuccess);
}

/* Peers */

FORWARD_LOADED(cudaDeviceCanAccessPeer, (int *can, int device, int peer),
	       cuDeviceCanAccessPeer(can, device, peer))
FORWARD_LOADED(cudaDeviceGetP2PAttribute, (int *value, enum cudaDeviceP2PAttr attribute, int device,
					   int peer),
	       cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attribute, device, peer))

/* Checks the flags first, then the peer, whose context is made. */
DEFINE_CALL(cudaDeviceEnablePeerAccess, (int peer, unsigned int flags), peer, flags)
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

DEFINE_CALL(cudaDeviceDisablePeerAccess, (int peer), peer)
{
	CUcontext context;
	CUdevice found;
	cudaError_t error = error_of(cuDeviceGet(&found, peer));

	if (error == cudaSuccess)
		error = primary_context(&context, peer);
	return error == cudaSuccess ? error_of(cuCtxDisablePeerAccess(context)) : error;
}

cudaError_t
cudaDeviceFlushGPUDirectRDMAWrites(enum cudaFlushGPUDirectRDMAWritesTarget target,
				   enum cudaFlushGPUDirectRDMAWritesScope scope)
{
	return DRIVER(cuFlushGPUDirectRDMAWrites((CUflushGPUDirectRDMAWritesTarget)target,
						 (CUflushGPUDirectRDMAWritesScope)scope));
}
