/* SPDX-License-Identifier: MIT */
/*
 * The part of the CUDA runtime API that memcast emulates.
 *
 * Names and parameters are those of CUDA 13.0, so that a program built with NVIDIA's
 * header of this name runs on memcast's libcudart.so.13, and the other way round. Text
 * and everything else is memcast's own.
 *
 * The runtime is a layer on the driver API. Parameters and results of a function here are
 * described with the function of include/cuda/cuda.h that it calls, whose name is given as "cu…".
 * The runtime adds three things:
 *
 *   - The calling thread's device, 0 unless cudaSetDevice() has set another, and the
 *     primary context of that device, which the first call that needs one makes current.
 *     A context that the program made current itself is used as it is.
 *   - An error of the driver is returned as the cudaError_t of the same number, and kept
 *     as the thread's last error (cudaGetLastError()). cudaErrorNotReady is not kept.
 *   - The default stream is NULL; for programs that are built with
 *     CUDA_API_PER_THREAD_DEFAULT_STREAM it is cudaStreamPerThread.
 *
 * Every function that needs a device can return, besides the errors listed with it,
 *
 *   cudaErrorInvalidValue	an output is NULL, or flags are unknown
 *   cudaErrorNoDevice		there is no device: the module is not loaded
 *   cudaErrorInitializationError	in the child of a fork() of a process that used it
 *
 * Functions that are not declared here are exported and return cudaErrorNotSupported, so that
 * every program loads; docs/stack/runtime.md lists them. With CUDA_LOG_FILE=stderr, stdout or
 * a path in the environment each failed call has a line there with its reason.
 */
/* The include guard of NVIDIA's header of this name: of the two headers, the first one counts. */
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__

#include <stddef.h>
#include <driver_types.h>

#define CUDART_VERSION	13000
#define CUDARTAPI
#define CUDART_CB

/* Programs built for the per-thread default stream import other names. */
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define cudaEventRecordWithFlags		cudaEventRecordWithFlags_ptsz
#define cudaEventRecord				cudaEventRecord_ptsz
#define cudaFreeAsync				cudaFreeAsync_ptsz
#define cudaGetDriverEntryPointByVersion	cudaGetDriverEntryPointByVersion_ptsz
#define cudaGetDriverEntryPoint			cudaGetDriverEntryPoint_ptsz
#define cudaGraphInstantiateWithParams		cudaGraphInstantiateWithParams_ptsz
#define cudaGraphLaunch				cudaGraphLaunch_ptsz
#define cudaGraphUpload				cudaGraphUpload_ptsz
#define cudaLaunchCooperativeKernel		cudaLaunchCooperativeKernel_ptsz
#define cudaLaunchHostFunc			cudaLaunchHostFunc_ptsz
#define cudaLaunchKernelExC			cudaLaunchKernelExC_ptsz
#define cudaLaunchKernel			cudaLaunchKernel_ptsz
#define cudaMallocAsync				cudaMallocAsync_ptsz
#define cudaMallocFromPoolAsync			cudaMallocFromPoolAsync_ptsz
#define cudaMemDiscardAndPrefetchBatchAsync	cudaMemDiscardAndPrefetchBatchAsync_ptsz
#define cudaMemDiscardBatchAsync		cudaMemDiscardBatchAsync_ptsz
#define cudaMemPrefetchAsync			cudaMemPrefetchAsync_ptsz
#define cudaMemPrefetchBatchAsync		cudaMemPrefetchBatchAsync_ptsz
#define cudaMemcpy2DAsync			cudaMemcpy2DAsync_ptsz
#define cudaMemcpy2D				cudaMemcpy2D_ptds
#define cudaMemcpy3DAsync			cudaMemcpy3DAsync_ptsz
#define cudaMemcpy3DBatchAsync			cudaMemcpy3DBatchAsync_ptsz
#define cudaMemcpy3DPeerAsync			cudaMemcpy3DPeerAsync_ptsz
#define cudaMemcpy3DPeer			cudaMemcpy3DPeer_ptds
#define cudaMemcpy3D				cudaMemcpy3D_ptds
#define cudaMemcpyAsync				cudaMemcpyAsync_ptsz
#define cudaMemcpyBatchAsync			cudaMemcpyBatchAsync_ptsz
#define cudaMemcpyFromSymbolAsync		cudaMemcpyFromSymbolAsync_ptsz
#define cudaMemcpyFromSymbol			cudaMemcpyFromSymbol_ptds
#define cudaMemcpyToSymbolAsync			cudaMemcpyToSymbolAsync_ptsz
#define cudaMemcpyToSymbol			cudaMemcpyToSymbol_ptds
#define cudaMemcpy				cudaMemcpy_ptds
#define cudaMemset2DAsync			cudaMemset2DAsync_ptsz
#define cudaMemset2D				cudaMemset2D_ptds
#define cudaMemset3DAsync			cudaMemset3DAsync_ptsz
#define cudaMemset3D				cudaMemset3D_ptds
#define cudaMemsetAsync				cudaMemsetAsync_ptsz
#define cudaMemset				cudaMemset_ptds
#define cudaStreamAddCallback			cudaStreamAddCallback_ptsz
#define cudaStreamAttachMemAsync		cudaStreamAttachMemAsync_ptsz
#define cudaStreamBeginCaptureToGraph		cudaStreamBeginCaptureToGraph_ptsz
#define cudaStreamBeginCapture			cudaStreamBeginCapture_ptsz
#define cudaStreamCopyAttributes		cudaStreamCopyAttributes_ptsz
#define cudaStreamEndCapture			cudaStreamEndCapture_ptsz
#define cudaStreamGetAttribute			cudaStreamGetAttribute_ptsz
#define cudaStreamGetCaptureInfo		cudaStreamGetCaptureInfo_ptsz
#define cudaStreamGetDevice			cudaStreamGetDevice_ptsz
#define cudaStreamGetFlags			cudaStreamGetFlags_ptsz
#define cudaStreamGetId				cudaStreamGetId_ptsz
#define cudaStreamGetPriority			cudaStreamGetPriority_ptsz
#define cudaStreamIsCapturing			cudaStreamIsCapturing_ptsz
#define cudaStreamQuery				cudaStreamQuery_ptsz
#define cudaStreamSetAttribute			cudaStreamSetAttribute_ptsz
#define cudaStreamSynchronize			cudaStreamSynchronize_ptsz
#define cudaStreamUpdateCaptureDependencies	cudaStreamUpdateCaptureDependencies_ptsz
#define cudaStreamWaitEvent			cudaStreamWaitEvent_ptsz
#endif

