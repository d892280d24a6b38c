/* SPDX-License-Identifier: MIT */
/*
 * Types and numbers of the CUDA runtime API, as far as memcast emulates it, with which
 * cuda_runtime_api.h declares functions. Names, numbers and layouts are those of
 * CUDA 13.0; text and everything else is memcast's own.
 *
 * A type that is "as" a type of the driver API has its layout, and
 * include/cuda/cuda.h describes its fields. Types of arrays, textures, surfaces, graphics
 * and external semaphores are left out: memcast does not support these.
 */
/* The include guard of NVIDIA's header of this name: of the two headers, the first one counts. */
#ifndef __DRIVER_TYPES_H__
#define __DRIVER_TYPES_H__

#include <stddef.h>

#include <vector_types.h>

/* Flags of cudaHostAlloc() and cudaHostRegister(); all host memory here is mapped. */
#define cudaHostAllocDefault		0x00
#define cudaHostAllocPortable		0x01
#define cudaHostAllocMapped		0x02
#define cudaHostAllocWriteCombined	0x04
#define cudaHostRegisterDefault		0x00
#define cudaHostRegisterPortable	0x01
#define cudaHostRegisterMapped		0x02
#define cudaHostRegisterIoMemory	0x04
#define cudaHostRegisterReadOnly	0x08

#define cudaPeerAccessDefault		0x00

/* Flags of streams, and the two default streams */
#define cudaStreamDefault		0x00
#define cudaStreamNonBlocking		0x01
#define cudaStreamLegacy		((cudaStream_t)0x1)
#define cudaStreamPerThread		((cudaStream_t)0x2)

/* Flags of events, of records and of waits */
#define cudaEventDefault		0x00
#define cudaEventBlockingSync		0x01
#define cudaEventDisableTiming		0x02
#define cudaEventInterprocess		0x04
#define cudaEventRecordDefault		0x00
#define cudaEventRecordExternal		0x01
#define cudaEventWaitDefault		0x00
#define cudaEventWaitExternal		0x01

/* Flags of devices: CUctx_flags */
#define cudaDeviceScheduleAuto		0x00
#define cudaDeviceScheduleSpin		0x01
#define cudaDeviceScheduleYield		0x02
#define cudaDeviceScheduleBlockingSync	0x04
#define cudaDeviceBlockingSync		0x04
#define cudaDeviceScheduleMask		0x07
#define cudaDeviceMapHost		0x08
#define cudaDeviceLmemResizeToMax	0x10
#define cudaDeviceSyncMemops		0x80
#define cudaDeviceMask			0xff
#define cudaInitDeviceFlagsAreValid	0x01

#define cudaIpcMemLazyEnablePeerAccess	0x01
#define cudaMemAttachGlobal		0x01
#define cudaMemAttachHost		0x02
#define cudaMemAttachSingle		0x04
#define cudaOccupancyDefault		0x00
#define cudaOccupancyDisableCachingOverride	0x01
#define cudaExternalMemoryDedicated	0x01
#define cudaMemPoolCreateUsageHwDecompress	0x2

/* Device numbers that stand for no device: the processor, and no device at all */
#define cudaCpuDeviceId			((int)-1)
#define cudaInvalidDeviceId		((int)-2)