/* Trailing arguments that C++ programs may leave out */
#ifdef __cplusplus
#define MEMCAST_OR(value)	= value
extern "C" {
#else
#define MEMCAST_OR(value)
#endif

/* Errors */

/* The last error of the calling thread, which is cudaSuccess afterwards. */
cudaError_t cudaGetLastError(void);

/* The last error of the calling thread, which stays. */
cudaError_t cudaPeekAtLastError(void);

/* The name of an error, and a sentence; "unrecognized error code" for other numbers. */
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

/* Versions */

/* cuDriverGetVersion: the CUDA version of the driver, 1000 · major + 10 · minor. */
cudaError_t cudaDriverGetVersion(int *driverVersion);

/* The CUDA version of this library: CUDART_VERSION. */
cudaError_t cudaRuntimeGetVersion(int *runtimeVersion);

/* Devices */

/* cuDeviceGetCount: how many devices there are. */
cudaError_t cudaGetDeviceCount(int *count);

/*
 * Makes @device the calling thread's, and its primary context current.
 * cudaErrorInvalidDevice: there is no such device. Source: recorded on hardware.
 */
cudaError_t cudaSetDevice(int device);

/* The device of the current context; without one, the device that the next call would use. */
cudaError_t cudaGetDevice(int *device);

/*
 * Makes the primary context of @device, without making it the thread's.
 * @deviceFlags: as for cudaSetDeviceFlags(), if @flags is cudaInitDeviceFlagsAreValid.
 */
cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags);

/*
 * The calling thread takes the first of these @len devices when it needs one and no context is
 * current; with @len 0, device 0. cudaErrorInvalidDevice: one of the devices does not exist.
 */
cudaError_t cudaSetValidDevices(int *device_arr, int len);

/*
 * The device that is most like @prop: of those with at least its compute capability and
 * memory, the first with the most memory; device 0 if there is none.
 */
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop);

/* cuDevicePrimaryCtxSetFlags, of the thread's device: cudaDevice…; MapHost is implied. */
cudaError_t cudaSetDeviceFlags(unsigned int flags);

/* The flags of the current context, or else of the thread's device; with MapHost. */
cudaError_t cudaGetDeviceFlags(unsigned int *flags);

/* cuDeviceGetAttribute. cudaErrorInvalidDevice: there is no such device. */
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device);

/* All properties of a device; fields without an attribute are 0. */
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device);

/* cuDeviceGetPCIBusId, @len bytes with the final 0; the device with such a bus address. */
cudaError_t cudaDeviceGetPCIBusId(char *pciBusId, int len, int device);
cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *pciBusId);

/*
 * cuDevicePrimaryCtxReset, of the current device: all its memory, streams and events
 * are gone, those of other libraries of the process as well.
 */
cudaError_t cudaDeviceReset(void);

/* cuCtxSynchronize: waits for all work of the current device. */
cudaError_t cudaDeviceSynchronize(void);

/* cuFlushGPUDirectRDMAWrites */
cudaError_t
cudaDeviceFlushGPUDirectRDMAWrites(enum cudaFlushGPUDirectRDMAWritesTarget target,
				   enum cudaFlushGPUDirectRDMAWritesScope scope);

/* cuCtxSetLimit, cuCtxGetLimit. cudaErrorUnsupportedLimit: there is no such limit. */
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit);

/* cuCtxGetCacheConfig, cuCtxSetCacheConfig: kept, no effect. */
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *pCacheConfig);
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig);

/* cuCtxGetSharedMemConfig, cuCtxSetSharedMemConfig: four bytes, whatever was set. */
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *pConfig);
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);

/* cuCtxGetStreamPriorityRange */
cudaError_t cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority);

/* cuCtxResetPersistingL2Cache */
cudaError_t cudaCtxResetPersistingL2Cache(void);

/* Peers */

/* cuDeviceCanAccessPeer */
cudaError_t cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice);

/* cuDeviceGetP2PAttribute */
cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice,
				      int dstDevice);

/*
 * cuCtxEnablePeerAccess: the current device reaches the memory of @peerDevice, whose
 * primary context is made; cuCtxDisablePeerAccess.
 */
cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags);
cudaError_t cudaDeviceDisablePeerAccess(int peerDevice);

/* Memory */

/* cuMemAlloc, of the current device. @size 0: success, and NULL. */
cudaError_t cudaMalloc(void **devPtr, size_t size);

/* cuMemAllocPitch: @height rows of @width bytes, *@pitch bytes from one to the next. */
cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height);

/* The same with layers: extent.depth layers of extent.height rows of extent.width bytes. */
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent);

/* cuMemFree. NULL: success. */
cudaError_t cudaFree(void *devPtr);

/* cuMemHostAlloc: host memory of @size bytes. @size 0: success, and NULL. */
cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags);
cudaError_t cudaMallocHost(void **ptr, size_t size);

/* cuMemFreeHost. NULL: success. */
cudaError_t cudaFreeHost(void *ptr);

/* cuMemHostRegister, cuMemHostUnregister: @size bytes of the program's own memory. */
cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags);
cudaError_t cudaHostUnregister(void *ptr);

/* cuMemHostGetDevicePointer, cuMemHostGetFlags (with cudaHostAllocMapped) */
cudaError_t cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags);
cudaError_t cudaHostGetFlags(unsigned int *pFlags, void *pHost);

/* cuMemGetInfo: bytes of the current device. Either may be NULL. */
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);

/* The memory at an address; cudaMemoryTypeUnregistered (success) if the driver does not know it. */
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
				     const void *ptr);

/* cuIpcGetMemHandle, cuIpcOpenMemHandle, cuIpcCloseMemHandle */
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr);
cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags);
cudaError_t cudaIpcCloseMemHandle(void *devPtr);

/* cuImportExternalMemory, cuExternalMemoryGetMappedBuffer, cuDestroyExternalMemory */
cudaError_t cudaImportExternalMemory(cudaExternalMemory_t *extMem_out,
				     const struct cudaExternalMemoryHandleDesc *memHandleDesc);
cudaError_t
cudaExternalMemoryGetMappedBuffer(void **devPtr, cudaExternalMemory_t extMem,
				  const struct cudaExternalMemoryBufferDesc *bufferDesc);
cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t extMem);