/* Result codes of the runtime's functions; the numbers are those of CUresult. */
enum cudaError {
	cudaSuccess				= 0,
	cudaErrorInvalidValue			= 1,
	cudaErrorMemoryAllocation		= 2,
	cudaErrorInitializationError		= 3,
	cudaErrorCudartUnloading		= 4,
	cudaErrorProfilerDisabled		= 5,
	cudaErrorProfilerNotInitialized		= 6,
	cudaErrorProfilerAlreadyStarted		= 7,
	cudaErrorProfilerAlreadyStopped		= 8,
	cudaErrorInvalidConfiguration		= 9,
	cudaErrorInvalidPitchValue		= 12,
	cudaErrorInvalidSymbol			= 13,
	cudaErrorInvalidHostPointer		= 16,
	cudaErrorInvalidDevicePointer		= 17,
	cudaErrorInvalidTexture			= 18,
	cudaErrorInvalidTextureBinding		= 19,
	cudaErrorInvalidChannelDescriptor	= 20,
	cudaErrorInvalidMemcpyDirection		= 21,
	cudaErrorAddressOfConstant		= 22,
	cudaErrorTextureFetchFailed		= 23,
	cudaErrorTextureNotBound		= 24,
	cudaErrorSynchronizationError		= 25,
	cudaErrorInvalidFilterSetting		= 26,
	cudaErrorInvalidNormSetting		= 27,
	cudaErrorMixedDeviceExecution		= 28,
	cudaErrorNotYetImplemented		= 31,
	cudaErrorMemoryValueTooLarge		= 32,
	cudaErrorStubLibrary			= 34,
	cudaErrorInsufficientDriver		= 35,
	cudaErrorCallRequiresNewerDriver	= 36,
	cudaErrorInvalidSurface			= 37,
	cudaErrorDuplicateVariableName		= 43,
	cudaErrorDuplicateTextureName		= 44,
	cudaErrorDuplicateSurfaceName		= 45,
	cudaErrorDevicesUnavailable		= 46,
	cudaErrorIncompatibleDriverContext	= 49,
	cudaErrorMissingConfiguration		= 52,
	cudaErrorPriorLaunchFailure		= 53,
	cudaErrorLaunchMaxDepthExceeded		= 65,
	cudaErrorLaunchFileScopedTex		= 66,
	cudaErrorLaunchFileScopedSurf		= 67,
	cudaErrorSyncDepthExceeded		= 68,
	cudaErrorLaunchPendingCountExceeded	= 69,
	cudaErrorInvalidDeviceFunction		= 98,
	cudaErrorNoDevice			= 100,
	cudaErrorInvalidDevice			= 101,
	cudaErrorDeviceNotLicensed		= 102,
	cudaErrorSoftwareValidityNotEstablished	= 103,
	cudaErrorStartupFailure			= 127,
	cudaErrorInvalidKernelImage		= 200,
	cudaErrorDeviceUninitialized		= 201,
	cudaErrorMapBufferObjectFailed		= 205,
	cudaErrorUnmapBufferObjectFailed	= 206,
	cudaErrorArrayIsMapped			= 207,
	cudaErrorAlreadyMapped			= 208,
	cudaErrorNoKernelImageForDevice		= 209,
	cudaErrorAlreadyAcquired		= 210,
	cudaErrorNotMapped			= 211,
	cudaErrorNotMappedAsArray		= 212,
	cudaErrorNotMappedAsPointer		= 213,
	cudaErrorECCUncorrectable		= 214,
	cudaErrorUnsupportedLimit		= 215,
	cudaErrorDeviceAlreadyInUse		= 216,
	cudaErrorPeerAccessUnsupported		= 217,
	cudaErrorInvalidPtx			= 218,
	cudaErrorInvalidGraphicsContext		= 219,
	cudaErrorNvlinkUncorrectable		= 220,
	cudaErrorJitCompilerNotFound		= 221,
	cudaErrorUnsupportedPtxVersion		= 222,
	cudaErrorJitCompilationDisabled		= 223,
	cudaErrorUnsupportedExecAffinity	= 224,
	cudaErrorUnsupportedDevSideSync		= 225,
	cudaErrorContained			= 226,
	cudaErrorInvalidSource			= 300,
	cudaErrorFileNotFound			= 301,
	cudaErrorSharedObjectSymbolNotFound	= 302,
	cudaErrorSharedObjectInitFailed		= 303,
	cudaErrorOperatingSystem		= 304,
	cudaErrorInvalidResourceHandle		= 400,
	cudaErrorIllegalState			= 401,
	cudaErrorLossyQuery			= 402,
	cudaErrorSymbolNotFound			= 500,
	cudaErrorNotReady			= 600,
	cudaErrorIllegalAddress			= 700,
	cudaErrorLaunchOutOfResources		= 701,
	cudaErrorLaunchTimeout			= 702,
	cudaErrorLaunchIncompatibleTexturing	= 703,
	cudaErrorPeerAccessAlreadyEnabled	= 704,
	cudaErrorPeerAccessNotEnabled		= 705,
	cudaErrorSetOnActiveProcess		= 708,
	cudaErrorContextIsDestroyed		= 709,
	cudaErrorAssert				= 710,
	cudaErrorTooManyPeers			= 711,
	cudaErrorHostMemoryAlreadyRegistered	= 712,
	cudaErrorHostMemoryNotRegistered	= 713,
	cudaErrorHardwareStackError		= 714,
	cudaErrorIllegalInstruction		= 715,
	cudaErrorMisalignedAddress		= 716,
	cudaErrorInvalidAddressSpace		= 717,
	cudaErrorInvalidPc			= 718,
	cudaErrorLaunchFailure			= 719,
	cudaErrorCooperativeLaunchTooLarge	= 720,
	cudaErrorTensorMemoryLeak		= 721,
	cudaErrorNotPermitted			= 800,
	cudaErrorNotSupported			= 801,
	cudaErrorSystemNotReady			= 802,
	cudaErrorSystemDriverMismatch		= 803,
	cudaErrorCompatNotSupportedOnDevice	= 804,
	cudaErrorMpsConnectionFailed		= 805,
	cudaErrorMpsRpcFailure			= 806,
	cudaErrorMpsServerNotReady		= 807,
	cudaErrorMpsMaxClientsReached		= 808,
	cudaErrorMpsMaxConnectionsReached	= 809,
	cudaErrorMpsClientTerminated		= 810,
	cudaErrorCdpNotSupported		= 811,
	cudaErrorCdpVersionMismatch		= 812,
	cudaErrorStreamCaptureUnsupported	= 900,
	cudaErrorStreamCaptureInvalidated	= 901,
	cudaErrorStreamCaptureMerge		= 902,
	cudaErrorStreamCaptureUnmatched		= 903,
	cudaErrorStreamCaptureUnjoined		= 904,
	cudaErrorStreamCaptureIsolation		= 905,
	cudaErrorStreamCaptureImplicit		= 906,
	cudaErrorCapturedEvent			= 907,
	cudaErrorStreamCaptureWrongThread	= 908,
	cudaErrorTimeout			= 909,
	cudaErrorGraphExecUpdateFailure		= 910,
	cudaErrorExternalDevice			= 911,
	cudaErrorInvalidClusterSize		= 912,
	cudaErrorFunctionNotLoaded		= 913,
	cudaErrorInvalidResourceType		= 914,
	cudaErrorInvalidResourceConfiguration	= 915,
	cudaErrorUnknown			= 999,
	cudaErrorApiFailureBase			= 10000
};

typedef enum cudaError cudaError_t;

/* Handles are those of the driver API, and can be used there. */
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUuserObject_st *cudaUserObject_t;
typedef struct CUfunc_st *cudaFunction_t;
typedef struct CUkern_st *cudaKernel_t;
typedef struct CUlib_st *cudaLibrary_t;
typedef struct CUexternalMemory_st *cudaExternalMemory_t;
typedef struct cudaArray *cudaArray_t;			/* not supported */
typedef const struct cudaArray *cudaArray_const_t;

typedef void (*cudaHostFn_t)(void *userData);

#ifndef CU_UUID_HAS_BEEN_DEFINED
#define CU_UUID_HAS_BEEN_DEFINED
struct CUuuid_st {
	char bytes[16];
};
typedef struct CUuuid_st CUuuid;
#endif
typedef struct CUuuid_st cudaUUID_t;