/*
 * Copies. @kind says whether each side is host or device memory; an address of another kind is
 * cudaErrorInvalidValue; cudaMemcpyDefault takes any.
 *
 *   cudaErrorInvalidMemcpyDirection	@kind is none
 *   cudaErrorInvalidPitchValue		rows are wider than a pitch
 */

/* cuMemcpyHtoD, cuMemcpyDtoH, cuMemcpyDtoD or cuMemcpy, of @count bytes */
cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
			    cudaStream_t stream MEMCAST_OR(0));

/* cuMemcpyPeer, from one device's primary context to another's */
cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice,
			   size_t count);
cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice,
				size_t count, cudaStream_t stream MEMCAST_OR(0));

/* cuMemcpy2D: @height rows of @width bytes, @dpitch and @spitch bytes apart */
cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
			 size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
			      size_t width, size_t height, enum cudaMemcpyKind kind,
			      cudaStream_t stream MEMCAST_OR(0));

/* cuMemcpy3D, cuMemcpy3DPeer: positions and extents are in bytes, rows and layers. */
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p);
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p,
			      cudaStream_t stream MEMCAST_OR(0));
cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p);
cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p,
				  cudaStream_t stream MEMCAST_OR(0));

/* cuMemcpyBatchAsync, cuMemcpy3DBatchAsync: the stream is none of the default ones. */
cudaError_t cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes,
				 size_t count, struct cudaMemcpyAttributes *attrs,
				 size_t *attrsIdxs, size_t numAttrs, cudaStream_t stream);
cudaError_t cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp *opList,
				   unsigned long long flags, cudaStream_t stream);

/*
 * The device's variable that is registered under the address @symbol: its bytes from
 * @offset. cudaErrorInvalidSymbol: no such variable is registered.
 */
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count,
			       size_t offset MEMCAST_OR(0),
			       enum cudaMemcpyKind kind MEMCAST_OR(cudaMemcpyHostToDevice));
cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count,
				 size_t offset MEMCAST_OR(0),
				 enum cudaMemcpyKind kind MEMCAST_OR(cudaMemcpyDeviceToHost));
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count,
				    size_t offset, enum cudaMemcpyKind kind,
				    cudaStream_t stream MEMCAST_OR(0));
cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count,
				      size_t offset, enum cudaMemcpyKind kind,
				      cudaStream_t stream MEMCAST_OR(0));
cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol);
cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol);

/* cuMemsetD8, cuMemsetD2D8: the lowest byte of @value to each byte. */
cudaError_t cudaMemset(void *devPtr, int value, size_t count);
cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count,
			    cudaStream_t stream MEMCAST_OR(0));
cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
			      cudaStream_t stream MEMCAST_OR(0));

/* extent.depth layers of pitchedDevPtr.ysize rows, of which extent.height are filled */
cudaError_t cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value,
			 struct cudaExtent extent);
cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value,
			      struct cudaExtent extent, cudaStream_t stream MEMCAST_OR(0));

/* Stream-ordered memory */

/* cuMemAllocAsync, cuMemAllocFromPoolAsync, cuMemFreeAsync (NULL: success) */
cudaError_t cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream);
cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool,
				    cudaStream_t stream);
cudaError_t cudaFreeAsync(void *devPtr, cudaStream_t hStream);

/* cuMemPoolCreate, cuMemPoolDestroy, cuMemPoolTrimTo (to so many bytes) */
cudaError_t cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep);

/* cuMemPoolSetAttribute, cuMemPoolGetAttribute: an int or a 64-bit number, as there */
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr,
				    void *value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr,
				    void *value);

/* cuMemPoolSetAccess, cuMemPoolGetAccess */
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList,
				 size_t count);
cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool,
				 struct cudaMemLocation *location);

/* cuMemPoolExportToShareableHandle, cuMemPoolImportFromShareableHandle */
cudaError_t cudaMemPoolExportToShareableHandle(void *shareableHandle, cudaMemPool_t memPool,
					       enum cudaMemAllocationHandleType handleType,
					       unsigned int flags);
cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *memPool, void *shareableHandle,
						 enum cudaMemAllocationHandleType handleType,
						 unsigned int flags);

/* cuMemPoolExportPointer, cuMemPoolImportPointer */
cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *exportData, void *ptr);
cudaError_t cudaMemPoolImportPointer(void **ptr, cudaMemPool_t memPool,
				     struct cudaMemPoolPtrExportData *exportData);