/* Attributes of devices. The numbers are those of CUdevice_attribute. */
enum cudaDeviceAttr {
	cudaDevAttrMaxThreadsPerBlock				= 1,
	cudaDevAttrMaxBlockDimX					= 2,
	cudaDevAttrMaxBlockDimY					= 3,
	cudaDevAttrMaxBlockDimZ					= 4,
	cudaDevAttrMaxGridDimX					= 5,
	cudaDevAttrMaxGridDimY					= 6,
	cudaDevAttrMaxGridDimZ					= 7,
	cudaDevAttrMaxSharedMemoryPerBlock			= 8,
	cudaDevAttrTotalConstantMemory				= 9,
	cudaDevAttrWarpSize					= 10,
	cudaDevAttrMaxPitch					= 11,
	cudaDevAttrMaxRegistersPerBlock				= 12,
	cudaDevAttrClockRate					= 13,
	cudaDevAttrTextureAlignment				= 14,
	cudaDevAttrGpuOverlap					= 15,
	cudaDevAttrMultiProcessorCount				= 16,
	cudaDevAttrKernelExecTimeout				= 17,
	cudaDevAttrIntegrated					= 18,
	cudaDevAttrCanMapHostMemory				= 19,
	cudaDevAttrComputeMode					= 20,
	cudaDevAttrMaxTexture1DWidth				= 21,
	cudaDevAttrMaxTexture2DWidth				= 22,
	cudaDevAttrMaxTexture2DHeight				= 23,
	cudaDevAttrMaxTexture3DWidth				= 24,
	cudaDevAttrMaxTexture3DHeight				= 25,
	cudaDevAttrMaxTexture3DDepth				= 26,
	cudaDevAttrMaxTexture2DLayeredWidth			= 27,
	cudaDevAttrMaxTexture2DLayeredHeight			= 28,
	cudaDevAttrMaxTexture2DLayeredLayers			= 29,
	cudaDevAttrSurfaceAlignment				= 30,
	cudaDevAttrConcurrentKernels				= 31,
	cudaDevAttrEccEnabled					= 32,
	cudaDevAttrPciBusId					= 33,
	cudaDevAttrPciDeviceId					= 34,
	cudaDevAttrTccDriver					= 35,
	cudaDevAttrMemoryClockRate				= 36,
	cudaDevAttrGlobalMemoryBusWidth				= 37,
	cudaDevAttrL2CacheSize					= 38,
	cudaDevAttrMaxThreadsPerMultiProcessor			= 39,
	cudaDevAttrAsyncEngineCount				= 40,
	cudaDevAttrUnifiedAddressing				= 41,
	cudaDevAttrMaxTexture1DLayeredWidth			= 42,
	cudaDevAttrMaxTexture1DLayeredLayers			= 43,
	cudaDevAttrMaxTexture2DGatherWidth			= 45,
	cudaDevAttrMaxTexture2DGatherHeight			= 46,
	cudaDevAttrMaxTexture3DWidthAlt				= 47,
	cudaDevAttrMaxTexture3DHeightAlt			= 48,
	cudaDevAttrMaxTexture3DDepthAlt				= 49,
	cudaDevAttrPciDomainId					= 50,
	cudaDevAttrTexturePitchAlignment			= 51,
	cudaDevAttrMaxTextureCubemapWidth			= 52,
	cudaDevAttrMaxTextureCubemapLayeredWidth		= 53,
	cudaDevAttrMaxTextureCubemapLayeredLayers		= 54,
	cudaDevAttrMaxSurface1DWidth				= 55,
	cudaDevAttrMaxSurface2DWidth				= 56,
	cudaDevAttrMaxSurface2DHeight				= 57,
	cudaDevAttrMaxSurface3DWidth				= 58,
	cudaDevAttrMaxSurface3DHeight				= 59,
	cudaDevAttrMaxSurface3DDepth				= 60,
	cudaDevAttrMaxSurface1DLayeredWidth			= 61,
	cudaDevAttrMaxSurface1DLayeredLayers			= 62,
	cudaDevAttrMaxSurface2DLayeredWidth			= 63,
	cudaDevAttrMaxSurface2DLayeredHeight			= 64,
	cudaDevAttrMaxSurface2DLayeredLayers			= 65,
	cudaDevAttrMaxSurfaceCubemapWidth			= 66,
	cudaDevAttrMaxSurfaceCubemapLayeredWidth		= 67,
	cudaDevAttrMaxSurfaceCubemapLayeredLayers		= 68,
	cudaDevAttrMaxTexture1DLinearWidth			= 69,
	cudaDevAttrMaxTexture2DLinearWidth			= 70,
	cudaDevAttrMaxTexture2DLinearHeight			= 71,
	cudaDevAttrMaxTexture2DLinearPitch			= 72,
	cudaDevAttrMaxTexture2DMipmappedWidth			= 73,
	cudaDevAttrMaxTexture2DMipmappedHeight			= 74,
	cudaDevAttrComputeCapabilityMajor			= 75,
	cudaDevAttrComputeCapabilityMinor			= 76,
	cudaDevAttrMaxTexture1DMipmappedWidth			= 77,
	cudaDevAttrStreamPrioritiesSupported			= 78,
	cudaDevAttrGlobalL1CacheSupported			= 79,
	cudaDevAttrLocalL1CacheSupported			= 80,
	cudaDevAttrMaxSharedMemoryPerMultiprocessor		= 81,
	cudaDevAttrMaxRegistersPerMultiprocessor		= 82,
	cudaDevAttrManagedMemory				= 83,
	cudaDevAttrIsMultiGpuBoard				= 84,
	cudaDevAttrMultiGpuBoardGroupID				= 85,
	cudaDevAttrHostNativeAtomicSupported			= 86,
	cudaDevAttrSingleToDoublePrecisionPerfRatio		= 87,
	cudaDevAttrPageableMemoryAccess				= 88,
	cudaDevAttrConcurrentManagedAccess			= 89,
	cudaDevAttrComputePreemptionSupported			= 90,
	cudaDevAttrCanUseHostPointerForRegisteredMem		= 91,
	cudaDevAttrReserved92					= 92,
	cudaDevAttrReserved93					= 93,
	cudaDevAttrReserved94					= 94,
	cudaDevAttrCooperativeLaunch				= 95,
	cudaDevAttrReserved96					= 96,
	cudaDevAttrMaxSharedMemoryPerBlockOptin			= 97,
	cudaDevAttrCanFlushRemoteWrites				= 98,
	cudaDevAttrHostRegisterSupported			= 99,
	cudaDevAttrPageableMemoryAccessUsesHostPageTables	= 100,
	cudaDevAttrDirectManagedMemAccessFromHost		= 101,
	cudaDevAttrMaxBlocksPerMultiprocessor			= 106,
	cudaDevAttrMaxPersistingL2CacheSize			= 108,
	cudaDevAttrMaxAccessPolicyWindowSize			= 109,
	cudaDevAttrReservedSharedMemoryPerBlock			= 111,
	cudaDevAttrSparseCudaArraySupported			= 112,
	cudaDevAttrHostRegisterReadOnlySupported		= 113,
	cudaDevAttrTimelineSemaphoreInteropSupported		= 114,
	cudaDevAttrMemoryPoolsSupported				= 115,
	cudaDevAttrGPUDirectRDMASupported			= 116,
	cudaDevAttrGPUDirectRDMAFlushWritesOptions		= 117,
	cudaDevAttrGPUDirectRDMAWritesOrdering			= 118,
	cudaDevAttrMemoryPoolSupportedHandleTypes		= 119,
	cudaDevAttrClusterLaunch				= 120,
	cudaDevAttrDeferredMappingCudaArraySupported		= 121,
	cudaDevAttrReserved122					= 122,
	cudaDevAttrReserved123					= 123,
	cudaDevAttrReserved124					= 124,
	cudaDevAttrIpcEventSupport				= 125,
	cudaDevAttrMemSyncDomainCount				= 126,
	cudaDevAttrReserved127					= 127,
	cudaDevAttrReserved128					= 128,
	cudaDevAttrReserved129					= 129,
	cudaDevAttrNumaConfig					= 130,
	cudaDevAttrNumaId					= 131,
	cudaDevAttrReserved132					= 132,
	cudaDevAttrMpsEnabled					= 133,
	cudaDevAttrHostNumaId					= 134,
	cudaDevAttrD3D12CigSupported				= 135,
	cudaDevAttrVulkanCigSupported				= 138,
	cudaDevAttrGpuPciDeviceId				= 139,
	cudaDevAttrGpuPciSubsystemId				= 140,
	cudaDevAttrReserved141					= 141,
	cudaDevAttrHostNumaMemoryPoolsSupported			= 142,
	cudaDevAttrHostNumaMultinodeIpcSupported		= 143,
	cudaDevAttrHostMemoryPoolsSupported			= 144,
	cudaDevAttrReserved145					= 145,
	cudaDevAttrOnlyPartialHostNativeAtomicSupported		= 147,
	cudaDevAttrMax
};