/* cuDeviceGetDefaultMemPool, cuDeviceGetMemPool, cuDeviceSetMemPool */
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool);

/* cuMemGetDefaultMemPool, cuMemGetMemPool, cuMemSetMemPool */
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
				     enum cudaMemAllocationType type);
cudaError_t cudaMemGetMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
			      enum cudaMemAllocationType type);
cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location, enum cudaMemAllocationType type,
			      cudaMemPool_t memPool);

/* Managed memory */

/* cuMemAllocManaged; cudaFree frees it. */
cudaError_t cudaMallocManaged(void **devPtr, size_t size,
			      unsigned int flags MEMCAST_OR(cudaMemAttachGlobal));

/* cuMemAdvise, cuMemRangeGetAttribute, cuMemRangeGetAttributes */
cudaError_t cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
			  struct cudaMemLocation location);
cudaError_t cudaMemRangeGetAttribute(void *data, size_t dataSize,
				     enum cudaMemRangeAttribute attribute, const void *devPtr,
				     size_t count);
cudaError_t cudaMemRangeGetAttributes(void **data, size_t *dataSizes,
				      enum cudaMemRangeAttribute *attributes,
				      size_t numAttributes, const void *devPtr, size_t count);

/* cuMemPrefetchAsync, cuMemPrefetchBatchAsync */
cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count,
				 struct cudaMemLocation location, unsigned int flags,
				 cudaStream_t stream MEMCAST_OR(0));
cudaError_t cudaMemPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count,
				      struct cudaMemLocation *prefetchLocs,
				      size_t *prefetchLocIdxs, size_t numPrefetchLocs,
				      unsigned long long flags, cudaStream_t stream);

/* cuMemDiscardBatchAsync, cuMemDiscardAndPrefetchBatchAsync */
cudaError_t cudaMemDiscardBatchAsync(void **dptrs, size_t *sizes, size_t count,
				     unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count,
						struct cudaMemLocation *prefetchLocs,
						size_t *prefetchLocIdxs, size_t numPrefetchLocs,
						unsigned long long flags, cudaStream_t stream);

/* Streams */

/* cuStreamCreate, cuStreamCreateWithPriority, cuStreamDestroy */
cudaError_t cudaStreamCreate(cudaStream_t *pStream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags,
					 int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);

/* cuStreamGetPriority, cuStreamGetFlags, cuStreamGetId, cuStreamGetDevice */
cudaError_t cudaStreamGetPriority(cudaStream_t hStream, int *priority);
cudaError_t cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags);
cudaError_t cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId);
cudaError_t cudaStreamGetDevice(cudaStream_t hStream, int *device);

/* cuStreamSetAttribute, cuStreamGetAttribute, cuStreamCopyAttributes */
cudaError_t cudaStreamSetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
				   const cudaLaunchAttributeValue *value);
cudaError_t cudaStreamGetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
				   cudaLaunchAttributeValue *value_out);
cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src);

/* cuStreamQuery (cudaErrorNotReady: work is left), cuStreamSynchronize */
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);

/* cuStreamWaitEvent */
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
				unsigned int flags MEMCAST_OR(0));

/* cuLaunchHostFunc; cuStreamAddCallback with the stream's error */
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *userData);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
				  void *userData, unsigned int flags);

/* cuStreamAttachMemAsync */
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr,
				     size_t length MEMCAST_OR(0),
				     unsigned int flags MEMCAST_OR(cudaMemAttachSingle));

/* Events */

/* cuEventCreate, cuEventDestroy */
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);

/* cuEventRecord, cuEventRecordWithFlags */
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream MEMCAST_OR(0));
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream MEMCAST_OR(0),
				     unsigned int flags MEMCAST_OR(0));

/* cuEventQuery (cudaErrorNotReady: not yet), cuEventSynchronize */
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);

/* cuEventElapsedTime, in milliseconds */
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end);

/* cuIpcGetEventHandle, cuIpcOpenEventHandle */
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle);

/* Capture: work that is queued in a stream becomes a graph. */

/* cuStreamBeginCapture, cuStreamBeginCaptureToGraph, cuStreamEndCapture */
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
					  const cudaGraphNode_t *dependencies,
					  const cudaGraphEdgeData *dependencyData,
					  size_t numDependencies,
					  enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph);