/*
 * Properties of a device, each field from the attribute of its name. Sizes are in bytes; pairs
 * and triples are width, height and depth, or the number of layers.
 */
struct cudaDeviceProp {
	char name[256];
	cudaUUID_t uuid;
	char luid[8];
	unsigned int luidDeviceNodeMask;
	size_t totalGlobalMem;
	size_t sharedMemPerBlock;
	int regsPerBlock;
	int warpSize;
	size_t memPitch;
	int maxThreadsPerBlock;
	int maxThreadsDim[3];
	int maxGridSize[3];
	size_t totalConstMem;
	int major;
	int minor;
	size_t textureAlignment;
	size_t texturePitchAlignment;
	int multiProcessorCount;
	int integrated;
	int canMapHostMemory;
	int maxTexture1D;
	int maxTexture1DMipmap;
	int maxTexture2D[2];
	int maxTexture2DMipmap[2];
	int maxTexture2DLinear[3];
	int maxTexture2DGather[2];
	int maxTexture3D[3];
	int maxTexture3DAlt[3];
	int maxTextureCubemap;
	int maxTexture1DLayered[2];
	int maxTexture2DLayered[3];
	int maxTextureCubemapLayered[2];
	int maxSurface1D;
	int maxSurface2D[2];
	int maxSurface3D[3];
	int maxSurface1DLayered[2];
	int maxSurface2DLayered[3];
	int maxSurfaceCubemap;
	int maxSurfaceCubemapLayered[2];
	size_t surfaceAlignment;
	int concurrentKernels;
	int ECCEnabled;
	int pciBusID;
	int pciDeviceID;
	int pciDomainID;
	int tccDriver;
	int asyncEngineCount;
	int unifiedAddressing;
	int memoryBusWidth;
	int l2CacheSize;
	int persistingL2CacheMaxSize;
	int maxThreadsPerMultiProcessor;
	int streamPrioritiesSupported;
	int globalL1CacheSupported;
	int localL1CacheSupported;
	size_t sharedMemPerMultiprocessor;
	int regsPerMultiprocessor;
	int managedMemory;
	int isMultiGpuBoard;
	int multiGpuBoardGroupID;
	int hostNativeAtomicSupported;
	int pageableMemoryAccess;
	int concurrentManagedAccess;
	int computePreemptionSupported;
	int canUseHostPointerForRegisteredMem;
	int cooperativeLaunch;
	size_t sharedMemPerBlockOptin;
	int pageableMemoryAccessUsesHostPageTables;
	int directManagedMemAccessFromHost;
	int maxBlocksPerMultiProcessor;
	int accessPolicyMaxWindowSize;
	size_t reservedSharedMemPerBlock;
	int hostRegisterSupported;
	int sparseCudaArraySupported;
	int hostRegisterReadOnlySupported;
	int timelineSemaphoreInteropSupported;
	int memoryPoolsSupported;
	int gpuDirectRDMASupported;
	unsigned int gpuDirectRDMAFlushWritesOptions;
	int gpuDirectRDMAWritesOrdering;
	unsigned int memoryPoolSupportedHandleTypes;
	int deferredMappingCudaArraySupported;
	int ipcEventSupported;
	int clusterLaunch;
	int unifiedFunctionPointers;
	int deviceNumaConfig;
	int deviceNumaId;
	int mpsEnabled;
	int hostNumaId;
	unsigned int gpuPciDeviceID;
	unsigned int gpuPciSubsystemID;
	int hostNumaMultinodeIpcSupported;
	int reserved[56];
};

enum cudaDeviceP2PAttr {
	cudaDevP2PAttrPerformanceRank			= 1,
	cudaDevP2PAttrAccessSupported			= 2,
	cudaDevP2PAttrNativeAtomicSupported		= 3,
	cudaDevP2PAttrCudaArrayAccessSupported		= 4,
	cudaDevP2PAttrOnlyPartialNativeAtomicSupported	= 5
};

enum cudaLimit {
	cudaLimitStackSize			= 0x00,
	cudaLimitPrintfFifoSize			= 0x01,
	cudaLimitMallocHeapSize			= 0x02,
	cudaLimitDevRuntimeSyncDepth		= 0x03,
	cudaLimitDevRuntimePendingLaunchCount	= 0x04,
	cudaLimitMaxL2FetchGranularity		= 0x05,
	cudaLimitPersistingL2CacheSize		= 0x06
};

enum cudaFuncCache {
	cudaFuncCachePreferNone		= 0,
	cudaFuncCachePreferShared	= 1,
	cudaFuncCachePreferL1		= 2,
	cudaFuncCachePreferEqual	= 3
};

enum cudaComputeMode {
	cudaComputeModeDefault		= 0,
	cudaComputeModeExclusive	= 1,
	cudaComputeModeProhibited	= 2,
	cudaComputeModeExclusiveProcess	= 3
};

/* Bits of device attributes about GPUDirect RDMA */
enum cudaFlushGPUDirectRDMAWritesOptions {
	cudaFlushGPUDirectRDMAWritesOptionHost		= 1<<0,
	cudaFlushGPUDirectRDMAWritesOptionMemOps	= 1<<1
};

enum cudaGPUDirectRDMAWritesOrdering {
	cudaGPUDirectRDMAWritesOrderingNone		= 0,
	cudaGPUDirectRDMAWritesOrderingOwner		= 100,
	cudaGPUDirectRDMAWritesOrderingAllDevices	= 200
};

/* Memory */

/* The kind of memory at an address: cudaPointerGetAttributes(). */
enum cudaMemoryType {
	cudaMemoryTypeUnregistered	= 0,
	cudaMemoryTypeHost		= 1,
	cudaMemoryTypeDevice		= 2,
	cudaMemoryTypeManaged		= 3
};

/* The kinds of memory that a copy reads and writes; with Default, the addresses decide. */
enum cudaMemcpyKind {
	cudaMemcpyHostToHost		= 0,
	cudaMemcpyHostToDevice		= 1,
	cudaMemcpyDeviceToHost		= 2,
	cudaMemcpyDeviceToDevice	= 3,
	cudaMemcpyDefault		= 4
};

struct cudaPointerAttributes {
	enum cudaMemoryType type;
	int device;		/* with the memory; host memory: current when it was made */
	void *devicePointer;	/* address for the current device, or NULL */
	void *hostPointer;	/* address for the processor, or NULL */
	long reserved[8];
};

/* Rows of @pitch bytes each, of which @xsize are used, and layers of @ysize rows */
struct cudaPitchedPtr {
	void *ptr;
	size_t pitch;
	size_t xsize;
	size_t ysize;
};

/* In bytes, rows and layers */
struct cudaExtent {
	size_t width;
	size_t height;
	size_t depth;
};

struct cudaPos {
	size_t x;
	size_t y;
	size_t z;
};

struct cudaMemcpy3DParms {
	cudaArray_t srcArray;		/* NULL: not supported */
	struct cudaPos srcPos;
	struct cudaPitchedPtr srcPtr;
	cudaArray_t dstArray;
	struct cudaPos dstPos;
	struct cudaPitchedPtr dstPtr;
	struct cudaExtent extent;
	enum cudaMemcpyKind kind;
};

struct cudaMemcpy3DPeerParms {
	cudaArray_t srcArray;
	struct cudaPos srcPos;
	struct cudaPitchedPtr srcPtr;
	int srcDevice;
	cudaArray_t dstArray;
	struct cudaPos dstPos;
	struct cudaPitchedPtr dstPtr;
	int dstDevice;
	struct cudaExtent extent;
};

enum cudaMemLocationType {
	cudaMemLocationTypeInvalid		= 0,
	cudaMemLocationTypeNone			= 0,
	cudaMemLocationTypeDevice		= 1,
	cudaMemLocationTypeHost			= 2,
	cudaMemLocationTypeHostNuma		= 3,
	cudaMemLocationTypeHostNumaCurrent	= 4
};

/* As CUmemLocation */
struct cudaMemLocation {
	enum cudaMemLocationType type;
	int id;
};

/* As CUmem_advise */
enum cudaMemoryAdvise {
	cudaMemAdviseSetReadMostly		= 1,
	cudaMemAdviseUnsetReadMostly		= 2,
	cudaMemAdviseSetPreferredLocation	= 3,
	cudaMemAdviseUnsetPreferredLocation	= 4,
	cudaMemAdviseSetAccessedBy		= 5,
	cudaMemAdviseUnsetAccessedBy		= 6
};

/* As CUmem_range_attribute */
enum cudaMemRangeAttribute {
	cudaMemRangeAttributeReadMostly			= 1,
	cudaMemRangeAttributePreferredLocation		= 2,
	cudaMemRangeAttributeAccessedBy			= 3,
	cudaMemRangeAttributeLastPrefetchLocation	= 4,
	cudaMemRangeAttributePreferredLocationType	= 5,
	cudaMemRangeAttributePreferredLocationId	= 6,
	cudaMemRangeAttributeLastPrefetchLocationType	= 7,
	cudaMemRangeAttributeLastPrefetchLocationId	= 8
};

enum cudaFlushGPUDirectRDMAWritesScope {
	cudaFlushGPUDirectRDMAWritesToOwner		= 100,
	cudaFlushGPUDirectRDMAWritesToAllDevices	= 200
};

enum cudaFlushGPUDirectRDMAWritesTarget {
	cudaFlushGPUDirectRDMAWritesTargetCurrentDevice
};

enum cudaMemAccessFlags {
	cudaMemAccessFlagsProtNone	= 0,
	cudaMemAccessFlagsProtRead	= 1,
	cudaMemAccessFlagsProtReadWrite	= 3
};

/* As CUmemAccessDesc */
struct cudaMemAccessDesc {
	struct cudaMemLocation location;
	enum cudaMemAccessFlags flags;
};

enum cudaMemAllocationType {
	cudaMemAllocationTypeInvalid	= 0x0,
	cudaMemAllocationTypePinned	= 0x1,
	cudaMemAllocationTypeManaged	= 0x2,
	cudaMemAllocationTypeMax	= 0x7FFFFFFF
};

enum cudaMemAllocationHandleType {
	cudaMemHandleTypeNone			= 0x0,
	cudaMemHandleTypePosixFileDescriptor	= 0x1,
	cudaMemHandleTypeWin32			= 0x2,
	cudaMemHandleTypeWin32Kmt		= 0x4,
	cudaMemHandleTypeFabric			= 0x8
};

/* As CUmemPoolProps */
struct cudaMemPoolProps {
	enum cudaMemAllocationType allocType;
	enum cudaMemAllocationHandleType handleTypes;
	struct cudaMemLocation location;
	void *win32SecurityAttributes;
	size_t maxSize;
	unsigned short usage;
	unsigned char reserved[54];
};

enum cudaMemPoolAttr {
	cudaMemPoolReuseFollowEventDependencies		= 0x1,
	cudaMemPoolReuseAllowOpportunistic		= 0x2,
	cudaMemPoolReuseAllowInternalDependencies	= 0x3,
	cudaMemPoolAttrReleaseThreshold			= 0x4,
	cudaMemPoolAttrReservedMemCurrent		= 0x5,
	cudaMemPoolAttrReservedMemHigh			= 0x6,
	cudaMemPoolAttrUsedMemCurrent			= 0x7,
	cudaMemPoolAttrUsedMemHigh			= 0x8
};

/* As CUmemPoolPtrExportData */
struct cudaMemPoolPtrExportData {
	unsigned char reserved[64];
};

/* As the driver's handles of these names */
typedef struct cudaIpcEventHandle_st {
	char reserved[64];
} cudaIpcEventHandle_t;