/* cuStreamIsCapturing, cuStreamGetCaptureInfo */
cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
				  enum cudaStreamCaptureStatus *pCaptureStatus);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
				     enum cudaStreamCaptureStatus *captureStatus_out,
				     unsigned long long *id_out MEMCAST_OR(0),
				     cudaGraph_t *graph_out MEMCAST_OR(0),
				     const cudaGraphNode_t **dependencies_out MEMCAST_OR(0),
				     const cudaGraphEdgeData **edgeData_out MEMCAST_OR(0),
				     size_t *numDependencies_out MEMCAST_OR(0));

/* cuStreamUpdateCaptureDependencies */
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
						cudaGraphNode_t *dependencies,
						const cudaGraphEdgeData *dependencyData,
						size_t numDependencies,
						unsigned int flags MEMCAST_OR(0));

/* cuThreadExchangeStreamCaptureMode */
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode);

/* Graphs */

/* cuGraphCreate, cuGraphDestroy, cuGraphClone, cuGraphNodeFindInClone */
cudaError_t cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph);
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *pNode, cudaGraphNode_t originalNode,
				     cudaGraph_t clonedGraph);

/*
 * cuGraphAddMemcpyNode, and others of such names: a node that depends on @numDependencies
 * nodes. The current device does copies and fills.
 */
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
				   const cudaGraphNode_t *pDependencies, size_t numDependencies,
				   const struct cudaMemcpy3DParms *pCopyParams);
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
				     const cudaGraphNode_t *pDependencies, size_t numDependencies,
				     void *dst, const void *src, size_t count,
				     enum cudaMemcpyKind kind);
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
				   const cudaGraphNode_t *pDependencies, size_t numDependencies,
				   const struct cudaMemsetParams *pMemsetParams);
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
				 const cudaGraphNode_t *pDependencies, size_t numDependencies,
				 const struct cudaHostNodeParams *pNodeParams);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
				       const cudaGraphNode_t *pDependencies,
				       size_t numDependencies, cudaGraph_t childGraph);
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
				  const cudaGraphNode_t *pDependencies, size_t numDependencies);
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
					const cudaGraphNode_t *pDependencies,
					size_t numDependencies, cudaEvent_t event);
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
				      const cudaGraphNode_t *pDependencies,
				      size_t numDependencies, cudaEvent_t event);
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
				     const cudaGraphNode_t *pDependencies, size_t numDependencies,
				     struct cudaMemAllocNodeParams *nodeParams);
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
				    const cudaGraphNode_t *pDependencies, size_t numDependencies,
				    void *dptr);
cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
			     const cudaGraphNode_t *pDependencies,
			     const cudaGraphEdgeData *dependencyData, size_t numDependencies,
			     struct cudaGraphNodeParams *nodeParams);

/* cuGraphConditionalHandleCreate, in the current context */
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *pHandle_out,
					     cudaGraph_t graph,
					     unsigned int defaultLaunchValue,
					     unsigned int flags);

/* cuGraphMemcpyNodeGetParams, and others of such names: parameters of nodes, and changes to them */
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
					 struct cudaMemcpy3DParms *pNodeParams);
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
					 const struct cudaMemcpy3DParms *pNodeParams);
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src,
					   size_t count, enum cudaMemcpyKind kind);
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
					 struct cudaMemsetParams *pNodeParams);
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
					 const struct cudaMemsetParams *pNodeParams);
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node,
				       struct cudaHostNodeParams *pNodeParams);
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
				       const struct cudaHostNodeParams *pNodeParams);
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *pGraph);
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out);
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out);
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
					   struct cudaMemAllocNodeParams *params_out);
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *dptr_out);
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *nodeParams);

/* cuGraphNodeGetType, cuGraphGetNodes, cuGraphGetRootNodes, cuGraphGetEdges and the like */
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *pType);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes);
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes,
				  size_t *pNumRootNodes);
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
			      cudaGraphEdgeData *edgeData, size_t *numEdges);
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies,
					 cudaGraphEdgeData *edgeData, size_t *pNumDependencies);
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
					   cudaGraphNode_t *pDependentNodes,
					   cudaGraphEdgeData *edgeData,
					   size_t *pNumDependentNodes);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
				     const cudaGraphNode_t *to, const cudaGraphEdgeData *edgeData,
				     size_t numDependencies);
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
					const cudaGraphNode_t *to,
					const cudaGraphEdgeData *edgeData,
					size_t numDependencies);
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node);