typedef struct cudaIpcMemHandle_st {
	char reserved[64];
} cudaIpcMemHandle_t;

typedef struct cudaMemFabricHandle_st {
	char reserved[64];
} cudaMemFabricHandle_t;

/* Copies in batches */

enum cudaMemcpyFlags {
	cudaMemcpyFlagDefault			= 0x0,
	cudaMemcpyFlagPreferOverlapWithCompute	= 0x1
};

enum cudaMemcpySrcAccessOrder {
	cudaMemcpySrcAccessOrderInvalid		= 0x0,
	cudaMemcpySrcAccessOrderStream		= 0x1,
	cudaMemcpySrcAccessOrderDuringApiCall	= 0x2,
	cudaMemcpySrcAccessOrderAny		= 0x3,
	cudaMemcpySrcAccessOrderMax		= 0x7FFFFFFF
};

/* As CUmemcpyAttributes */
struct cudaMemcpyAttributes {
	enum cudaMemcpySrcAccessOrder srcAccessOrder;
	struct cudaMemLocation srcLocHint;
	struct cudaMemLocation dstLocHint;
	unsigned int flags;
};

enum cudaMemcpy3DOperandType {
	cudaMemcpyOperandTypePointer	= 0x1,
	cudaMemcpyOperandTypeArray	= 0x2,
	cudaMemcpyOperandTypeMax	= 0x7FFFFFFF
};

struct cudaOffset3D {
	size_t x;
	size_t y;
	size_t z;
};

/* As CUmemcpy3DOperand */
struct cudaMemcpy3DOperand {
	enum cudaMemcpy3DOperandType type;
	union {
		struct {
			void *ptr;
			size_t rowLength;
			size_t layerHeight;
			struct cudaMemLocation locHint;
		} ptr;
		struct {
			cudaArray_t array;
			struct cudaOffset3D offset;
		} array;
	} op;
};

/* As CUDA_MEMCPY3D_BATCH_OP */
struct cudaMemcpy3DBatchOp {
	struct cudaMemcpy3DOperand src;
	struct cudaMemcpy3DOperand dst;
	struct cudaExtent extent;
	enum cudaMemcpySrcAccessOrder srcAccessOrder;
	unsigned int flags;
};

/* Other drivers' memory */

enum cudaExternalMemoryHandleType {
	cudaExternalMemoryHandleTypeOpaqueFd		= 1,
	cudaExternalMemoryHandleTypeOpaqueWin32		= 2,
	cudaExternalMemoryHandleTypeOpaqueWin32Kmt	= 3,
	cudaExternalMemoryHandleTypeD3D12Heap		= 4,
	cudaExternalMemoryHandleTypeD3D12Resource	= 5,
	cudaExternalMemoryHandleTypeD3D11Resource	= 6,
	cudaExternalMemoryHandleTypeD3D11ResourceKmt	= 7,
	cudaExternalMemoryHandleTypeNvSciBuf		= 8
};

/* As CUDA_EXTERNAL_MEMORY_HANDLE_DESC */
struct cudaExternalMemoryHandleDesc {
	enum cudaExternalMemoryHandleType type;
	union {
		int fd;
		struct {
			void *handle;
			const void *name;
		} win32;
		const void *nvSciBufObject;
	} handle;
	unsigned long long size;
	unsigned int flags;
	unsigned int reserved[16];
};

/* As CUDA_EXTERNAL_MEMORY_BUFFER_DESC */
struct cudaExternalMemoryBufferDesc {
	unsigned long long offset;
	unsigned long long size;
	unsigned int flags;
	unsigned int reserved[16];
};

/* Capture */

enum cudaStreamCaptureStatus {
	cudaStreamCaptureStatusNone		= 0,
	cudaStreamCaptureStatusActive		= 1,
	cudaStreamCaptureStatusInvalidated	= 2
};

enum cudaStreamCaptureMode {
	cudaStreamCaptureModeGlobal		= 0,
	cudaStreamCaptureModeThreadLocal	= 1,
	cudaStreamCaptureModeRelaxed		= 2
};

enum cudaStreamUpdateCaptureDependenciesFlags {
	cudaStreamAddCaptureDependencies	= 0x0,
	cudaStreamSetCaptureDependencies	= 0x1
};

/* Graphs */

enum cudaUserObjectFlags {
	cudaUserObjectNoDestructorSync	= 0x1
};

enum cudaUserObjectRetainFlags {
	cudaGraphUserObjectMove	= 0x1
};

enum cudaGraphNodeType {
	cudaGraphNodeTypeKernel			= 0x00,
	cudaGraphNodeTypeMemcpy			= 0x01,
	cudaGraphNodeTypeMemset			= 0x02,
	cudaGraphNodeTypeHost			= 0x03,
	cudaGraphNodeTypeGraph			= 0x04,
	cudaGraphNodeTypeEmpty			= 0x05,
	cudaGraphNodeTypeWaitEvent		= 0x06,
	cudaGraphNodeTypeEventRecord		= 0x07,
	cudaGraphNodeTypeExtSemaphoreSignal	= 0x08,
	cudaGraphNodeTypeExtSemaphoreWait	= 0x09,
	cudaGraphNodeTypeMemAlloc		= 0x0a,
	cudaGraphNodeTypeMemFree		= 0x0b,
	cudaGraphNodeTypeConditional		= 0x0d,
	cudaGraphNodeTypeCount
};

typedef enum cudaGraphDependencyType_enum {
	cudaGraphDependencyTypeDefault		= 0,
	cudaGraphDependencyTypeProgrammatic	= 1
} cudaGraphDependencyType;

#define cudaGraphKernelNodePortDefault			0
#define cudaGraphKernelNodePortProgrammatic		1
#define cudaGraphKernelNodePortLaunchCompletion		2

/* As CUgraphEdgeData */
typedef struct cudaGraphEdgeData_st {
	unsigned char from_port;
	unsigned char to_port;
	unsigned char type;
	unsigned char reserved[5];
} cudaGraphEdgeData;

struct cudaMemcpyNodeParams {
	int flags;
	int reserved[3];
	struct cudaMemcpy3DParms copyParams;
};

/* @width elements of @elementSize bytes in each of @height rows */
struct cudaMemsetParams {
	void *dst;
	size_t pitch;
	unsigned int value;
	unsigned int elementSize;
	size_t width;
	size_t height;
};

struct cudaMemsetParamsV2 {
	void *dst;
	size_t pitch;
	unsigned int value;
	unsigned int elementSize;
	size_t width;
	size_t height;
};

struct cudaHostNodeParams {
	cudaHostFn_t fn;
	void *userData;
};

struct cudaHostNodeParamsV2 {
	cudaHostFn_t fn;
	void *userData;
};

enum cudaGraphChildGraphNodeOwnership {
	cudaGraphChildGraphOwnershipClone	= 0,
	cudaGraphChildGraphOwnershipMove	= 1
};

struct cudaChildGraphNodeParams {
	cudaGraph_t graph;
	enum cudaGraphChildGraphNodeOwnership ownership;
};

struct cudaEventRecordNodeParams {
	cudaEvent_t event;
};

struct cudaEventWaitNodeParams {
	cudaEvent_t event;
};

/* As CUDA_MEM_ALLOC_NODE_PARAMS; @dptr is an output. */
struct cudaMemAllocNodeParams {
	struct cudaMemPoolProps poolProps;
	const struct cudaMemAccessDesc *accessDescs;
	size_t accessDescCount;
	size_t bytesize;
	void *dptr;
};

struct cudaMemAllocNodeParamsV2 {
	struct cudaMemPoolProps poolProps;
	const struct cudaMemAccessDesc *accessDescs;
	size_t accessDescCount;
	size_t bytesize;
	void *dptr;
};

struct cudaMemFreeNodeParams {
	void *dptr;
};

struct cudaKernelNodeParams {
	void *func;
	dim3 gridDim;
	dim3 blockDim;
	unsigned int sharedMemBytes;
	void **kernelParams;
	void **extra;
};

struct cudaKernelNodeParamsV2 {
	void *func;
	dim3 gridDim;
	dim3 blockDim;
	unsigned int sharedMemBytes;
	void **kernelParams;
	void **extra;
};

typedef unsigned long long cudaGraphConditionalHandle;

enum cudaGraphConditionalHandleFlags {
	cudaGraphCondAssignDefault	= 1
};

enum cudaGraphConditionalNodeType {
	cudaGraphCondTypeIf	= 0,
	cudaGraphCondTypeWhile	= 1,
	cudaGraphCondTypeSwitch	= 2
};

/* As CUDA_CONDITIONAL_NODE_PARAMS */
struct cudaConditionalNodeParams {
	cudaGraphConditionalHandle handle;
	enum cudaGraphConditionalNodeType type;
	unsigned int size;
	cudaGraph_t *phGraph_out;
};

/* The parameters of a node of any type */
struct cudaGraphNodeParams {
	enum cudaGraphNodeType type;
	int reserved0[3];
	union {
		long long reserved1[29];
		struct cudaKernelNodeParamsV2 kernel;
		struct cudaMemcpyNodeParams memcpy;
		struct cudaMemsetParamsV2 memset;
		struct cudaHostNodeParamsV2 host;
		struct cudaChildGraphNodeParams graph;
		struct cudaEventWaitNodeParams eventWait;
		struct cudaEventRecordNodeParams eventRecord;
		struct cudaMemAllocNodeParamsV2 alloc;
		struct cudaMemFreeNodeParams free;
		struct cudaConditionalNodeParams conditional;
	};
	long long reserved2;
};

enum cudaGraphInstantiateFlags {
	cudaGraphInstantiateFlagAutoFreeOnLaunch	= 1,
	cudaGraphInstantiateFlagUpload			= 2,
	cudaGraphInstantiateFlagDeviceLaunch		= 4,
	cudaGraphInstantiateFlagUseNodePriority		= 8
};

typedef enum cudaGraphInstantiateResult {
	cudaGraphInstantiateSuccess			= 0,
	cudaGraphInstantiateError			= 1,
	cudaGraphInstantiateInvalidStructure		= 2,
	cudaGraphInstantiateNodeOperationNotSupported	= 3,
	cudaGraphInstantiateMultipleDevicesNotSupported	= 4,
	cudaGraphInstantiateConditionalHandleUnused	= 5
} cudaGraphInstantiateResult;

/* As CUDA_GRAPH_INSTANTIATE_PARAMS */
typedef struct cudaGraphInstantiateParams_st {
	unsigned long long flags;
	cudaStream_t uploadStream;
	cudaGraphNode_t errNode_out;
	cudaGraphInstantiateResult result_out;
} cudaGraphInstantiateParams;

enum cudaGraphExecUpdateResult {
	cudaGraphExecUpdateSuccess				= 0x0,
	cudaGraphExecUpdateError				= 0x1,
	cudaGraphExecUpdateErrorTopologyChanged			= 0x2,
	cudaGraphExecUpdateErrorNodeTypeChanged			= 0x3,
	cudaGraphExecUpdateErrorFunctionChanged			= 0x4,
	cudaGraphExecUpdateErrorParametersChanged		= 0x5,
	cudaGraphExecUpdateErrorNotSupported			= 0x6,
	cudaGraphExecUpdateErrorUnsupportedFunctionChange	= 0x7,
	cudaGraphExecUpdateErrorAttributesChanged		= 0x8
};

/* As CUgraphExecUpdateResultInfo */
typedef struct cudaGraphExecUpdateResultInfo_st {
	enum cudaGraphExecUpdateResult result;
	cudaGraphNode_t errorNode;
	cudaGraphNode_t errorFromNode;
} cudaGraphExecUpdateResultInfo;

enum cudaGraphMemAttributeType {
	cudaGraphMemAttrUsedMemCurrent		= 0x0,
	cudaGraphMemAttrUsedMemHigh		= 0x1,
	cudaGraphMemAttrReservedMemCurrent	= 0x2,
	cudaGraphMemAttrReservedMemHigh		= 0x3
};

enum cudaGraphDebugDotFlags {
	cudaGraphDebugDotFlagsVerbose			= 1<<0,
	cudaGraphDebugDotFlagsKernelNodeParams		= 1<<2,
	cudaGraphDebugDotFlagsMemcpyNodeParams		= 1<<3,
	cudaGraphDebugDotFlagsMemsetNodeParams		= 1<<4,
	cudaGraphDebugDotFlagsHostNodeParams		= 1<<5,
	cudaGraphDebugDotFlagsEventNodeParams		= 1<<6,
	cudaGraphDebugDotFlagsExtSemasSignalNodeParams	= 1<<7,
	cudaGraphDebugDotFlagsExtSemasWaitNodeParams	= 1<<8,
	cudaGraphDebugDotFlagsKernelNodeAttributes	= 1<<9,
	cudaGraphDebugDotFlagsHandles			= 1<<10,
	cudaGraphDebugDotFlagsConditionalNodeParams	= 1<<15
};