/* cuGraphDebugDotPrint */
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags);

/* cuGraphInstantiate, cuGraphInstantiateWithParams, cuGraphExecGetFlags, cuGraphExecDestroy */
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
				 unsigned long long flags MEMCAST_OR(0));
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
					  unsigned long long flags MEMCAST_OR(0));
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
					   cudaGraphInstantiateParams *instantiateParams);
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long *flags);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec);

/* cuGraphLaunch, cuGraphUpload */
cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream);
cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream);

/* cuGraphExecUpdate, and changes to one node of an instance */
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
				cudaGraphExecUpdateResultInfo *resultInfo);
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
					     const struct cudaMemcpy3DParms *pNodeParams);
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
					       void *dst, const void *src, size_t count,
					       enum cudaMemcpyKind kind);
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
					     const struct cudaMemsetParams *pNodeParams);
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
					   const struct cudaHostNodeParams *pNodeParams);
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec,
						 cudaGraphNode_t node, cudaGraph_t childGraph);
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t hGraphExec,
						 cudaGraphNode_t hNode, cudaEvent_t event);
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t hGraphExec,
					       cudaGraphNode_t hNode, cudaEvent_t event);
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
				       struct cudaGraphNodeParams *nodeParams);
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
				    unsigned int isEnabled);
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
				    unsigned int *isEnabled);

/* cuDeviceGraphMemTrim, cuDeviceGetGraphMemAttribute, cuDeviceSetGraphMemAttribute */
cudaError_t cudaDeviceGraphMemTrim(int device);
cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr,
					   void *value);
cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr,
					   void *value);

/* cuUserObjectCreate, cuUserObjectRetain, cuUserObjectRelease */
cudaError_t cudaUserObjectCreate(cudaUserObject_t *object_out, void *ptr, cudaHostFn_t destroy,
				 unsigned int initialRefcount, unsigned int flags);
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count MEMCAST_OR(1));
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count MEMCAST_OR(1));

/* cuGraphRetainUserObject, cuGraphReleaseUserObject */
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
				      unsigned int count MEMCAST_OR(1),
				      unsigned int flags MEMCAST_OR(0));
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
				       unsigned int count MEMCAST_OR(1));

/* The driver's functions and its log */

/*
 * cuGetProcAddress: the driver's function @symbol of the CUDA version @cudaVersion, or
 * NULL and the reason in *@driverStatus, which may be NULL. The first function takes this library's
 * version.
 */
cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
				    enum cudaDriverEntryPointQueryResult *driverStatus
				    MEMCAST_OR(0));
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr,
					     unsigned int cudaVersion, unsigned long long flags,
					     enum cudaDriverEntryPointQueryResult *driverStatus
					     MEMCAST_OR(0));

/* cuLogsRegisterCallback, cuLogsUnregisterCallback */
typedef void (*cudaLogsCallback_t)(void *data, cudaLogLevel logLevel, char *message,
				   size_t length);
cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t callbackFunc, void *userData,
				     cudaLogsCallbackHandle *callback_out);
cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle callback);

/* cuLogsCurrent, cuLogsDumpToFile, cuLogsDumpToMemory */
cudaError_t cudaLogsCurrent(cudaLogIterator *iterator_out, unsigned int flags);
cudaError_t cudaLogsDumpToFile(cudaLogIterator *iterator, const char *pathToFile,
			       unsigned int flags);
cudaError_t cudaLogsDumpToMemory(cudaLogIterator *iterator, char *buffer, size_t *size,
				 unsigned int flags);

/* A description of so many bits of each channel */
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
						   enum cudaChannelFormatKind f);

/*
 * Kernels, which a program's compiler registers under the address of their stub. They
 * are known by name; a launch runs the C function of memcast/kernel.h, if there is one.
 *
 *   cudaErrorInvalidDeviceFunction	no kernel is registered under that address
 *   cudaErrorNotSupported		a launch without such a function
 *
 * @func: such an address, or a cudaKernel_t
 */

/* cuKernelGetAttribute, cuKernelSetAttribute: all attributes of a kernel on the current device */
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func);
cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value);
cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attr,
					    int value, int device);

/* cuFuncSetCacheConfig, cuFuncSetSharedMemConfig: kept, no effect. */
cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig);
cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config);