/* Kernels, which are known by name; registered C functions do their work */

struct cudaFuncAttributes {
	size_t sharedSizeBytes;
	size_t constSizeBytes;
	size_t localSizeBytes;
	int maxThreadsPerBlock;
	int numRegs;
	int ptxVersion;
	int binaryVersion;
	int cacheModeCA;
	int maxDynamicSharedSizeBytes;
	int preferredShmemCarveout;
	int clusterDimMustBeSet;
	int requiredClusterWidth;
	int requiredClusterHeight;
	int requiredClusterDepth;
	int clusterSchedulingPolicyPreference;
	int nonPortableClusterSizeAllowed;
	int reserved[16];
};

enum cudaFuncAttribute {
	cudaFuncAttributeMaxDynamicSharedMemorySize		= 8,
	cudaFuncAttributePreferredSharedMemoryCarveout		= 9,
	cudaFuncAttributeClusterDimMustBeSet			= 10,
	cudaFuncAttributeRequiredClusterWidth			= 11,
	cudaFuncAttributeRequiredClusterHeight			= 12,
	cudaFuncAttributeRequiredClusterDepth			= 13,
	cudaFuncAttributeNonPortableClusterSizeAllowed		= 14,
	cudaFuncAttributeClusterSchedulingPolicyPreference	= 15,
	cudaFuncAttributeMax
};

enum cudaSharedMemConfig {
	cudaSharedMemBankSizeDefault	= 0,
	cudaSharedMemBankSizeFourByte	= 1,
	cudaSharedMemBankSizeEightByte	= 2
};

enum cudaJitOption {
	cudaJitMaxRegisters		= 0,
	cudaJitThreadsPerBlock		= 1,
	cudaJitWallTime			= 2,
	cudaJitInfoLogBuffer		= 3,
	cudaJitInfoLogBufferSizeBytes	= 4,
	cudaJitErrorLogBuffer		= 5,
	cudaJitErrorLogBufferSizeBytes	= 6,
	cudaJitOptimizationLevel	= 7,
	cudaJitFallbackStrategy		= 10,
	cudaJitGenerateDebugInfo	= 11,
	cudaJitLogVerbose		= 12,
	cudaJitGenerateLineInfo		= 13,
	cudaJitCacheMode		= 14,
	cudaJitPositionIndependentCode	= 30,
	cudaJitMinCtaPerSm		= 31,
	cudaJitMaxThreadsPerBlock	= 32,
	cudaJitOverrideDirectiveValues	= 33
};

enum cudaLibraryOption {
	cudaLibraryHostUniversalFunctionAndDataTable	= 0,
	cudaLibraryBinaryIsPreserved			= 1
};

typedef union cudaLaunchAttributeValue {
	char pad[64];
	int cooperative;
	struct {
		unsigned int x;
		unsigned int y;
		unsigned int z;
	} clusterDim;
	int programmaticStreamSerializationAllowed;
	struct {
		cudaEvent_t event;
		int flags;
		int triggerAtBlockStart;
	} programmaticEvent;
	int priority;
	struct {
		unsigned int x;
		unsigned int y;
		unsigned int z;
	} preferredClusterDim;
	struct {
		cudaEvent_t event;
		int flags;
	} launchCompletionEvent;
	unsigned int sharedMemCarveout;
	unsigned int nvlinkUtilCentricScheduling;
} cudaLaunchAttributeValue;

typedef enum cudaLaunchAttributeID {
	cudaLaunchAttributeIgnore				= 0,
	cudaLaunchAttributeAccessPolicyWindow			= 1,
	cudaLaunchAttributeCooperative				= 2,
	cudaLaunchAttributeSynchronizationPolicy		= 3,
	cudaLaunchAttributeClusterDimension			= 4,
	cudaLaunchAttributeClusterSchedulingPolicyPreference	= 5,
	cudaLaunchAttributeProgrammaticStreamSerialization	= 6,
	cudaLaunchAttributeProgrammaticEvent			= 7,
	cudaLaunchAttributePriority				= 8,
	cudaLaunchAttributeMemSyncDomainMap			= 9,
	cudaLaunchAttributeMemSyncDomain			= 10,
	cudaLaunchAttributePreferredClusterDimension		= 11,
	cudaLaunchAttributeLaunchCompletionEvent		= 12,
	cudaLaunchAttributeDeviceUpdatableKernelNode		= 13,
	cudaLaunchAttributePreferredSharedMemoryCarveout	= 14,
	cudaLaunchAttributeNvlinkUtilCentricScheduling		= 16
} cudaLaunchAttributeID;

typedef struct cudaLaunchAttribute_st {
	cudaLaunchAttributeID id;
	char pad[8 - sizeof(cudaLaunchAttributeID)];
	cudaLaunchAttributeValue val;
} cudaLaunchAttribute;

typedef struct cudaLaunchConfig_st {
	dim3 gridDim;
	dim3 blockDim;
	size_t dynamicSmemBytes;
	cudaStream_t stream;
	cudaLaunchAttribute *attrs;
	unsigned int numAttrs;
} cudaLaunchConfig_t;

/* Entry points of the driver */
enum cudaGetDriverEntryPointFlags {
	cudaEnableDefault			= 0x0,
	cudaEnableLegacyStream			= 0x1,
	cudaEnablePerThreadDefaultStream	= 0x2
};

enum cudaDriverEntryPointQueryResult {
	cudaDriverEntryPointSuccess		= 0,
	cudaDriverEntryPointSymbolNotFound	= 1,
	cudaDriverEntryPointVersionNotSufficent	= 2
};

/* The log */

typedef enum CUDAlogLevel_enum {
	cudaLogLevelError	= 0,
	cudaLogLevelWarning	= 1
} cudaLogLevel;

typedef struct CUlogsCallbackEntry_st *cudaLogsCallbackHandle;
typedef unsigned int cudaLogIterator;

/* Kinds of channels of an array, for cudaCreateChannelDesc() */
enum cudaChannelFormatKind {
	cudaChannelFormatKindSigned	= 0,
	cudaChannelFormatKindUnsigned	= 1,
	cudaChannelFormatKindFloat	= 2,
	cudaChannelFormatKindNone	= 3
};

struct cudaChannelFormatDesc {
	int x;
	int y;
	int z;
	int w;
	enum cudaChannelFormatKind f;
};

#endif /* __DRIVER_TYPES_H__ */