/* The name under which a kernel is registered: its symbol. And cuKernelGetParamInfo */
cudaError_t cudaFuncGetName(const char **name, const void *func);
cudaError_t cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset,
				 size_t *paramSize);

/* The driver's handles of a kernel, the first in the current context: cuKernelGetFunction */
cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr);
cudaError_t cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr);

/* cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyAvailableDynamicSMemPerBlock */
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func,
							  int blockSize, size_t dynamicSMemSize);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks,
								   const void *func,
								   int blockSize,
								   size_t dynamicSMemSize,
								   unsigned int flags);
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func,
						      int numBlocks, int blockSize);

/* cuLaunchKernelEx */
cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
			     size_t sharedMem, cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim,
					void **args, size_t sharedMem, cudaStream_t stream);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args);

/* cuLibraryLoadData, cuLibraryLoadFromFile, cuLibraryUnload */
cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
				enum cudaJitOption *jitOptions, void **jitOptionsValues,
				unsigned int numJitOptions,
				enum cudaLibraryOption *libraryOptions,
				void **libraryOptionValues, unsigned int numLibraryOptions);
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *fileName,
				    enum cudaJitOption *jitOptions, void **jitOptionsValues,
				    unsigned int numJitOptions,
				    enum cudaLibraryOption *libraryOptions,
				    void **libraryOptionValues, unsigned int numLibraryOptions);
cudaError_t cudaLibraryUnload(cudaLibrary_t library);

/*
 * cuLibraryGetKernel, cuLibraryGetKernelCount, cuLibraryEnumerateKernels, cuLibraryGetGlobal,
 * cuLibraryGetManaged, cuLibraryGetUnifiedFunction
 */
cudaError_t cudaLibraryGetKernel(cudaKernel_t *pKernel, cudaLibrary_t library, const char *name);
cudaError_t cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t lib);
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int numKernels,
					cudaLibrary_t lib);
cudaError_t cudaLibraryGetGlobal(void **dptr, size_t *bytes, cudaLibrary_t library,
				 const char *name);
cudaError_t cudaLibraryGetManaged(void **dptr, size_t *bytes, cudaLibrary_t library,
				  const char *name);
cudaError_t cudaLibraryGetUnifiedFunction(void **fptr, cudaLibrary_t library, const char *symbol);

/*
 * cuGraphAddKernelNode, and others of such names. A node's parameters name a kernel that the
 * program has registered by the address of its registration.
 */
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
				   const cudaGraphNode_t *pDependencies, size_t numDependencies,
				   const struct cudaKernelNodeParams *pNodeParams);
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
					 struct cudaKernelNodeParams *pNodeParams);
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
					 const struct cudaKernelNodeParams *pNodeParams);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
					     const struct cudaKernelNodeParams *pNodeParams);
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc);
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
					    cudaLaunchAttributeValue *value_out);
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
					    const cudaLaunchAttributeValue *value);

/* cuGraphAddMemcpyNode with a variable that the program has registered: see cudaMemcpyToSymbol() */
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
					   const cudaGraphNode_t *pDependencies,
					   size_t numDependencies, const void *symbol,
					   const void *src, size_t count, size_t offset,
					   enum cudaMemcpyKind kind);
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
					     const cudaGraphNode_t *pDependencies,
					     size_t numDependencies, void *dst,
					     const void *symbol, size_t count, size_t offset,
					     enum cudaMemcpyKind kind);
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
						 const void *src, size_t count, size_t offset,
						 enum cudaMemcpyKind kind);
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst,
						   const void *symbol, size_t count,
						   size_t offset, enum cudaMemcpyKind kind);
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec,
						     cudaGraphNode_t node, const void *symbol,
						     const void *src, size_t count,
						     size_t offset, enum cudaMemcpyKind kind);
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec,
						       cudaGraphNode_t node, void *dst,
						       const void *symbol, size_t count,
						       size_t offset, enum cudaMemcpyKind kind);

/* cuOccupancyMaxPotentialClusterSize, cuOccupancyMaxActiveClusters */
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func,
						 const cudaLaunchConfig_t *launchConfig);
cudaError_t cudaOccupancyMaxActiveClusters(int *numClusters, const void *func,
					   const cudaLaunchConfig_t *launchConfig);

#ifdef __cplusplus
}
#endif

#undef MEMCAST_OR

#endif /* __CUDA_RUNTIME_API_H__ */
