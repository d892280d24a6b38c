/* SPDX-License-Identifier: MIT */
/*
 * The part of the CUDA driver API that memcast emulates.
 *
 * Names, numbers and layouts are those of CUDA 13.0, so that a program built
 * with NVIDIA's header of this name runs on memcast's libcuda.so.1, and the
 * other way round. Text and everything else is memcast's own.
 *
 * Words: a device is emulated, its memory is host memory of one NUMA node. G is
 * the granularity, 2 MiB. Sizes and offsets are in bytes. "Source" says where a
 * call's rules come from: the API document (NVIDIA's published text), hardware
 * (seen there), or ours (where neither says); without the word, the document.
 *
 * Every function except cuDriverGetVersion(), cuGetErrorName(), cuGetErrorString()
 * and cuGetProcAddress() can return, besides the errors listed with it,
 *
 *   CUDA_ERROR_NOT_INITIALIZED	cuInit() was not called, or this is the child of
 *				a fork() of a process that called it
 *   CUDA_ERROR_DEINITIALIZED	the process is ending
 *   CUDA_ERROR_INVALID_VALUE	an output pointer is NULL, or flags are unknown
 *
 * A call that fails leaves its outputs as they were. With CUDA_LOG_FILE=stderr,
 * stdout or a path in the environment, each failed call writes a line there:
 * its arguments, its result and the reason in words.
 *
 * All calls may be made from several threads at once. A thread that is cancelled
 * (pthread_cancel()) during a call ends after the call.
 * A thread that can be cancelled at any instruction (PTHREAD_CANCEL_ASYNCHRONOUS) may also
 * end in a call: it holds no lock then, and an object that the call was making, if the program
 * does not know it yet, stays until the process ends (all of this is ours).
 */
/* The include guard of NVIDIA's header of this name: of the two headers, the first one counts. */
#ifndef __cuda_cuda_h__
#define __cuda_cuda_h__

#include <stdint.h>
#include <stdlib.h>

#define CUDA_VERSION	13000

#define CUDAAPI
#define CUDA_CB

/*
 * Programs built for the per-thread default stream import other names of the functions that use
 * a stream: there NULL, or no stream at all, is CU_STREAM_PER_THREAD.
 */
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define MEMCAST_PER_THREAD(name)	name##_ptds
#define MEMCAST_PER_THREAD_STREAM(name)	name##_ptsz
#define cuEventRecord			MEMCAST_PER_THREAD_STREAM(cuEventRecord)
#define cuEventRecordWithFlags		MEMCAST_PER_THREAD_STREAM(cuEventRecordWithFlags)
#define cuGraphInstantiateWithParams	MEMCAST_PER_THREAD_STREAM(cuGraphInstantiateWithParams)
#define cuGraphLaunch			MEMCAST_PER_THREAD_STREAM(cuGraphLaunch)
#define cuGraphUpload			MEMCAST_PER_THREAD_STREAM(cuGraphUpload)
#define cuLaunchCooperativeKernel	MEMCAST_PER_THREAD_STREAM(cuLaunchCooperativeKernel)
#define cuLaunchHostFunc		MEMCAST_PER_THREAD_STREAM(cuLaunchHostFunc)
#define cuLaunchKernel			MEMCAST_PER_THREAD_STREAM(cuLaunchKernel)
#define cuLaunchKernelEx		MEMCAST_PER_THREAD_STREAM(cuLaunchKernelEx)
#define cuMemAllocAsync			MEMCAST_PER_THREAD_STREAM(cuMemAllocAsync)
#define cuMemAllocFromPoolAsync		MEMCAST_PER_THREAD_STREAM(cuMemAllocFromPoolAsync)
#define cuMemFreeAsync			MEMCAST_PER_THREAD_STREAM(cuMemFreeAsync)
#define cuMemcpy			MEMCAST_PER_THREAD(cuMemcpy)
#define cuMemcpyAsync			MEMCAST_PER_THREAD_STREAM(cuMemcpyAsync)
#define cuMemcpy3DPeer			MEMCAST_PER_THREAD(cuMemcpy3DPeer)
#define cuMemcpy3DPeerAsync		MEMCAST_PER_THREAD_STREAM(cuMemcpy3DPeerAsync)
#define cuMemcpyPeer			MEMCAST_PER_THREAD(cuMemcpyPeer)
#define cuMemcpyPeerAsync		MEMCAST_PER_THREAD_STREAM(cuMemcpyPeerAsync)
#define cuMemsetD8Async			MEMCAST_PER_THREAD_STREAM(cuMemsetD8Async)
#define cuMemsetD16Async		MEMCAST_PER_THREAD_STREAM(cuMemsetD16Async)
#define cuMemsetD32Async		MEMCAST_PER_THREAD_STREAM(cuMemsetD32Async)
#define cuMemsetD2D8Async		MEMCAST_PER_THREAD_STREAM(cuMemsetD2D8Async)
#define cuMemsetD2D16Async		MEMCAST_PER_THREAD_STREAM(cuMemsetD2D16Async)
#define cuMemsetD2D32Async		MEMCAST_PER_THREAD_STREAM(cuMemsetD2D32Async)
#define cuMemDiscardAndPrefetchBatchAsync \
	MEMCAST_PER_THREAD_STREAM(cuMemDiscardAndPrefetchBatchAsync)
#define cuMemDiscardBatchAsync		MEMCAST_PER_THREAD_STREAM(cuMemDiscardBatchAsync)
#define cuMemPrefetchBatchAsync		MEMCAST_PER_THREAD_STREAM(cuMemPrefetchBatchAsync)
#define cuStreamAddCallback		MEMCAST_PER_THREAD_STREAM(cuStreamAddCallback)
#define cuStreamAttachMemAsync		MEMCAST_PER_THREAD_STREAM(cuStreamAttachMemAsync)
#define cuStreamBeginCaptureToGraph	MEMCAST_PER_THREAD_STREAM(cuStreamBeginCaptureToGraph)
#define cuStreamCopyAttributes		MEMCAST_PER_THREAD_STREAM(cuStreamCopyAttributes)
#define cuStreamEndCapture		MEMCAST_PER_THREAD_STREAM(cuStreamEndCapture)
#define cuStreamGetAttribute		MEMCAST_PER_THREAD_STREAM(cuStreamGetAttribute)
#define cuStreamGetCtx			MEMCAST_PER_THREAD_STREAM(cuStreamGetCtx)
#define cuStreamGetCtx_v2		MEMCAST_PER_THREAD_STREAM(cuStreamGetCtx_v2)
#define cuStreamGetDevice		MEMCAST_PER_THREAD_STREAM(cuStreamGetDevice)
#define cuStreamGetFlags		MEMCAST_PER_THREAD_STREAM(cuStreamGetFlags)
#define cuStreamGetId			MEMCAST_PER_THREAD_STREAM(cuStreamGetId)
#define cuStreamGetPriority		MEMCAST_PER_THREAD_STREAM(cuStreamGetPriority)
#define cuStreamIsCapturing		MEMCAST_PER_THREAD_STREAM(cuStreamIsCapturing)
#define cuStreamQuery			MEMCAST_PER_THREAD_STREAM(cuStreamQuery)
#define cuStreamSetAttribute		MEMCAST_PER_THREAD_STREAM(cuStreamSetAttribute)
#define cuStreamSynchronize		MEMCAST_PER_THREAD_STREAM(cuStreamSynchronize)
#define cuStreamWaitEvent		MEMCAST_PER_THREAD_STREAM(cuStreamWaitEvent)
#else
#define MEMCAST_PER_THREAD(name)	name
#define MEMCAST_PER_THREAD_STREAM(name)	name
#endif

/* Each call's newest binary interface; older ones stay in the library. */
#define cuCtxCreate			cuCtxCreate_v4
#define cuCtxDestroy			cuCtxDestroy_v2
#define cuCtxPopCurrent			cuCtxPopCurrent_v2
#define cuCtxPushCurrent		cuCtxPushCurrent_v2
#define cuDeviceGetUuid			cuDeviceGetUuid_v2
#define cuDevicePrimaryCtxRelease	cuDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxReset		cuDevicePrimaryCtxReset_v2
#define cuDevicePrimaryCtxSetFlags	cuDevicePrimaryCtxSetFlags_v2
#define cuDeviceTotalMem		cuDeviceTotalMem_v2
#define cuEventDestroy			cuEventDestroy_v2
#define cuEventElapsedTime		cuEventElapsedTime_v2
#define cuGetProcAddress		cuGetProcAddress_v2
#define cuGraphAddDependencies		cuGraphAddDependencies_v2
#define cuGraphAddKernelNode		cuGraphAddKernelNode_v2
#define cuGraphAddNode			cuGraphAddNode_v2
#define cuGraphExecKernelNodeSetParams	cuGraphExecKernelNodeSetParams_v2
#define cuGraphExecUpdate		cuGraphExecUpdate_v2
#define cuGraphGetEdges			cuGraphGetEdges_v2
#define cuGraphInstantiate		cuGraphInstantiateWithFlags
#define cuGraphKernelNodeGetParams	cuGraphKernelNodeGetParams_v2
#define cuGraphKernelNodeSetParams	cuGraphKernelNodeSetParams_v2
#define cuGraphNodeGetDependencies	cuGraphNodeGetDependencies_v2
#define cuGraphNodeGetDependentNodes	cuGraphNodeGetDependentNodes_v2
#define cuGraphRemoveDependencies	cuGraphRemoveDependencies_v2
#define cuIpcOpenMemHandle		cuIpcOpenMemHandle_v2
#define cuMemAdvise			cuMemAdvise_v2
#define cuLinkAddData			cuLinkAddData_v2
#define cuLinkAddFile			cuLinkAddFile_v2
#define cuLinkCreate			cuLinkCreate_v2
#define cuMemAlloc			cuMemAlloc_v2
#define cuMemAllocHost			cuMemAllocHost_v2
#define cuMemAllocPitch			cuMemAllocPitch_v2
#define cuMemFree			cuMemFree_v2
#define cuMemGetAddressRange		cuMemGetAddressRange_v2
#define cuMemGetInfo			cuMemGetInfo_v2
#define cuMemHostGetDevicePointer	cuMemHostGetDevicePointer_v2
#define cuMemHostRegister		cuMemHostRegister_v2
#define cuMemPrefetchAsync		MEMCAST_PER_THREAD_STREAM(cuMemPrefetchAsync_v2)
#define cuMemcpy2D			MEMCAST_PER_THREAD(cuMemcpy2D_v2)
#define cuMemcpy2DAsync			MEMCAST_PER_THREAD_STREAM(cuMemcpy2DAsync_v2)
#define cuMemcpy2DUnaligned		MEMCAST_PER_THREAD(cuMemcpy2DUnaligned_v2)
#define cuMemcpy3D			MEMCAST_PER_THREAD(cuMemcpy3D_v2)
#define cuMemcpy3DAsync			MEMCAST_PER_THREAD_STREAM(cuMemcpy3DAsync_v2)
#define cuMemcpy3DBatchAsync		MEMCAST_PER_THREAD_STREAM(cuMemcpy3DBatchAsync_v2)
#define cuMemcpyBatchAsync		MEMCAST_PER_THREAD_STREAM(cuMemcpyBatchAsync_v2)
#define cuMemcpyDtoDAsync		MEMCAST_PER_THREAD_STREAM(cuMemcpyDtoDAsync_v2)
#define cuMemcpyDtoHAsync		MEMCAST_PER_THREAD_STREAM(cuMemcpyDtoHAsync_v2)
#define cuMemcpyHtoDAsync		MEMCAST_PER_THREAD_STREAM(cuMemcpyHtoDAsync_v2)
#define cuMemcpyDtoD			MEMCAST_PER_THREAD(cuMemcpyDtoD_v2)
#define cuMemcpyDtoH			MEMCAST_PER_THREAD(cuMemcpyDtoH_v2)
#define cuMemcpyHtoD			MEMCAST_PER_THREAD(cuMemcpyHtoD_v2)
#define cuMemsetD8			MEMCAST_PER_THREAD(cuMemsetD8_v2)
#define cuMemsetD16			MEMCAST_PER_THREAD(cuMemsetD16_v2)
#define cuMemsetD32			MEMCAST_PER_THREAD(cuMemsetD32_v2)
#define cuMemsetD2D8			MEMCAST_PER_THREAD(cuMemsetD2D8_v2)
#define cuMemsetD2D16			MEMCAST_PER_THREAD(cuMemsetD2D16_v2)
#define cuMemsetD2D32			MEMCAST_PER_THREAD(cuMemsetD2D32_v2)
#define cuModuleGetGlobal		cuModuleGetGlobal_v2
#define cuStreamBatchMemOp		MEMCAST_PER_THREAD_STREAM(cuStreamBatchMemOp_v2)
#define cuStreamBeginCapture		MEMCAST_PER_THREAD_STREAM(cuStreamBeginCapture_v2)
#define cuStreamDestroy			cuStreamDestroy_v2
#define cuStreamGetCaptureInfo		MEMCAST_PER_THREAD_STREAM(cuStreamGetCaptureInfo_v3)
#define cuStreamUpdateCaptureDependencies \
	MEMCAST_PER_THREAD_STREAM(cuStreamUpdateCaptureDependencies_v2)
#define cuStreamWaitValue32		MEMCAST_PER_THREAD_STREAM(cuStreamWaitValue32_v2)
#define cuStreamWaitValue64		MEMCAST_PER_THREAD_STREAM(cuStreamWaitValue64_v2)
#define cuStreamWriteValue32		MEMCAST_PER_THREAD_STREAM(cuStreamWriteValue32_v2)
#define cuStreamWriteValue64		MEMCAST_PER_THREAD_STREAM(cuStreamWriteValue64_v2)

#ifdef __cplusplus
extern "C" {
#endif

/* Types */

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;

/* An address in a reservation, with the same value as a CPU pointer to it. */
typedef unsigned long long CUdeviceptr_v2;
typedef CUdeviceptr_v2 CUdeviceptr;

/* The ordinal of a device, from 0. */
typedef int CUdevice_v1;
typedef CUdevice_v1 CUdevice;

#define CU_DEVICE_CPU		((CUdevice)-1)
#define CU_DEVICE_INVALID	((CUdevice)-2)

typedef struct CUctx_st *CUcontext;
typedef struct CUgreenCtx_st *CUgreenCtx;	/* not supported */
typedef struct CUarray_st *CUarray;		/* not supported */

/* A queue of work. It belongs to a context, as an event does. */
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

/* Default streams; NULL is the first, or the second: CUDA_API_PER_THREAD_… */
#define CU_STREAM_LEGACY	((CUstream)0x1)
#define CU_STREAM_PER_THREAD	((CUstream)0x2)

/* A source of stream-ordered memory. */
typedef struct CUmemPoolHandle_st *CUmemoryPool;

/* A memory or a team, in this process. */
typedef unsigned long long CUmemGenericAllocationHandle_v1;
typedef CUmemGenericAllocationHandle_v1 CUmemGenericAllocationHandle;

#ifndef CU_UUID_HAS_BEEN_DEFINED
#define CU_UUID_HAS_BEEN_DEFINED
typedef struct CUuuid_st {
	char bytes[16];		/* in the order they are printed */
} CUuuid;
#endif

#define CU_IPC_HANDLE_SIZE	64

/* The handle that CU_MEM_HANDLE_TYPE_FABRIC exports. */
typedef struct CUmemFabricHandle_st {
	unsigned char data[CU_IPC_HANDLE_SIZE];
} CUmemFabricHandle_v1;
typedef CUmemFabricHandle_v1 CUmemFabricHandle;

/* The handles that cuIpcGetMemHandle() and cuIpcGetEventHandle() give. */
typedef struct CUipcMemHandle_st {
	char reserved[CU_IPC_HANDLE_SIZE];
} CUipcMemHandle_v1;
typedef CUipcMemHandle_v1 CUipcMemHandle;

typedef struct CUipcEventHandle_st {
	char reserved[CU_IPC_HANDLE_SIZE];
} CUipcEventHandle_v1;
typedef CUipcEventHandle_v1 CUipcEventHandle;

typedef enum CUipcMem_flags_enum {
	CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 0x1	/* has to be set */
} CUipcMem_flags;

/* Flags of a context: kept, without effect. */
typedef enum CUctx_flags_enum {
	CU_CTX_SCHED_AUTO		= 0x00,
	CU_CTX_SCHED_SPIN		= 0x01,
	CU_CTX_SCHED_YIELD		= 0x02,
	CU_CTX_SCHED_BLOCKING_SYNC	= 0x04,
	CU_CTX_BLOCKING_SYNC		= 0x04,
	CU_CTX_SCHED_MASK		= 0x07,
	CU_CTX_MAP_HOST			= 0x08,
	CU_CTX_LMEM_RESIZE_TO_MAX	= 0x10,
	CU_CTX_COREDUMP_ENABLE		= 0x20,
	CU_CTX_USER_COREDUMP_ENABLE	= 0x40,
	CU_CTX_SYNC_MEMOPS		= 0x80,
	CU_CTX_FLAGS_MASK		= 0xff
} CUctx_flags;

/* Kinds of limits on a context's share of the device; none is supported. */
typedef enum CUexecAffinityType_enum {
	CU_EXEC_AFFINITY_TYPE_SM_COUNT = 0,
	CU_EXEC_AFFINITY_TYPE_MAX
} CUexecAffinityType;

typedef struct CUexecAffinitySmCount_st {
	unsigned int val;
} CUexecAffinitySmCount_v1;
typedef CUexecAffinitySmCount_v1 CUexecAffinitySmCount;

typedef struct CUexecAffinityParam_st {
	CUexecAffinityType type;
	union {
		CUexecAffinitySmCount smCount;
	} param;
} CUexecAffinityParam_v1;
typedef CUexecAffinityParam_v1 CUexecAffinityParam;

/* Sharing a context with a graphics queue; not supported. */
typedef enum CUcigDataType_enum {
	CIG_DATA_TYPE_D3D12_COMMAND_QUEUE	= 0x1,
	CIG_DATA_TYPE_NV_BLOB			= 0x2
} CUcigDataType;

typedef struct CUctxCigParam_st {
	CUcigDataType sharedDataType;
	void *sharedData;
} CUctxCigParam;

typedef struct CUctxCreateParams_st {
	CUexecAffinityParam *execAffinityParams;	/* array, or NULL */
	int numExecAffinityParams;			/* its length */
	CUctxCigParam *cigParams;			/* NULL */
} CUctxCreateParams;

/* Values of CU_DEVICE_ATTRIBUTE_COMPUTE_MODE. */
typedef enum CUcomputemode_enum {
	CU_COMPUTEMODE_DEFAULT			= 0,
	CU_COMPUTEMODE_PROHIBITED		= 2,
	CU_COMPUTEMODE_EXCLUSIVE_PROCESS	= 3
} CUcomputemode;

/* Values of CU_DEVICE_ATTRIBUTE_NUMA_CONFIG. */
typedef enum CUdeviceNumaConfig_enum {
	CU_DEVICE_NUMA_CONFIG_NONE = 0,
	CU_DEVICE_NUMA_CONFIG_NUMA_NODE
} CUdeviceNumaConfig;

/* How a memory or a team can leave the process: a mask. */
typedef enum CUmemAllocationHandleType_enum {
	CU_MEM_HANDLE_TYPE_NONE				= 0x0,
	CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR	= 0x1,	/* a dma-buf */
	CU_MEM_HANDLE_TYPE_WIN32			= 0x2,	/* not supported */
	CU_MEM_HANDLE_TYPE_WIN32_KMT			= 0x4,	/* not supported */
	CU_MEM_HANDLE_TYPE_FABRIC			= 0x8,
	CU_MEM_HANDLE_TYPE_MAX				= 0x7fffffff
} CUmemAllocationHandleType;

/* Access of a device to a mapping. */
typedef enum CUmemAccess_flags_enum {
	CU_MEM_ACCESS_FLAGS_PROT_NONE		= 0x0,
	CU_MEM_ACCESS_FLAGS_PROT_READ		= 0x1,
	CU_MEM_ACCESS_FLAGS_PROT_READWRITE	= 0x3,
	CU_MEM_ACCESS_FLAGS_PROT_MAX		= 0x7fffffff
} CUmemAccess_flags;

typedef enum CUmemLocationType_enum {
	CU_MEM_LOCATION_TYPE_INVALID		= 0x0,
	CU_MEM_LOCATION_TYPE_NONE		= 0x0,
	CU_MEM_LOCATION_TYPE_DEVICE		= 0x1,	/* id: its ordinal */
	CU_MEM_LOCATION_TYPE_HOST		= 0x2,	/* id is ignored */
	CU_MEM_LOCATION_TYPE_HOST_NUMA		= 0x3,	/* id: the node */
	CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT	= 0x4,
	CU_MEM_LOCATION_TYPE_MAX		= 0x7fffffff
} CUmemLocationType;

typedef struct CUmemLocation_st {
	CUmemLocationType type;
	int id;
} CUmemLocation_v1;
typedef CUmemLocation_v1 CUmemLocation;

typedef enum CUmemAllocationType_enum {
	CU_MEM_ALLOCATION_TYPE_INVALID	= 0x0,
	CU_MEM_ALLOCATION_TYPE_PINNED	= 0x1,
	CU_MEM_ALLOCATION_TYPE_MANAGED	= 0x2,
	CU_MEM_ALLOCATION_TYPE_MAX	= 0x7fffffff
} CUmemAllocationType;

typedef enum CUmemAllocationCompType_enum {
	CU_MEM_ALLOCATION_COMP_NONE	= 0x0,
	CU_MEM_ALLOCATION_COMP_GENERIC	= 0x1		/* not supported */
} CUmemAllocationCompType;

#define CU_MEM_CREATE_USAGE_TILE_POOL		0x1	/* not supported */
#define CU_MEM_CREATE_USAGE_HW_DECOMPRESS	0x2	/* not supported */

typedef enum CUmemAllocationGranularity_flags_enum {
	CU_MEM_ALLOC_GRANULARITY_MINIMUM	= 0x0,
	CU_MEM_ALLOC_GRANULARITY_RECOMMENDED	= 0x1
} CUmemAllocationGranularity_flags;

/* The properties of a new memory. */
typedef struct CUmemAllocationProp_st {
	CUmemAllocationType type;			/* PINNED */
	CUmemAllocationHandleType requestedHandleTypes;	/* mask */
	CUmemLocation location;
	void *win32HandleMetaData;			/* NULL */
	struct {
		unsigned char compressionType;	/* CUmemAllocationCompType */
		unsigned char gpuDirectRDMACapable; /* kept and reported */
		unsigned short usage;		/* CU_MEM_CREATE_USAGE_… */
		unsigned char reserved[4];	/* 0 */
	} allocFlags;
} CUmemAllocationProp_v1;
typedef CUmemAllocationProp_v1 CUmemAllocationProp;

#define CU_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS	0x2	/* not supported */

/* The properties of a new pool. */
typedef struct CUmemPoolProps_st {
	CUmemAllocationType allocType;		/* PINNED */
	CUmemAllocationHandleType handleTypes;	/* NONE or POSIX_FILE_DESCRIPTOR */
	CUmemLocation location;			/* a device, the host or a node of it */
	void *win32SecurityAttributes;		/* NULL */
	size_t maxSize;				/* bytes, rounded up to G; 0: any */
	unsigned short usage;			/* 0 */
	unsigned char reserved[54];		/* 0 */
} CUmemPoolProps_v1;
typedef CUmemPoolProps_v1 CUmemPoolProps;

/* A block of a pool, described for another process by cuMemPoolExportPointer(). */
typedef struct CUmemPoolPtrExportData_st {
	unsigned char reserved[64];
} CUmemPoolPtrExportData_v1;
typedef CUmemPoolPtrExportData_v1 CUmemPoolPtrExportData;

/* The REUSE_… attributes (int, 0 or 1) are kept, without effect: free memory is always reused. */
typedef enum CUmemPool_attribute_enum {
	CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES		= 1,
	CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC		= 2,
	CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES	= 3,
	/* cuuint64_t: bytes that the pool keeps even if no block uses them */
	CU_MEMPOOL_ATTR_RELEASE_THRESHOLD			= 4,
	/* cuuint64_t: bytes that it has of the device's memory; bytes of these in use */
	CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT			= 5,
	CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH			= 6, /* may be set to 0 */
	CU_MEMPOOL_ATTR_USED_MEM_CURRENT			= 7,
	CU_MEMPOOL_ATTR_USED_MEM_HIGH				= 8  /* may be set to 0 */
} CUmemPool_attribute;

/*
 * Flags of cuMemHostAlloc(): kept. PORTABLE and DEVICEMAP always hold, and DEVICEMAP is
 * reported.
 */
#define CU_MEMHOSTALLOC_PORTABLE	0x01
#define CU_MEMHOSTALLOC_DEVICEMAP	0x02
#define CU_MEMHOSTALLOC_WRITECOMBINED	0x04

/* Flags of cuMemHostRegister(): the same. */
#define CU_MEMHOSTREGISTER_PORTABLE	0x01
#define CU_MEMHOSTREGISTER_DEVICEMAP	0x02
#define CU_MEMHOSTREGISTER_IOMEMORY	0x04	/* not supported */
#define CU_MEMHOSTREGISTER_READ_ONLY	0x08	/* the memory need not be writable; not reported */

/* One device's access to a mapping. */
typedef struct CUmemAccessDesc_st {
	CUmemLocation location;
	CUmemAccess_flags flags;
} CUmemAccessDesc_v1;
typedef CUmemAccessDesc_v1 CUmemAccessDesc;

typedef enum CUmulticastGranularity_flags_enum {
	CU_MULTICAST_GRANULARITY_MINIMUM	= 0x0,
	CU_MULTICAST_GRANULARITY_RECOMMENDED	= 0x1
} CUmulticastGranularity_flags;

/* The properties of a new team. */
typedef struct CUmulticastObjectProp_st {
	unsigned int numDevices;	/* that will join */
	size_t size;			/* a multiple of G */
	unsigned long long handleTypes;	/* mask, CUmemAllocationHandleType */
	unsigned long long flags;	/* 0 */
} CUmulticastObjectProp_v1;
typedef CUmulticastObjectProp_v1 CUmulticastObjectProp;

/* The interface that cuGetProcAddress() finds for calls with a default stream. */
typedef enum CUdriverProcAddress_flags_enum {
	CU_GET_PROC_ADDRESS_DEFAULT			= 0,
	CU_GET_PROC_ADDRESS_LEGACY_STREAM		= 1 << 0,
	CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM	= 1 << 1
} CUdriverProcAddress_flags;

typedef enum CUdriverProcAddressQueryResult_enum {
	CU_GET_PROC_ADDRESS_SUCCESS			= 0,
	CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND		= 1,
	CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT	= 2
} CUdriverProcAddressQueryResult;

/* Values of CU_POINTER_ATTRIBUTE_MEMORY_TYPE. */
typedef enum CUmemorytype_enum {
	CU_MEMORYTYPE_HOST	= 0x1,
	CU_MEMORYTYPE_DEVICE	= 0x2,
	CU_MEMORYTYPE_ARRAY	= 0x3,
	CU_MEMORYTYPE_UNIFIED	= 0x4
} CUmemorytype;

typedef enum CUstream_flags_enum {
	CU_STREAM_DEFAULT	= 0x0,
	CU_STREAM_NON_BLOCKING	= 0x1	/* does not wait for the legacy stream */
} CUstream_flags;

/* The streams that may use managed memory. */
typedef enum CUmemAttach_flags_enum {
	CU_MEM_ATTACH_GLOBAL	= 0x1,
	CU_MEM_ATTACH_HOST	= 0x2,
	CU_MEM_ATTACH_SINGLE	= 0x4
} CUmemAttach_flags;

/* How managed memory will be used. */
typedef enum CUmem_advise_enum {
	CU_MEM_ADVISE_SET_READ_MOSTLY		= 1,
	CU_MEM_ADVISE_UNSET_READ_MOSTLY		= 2,
	CU_MEM_ADVISE_SET_PREFERRED_LOCATION	= 3,
	CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION	= 4,
	CU_MEM_ADVISE_SET_ACCESSED_BY		= 5,
	CU_MEM_ADVISE_UNSET_ACCESSED_BY		= 6
} CUmem_advise;

/* Attributes of managed memory for cuMemRangeGetAttribute(): an int each. */
typedef enum CUmem_range_attribute_enum {
	CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY		= 1,	/* 1: for the whole range */
	/* a device, CU_DEVICE_CPU; CU_DEVICE_INVALID: none, or several in the range */
	CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION	= 2,
	CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY		= 3,	/* several ints: devices */
	CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION	= 4,	/* as PREFERRED_LOCATION */
	/* as in a CUmemLocation; INVALID: none, or several in the range */
	CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE	= 5,
	CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID	= 6,
	CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE = 7,
	CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID = 8
} CUmem_range_attribute;

/* For cuFlushGPUDirectRDMAWrites(), and values of a device's attributes about it. */
typedef enum CUflushGPUDirectRDMAWritesTarget_enum {
	CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX	= 0
} CUflushGPUDirectRDMAWritesTarget;

typedef enum CUflushGPUDirectRDMAWritesScope_enum {
	CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER	= 100,
	CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES	= 200
} CUflushGPUDirectRDMAWritesScope;

typedef enum CUflushGPUDirectRDMAWritesOptions_enum {
	CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST	= 1 << 0,
	CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_MEMOPS	= 1 << 1	/* not supported */
} CUflushGPUDirectRDMAWritesOptions;

typedef enum CUevent_flags_enum {
	CU_EVENT_DEFAULT	= 0x0,
	CU_EVENT_BLOCKING_SYNC	= 0x1,	/* no effect: waits always sleep */
	CU_EVENT_DISABLE_TIMING	= 0x2,
	CU_EVENT_INTERPROCESS	= 0x4	/* with DISABLE_TIMING: see cuIpcGetEventHandle() */
} CUevent_flags;

typedef enum CUevent_record_flags_enum {
	CU_EVENT_RECORD_DEFAULT		= 0x0,
	CU_EVENT_RECORD_EXTERNAL	= 0x1	/* captured streams: becomes a node */
} CUevent_record_flags;

typedef enum CUevent_wait_flags_enum {
	CU_EVENT_WAIT_DEFAULT	= 0x0,
	CU_EVENT_WAIT_EXTERNAL	= 0x1		/* captured streams: becomes a node */
} CUevent_wait_flags;

/* The condition that ends a wait for a word. */
typedef enum CUstreamWaitValue_flags_enum {
	CU_STREAM_WAIT_VALUE_GEQ	= 0x0,	/* (signed)(word - value) >= 0 */
	CU_STREAM_WAIT_VALUE_EQ		= 0x1,	/* word == value */
	CU_STREAM_WAIT_VALUE_AND	= 0x2,	/* word & value is not 0 */
	CU_STREAM_WAIT_VALUE_NOR	= 0x3,	/* ~(word | value) is not 0 */
	CU_STREAM_WAIT_VALUE_FLUSH	= 1 << 30	/* not supported */
} CUstreamWaitValue_flags;

typedef enum CUstreamWriteValue_flags_enum {
	CU_STREAM_WRITE_VALUE_DEFAULT		= 0x0,
	CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER	= 0x1	/* not supported */
} CUstreamWriteValue_flags;

typedef enum CUstreamBatchMemOpType_enum {
	CU_STREAM_MEM_OP_WAIT_VALUE_32		= 1,
	CU_STREAM_MEM_OP_WRITE_VALUE_32		= 2,
	CU_STREAM_MEM_OP_WAIT_VALUE_64		= 4,
	CU_STREAM_MEM_OP_WRITE_VALUE_64		= 5,
	CU_STREAM_MEM_OP_BARRIER		= 6,	/* no effect: operations are in order */
	CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES	= 3	/* not supported */
} CUstreamBatchMemOpType;

typedef enum CUstreamMemoryBarrier_flags_enum {
	CU_STREAM_MEMORY_BARRIER_TYPE_SYS	= 0x0,
	CU_STREAM_MEMORY_BARRIER_TYPE_GPU	= 0x1
} CUstreamMemoryBarrier_flags;

/* One operation of cuStreamBatchMemOp(). */
typedef union CUstreamBatchMemOpParams_union {
	CUstreamBatchMemOpType operation;
	struct CUstreamMemOpWaitValueParams_st {
		CUstreamBatchMemOpType operation;
		CUdeviceptr address;
		union {
			cuuint32_t value;
			cuuint64_t value64;
		};
		unsigned int flags;		/* CUstreamWaitValue_flags */
		CUdeviceptr alias;		/* ignored */
	} waitValue;
	struct CUstreamMemOpWriteValueParams_st {
		CUstreamBatchMemOpType operation;
		CUdeviceptr address;
		union {
			cuuint32_t value;
			cuuint64_t value64;
		};
		unsigned int flags;		/* 0 */
		CUdeviceptr alias;		/* ignored */
	} writeValue;
	struct CUstreamMemOpFlushRemoteWritesParams_st {
		CUstreamBatchMemOpType operation;
		unsigned int flags;		/* 0 */
	} flushRemoteWrites;
	struct CUstreamMemOpMemoryBarrierParams_st {
		CUstreamBatchMemOpType operation;
		unsigned int flags;		/* CUstreamMemoryBarrier_flags */
	} memoryBarrier;
	cuuint64_t pad[6];
} CUstreamBatchMemOpParams_v1;
typedef CUstreamBatchMemOpParams_v1 CUstreamBatchMemOpParams;

/* Rows to copy: from base + y * pitch + x on. Arrays are not supported. */
typedef struct CUDA_MEMCPY2D_st {
	size_t srcXInBytes;
	size_t srcY;
	CUmemorytype srcMemoryType;
	const void *srcHost;		/* HOST: the base */
	CUdeviceptr srcDevice;		/* DEVICE, UNIFIED: the base */
	CUarray srcArray;
	size_t srcPitch;		/* bytes; 0: the rows follow each other */
	size_t dstXInBytes;
	size_t dstY;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	size_t dstPitch;
	size_t WidthInBytes;
	size_t Height;			/* rows */
} CUDA_MEMCPY2D_v2;
typedef CUDA_MEMCPY2D_v2 CUDA_MEMCPY2D;

/*
 * Layers of rows to copy: from base + (z * height + y) * pitch + x on. Arrays are
 * not supported.
 */
typedef struct CUDA_MEMCPY3D_st {
	size_t srcXInBytes;
	size_t srcY;
	size_t srcZ;
	size_t srcLOD;			/* ignored */
	CUmemorytype srcMemoryType;
	const void *srcHost;		/* HOST: the base */
	CUdeviceptr srcDevice;		/* DEVICE, UNIFIED: the base */
	CUarray srcArray;
	void *reserved0;		/* ignored */
	size_t srcPitch;		/* bytes of a row; 0: x and width */
	size_t srcHeight;		/* rows of a layer; 0: y and height */
	size_t dstXInBytes;
	size_t dstY;
	size_t dstZ;
	size_t dstLOD;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	void *reserved1;
	size_t dstPitch;
	size_t dstHeight;
	size_t WidthInBytes;
	size_t Height;			/* rows to copy of each layer */
	size_t Depth;			/* layers */
} CUDA_MEMCPY3D_v2;
typedef CUDA_MEMCPY3D_v2 CUDA_MEMCPY3D;

/* The same between two contexts; NULL is the current one. */
typedef struct CUDA_MEMCPY3D_PEER_st {
	size_t srcXInBytes;
	size_t srcY;
	size_t srcZ;
	size_t srcLOD;
	CUmemorytype srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	CUcontext srcContext;		/* whose device reads the source */
	size_t srcPitch;
	size_t srcHeight;
	size_t dstXInBytes;
	size_t dstY;
	size_t dstZ;
	size_t dstLOD;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	CUcontext dstContext;		/* whose device writes the destination */
	size_t dstPitch;
	size_t dstHeight;
	size_t WidthInBytes;
	size_t Height;
	size_t Depth;
} CUDA_MEMCPY3D_PEER_v1;
typedef CUDA_MEMCPY3D_PEER_v1 CUDA_MEMCPY3D_PEER;

/* When a batch reads the source of a copy. */
typedef enum CUmemcpySrcAccessOrder_enum {
	CU_MEMCPY_SRC_ACCESS_ORDER_INVALID		= 0x0,
	CU_MEMCPY_SRC_ACCESS_ORDER_STREAM		= 0x1,	/* in the order of the stream */
	CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL	= 0x2,	/* before the call returns */
	CU_MEMCPY_SRC_ACCESS_ORDER_ANY			= 0x3,	/* here: as STREAM */
	CU_MEMCPY_SRC_ACCESS_ORDER_MAX			= 0x7FFFFFFF
} CUmemcpySrcAccessOrder;

typedef enum CUmemcpyFlags_enum {
	CU_MEMCPY_FLAG_DEFAULT				= 0x0,
	CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE	= 0x1	/* no effect */
} CUmemcpyFlags;

/* Attributes of some copies of a batch. */
typedef struct CUmemcpyAttributes_st {
	CUmemcpySrcAccessOrder srcAccessOrder;
	CUmemLocation srcLocHint;	/* checked, without effect */
	CUmemLocation dstLocHint;	/* likewise */
	unsigned int flags;		/* CUmemcpyFlags */
} CUmemcpyAttributes_v1;
typedef CUmemcpyAttributes_v1 CUmemcpyAttributes;

typedef enum CUmemcpy3DOperandType_enum {
	CU_MEMCPY_OPERAND_TYPE_POINTER	= 0x1,
	CU_MEMCPY_OPERAND_TYPE_ARRAY	= 0x2,	/* not supported */
	CU_MEMCPY_OPERAND_TYPE_MAX	= 0x7FFFFFFF
} CUmemcpy3DOperandType;

typedef struct CUoffset3D_st {
	size_t x;
	size_t y;
	size_t z;
} CUoffset3D_v1;
typedef CUoffset3D_v1 CUoffset3D;

typedef struct CUextent3D_st {
	size_t width;
	size_t height;
	size_t depth;
} CUextent3D_v1;
typedef CUextent3D_v1 CUextent3D;

/* One side of a copy in a batch of layers. */
typedef struct CUmemcpy3DOperand_st {
	CUmemcpy3DOperandType type;
	union {
		struct {
			CUdeviceptr ptr;
			size_t rowLength;	/* bytes; 0: the width */
			size_t layerHeight;	/* rows; 0: the height */
			CUmemLocation locHint;	/* checked, without effect */
		} ptr;
		struct {
			CUarray array;
			CUoffset3D offset;
		} array;
	} op;
} CUmemcpy3DOperand_v1;
typedef CUmemcpy3DOperand_v1 CUmemcpy3DOperand;

/* One copy of cuMemcpy3DBatchAsync(). */
typedef struct CUDA_MEMCPY3D_BATCH_OP_st {
	CUmemcpy3DOperand src;
	CUmemcpy3DOperand dst;
	CUextent3D extent;		/* bytes, rows, layers; all over 0 */
	CUmemcpySrcAccessOrder srcAccessOrder;
	unsigned int flags;		/* CUmemcpyFlags */
} CUDA_MEMCPY3D_BATCH_OP_v1;
typedef CUDA_MEMCPY3D_BATCH_OP_v1 CUDA_MEMCPY3D_BATCH_OP;

/*
 * Properties of an address for cuPointerGetAttribute(), and the type of each output. A bool is
 * an int. "Mapped": needs a mapping at the address.
 */
typedef enum CUpointer_attribute_enum {
	CU_POINTER_ATTRIBUTE_CONTEXT = 1,	/* CUcontext: of plain allocations; mapped */
	CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,	/* unsigned int; mapped */
	CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3, /* CUdeviceptr; mapped */
	CU_POINTER_ATTRIBUTE_HOST_POINTER = 4,	/* void *: of memory of the host; mapped */
	CU_POINTER_ATTRIBUTE_P2P_TOKENS = 5,	/* two numbers in 16 bytes; a device's memory */
	CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,	/* bool, without effect; mapped; P2P_TOKENS sets it */
	CU_POINTER_ATTRIBUTE_BUFFER_ID = 7,	/* unsigned long long; mapped */
	CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,	/* bool; mapped */
	CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9, /* int; mapped */
	CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10, /* bool: plain allocation; mapped */
	CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11, /* CUdeviceptr: reservation; mapped */
	CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12,	/* size_t: of the reservation; mapped */
	CU_POINTER_ATTRIBUTE_MAPPED = 13,	/* bool: 1; mapped */
	CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14,	/* unsigned int; mapped */
	CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE = 15, /* bool; mapped */
	CU_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16,	/* unsigned int; mapped */
	CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17, /* CUmemoryPool, or NULL; mapped */
	CU_POINTER_ATTRIBUTE_MAPPING_SIZE = 18,	/* size_t; mapped */
	CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR = 19, /* CUdeviceptr; mapped */
	CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID = 20, /* unsigned long long; mapped */
	CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE = 21 /* bool: 0; mapped */
} CUpointer_attribute;

/* The output of cuDeviceGetProperties(), which older programs use for attributes. */
typedef struct CUdevprop_st {
	int maxThreadsPerBlock;
	int maxThreadsDim[3];
	int maxGridSize[3];
	int sharedMemPerBlock;		/* bytes */
	int totalConstantMemory;	/* bytes */
	int SIMDWidth;
	int memPitch;			/* bytes */
	int regsPerBlock;
	int clockRate;			/* kHz */
	int textureAlign;		/* bytes */
} CUdevprop_v1;
typedef CUdevprop_v1 CUdevprop;

/* Attributes of two devices for cuDeviceGetP2PAttribute(). */
typedef enum CUdevice_P2PAttribute_enum {
	CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK = 1,	/* 0: all are alike */
	CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED = 2,	/* 1 */
	CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED = 3, /* 1 */
	CU_DEVICE_P2P_ATTRIBUTE_ACCESS_ACCESS_SUPPORTED = 4, /* 1 */
	CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED = 4,
	CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED = 5 /* 0 */
} CUdevice_P2PAttribute;

/* Limits of code on a device: values that a context keeps, without effect. */
typedef enum CUlimit_enum {
	CU_LIMIT_STACK_SIZE			= 0x0,
	CU_LIMIT_PRINTF_FIFO_SIZE		= 0x1,
	CU_LIMIT_MALLOC_HEAP_SIZE		= 0x2,
	CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH		= 0x3,
	CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT = 0x4,
	CU_LIMIT_MAX_L2_FETCH_GRANULARITY	= 0x5,
	CU_LIMIT_PERSISTING_L2_CACHE_SIZE	= 0x6,
	CU_LIMIT_SHMEM_SIZE			= 0x7,
	CU_LIMIT_CIG_ENABLED			= 0x8,
	CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED	= 0x9,
	CU_LIMIT_MAX
} CUlimit;

/* A context's preference for its caches; without effect. */
typedef enum CUfunc_cache_enum {
	CU_FUNC_CACHE_PREFER_NONE	= 0x0,
	CU_FUNC_CACHE_PREFER_SHARED	= 0x1,
	CU_FUNC_CACHE_PREFER_L1		= 0x2,
	CU_FUNC_CACHE_PREFER_EQUAL	= 0x3
} CUfunc_cache;

typedef enum CUlogLevel_enum {
	CU_LOG_LEVEL_ERROR	= 0,	/* a failed call */
	CU_LOG_LEVEL_WARNING	= 1
} CUlogLevel;

typedef struct CUlogsCallbackEntry_st *CUlogsCallbackHandle;
typedef void (CUDA_CB *CUlogsCallback)(void *data, CUlogLevel logLevel,
				       char *message, size_t length);

/* A place in the log: the number of lines before it. */
typedef unsigned int CUlogIterator;

/* Results; cuGetErrorString() has a sentence for each. */
typedef enum cudaError_enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
	CUDA_ERROR_DEINITIALIZED = 4,
	CUDA_ERROR_PROFILER_DISABLED = 5,
	CUDA_ERROR_PROFILER_NOT_INITIALIZED = 6,
	CUDA_ERROR_PROFILER_ALREADY_STARTED = 7,
	CUDA_ERROR_PROFILER_ALREADY_STOPPED = 8,
	CUDA_ERROR_STUB_LIBRARY = 34,
	CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER = 36,
	CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
	CUDA_ERROR_NO_DEVICE = 100,
	CUDA_ERROR_INVALID_DEVICE = 101,
	CUDA_ERROR_DEVICE_NOT_LICENSED = 102,
	CUDA_ERROR_INVALID_IMAGE = 200,
	CUDA_ERROR_INVALID_CONTEXT = 201,
	CUDA_ERROR_CONTEXT_ALREADY_CURRENT = 202,
	CUDA_ERROR_MAP_FAILED = 205,
	CUDA_ERROR_UNMAP_FAILED = 206,
	CUDA_ERROR_ARRAY_IS_MAPPED = 207,
	CUDA_ERROR_ALREADY_MAPPED = 208,
	CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
	CUDA_ERROR_ALREADY_ACQUIRED = 210,
	CUDA_ERROR_NOT_MAPPED = 211,
	CUDA_ERROR_NOT_MAPPED_AS_ARRAY = 212,
	CUDA_ERROR_NOT_MAPPED_AS_POINTER = 213,
	CUDA_ERROR_ECC_UNCORRECTABLE = 214,
	CUDA_ERROR_UNSUPPORTED_LIMIT = 215,
	CUDA_ERROR_CONTEXT_ALREADY_IN_USE = 216,
	CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
	CUDA_ERROR_INVALID_PTX = 218,
	CUDA_ERROR_INVALID_GRAPHICS_CONTEXT = 219,
	CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
	CUDA_ERROR_JIT_COMPILER_NOT_FOUND = 221,
	CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
	CUDA_ERROR_JIT_COMPILATION_DISABLED = 223,
	CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY = 224,
	CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC = 225,
	CUDA_ERROR_CONTAINED = 226,
	CUDA_ERROR_INVALID_SOURCE = 300,
	CUDA_ERROR_FILE_NOT_FOUND = 301,
	CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND = 302,
	CUDA_ERROR_SHARED_OBJECT_INIT_FAILED = 303,
	CUDA_ERROR_OPERATING_SYSTEM = 304,
	CUDA_ERROR_INVALID_HANDLE = 400,
	CUDA_ERROR_ILLEGAL_STATE = 401,
	CUDA_ERROR_LOSSY_QUERY = 402,
	CUDA_ERROR_NOT_FOUND = 500,
	CUDA_ERROR_NOT_READY = 600,
	CUDA_ERROR_ILLEGAL_ADDRESS = 700,
	CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
	CUDA_ERROR_LAUNCH_TIMEOUT = 702,
	CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING = 703,
	CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
	CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = 705,
	CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE = 708,
	CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
	CUDA_ERROR_ASSERT = 710,
	CUDA_ERROR_TOO_MANY_PEERS = 711,
	CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
	CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
	CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
	CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
	CUDA_ERROR_MISALIGNED_ADDRESS = 716,
	CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
	CUDA_ERROR_INVALID_PC = 718,
	CUDA_ERROR_LAUNCH_FAILED = 719,
	CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
	CUDA_ERROR_TENSOR_MEMORY_LEAK = 721,
	CUDA_ERROR_NOT_PERMITTED = 800,
	CUDA_ERROR_NOT_SUPPORTED = 801,
	CUDA_ERROR_SYSTEM_NOT_READY = 802,
	CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
	CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
	CUDA_ERROR_MPS_CONNECTION_FAILED = 805,
	CUDA_ERROR_MPS_RPC_FAILURE = 806,
	CUDA_ERROR_MPS_SERVER_NOT_READY = 807,
	CUDA_ERROR_MPS_MAX_CLIENTS_REACHED = 808,
	CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED = 809,
	CUDA_ERROR_MPS_CLIENT_TERMINATED = 810,
	CUDA_ERROR_CDP_NOT_SUPPORTED = 811,
	CUDA_ERROR_CDP_VERSION_MISMATCH = 812,
	CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
	CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
	CUDA_ERROR_STREAM_CAPTURE_MERGE = 902,
	CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
	CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904,
	CUDA_ERROR_STREAM_CAPTURE_ISOLATION = 905,
	CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
	CUDA_ERROR_CAPTURED_EVENT = 907,
	CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908,
	CUDA_ERROR_TIMEOUT = 909,
	CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE = 910,
	CUDA_ERROR_EXTERNAL_DEVICE = 911,
	CUDA_ERROR_INVALID_CLUSTER_SIZE = 912,
	CUDA_ERROR_FUNCTION_NOT_LOADED = 913,
	CUDA_ERROR_INVALID_RESOURCE_TYPE = 914,
	CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION = 915,
	CUDA_ERROR_KEY_ROTATION = 916,
	CUDA_ERROR_UNKNOWN = 999
} CUresult;

/* Functions that streams call. */
typedef void (CUDA_CB *CUhostFn)(void *userData);
typedef void (CUDA_CB *CUstreamCallback)(CUstream hStream, CUresult status,
					 void *userData);

/* Attributes of a device for cuDeviceGetAttribute(). */
typedef enum CUdevice_attribute_enum {
	CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
	CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
	CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
	CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
	CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
	CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
	CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
	CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
	CU_DEVICE_ATTRIBUTE_SHARED_MEMORY_PER_BLOCK = 8,
	CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY = 9,
	CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
	CU_DEVICE_ATTRIBUTE_MAX_PITCH = 11,
	CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
	CU_DEVICE_ATTRIBUTE_REGISTERS_PER_BLOCK = 12,
	CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
	CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT = 14,
	CU_DEVICE_ATTRIBUTE_GPU_OVERLAP = 15,
	CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
	CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT = 17,
	CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
	CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19,
	CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH = 21,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH = 22,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT = 23,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH = 24,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT = 25,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH = 26,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH = 27,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT = 28,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS = 29,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_WIDTH = 27,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_HEIGHT = 28,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES = 29,
	CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT = 30,
	CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS = 31,
	CU_DEVICE_ATTRIBUTE_ECC_ENABLED = 32,
	CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
	CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
	CU_DEVICE_ATTRIBUTE_TCC_DRIVER = 35,
	CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
	CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
	CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
	CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
	CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT = 40,
	CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH = 42,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS = 43,
	CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER = 44,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH = 45,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT = 46,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE = 47,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE = 48,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE = 49,
	CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
	CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT = 51,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH = 52,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH = 53,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS = 54,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH = 55,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH = 56,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT = 57,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH = 58,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT = 59,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH = 60,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH = 61,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS = 62,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH = 63,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT = 64,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS = 65,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH = 66,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH = 67,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS = 68,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH = 69,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH = 70,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT = 71,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH = 72,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH = 73,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT = 74,
	CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
	CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
	CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH = 77,
	CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED = 78,
	CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED = 79,
	CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED = 80,
	CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
	CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
	CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
	CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD = 84,
	CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID = 85,
	CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED = 86,
	CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO = 87,
	CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
	CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
	CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED = 90,
	CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91,
	CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1 = 92,
	CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1 = 93,
	CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1 = 94,
	CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
	CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH = 96,
	CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
	CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES = 98,
	CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED = 99,
	CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES = 100,
	CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST = 101,
	CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED = 102,
	CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
	CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
	CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED = 104,
	CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED = 105,
	CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106,
	CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED = 107,
	CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE = 108,
	CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE = 109,
	CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED = 110,
	CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
	CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED = 112,
	CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED = 113,
	CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED = 114,
	CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
	CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED = 116,
	CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS = 117,
	CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING = 118,
	CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES = 119,
	CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH = 120,
	CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED = 121,
	CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS = 122,
	CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR = 123,
	CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED = 124,
	CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED = 125,
	CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT = 126,
	CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED = 127,
	CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED = 128,
	CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS = 129,
	CU_DEVICE_ATTRIBUTE_NUMA_CONFIG = 130,
	CU_DEVICE_ATTRIBUTE_NUMA_ID = 131,
	CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED = 132,
	CU_DEVICE_ATTRIBUTE_MPS_ENABLED = 133,
	CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID = 134,
	CU_DEVICE_ATTRIBUTE_D3D12_CIG_SUPPORTED = 135,
	CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK = 136,
	CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_MAXIMUM_LENGTH = 137,
	CU_DEVICE_ATTRIBUTE_VULKAN_CIG_SUPPORTED = 138,
	CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID = 139,
	CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID = 140,
	CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 141,
	CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED = 142,
	CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED = 143,
	CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED = 144,
	CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 145,
	CU_DEVICE_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED = 146,
	CU_DEVICE_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED = 147,
	CU_DEVICE_ATTRIBUTE_MAX
} CUdevice_attribute;

/* Since CUDA 13.3: can a dma-buf of the device's memory be given to mmap()? */
#define CU_DEVICE_ATTRIBUTE_DMA_BUF_MMAP_SUPPORTED	((CUdevice_attribute)152)

/* External memory: made by other drivers */

typedef struct CUextMemory_st *CUexternalMemory;

typedef enum CUexternalMemoryHandleType_enum {
	CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD = 1,
	CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32 = 2,
	CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_KMT = 3,
	CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP = 4,
	CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE = 5,
	CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE = 6,
	CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE_KMT = 7,
	CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF = 8,
	CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD = 9
} CUexternalMemoryHandleType;

#define CUDA_EXTERNAL_MEMORY_DEDICATED	0x1

typedef struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC_st {
	CUexternalMemoryHandleType type;
	union {
		int fd;
		struct {
			void *handle;
			const void *name;
		} win32;
		const void *nvSciBufObject;
	} handle;
	unsigned long long size;	/* bytes */
	unsigned int flags;
	unsigned int reserved[16];	/* 0 */
} CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1;
typedef CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1 CUDA_EXTERNAL_MEMORY_HANDLE_DESC;

typedef struct CUDA_EXTERNAL_MEMORY_BUFFER_DESC_st {
	unsigned long long offset;	/* bytes into the memory */
	unsigned long long size;	/* bytes */
	unsigned int flags;		/* 0 */
	unsigned int reserved[16];	/* 0 */
} CUDA_EXTERNAL_MEMORY_BUFFER_DESC_v1;
typedef CUDA_EXTERNAL_MEMORY_BUFFER_DESC_v1 CUDA_EXTERNAL_MEMORY_BUFFER_DESC;

/* Graphs: work that is described once, and then done many times */

typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;	/* a graph that can be launched */
typedef struct CUuserObject_st *CUuserObject;

typedef enum CUgraphNodeType_enum {
	CU_GRAPH_NODE_TYPE_KERNEL		= 0,
	CU_GRAPH_NODE_TYPE_MEMCPY		= 1,
	CU_GRAPH_NODE_TYPE_MEMSET		= 2,
	CU_GRAPH_NODE_TYPE_HOST			= 3,	/* calls a function */
	CU_GRAPH_NODE_TYPE_GRAPH		= 4,	/* a child graph */
	CU_GRAPH_NODE_TYPE_EMPTY		= 5,
	CU_GRAPH_NODE_TYPE_WAIT_EVENT		= 6,
	CU_GRAPH_NODE_TYPE_EVENT_RECORD		= 7,
	CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL	= 8,	/* not supported */
	CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT	= 9,	/* not supported */
	CU_GRAPH_NODE_TYPE_MEM_ALLOC		= 10,
	CU_GRAPH_NODE_TYPE_MEM_FREE		= 11,
	CU_GRAPH_NODE_TYPE_BATCH_MEM_OP		= 12,	/* words: write, wait */
	CU_GRAPH_NODE_TYPE_CONDITIONAL		= 13
} CUgraphNodeType;

/*
 * What a node waits for: all of a node, or (PROGRAMMATIC, between kernels) what the port says.
 * memcast waits for all of the kernel then, too.
 */
typedef enum CUgraphDependencyType_enum {
	CU_GRAPH_DEPENDENCY_TYPE_DEFAULT	= 0,
	CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC	= 1
} CUgraphDependencyType;

#define CU_GRAPH_KERNEL_NODE_PORT_DEFAULT	0
#define CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC	1	/* its blocks have triggered it, or ended */
#define CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER	2	/* its blocks have begun */

typedef struct CUgraphEdgeData_st {
	unsigned char from_port;	/* 0; of type PROGRAMMATIC: PROGRAMMATIC or LAUNCH_ORDER */
	unsigned char to_port;		/* 0 */
	unsigned char type;		/* CUgraphDependencyType */
	unsigned char reserved[5];	/* 0 */
} CUgraphEdgeData;

/* In all node parameters, the device of the context does the work; NULL: the current context. */
typedef struct CUDA_MEMSET_NODE_PARAMS_st {
	CUdeviceptr dst;
	size_t pitch;			/* bytes from one row to the next, if there are two */
	unsigned int value;		/* an element's width of it, from the low end */
	unsigned int elementSize;	/* 1, 2 or 4 */
	size_t width;			/* elements of a row, over 0 */
	size_t height;			/* rows, over 0 */
} CUDA_MEMSET_NODE_PARAMS_v1;
typedef CUDA_MEMSET_NODE_PARAMS_v1 CUDA_MEMSET_NODE_PARAMS;

typedef struct CUDA_MEMSET_NODE_PARAMS_v2_st {
	CUdeviceptr dst;
	size_t pitch;
	unsigned int value;
	unsigned int elementSize;
	size_t width;
	size_t height;
	CUcontext ctx;
} CUDA_MEMSET_NODE_PARAMS_v2;

typedef struct CUDA_MEMCPY_NODE_PARAMS_st {
	int flags;			/* 0 */
	int reserved;			/* 0 */
	CUcontext copyCtx;
	CUDA_MEMCPY3D copyParams;	/* width, height and depth over 0 */
} CUDA_MEMCPY_NODE_PARAMS;

typedef struct CUDA_HOST_NODE_PARAMS_st {
	CUhostFn fn;			/* as of cuLaunchHostFunc() */
	void *userData;
} CUDA_HOST_NODE_PARAMS_v1;
typedef CUDA_HOST_NODE_PARAMS_v1 CUDA_HOST_NODE_PARAMS;

typedef struct CUDA_HOST_NODE_PARAMS_v2_st {
	CUhostFn fn;
	void *userData;
} CUDA_HOST_NODE_PARAMS_v2;

typedef enum CUgraphChildGraphNodeOwnership_enum {
	CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE	= 0,	/* the node gets a copy */
	CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE	= 1	/* the node gets the graph itself */
} CUgraphChildGraphNodeOwnership;

typedef struct CUDA_CHILD_GRAPH_NODE_PARAMS_st {
	CUgraph graph;
	CUgraphChildGraphNodeOwnership ownership;
} CUDA_CHILD_GRAPH_NODE_PARAMS;

typedef struct CUDA_EVENT_RECORD_NODE_PARAMS_st {
	CUevent event;
} CUDA_EVENT_RECORD_NODE_PARAMS;

typedef struct CUDA_EVENT_WAIT_NODE_PARAMS_st {
	CUevent event;
} CUDA_EVENT_WAIT_NODE_PARAMS;

typedef struct CUDA_BATCH_MEM_OP_NODE_PARAMS_v1_st {
	CUcontext ctx;
	unsigned int count;		/* up to 256 */
	CUstreamBatchMemOpParams *paramArray;
	unsigned int flags;		/* 0 */
} CUDA_BATCH_MEM_OP_NODE_PARAMS_v1;
typedef CUDA_BATCH_MEM_OP_NODE_PARAMS_v1 CUDA_BATCH_MEM_OP_NODE_PARAMS;

typedef struct CUDA_BATCH_MEM_OP_NODE_PARAMS_v2_st {
	CUcontext ctx;
	unsigned int count;
	CUstreamBatchMemOpParams *paramArray;
	unsigned int flags;
} CUDA_BATCH_MEM_OP_NODE_PARAMS_v2;

typedef struct CUDA_MEM_ALLOC_NODE_PARAMS_v1_st {
	CUmemPoolProps poolProps;	/* PINNED, on a device, without handle type */
	const CUmemAccessDesc *accessDescs; /* of other devices */
	size_t accessDescCount;
	size_t bytesize;		/* over 0 */
	CUdeviceptr dptr;		/* output */
} CUDA_MEM_ALLOC_NODE_PARAMS_v1;
typedef CUDA_MEM_ALLOC_NODE_PARAMS_v1 CUDA_MEM_ALLOC_NODE_PARAMS;

typedef struct CUDA_MEM_ALLOC_NODE_PARAMS_v2_st {
	CUmemPoolProps poolProps;
	const CUmemAccessDesc *accessDescs;
	size_t accessDescCount;
	size_t bytesize;
	CUdeviceptr dptr;
} CUDA_MEM_ALLOC_NODE_PARAMS_v2;

typedef struct CUDA_MEM_FREE_NODE_PARAMS_st {
	CUdeviceptr dptr;
} CUDA_MEM_FREE_NODE_PARAMS;

/*
 * Device code. A module is device code in a context; a library is device code in all of them.
 * memcast reads the names, parameters and variables in device code, and runs none of it: C
 * functions do the work of kernels, see memcast/kernel.h.
 */
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;	/* of a module */
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;	/* of a library; a launch takes it as a CUfunction, too */

typedef enum CUfunction_attribute_enum {
	CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK			= 0,
	CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES			= 1,	/* without the dynamic part */
	CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES			= 2,	/* of the module */
	CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES			= 3,	/* of a thread */
	CU_FUNC_ATTRIBUTE_NUM_REGS				= 4,	/* of PTX: always 16 */
	CU_FUNC_ATTRIBUTE_PTX_VERSION				= 5,	/* 10 x major + minor, of the target */
	CU_FUNC_ATTRIBUTE_BINARY_VERSION			= 6,
	CU_FUNC_ATTRIBUTE_CACHE_MODE_CA				= 7,
	CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES		= 8,	/* may be set */
	CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT	= 9,	/* may be set */
	CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET		= 10,
	CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH		= 11,	/* may be set */
	CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT		= 12,	/* may be set */
	CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH		= 13,	/* may be set */
	CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED	= 14,	/* may be set */
	CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE	= 15,	/* may be set */
	CU_FUNC_ATTRIBUTE_MAX
} CUfunction_attribute;

/* Options for compiling PTX: all are checked, none has an effect. */
typedef enum CUjit_option_enum {
	CU_JIT_MAX_REGISTERS				= 0,
	CU_JIT_THREADS_PER_BLOCK			= 1,
	CU_JIT_WALL_TIME				= 2,
	CU_JIT_INFO_LOG_BUFFER				= 3,	/* written, always "" */
	CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES		= 4,	/* becomes the length */
	CU_JIT_ERROR_LOG_BUFFER				= 5,	/* written: the error in PTX text */
	CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES		= 6,	/* becomes the length */
	CU_JIT_OPTIMIZATION_LEVEL			= 7,
	CU_JIT_TARGET_FROM_CUCONTEXT			= 8,
	CU_JIT_TARGET					= 9,
	CU_JIT_FALLBACK_STRATEGY			= 10,
	CU_JIT_GENERATE_DEBUG_INFO			= 11,
	CU_JIT_LOG_VERBOSE				= 12,
	CU_JIT_GENERATE_LINE_INFO			= 13,
	CU_JIT_CACHE_MODE				= 14,
	CU_JIT_NEW_SM3X_OPT				= 15,
	CU_JIT_FAST_COMPILE				= 16,
	CU_JIT_GLOBAL_SYMBOL_NAMES			= 17,
	CU_JIT_GLOBAL_SYMBOL_ADDRESSES			= 18,
	CU_JIT_GLOBAL_SYMBOL_COUNT			= 19,
	CU_JIT_LTO					= 20,
	CU_JIT_FTZ					= 21,
	CU_JIT_PREC_DIV					= 22,
	CU_JIT_PREC_SQRT				= 23,
	CU_JIT_FMA					= 24,
	CU_JIT_REFERENCED_KERNEL_NAMES			= 25,
	CU_JIT_REFERENCED_KERNEL_COUNT			= 26,
	CU_JIT_REFERENCED_VARIABLE_NAMES		= 27,
	CU_JIT_REFERENCED_VARIABLE_COUNT		= 28,
	CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES		= 29,
	CU_JIT_POSITION_INDEPENDENT_CODE		= 30,
	CU_JIT_MIN_CTA_PER_SM				= 31,
	CU_JIT_MAX_THREADS_PER_BLOCK			= 32,
	CU_JIT_OVERRIDE_DIRECTIVE_VALUES		= 33,
	CU_JIT_SPLIT_COMPILE				= 34,
	CU_JIT_NUM_OPTIONS
} CUjit_option;

typedef enum CUlibraryOption_enum {
	CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE	= 0,
	CU_LIBRARY_BINARY_IS_PRESERVED				= 1,	/* changes nothing */
	CU_LIBRARY_NUM_OPTIONS
} CUlibraryOption;

typedef enum CUmoduleLoadingMode_enum {
	CU_MODULE_EAGER_LOADING	= 0x1,
	CU_MODULE_LAZY_LOADING	= 0x2
} CUmoduleLoadingMode;

typedef enum CUfunctionLoadingState_enum {
	CU_FUNCTION_LOADING_STATE_UNLOADED	= 0,
	CU_FUNCTION_LOADING_STATE_LOADED	= 1,
	CU_FUNCTION_LOADING_STATE_MAX
} CUfunctionLoadingState;

typedef enum CUsharedconfig_enum {
	CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE		= 0x00,
	CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE	= 0x01,
	CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE	= 0x02
} CUsharedconfig;

typedef enum CUoccupancy_flags_enum {
	CU_OCCUPANCY_DEFAULT			= 0x0,
	CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE	= 0x1	/* changes nothing */
} CUoccupancy_flags;

/* Returns the bytes of dynamic shared memory that a block of so many threads needs. */
typedef size_t (CUDA_CB *CUoccupancyB2DSize)(int blockSize);

typedef enum CUaccessProperty_enum {
	CU_ACCESS_PROPERTY_NORMAL	= 0,
	CU_ACCESS_PROPERTY_STREAMING	= 1,
	CU_ACCESS_PROPERTY_PERSISTING	= 2
} CUaccessProperty;

typedef struct CUaccessPolicyWindow_st {
	void *base_ptr;
	size_t num_bytes;
	float hitRatio;
	CUaccessProperty hitProp;
	CUaccessProperty missProp;
} CUaccessPolicyWindow_v1;
typedef CUaccessPolicyWindow_v1 CUaccessPolicyWindow;

typedef enum CUsynchronizationPolicy_enum {
	CU_SYNC_POLICY_AUTO		= 1,
	CU_SYNC_POLICY_SPIN		= 2,
	CU_SYNC_POLICY_YIELD		= 3,
	CU_SYNC_POLICY_BLOCKING_SYNC	= 4
} CUsynchronizationPolicy;

typedef enum CUclusterSchedulingPolicy_enum {
	CU_CLUSTER_SCHEDULING_POLICY_DEFAULT		= 0,
	CU_CLUSTER_SCHEDULING_POLICY_SPREAD		= 1,
	CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING	= 2
} CUclusterSchedulingPolicy;

typedef enum CUlaunchMemSyncDomain_enum {
	CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT	= 0,
	CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE	= 1
} CUlaunchMemSyncDomain;

typedef struct CUlaunchMemSyncDomainMap_st {
	unsigned char default_;
	unsigned char remote;
} CUlaunchMemSyncDomainMap;

typedef enum CUlaunchAttributeID_enum {
	CU_LAUNCH_ATTRIBUTE_IGNORE				= 0,
	CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW		= 1,
	CU_LAUNCH_ATTRIBUTE_COOPERATIVE				= 2,
	CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY		= 3,
	CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION			= 4,
	CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5,
	CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION	= 6,
	CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT			= 7,
	CU_LAUNCH_ATTRIBUTE_PRIORITY				= 8,
	CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP			= 9,
	CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN			= 10,
	CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION		= 11,
	CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT		= 12,
	CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE	= 13,	/* not supported */
	CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT	= 14,
	CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING	= 16
} CUlaunchAttributeID;

typedef struct CUgraphDeviceUpdatableNode_st *CUgraphDeviceNode;	/* there are none */

typedef union CUlaunchAttributeValue_union {
	char pad[64];
	CUaccessPolicyWindow accessPolicyWindow;
	int cooperative;
	CUsynchronizationPolicy syncPolicy;
	struct {
		unsigned int x, y, z;
	} clusterDim;			/* in blocks */
	CUclusterSchedulingPolicy clusterSchedulingPolicyPreference;
	int programmaticStreamSerializationAllowed;
	struct {
		CUevent event;
		int flags;
		int triggerAtBlockStart;
	} programmaticEvent;		/* recorded after the launch */
	struct {
		CUevent event;
		int flags;
	} launchCompletionEvent;	/* recorded after the launch; without timing */
	int priority;
	CUlaunchMemSyncDomainMap memSyncDomainMap;
	CUlaunchMemSyncDomain memSyncDomain;
	struct {
		unsigned int x, y, z;
	} preferredClusterDim;
	struct {
		int deviceUpdatable;
		CUgraphDeviceNode devNode;
	} deviceUpdatableKernelNode;
	unsigned int sharedMemCarveout;
	unsigned int nvlinkUtilCentricScheduling;
} CUlaunchAttributeValue;

typedef struct CUlaunchAttribute_st {
	CUlaunchAttributeID id;
	char pad[4];
	CUlaunchAttributeValue value;
} CUlaunchAttribute;
typedef CUlaunchAttributeID CUkernelNodeAttrID;
typedef CUlaunchAttributeValue CUkernelNodeAttrValue;

typedef CUlaunchAttributeID CUstreamAttrID;
typedef CUlaunchAttributeValue CUstreamAttrValue;
#define CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW	CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
#define CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY	CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY
#define CU_STREAM_ATTRIBUTE_PRIORITY			CU_LAUNCH_ATTRIBUTE_PRIORITY
#define CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP		CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP
#define CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN		CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN

/* A launch: blocks in the grid, threads in a block, bytes of dynamic shared memory */
typedef struct CUlaunchConfig_st {
	unsigned int gridDimX;
	unsigned int gridDimY;
	unsigned int gridDimZ;
	unsigned int blockDimX;
	unsigned int blockDimY;
	unsigned int blockDimZ;
	unsigned int sharedMemBytes;
	CUstream hStream;
	CUlaunchAttribute *attrs;
	unsigned int numAttrs;
} CUlaunchConfig;

/* Tags in @extra of a launch, which give one buffer in place of @kernelParams */
#define CU_LAUNCH_PARAM_END		((void *)0x00)
#define CU_LAUNCH_PARAM_BUFFER_POINTER	((void *)0x01)	/* then the buffer */
#define CU_LAUNCH_PARAM_BUFFER_SIZE	((void *)0x02)	/* then a size_t's address */

/* The parameters of a kernel node; the newer struct takes either func or kern */
typedef struct CUDA_KERNEL_NODE_PARAMS_st {
	CUfunction func;
	unsigned int gridDimX;
	unsigned int gridDimY;
	unsigned int gridDimZ;
	unsigned int blockDimX;
	unsigned int blockDimY;
	unsigned int blockDimZ;
	unsigned int sharedMemBytes;
	void **kernelParams;
	void **extra;
} CUDA_KERNEL_NODE_PARAMS_v1;

typedef struct CUDA_KERNEL_NODE_PARAMS_v2_st {
	CUfunction func;
	unsigned int gridDimX;
	unsigned int gridDimY;
	unsigned int gridDimZ;
	unsigned int blockDimX;
	unsigned int blockDimY;
	unsigned int blockDimZ;
	unsigned int sharedMemBytes;
	void **kernelParams;
	void **extra;
	CUkernel kern;
	CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS_v2;
typedef CUDA_KERNEL_NODE_PARAMS_v2 CUDA_KERNEL_NODE_PARAMS;

typedef struct CUDA_KERNEL_NODE_PARAMS_v3_st {
	CUfunction func;
	unsigned int gridDimX;
	unsigned int gridDimY;
	unsigned int gridDimZ;
	unsigned int blockDimX;
	unsigned int blockDimY;
	unsigned int blockDimZ;
	unsigned int sharedMemBytes;
	void **kernelParams;
	void **extra;
	CUkernel kern;
	CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS_v3;

/* What a conditional node looks at; a kernel sets it by cudaGraphSetConditional(). */
typedef cuuint64_t CUgraphConditionalHandle;

#define CU_GRAPH_COND_ASSIGN_DEFAULT	1

typedef enum CUgraphConditionalNodeType_enum {
	CU_GRAPH_COND_TYPE_IF		= 0,
	CU_GRAPH_COND_TYPE_WHILE	= 1,
	CU_GRAPH_COND_TYPE_SWITCH	= 2
} CUgraphConditionalNodeType;

/*
 * @handle: by cuGraphConditionalHandleCreate(), and of no other node
 * @type: IF does graph 0 if the condition is not 0, and otherwise graph 1, if there is one;
 *	WHILE does graph 0 as long as the condition is not 0; SWITCH does the graph of that number, or none
 * @size: number of graphs; 1 or 2 for IF, 1 for WHILE, 1 or more for SWITCH
 * @phGraph_out: output, an array of the node's, as long as it lives: its graphs, which are empty.
 *	They take kernel, memcpy, memset, empty, child and conditional nodes, also by
 *	cuStreamBeginCaptureToGraph().
 * @ctx: that of the handle
 */
typedef struct CUDA_CONDITIONAL_NODE_PARAMS {
	CUgraphConditionalHandle handle;
	CUgraphConditionalNodeType type;
	unsigned int size;
	CUgraph *phGraph_out;
	CUcontext ctx;
} CUDA_CONDITIONAL_NODE_PARAMS;

/* The parameters of a node of any type. */
typedef struct CUgraphNodeParams_st {
	CUgraphNodeType type;
	int reserved0[3];		/* 0 */
	union {
		long long reserved1[29];
		CUDA_KERNEL_NODE_PARAMS_v3 kernel;
		CUDA_MEMCPY_NODE_PARAMS memcpy;
		CUDA_MEMSET_NODE_PARAMS_v2 memset;
		CUDA_HOST_NODE_PARAMS_v2 host;
		CUDA_CHILD_GRAPH_NODE_PARAMS graph;
		CUDA_EVENT_WAIT_NODE_PARAMS eventWait;
		CUDA_EVENT_RECORD_NODE_PARAMS eventRecord;
		CUDA_MEM_ALLOC_NODE_PARAMS_v2 alloc;
		CUDA_MEM_FREE_NODE_PARAMS free;
		CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 memOp;
		CUDA_CONDITIONAL_NODE_PARAMS conditional;
	};
	long long reserved2;		/* 0 */
} CUgraphNodeParams;

typedef enum CUgraphInstantiate_flags_enum {
	/* a launch frees the memory that the launch before it has left allocated */
	CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH	= 1,
	CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD		= 2,	/* no effect */
	CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH	= 4,	/* not supported */
	CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY	= 8	/* no effect */
} CUgraphInstantiate_flags;

typedef enum CUgraphInstantiateResult_enum {
	CUDA_GRAPH_INSTANTIATE_SUCCESS				= 0,
	CUDA_GRAPH_INSTANTIATE_ERROR				= 1,
	CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE		= 2,	/* a cycle */
	CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED	= 3,
	CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED	= 4,
	CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED	= 5
} CUgraphInstantiateResult;

typedef struct CUDA_GRAPH_INSTANTIATE_PARAMS_st {
	cuuint64_t flags;			/* CUgraphInstantiate_flags */
	CUstream hUploadStream;
	CUgraphNode hErrNode_out;		/* output: a node of a cycle, or NULL */
	CUgraphInstantiateResult result_out;	/* output */
} CUDA_GRAPH_INSTANTIATE_PARAMS;

typedef enum CUgraphExecUpdateResult_enum {
	CU_GRAPH_EXEC_UPDATE_SUCCESS				= 0x0,
	CU_GRAPH_EXEC_UPDATE_ERROR				= 0x1,
	CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED		= 0x2,
	CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED		= 0x3,
	CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED		= 0x4,
	CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED		= 0x5,
	CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED		= 0x6,
	CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE	= 0x7,
	CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED		= 0x8
} CUgraphExecUpdateResult;

typedef struct CUgraphExecUpdateResultInfo_st {
	CUgraphExecUpdateResult result;
	CUgraphNode errorNode;		/* of the new graph, or NULL */
	CUgraphNode errorFromNode;	/* NULL */
} CUgraphExecUpdateResultInfo_v1;
typedef CUgraphExecUpdateResultInfo_v1 CUgraphExecUpdateResultInfo;

/* cuuint64_t: bytes of a device, counted in steps of 32 MiB */
typedef enum CUgraphMem_attribute_enum {
	CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT,	/* allocated by launches, not freed */
	CU_GRAPH_MEM_ATTR_USED_MEM_HIGH,	/* may be set to 0 */
	CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,	/* the most in use since the last trim */
	CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH	/* may be set to 0 */
} CUgraphMem_attribute;

/* The content of cuGraphDebugDotPrint()'s output; only VERBOSE has an effect. */
typedef enum CUgraphDebugDot_flags_enum {
	CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE			= 1 << 0,
	CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES			= 1 << 1,
	CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS		= 1 << 2,
	CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS		= 1 << 3,
	CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS		= 1 << 4,
	CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS		= 1 << 5,
	CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS		= 1 << 6,
	CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_SIGNAL_NODE_PARAMS	= 1 << 7,
	CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_WAIT_NODE_PARAMS	= 1 << 8,
	CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES		= 1 << 9,
	CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES			= 1 << 10,
	CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS		= 1 << 11,
	CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS		= 1 << 12,
	CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS	= 1 << 13,
	CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO		= 1 << 14,
	CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS	= 1 << 15
} CUgraphDebugDot_flags;

typedef enum CUuserObject_flags_enum {
	CU_USER_OBJECT_NO_DESTRUCTOR_SYNC	= 1	/* must be given */
} CUuserObject_flags;

typedef enum CUuserObjectRetain_flags_enum {
	CU_GRAPH_USER_OBJECT_MOVE	= 1	/* the caller's references become the graph's */
} CUuserObjectRetain_flags;

typedef enum CUstreamCaptureStatus_enum {
	CU_STREAM_CAPTURE_STATUS_NONE		= 0,
	CU_STREAM_CAPTURE_STATUS_ACTIVE		= 1,
	CU_STREAM_CAPTURE_STATUS_INVALIDATED	= 2	/* failed, but not ended yet */
} CUstreamCaptureStatus;

/* The threads whose calls a capture forbids; see cuThreadExchangeStreamCaptureMode(). */
typedef enum CUstreamCaptureMode_enum {
	CU_STREAM_CAPTURE_MODE_GLOBAL		= 0,
	CU_STREAM_CAPTURE_MODE_THREAD_LOCAL	= 1,
	CU_STREAM_CAPTURE_MODE_RELAXED		= 2
} CUstreamCaptureMode;

typedef enum CUstreamUpdateCaptureDependencies_flags_enum {
	CU_STREAM_ADD_CAPTURE_DEPENDENCIES	= 0x0,
	CU_STREAM_SET_CAPTURE_DEPENDENCIES	= 0x1
} CUstreamUpdateCaptureDependencies_flags;

/* Initialisation (source: the API document; what fork() does: ours) */

/**
 * cuInit() - open /dev/memcast
 * @Flags: 0
 *
 * To be called first; more calls have no effect. In a child of a process that called it, it
 * returns CUDA_ERROR_NOT_INITIALIZED: such a child has to execute a program anew.
 *
 * Errors: CUDA_ERROR_NO_DEVICE (the module is not loaded), _OPERATING_SYSTEM
 * (/dev/memcast cannot be opened; the log says why), _SYSTEM_DRIVER_MISMATCH
 * (the module's interface is not the one this library was built for).
 */
CUresult CUDAAPI cuInit(unsigned int Flags);

/**
 * cuDriverGetVersion() - the newest CUDA version whose calls the library has
 * @driverVersion: output, 1000 * major + 10 * minor
 */
CUresult CUDAAPI cuDriverGetVersion(int *driverVersion);

/* Errors (source: the API document) */

/**
 * cuGetErrorName() - the name of a result
 * @error: what a call answered
 * @pStr: output, "CUDA_ERROR_…"; NULL if @error is no result (INVALID_VALUE)
 */
CUresult CUDAAPI cuGetErrorName(CUresult error, const char **pStr);

/**
 * cuGetErrorString() - the meaning of a result, in a few words
 * @error: what a call answered
 * @pStr: output; NULL if @error is no result (CUDA_ERROR_INVALID_VALUE)
 */
CUresult CUDAAPI cuGetErrorString(CUresult error, const char **pStr);

/*
 * Log (source: the API document)
 *
 * The last 100 failed calls and notices (a call waits for a team's members, a
 * copy leaves out a member), as CUDA_LOG_FILE shows them: a line each. These calls need
 * no cuInit() (ours).
 */

/**
 * cuLogsRegisterCallback() - register a function that is called for every line
 * @callbackFunc: gets it without its newline; called in the thread whose call
 *	failed or that copies, which cannot be cancelled meanwhile, with no lock
 *	held. Of a copy in a stream that may be a thread of the library, where what
 *	is refused to host functions is refused.
 * @userData: for @callbackFunc
 * @callback_out: output, for cuLogsUnregisterCallback(); may be NULL
 *
 * Errors: CUDA_ERROR_OUT_OF_MEMORY (ours).
 */
CUresult CUDAAPI cuLogsRegisterCallback(CUlogsCallback callbackFunc,
					void *userData,
					CUlogsCallbackHandle *callback_out);

/**
 * cuLogsUnregisterCallback() - no more calls; waits for those in other threads
 * @callback: from cuLogsRegisterCallback()
 *
 * Errors: CUDA_ERROR_INVALID_VALUE.
 */
CUresult CUDAAPI cuLogsUnregisterCallback(CUlogsCallbackHandle callback);

/**
 * cuLogsCurrent() - the end of the log
 * @iterator_out: output
 * @flags: any, here and below (source: hardware)
 */
CUresult CUDAAPI cuLogsCurrent(CUlogIterator *iterator_out, unsigned int flags);

/**
 * cuLogsDumpToFile() - append the log to a file
 * @iterator: where to start; becomes the end. NULL: all of it
 * @pathToFile: name; made if there is none
 * @flags: any
 *
 * If older lines are lost, a line in front says so.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (the file cannot be opened), _OPERATING_SYSTEM
 * (or written: ours).
 */
CUresult CUDAAPI cuLogsDumpToFile(CUlogIterator *iterator, const char *pathToFile,
				  unsigned int flags);

/**
 * cuLogsDumpToMemory() - the log as a string
 * @iterator: where to start; becomes the end. NULL: all of it
 * @buffer: output, lines, then a NUL
 * @size: bytes at @buffer; becomes the length of the string
 * @flags: any
 *
 * If not all lines fit, the last that do are written, after a line that says so.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (also if no line fits: @size becomes 0).
 */
CUresult CUDAAPI cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer,
				    size_t *size, unsigned int flags);

/* Entry points (source: recorded on hardware) */

/**
 * cuGetProcAddress() - find a function by its name and version
 * @symbol: its name without suffix, "cuMemcpyHtoD"
 * @pfn: output, the function with the newest interface that is not newer than
 *	@cudaVersion; NULL when there is none
 * @cudaVersion: 1000 * major + 10 * minor, up to cuDriverGetVersion(); a negative
 *	version stands for the newest
 * @flags: CUdriverProcAddress_flags
 * @symbolStatus: output, CUdriverProcAddressQueryResult; may be NULL
 *
 * A name that no function has, or none up to @cudaVersion, is no failure: @pfn is NULL,
 * and @symbolStatus says which of the two it is. With
 * CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, a name that has interfaces for per-thread
 * streams leads to those only.
 *
 * From 13010 on, cuMulticastBindMem and cuMulticastBindAddr are the ones that
 * take a device; from 13000 on, cuCtxSynchronize and cuCtxGetDevice those that
 * take a context; as in NVIDIA's driver.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (NULL, unknown flags, @cudaVersion is newer than the
 * driver). The first interface, which has no @symbolStatus, returns
 * CUDA_ERROR_NOT_FOUND if there is no function.
 */
CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **pfn,
				  int cudaVersion, cuuint64_t flags,
				  CUdriverProcAddressQueryResult *symbolStatus);

/* Devices (source: the API document) */

/**
 * cuDeviceGetCount() - how many devices there are
 * @count: output
 */
CUresult CUDAAPI cuDeviceGetCount(int *count);

/**
 * cuDeviceGet() - a device by its number
 * @device: output
 * @ordinal: 0 to count - 1
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE.
 */
CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal);

/**
 * cuDeviceGetName() - the name of a device
 * @name: output, cut to @len bytes with its NUL
 * @len: bytes at @name, at least 1
 * @dev: device
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE.
 */
CUresult CUDAAPI cuDeviceGetName(char *name, int len, CUdevice dev);

/**
 * cuDeviceGetExecAffinitySupport() - can contexts be limited to a part of a device?
 * @pi: output, 0
 * @type: any
 * @dev: device
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE. Source: hardware.
 */
CUresult CUDAAPI cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev);

/**
 * cuDeviceGetUuid() - a device's UUID
 * @uuid: output, 16 bytes, as sysfs shows it
 * @dev: device
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE.
 */
CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice dev);

/**
 * cuDeviceTotalMem() - the size of a device's pool
 * @bytes: output
 * @dev: device
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE.
 */
CUresult CUDAAPI cuDeviceTotalMem(size_t *bytes, CUdevice dev);

/**
 * cuDeviceGetAttribute() - one property of a device
 * @pi: output
 * @attrib: which
 * @dev: device
 *
 * Attributes of features that memcast lacks read as 0, except limits, also those of textures.
 * Limits are those of the profile (MEMCAST_PROFILE), by default a data-center device of
 * compute capability 9.0. MEMCAST_ATTR in the environment changes any (source: ours).
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE.
 */
CUresult CUDAAPI cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib,
				      CUdevice dev);

/**
 * cuDeviceComputeCapability() - two attributes, by an older interface
 * @major: output
 * @minor: output
 * @dev: device
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE.
 */
CUresult CUDAAPI cuDeviceComputeCapability(int *major, int *minor, CUdevice dev);

/**
 * cuDeviceGetProperties() - several attributes, by an older interface
 * @prop: output
 * @dev: device
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE.
 */
CUresult CUDAAPI cuDeviceGetProperties(CUdevprop *prop, CUdevice dev);

/**
 * cuDeviceGetPCIBusId() - the bus address that stands for a device
 * @pciBusId: output, "ca57:03:00.0": a domain that no machine has, and the
 *	ordinal (source: ours)
 * @len: bytes at @pciBusId, at least 13
 * @dev: device
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE.
 */
CUresult CUDAAPI cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev);

/**
 * cuDeviceGetByPCIBusId() - find a device by its bus address
 * @dev: output
 * @pciBusId: domain:bus:device.function, domain:bus:device or
 *	bus:device.function, hexadecimal
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (not of these forms), _INVALID_DEVICE.
 */
CUresult CUDAAPI cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId);

/*
 * Peers (source: the API document; that every device reaches every other: ours).
 * Access to mappings is set by cuMemSetAccess() alone.
 */

/**
 * cuDeviceCanAccessPeer() - can a device reach another device's memory?
 * @canAccessPeer: output, 1; 0 for a device and itself
 * @dev: device
 * @peerDev: the other one
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE.
 */
CUresult CUDAAPI cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev,
				       CUdevice peerDev);

/**
 * cuFlushGPUDirectRDMAWrites() - wait until other devices' writes can be seen
 * @target: CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX
 * @scope: CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER or _TO_ALL_DEVICES
 *
 * Writes of another driver into a dma-buf are in the memory already: only the calling
 * thread's later loads have to come after them.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE.
 */
CUresult CUDAAPI cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
					    CUflushGPUDirectRDMAWritesScope scope);

/**
 * cuDeviceGetP2PAttribute() - one property of the path between two devices
 * @value: output
 * @attrib: which
 * @srcDevice: device
 * @dstDevice: another one
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE (also for a device and itself).
 */
CUresult CUDAAPI cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib,
					 CUdevice srcDevice, CUdevice dstDevice);

/**
 * cuCtxEnablePeerAccess() - let the current context reach another context's memory
 * @peerContext: context of another device
 * @Flags: 0
 *
 * Fills of cuMemAlloc() memory there need it; copies do not (source: hardware). Virtual
 * memory and pools have access of their own. It ends with either of the two contexts.
 *
 * Errors: CUDA_ERROR_INVALID_CONTEXT (none is current, or @peerContext is not
 * one), _PEER_ACCESS_UNSUPPORTED (of the same device),
 * _PEER_ACCESS_ALREADY_ENABLED.
 */
CUresult CUDAAPI cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags);

/**
 * cuCtxDisablePeerAccess() - undo cuCtxEnablePeerAccess()
 * @peerContext: context
 *
 * Errors: CUDA_ERROR_INVALID_CONTEXT, _PEER_ACCESS_NOT_ENABLED.
 */
CUresult CUDAAPI cuCtxDisablePeerAccess(CUcontext peerContext);

/*
 * Contexts (source: the API document)
 *
 * A context names a device for the calls that need a current one: copies, fills
 * and cuMemGetInfo(). Each thread has a stack of them, its top is current; at
 * most 256 deep (ours). Calls with a context that was destroyed return
 * CUDA_ERROR_CONTEXT_IS_DESTROYED, as an argument or current; it can still be made
 * current (source: hardware). For a value that never was a context they return
 * CUDA_ERROR_INVALID_CONTEXT (ours). A host function may ask for the current context, but
 * what uses it answers CUDA_ERROR_NOT_PERMITTED there.
 */

/**
 * cuDevicePrimaryCtxRetain() - take a reference to a device's primary context
 * @pctx: output; for one device always the same. It is not made current.
 * @dev: device
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE.
 */
CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev);

/**
 * cuDevicePrimaryCtxRelease() - give a reference back; the last one ends it
 * @dev: device
 *
 * The end is as that of cuCtxDestroy().
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE, _INVALID_CONTEXT (no reference is held).
 */
CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice dev);

/**
 * cuDevicePrimaryCtxReset() - end a primary context, even if references are held
 * @dev: device
 *
 * The end is as that of cuCtxDestroy().
 *
 * References still have to be released; the next cuDevicePrimaryCtxRetain() revives the
 * context, without flags.
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE.
 */
CUresult CUDAAPI cuDevicePrimaryCtxReset(CUdevice dev);

/**
 * cuDevicePrimaryCtxSetFlags() - set the flags of a primary context
 * @dev: device
 * @flags: CUctx_flags without MAP_HOST, which it always has; at most one of those for
 *	scheduling
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE.
 */
CUresult CUDAAPI cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags);

/**
 * cuDevicePrimaryCtxGetState() - is a primary context alive, and with which flags?
 * @dev: device
 * @flags: output, CUctx_flags
 * @active: output, 1 or 0
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE.
 */
CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags,
					    int *active);

/**
 * cuCtxCreate() - make a context and push it
 * @pctx: output
 * @ctxCreateParams: NULL, or without execution affinity and graphics queue
 * @flags: CUctx_flags, at most one of those for scheduling
 * @dev: device
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE, _UNSUPPORTED_EXEC_AFFINITY and
 * _NOT_SUPPORTED (for @ctxCreateParams), _OUT_OF_MEMORY (4,032 contexts live,
 * or the stack is full: ours).
 */
CUresult CUDAAPI cuCtxCreate(CUcontext *pctx,
			     CUctxCreateParams *ctxCreateParams,
			     unsigned int flags, CUdevice dev);

/**
 * cuCtxDestroy() - end a context; popped if it is current here
 * @ctx: from cuCtxCreate()
 *
 * Memories, teams and reservations belong to no context: they stay. Work that is queued in the
 * context's streams is done before, and what kernels have printed comes out, as far as it waits
 * for nothing but such work: what waits for a word, or for another context, in vain for a second,
 * is discarded, and so is what is left then of a loop of a graph (ours; not recorded). A host
 * function that makes this call does not wait; one that waits for the thread that makes it never
 * ends, and neither does the call.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (NULL), _INVALID_CONTEXT (also a primary context).
 */
CUresult CUDAAPI cuCtxDestroy(CUcontext ctx);

/**
 * cuCtxAttach() - let the current context survive one more cuCtxDetach()
 * @pctx: output, the current context
 * @flags: 0
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _INVALID_CONTEXT (none is current).
 * Source: NVIDIA's documentation.
 */
CUresult CUDAAPI cuCtxAttach(CUcontext *pctx, unsigned int flags);

/**
 * cuCtxDetach() - undo cuCtxAttach(), or end a context from cuCtxCreate()
 * @ctx: the current context
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (NULL), _INVALID_CONTEXT (not the current one; a
 * primary context that was not attached).
 * Source: NVIDIA's documentation.
 */
CUresult CUDAAPI cuCtxDetach(CUcontext ctx);

/**
 * cuCtxPushCurrent() - push a context on the thread's stack: it becomes current
 * @ctx: context
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (NULL), _INVALID_CONTEXT, _OUT_OF_MEMORY (the stack is
 * full: ours).
 */
CUresult CUDAAPI cuCtxPushCurrent(CUcontext ctx);

/**
 * cuCtxPopCurrent() - pop the current context: the one below it becomes current
 * @pctx: output, the popped context; may be NULL (source: hardware)
 *
 * Errors: CUDA_ERROR_INVALID_CONTEXT (none is current).
 */
CUresult CUDAAPI cuCtxPopCurrent(CUcontext *pctx);

/**
 * cuCtxSetCurrent() - replace the current context
 * @ctx: context; NULL pops
 *
 * Errors: CUDA_ERROR_INVALID_CONTEXT.
 */
CUresult CUDAAPI cuCtxSetCurrent(CUcontext ctx);

/**
 * cuCtxGetCurrent() - the current context
 * @pctx: output, NULL if there is none
 */
CUresult CUDAAPI cuCtxGetCurrent(CUcontext *pctx);

/**
 * cuCtxGetDevice() - the current context's device
 * @device: output; a primary context has one also while no reference is held
 *
 * Errors: CUDA_ERROR_INVALID_CONTEXT (none is current), _CONTEXT_IS_DESTROYED.
 */
CUresult CUDAAPI cuCtxGetDevice(CUdevice *device);

/**
 * cuCtxGetDevice_v2() - a context's device
 * @device: output
 * @ctx: context, NULL for the current one
 *
 * Errors: as cuCtxGetDevice().
 */
CUresult CUDAAPI cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx);

/**
 * cuCtxGetFlags() - the flags of the current context
 * @flags: output, CUctx_flags
 *
 * Errors: as cuCtxGetDevice().
 */
CUresult CUDAAPI cuCtxGetFlags(unsigned int *flags);

/**
 * cuCtxSetFlags() - change the flags of the current context
 * @flags: CUctx_flags, at most one of those for scheduling; MAP_HOST stays as it was
 *
 * Errors: as cuCtxGetDevice().
 */
CUresult CUDAAPI cuCtxSetFlags(unsigned int flags);

/**
 * cuCtxGetId() - a number that no other context of the process has
 * @ctx: context, NULL for the current one
 * @ctxId: output
 *
 * Errors: as cuCtxGetDevice().
 */
CUresult CUDAAPI cuCtxGetId(CUcontext ctx, unsigned long long *ctxId);

/**
 * cuCtxGetLimit() - a limit of code on the current context's device
 * @pvalue: output, hardware's values: no code runs on devices here
 * @limit: which
 *
 * Errors: CUDA_ERROR_UNSUPPORTED_LIMIT, as cuCtxGetDevice(). Source: hardware.
 */
CUresult CUDAAPI cuCtxGetLimit(size_t *pvalue, CUlimit limit);

/**
 * cuCtxSetLimit() - set such a limit
 * @limit: which
 * @value: brought into the limit's range, as hardware does
 *
 * Errors: CUDA_ERROR_UNSUPPORTED_LIMIT, _INVALID_VALUE (a stack of more than 512 KiB:
 * the maximum is ours), _NOT_PERMITTED (a limit that cannot be set), as cuCtxGetDevice().
 * Source: hardware.
 */
CUresult CUDAAPI cuCtxSetLimit(CUlimit limit, size_t value);

/**
 * cuCtxGetCacheConfig() - the current context's preference for its caches
 * @pconfig: output, CU_FUNC_CACHE_PREFER_NONE until it was set
 *
 * Errors: as cuCtxGetDevice().
 */
CUresult CUDAAPI cuCtxGetCacheConfig(CUfunc_cache *pconfig);

/**
 * cuCtxSetCacheConfig() - set that preference; without effect
 * @config: preference
 *
 * Errors: as cuCtxGetDevice().
 */
CUresult CUDAAPI cuCtxSetCacheConfig(CUfunc_cache config);

/**
 * cuCtxGetSharedMemConfig() - the size of the banks of shared memory
 * @pConfig: output, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE: no device here has others
 *
 * Errors: as cuCtxGetDevice().
 */
CUresult CUDAAPI cuCtxGetSharedMemConfig(CUsharedconfig *pConfig);

/**
 * cuCtxSetSharedMemConfig() - ask for another size; without effect
 * @config: size
 *
 * Errors: as cuCtxGetDevice().
 */
CUresult CUDAAPI cuCtxSetSharedMemConfig(CUsharedconfig config);

/**
 * cuCtxResetPersistingL2Cache() - without effect: no cache keeps anything
 *
 * Errors: as cuCtxGetDevice().
 */
CUresult CUDAAPI cuCtxResetPersistingL2Cache(void);

/**
 * cuCtxGetStreamPriorityRange() - the range of streams' priorities
 * @leastPriority: output, 0; may be NULL
 * @greatestPriority: output, -5; may be NULL. Priorities have no effect.
 *
 * Errors: as cuCtxGetDevice().
 */
CUresult CUDAAPI cuCtxGetStreamPriorityRange(int *leastPriority,
					     int *greatestPriority);

/**
 * cuCtxGetApiVersion() - the interface a context was made for
 * @ctx: context, NULL for the current one
 * @version: output, 3020
 *
 * Errors: as cuCtxGetDevice().
 */
CUresult CUDAAPI cuCtxGetApiVersion(CUcontext ctx, unsigned int *version);

/**
 * cuCtxSynchronize() - wait for the current context's work
 *
 * Waits for all streams of the context.
 *
 * Errors: as cuCtxGetDevice().
 */
CUresult CUDAAPI cuCtxSynchronize(void);

/**
 * cuCtxSynchronize_v2() - wait for a context's work
 * @ctx: context, NULL for the current one
 *
 * Errors: as cuCtxGetDevice().
 */
CUresult CUDAAPI cuCtxSynchronize_v2(CUcontext ctx);

/**
 * cuMemGetInfo() - the pool of the current context's device
 * @free: output, bytes
 * @total: output, bytes
 *
 * Errors: as cuCtxGetDevice().
 */
CUresult CUDAAPI cuMemGetInfo(size_t *free, size_t *total);

/* Memory: needs no context (source: hardware, unless another is named) */

/**
 * cuMemGetAllocationGranularity() - the unit of sizes and offsets
 * @granularity: output, bytes: G
 * @prop: as for cuMemCreate(); not NULL, but its content is ignored
 * @option: MINIMUM or RECOMMENDED; the same
 *
 * Errors: CUDA_ERROR_INVALID_VALUE.
 */
CUresult CUDAAPI cuMemGetAllocationGranularity(size_t *granularity,
					       const CUmemAllocationProp *prop,
					       CUmemAllocationGranularity_flags option);

/**
 * cuMemCreate() - take memory from a device's pool; it reads as zero
 * @handle: output
 * @size: bytes, a multiple of G
 * @prop: location, and handle types for export
 * @flags: 0
 *
 * HOST is the node of the host on which the memory happens to be; it cannot be shared.
 * Compression is kept and reported, unless RDMA is asked for as well; the host's
 * memory has neither. Memory for tile pools is created, but cannot be mapped.
 * Bits of requestedHandleTypes that no type has, and unknown usages, are ignored.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (@size, @prop; Windows handles), _INVALID_DEVICE,
 * _OUT_OF_MEMORY (nothing is taken then), _NOT_PERMITTED (FABRIC without an IMEX
 * channel).
 */
CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
			     const CUmemAllocationProp *prop,
			     unsigned long long flags);

/**
 * cuMemRelease() - give a handle back
 * @handle: of a memory or a team; once per create, import and retain
 *
 * Allowed while the object is mapped or bound: mappings keep it, bindings do not. A handle
 * that mappings were made with stays valid for more mappings until the last is unmapped.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE.
 */
CUresult CUDAAPI cuMemRelease(CUmemGenericAllocationHandle handle);

/**
 * cuMemRetainAllocationHandle() - the handle with which the mapping at an address was made
 * @handle: output; needs one more cuMemRelease(). For a window, the team's.
 * @addr: anywhere inside a mapping
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (nothing is mapped there).
 */
CUresult CUDAAPI cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle,
					     void *addr);

/**
 * cuMemGetAllocationPropertiesFromHandle() - the properties that a memory was created with
 * @prop: output
 * @handle: of a memory; of an imported one, without handle types and RDMA
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (also for a team: ours).
 */
CUresult CUDAAPI
cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
				       CUmemGenericAllocationHandle handle);

/* Handle types for the export of a range of addresses. */
typedef enum CUmemRangeHandleType_enum {
	CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD = 0x1,
	CU_MEM_RANGE_HANDLE_TYPE_MAX = 0x7FFFFFFF
} CUmemRangeHandleType;

typedef enum CUmemRangeFlags_enum {
	CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE = 0x1
} CUmemRangeFlags;

/**
 * cuProfilerStart() - without effect: there is no profiler
 *
 * Errors: CUDA_ERROR_INVALID_CONTEXT (none is current).
 */
CUresult CUDAAPI cuProfilerStart(void);

/** cuProfilerStop() - as cuProfilerStart() */
CUresult CUDAAPI cuProfilerStop(void);

/**
 * cuMemGetHandleForAddressRange() - export the memory mapped in a range, as a dma-buf
 * @handle: output; int: a new dma-buf fd, close-on-exec, the caller's to close
 * @dptr: a multiple of the host's page size
 * @size: bytes, a multiple of the host's page size; one memory's mapping, a part
 *	of it, or adjacent mappings of one device's memory (ours); of plain memory, up
 *	to the end of the page where the allocation ends
 * @handleType: CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD
 * @flags: 0
 *
 * The dma-buf keeps its memory. It stands for bytes, not for a handle: imported
 * it is a memory of its own (ours).
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _NOT_SUPPORTED (windows; memory that is of a
 * foreign dma-buf already; the PCIe flag, as there is no PCIe).
 */
CUresult CUDAAPI cuMemGetHandleForAddressRange(void *handle, CUdeviceptr dptr,
					       size_t size,
					       CUmemRangeHandleType handleType,
					       unsigned long long flags);

/**
 * cuMemExportToShareableHandle() - export a memory or a team to other processes
 * @shareableHandle: output; int for POSIX_FILE_DESCRIPTOR: a new dma-buf fd,
 *	close-on-exec, the caller's to close; CUmemFabricHandle for FABRIC
 * @handle: of a memory or a team; not of a memory that was imported, except for another
 *	driver's (ours)
 * @handleType: one of those it was created with
 * @flags: 0
 *
 * Errors: CUDA_ERROR_INVALID_VALUE; for FABRIC _SYSTEM_NOT_READY and _ILLEGAL_STATE (of
 * the fabric, or of the memory's device's link to it: ours).
 */
CUresult CUDAAPI
cuMemExportToShareableHandle(void *shareableHandle,
			     CUmemGenericAllocationHandle handle,
			     CUmemAllocationHandleType handleType,
			     unsigned long long flags);

/**
 * cuMemImportFromShareableHandle() - import a memory or a team
 * @handle: output; stays valid when the fd is closed and the exporter has ended
 * @osHandle: the fd itself, as (void *)(intptr_t)fd; stays the caller's
 * @shHandleType: how it was exported
 *
 * POSIX_FILE_DESCRIPTOR takes any other driver's dma-buf too, and one of
 * cuMemGetHandleForAddressRange() (ours): each time a new memory, which shows the
 * buffer's pages and keeps it. Its location is the host, its granularity that of
 * the host's page. cuMulticastBindMem_v2() binds multiples of G of it for any
 * member, cuMemExportToShareableHandle() gives the same dma-buf again. It must
 * have been exported for writing (O_RDWR, DRM_RDWR) and be of pages that a CPU may
 * map. The rules for external memory below (other users of the buffer) hold for it as
 * well.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (also a fabric handle of no object: ours), _UNKNOWN
 * (not a dma-buf's fd), _NOT_PERMITTED (a fabric handle of another IMEX channel; a
 * read-only dma-buf: ours), _NOT_SUPPORTED (a fabric handle without any IMEX channel;
 * dma-bufs that no CPU may map: ours), _OUT_OF_MEMORY; for FABRIC _SYSTEM_NOT_READY and
 * _ILLEGAL_STATE as for an export.
 */
CUresult CUDAAPI
cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
			       void *osHandle,
			       CUmemAllocationHandleType shHandleType);

/* Addresses: needs no context (source: hardware, unless another is named) */

/**
 * cuMemAddressReserve() - reserve a range of addresses
 * @ptr: output, a multiple of @alignment and of G
 * @size: bytes, a multiple of G
 * @alignment: bytes, a power of two, or 0
 * @addr: where it should be, if that is free: a multiple of G, or 0
 * @flags: 0
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _OUT_OF_MEMORY (no such range is free, or @addr is
 * where no program has addresses).
 */
CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr *ptr, size_t size,
				     size_t alignment, CUdeviceptr addr,
				     unsigned long long flags);

/**
 * cuMemAddressFree() - give a reservation back
 * @ptr: as reserved
 * @size: as reserved
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (also while it has mappings).
 */
CUresult CUDAAPI cuMemAddressFree(CUdeviceptr ptr, size_t size);

/**
 * cuMemMap() - map a memory, or a team's window, in a reservation
 * @ptr: a multiple of G, in a reservation; the range there has no mappings. It may leave the
 *	reservation at its end, as on hardware, where the process has nothing behind that
 * @size: bytes; a memory's size; of a team, a multiple of G, at most its size
 * @offset: 0
 * @handle: of a memory or a team; also a released one, as long as it has a mapping
 * @flags: 0
 *
 * No device has access before cuMemSetAccess(). For a team, the call waits until
 * all its devices have joined; memory may be bound later.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _NOT_SUPPORTED (a part of a memory), _ILLEGAL_STATE
 * (of the fabric).
 */
CUresult CUDAAPI cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
			  CUmemGenericAllocationHandle handle,
			  unsigned long long flags);

/**
 * cuMemUnmap() - back to reserved
 * @ptr: start of a mapping, or a multiple of G between mappings
 * @size: bytes, to the end of a mapping, or to a place in the same reservation where none is;
 *	a size that ends within a mapped chunk counts that chunk whole
 *
 * A range without mappings is no error.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (part of a mapping: nothing is unmapped then).
 */
CUresult CUDAAPI cuMemUnmap(CUdeviceptr ptr, size_t size);

/**
 * cuMemSetAccess() - set devices' access to mappings
 * @ptr: start of a mapping
 * @size: bytes; to the end of that mapping, or of one of the adjacent ones
 * @desc: array; all of it takes effect, or nothing (ours)
 * @count: its length, 1 to 128 (the limit: ours)
 *
 * The CPU may do what any device may (ours). A device must be a member of the
 * team whose window is mapped.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (also a device that does not exist), _NOT_SUPPORTED (the
 * host, of a device's memory), _INVALID_DEVICE (not a member).
 */
CUresult CUDAAPI cuMemSetAccess(CUdeviceptr ptr, size_t size,
				const CUmemAccessDesc *desc, size_t count);

/**
 * cuMemGetAccess() - a device's access at an address
 * @flags: output, CUmemAccess_flags
 * @location: the device; HOST: the most of any device; HOST_NUMA: the host's own
 * @ptr: anywhere inside a mapping; in memory from cuMemAlloc() and the like, NONE
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (nothing is mapped there: @flags is NONE then),
 * _INVALID_DEVICE.
 */
CUresult CUDAAPI cuMemGetAccess(unsigned long long *flags,
				const CUmemLocation *location, CUdeviceptr ptr);

/*
 * Pointers (source: the API document; attributes of windows: ours)
 *
 * Addresses are those inside reservations; an address in a window counts as on the device
 * that joined its team first.
 */

/**
 * cuPointerGetAttribute() - one property of an address
 * @data: output, of the type that goes with @attribute
 * @attribute: which
 * @ptr: inside a reservation; inside a mapping for most
 *
 * There is a device pointer if the current context's device has access (without a
 * context: the device with the memory), a host pointer of memory of the host; both
 * equal @ptr. A pointer that does not exist is written as NULL.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (no such attribute, or @ptr has none).
 */
CUresult CUDAAPI cuPointerGetAttribute(void *data, CUpointer_attribute attribute,
				       CUdeviceptr ptr);

/**
 * cuPointerGetAttributes() - several properties of an address
 * @numAttributes: how many
 * @attributes: which
 * @data: an output for each
 * @ptr: any address; attributes that it does not have read as 0, or NULL
 *
 * Errors: as cuPointerGetAttribute(), except for @ptr.
 */
CUresult CUDAAPI cuPointerGetAttributes(unsigned int numAttributes,
					CUpointer_attribute *attributes,
					void **data, CUdeviceptr ptr);

/**
 * cuPointerSetAttribute() - set a property of an address
 * @value: unsigned int, 0 or 1
 * @attribute: SYNC_MEMOPS; without effect, as copies are always done on return
 * @ptr: inside a mapping
 *
 * Errors: CUDA_ERROR_INVALID_VALUE.
 */
CUresult CUDAAPI cuPointerSetAttribute(const void *value,
				       CUpointer_attribute attribute,
				       CUdeviceptr ptr);

/**
 * cuMemGetAddressRange() - the mapping around an address
 * @pbase: output, its start; may be NULL
 * @psize: output, bytes; may be NULL
 * @dptr: inside a mapping
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (nothing is mapped at @dptr).
 */
CUresult CUDAAPI cuMemGetAddressRange(CUdeviceptr *pbase, size_t *psize,
				      CUdeviceptr dptr);

/*
 * Multicast: needs no context (source: the API document, and hardware where
 * marked)
 *
 * A team is made for a number of devices. When all have joined, each binds its
 * memory at offsets of the team; a store at an offset of the team's
 * window reaches the memory of every device that is bound there, the replicas.
 */

/**
 * cuMulticastGetGranularity() - the unit of a team's sizes and offsets
 * @granularity: output, bytes
 * @prop: as for cuMulticastCreate(); its size is ignored (hardware), and it may be for
 *	one device (ours)
 * @option: MINIMUM: G. RECOMMENDED: a parameter of the module.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _NOT_SUPPORTED (Windows handles: ours).
 */
CUresult CUDAAPI
cuMulticastGetGranularity(size_t *granularity,
			  const CUmulticastObjectProp *prop,
			  CUmulticastGranularity_flags option);

/**
 * cuMulticastCreate() - make a team
 * @mcHandle: output
 * @prop: number of devices (at least 2: hardware), size, handle types
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _NOT_PERMITTED (FABRIC without an IMEX
 * channel: hardware), _NOT_SUPPORTED (no device can multicast; Windows
 * handles).
 */
CUresult CUDAAPI cuMulticastCreate(CUmemGenericAllocationHandle *mcHandle,
				   const CUmulticastObjectProp *prop);

/**
 * cuMulticastAddDevice() - let a device join, for good
 * @mcHandle: of a team; any process with a handle may add any device
 * @dev: device
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (not a team, or it is full),
 * _INVALID_DEVICE, _UNKNOWN (a member already: hardware), _SYSTEM_NOT_READY
 * and _ILLEGAL_STATE (of the fabric, or of the device's link to it: parameter and file
 * fabric_state of the module).
 */
CUresult CUDAAPI cuMulticastAddDevice(CUmemGenericAllocationHandle mcHandle,
				      CUdevice dev);

/**
 * cuMulticastBindMem() - bind memory for the device that it is on
 * @mcHandle: of a team; the call waits until all its devices have joined
 * @mcOffset: bytes into the team, a multiple of G
 * @memHandle: of a memory; shareable if the team is, or is imported
 * @memOffset: bytes into the memory, a multiple of G
 * @size: bytes, a multiple of G, inside both
 * @flags: 0
 *
 * The binding does not keep the memory, but ends with it.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (range, handles, or overlap with a binding
 * of the same device), _INVALID_DEVICE (not a member), _OUT_OF_MEMORY (no
 * room for another team), _SYSTEM_NOT_READY and _ILLEGAL_STATE (of the fabric, or of
 * the device's link to it).
 */
CUresult CUDAAPI cuMulticastBindMem(CUmemGenericAllocationHandle mcHandle,
				    size_t mcOffset,
				    CUmemGenericAllocationHandle memHandle,
				    size_t memOffset, size_t size,
				    unsigned long long flags);

/**
 * cuMulticastBindMem_v2() - bind memory for a device (CUDA 13.1)
 * @mcHandle: as above
 * @dev: a member: the one that the memory is on, or near for host memory; any for
 *	foreign memory (ours)
 * @mcOffset: as above
 * @memHandle: as above
 * @memOffset: as above
 * @size: as above
 * @flags: 0
 *
 * Errors: as cuMulticastBindMem(); _INVALID_DEVICE if the memory is elsewhere.
 */
CUresult CUDAAPI cuMulticastBindMem_v2(CUmemGenericAllocationHandle mcHandle,
				       CUdevice dev, size_t mcOffset,
				       CUmemGenericAllocationHandle memHandle,
				       size_t memOffset, size_t size,
				       unsigned long long flags);

/**
 * cuMulticastBindAddr() - bind the memory mapped at an address
 * @mcHandle: of a team; the call waits until all its devices have joined
 * @mcOffset: bytes into the team, a multiple of G
 * @memptr: a mapping's address; memory from there on, over adjacent mappings
 * @size: bytes, a multiple of G
 * @flags: 0
 *
 * Errors: as cuMulticastBindMem().
 */
CUresult CUDAAPI cuMulticastBindAddr(CUmemGenericAllocationHandle mcHandle,
				     size_t mcOffset, CUdeviceptr memptr,
				     size_t size, unsigned long long flags);

/**
 * cuMulticastBindAddr_v2() - bind the memory mapped at an address, for a device (CUDA 13.1)
 * @mcHandle: as above
 * @dev: a member: the one that the memory is on, or near for host memory; any for
 *	foreign memory (ours)
 * @mcOffset: as above
 * @memptr: as above
 * @size: as above
 * @flags: 0
 *
 * Errors: as cuMulticastBindMem_v2().
 */
CUresult CUDAAPI cuMulticastBindAddr_v2(CUmemGenericAllocationHandle mcHandle,
					CUdevice dev, size_t mcOffset,
					CUdeviceptr memptr, size_t size,
					unsigned long long flags);

/**
 * cuMulticastUnbind() - undo one device's bindings
 * @mcHandle: of a team
 * @dev: a member
 * @mcOffset: start of a binding, bytes into the team
 * @size: bytes; to the end of that binding, or of one of the adjacent ones (ours)
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (part of a binding, or a hole: nothing is
 * unbound then), _INVALID_DEVICE (not a member).
 */
CUresult CUDAAPI cuMulticastUnbind(CUmemGenericAllocationHandle mcHandle,
				   CUdevice dev, size_t mcOffset, size_t size);

/*
 * Copies and fills: need a current context (source: the API document)
 *
 * Device ranges may span mappings, if the current context's device has access
 * to each. A window as destination writes every replica; as source it is read
 * from the first member that is bound there. Ranges are checked as a whole
 * before anything is written.
 *
 * Errors of all: CUDA_ERROR_INVALID_VALUE (a range that is not mapped, not
 * accessible for the device, or not the caller's), _INVALID_CONTEXT (none is
 * current), _CONTEXT_IS_DESTROYED.
 */

/**
 * cuMemcpy() - copy between any two addresses
 * @dst: to, device or host
 * @src: from, device or host
 * @ByteCount: bytes
 */
CUresult CUDAAPI cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount);

/**
 * cuMemcpyHtoD() - copy host memory to a device's
 * @dstDevice: to, mapped
 * @srcHost: from
 * @ByteCount: bytes
 */
CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr dstDevice, const void *srcHost,
			      size_t ByteCount);

/**
 * cuMemcpyDtoH() - copy a device's memory to the host's
 * @dstHost: to
 * @srcDevice: from, mapped
 * @ByteCount: bytes
 */
CUresult CUDAAPI cuMemcpyDtoH(void *dstHost, CUdeviceptr srcDevice,
			      size_t ByteCount);

/**
 * cuMemcpyDtoD() - copy device memory
 * @dstDevice: to, mapped
 * @srcDevice: from, mapped
 * @ByteCount: bytes
 */
CUresult CUDAAPI cuMemcpyDtoD(CUdeviceptr dstDevice, CUdeviceptr srcDevice,
			      size_t ByteCount);

/**
 * cuMemsetD8() - fill with a byte
 * @dstDevice: mapped
 * @uc: value
 * @N: bytes
 */
CUresult CUDAAPI cuMemsetD8(CUdeviceptr dstDevice, unsigned char uc, size_t N);

/**
 * cuMemsetD16() - fill with a 16-bit value
 * @dstDevice: mapped, a multiple of 2
 * @us: value
 * @N: how many values
 */
CUresult CUDAAPI cuMemsetD16(CUdeviceptr dstDevice, unsigned short us, size_t N);

/**
 * cuMemsetD32() - fill with a 32-bit value
 * @dstDevice: mapped, a multiple of 4
 * @ui: value
 * @N: how many values
 */
CUresult CUDAAPI cuMemsetD32(CUdeviceptr dstDevice, unsigned int ui, size_t N);

/*
 * More copies and fills (source: the API document, unless another is named)
 *
 * Without a stream, a call is in the legacy default stream: it comes after all
 * work of the context's streams that are not CU_STREAM_NON_BLOCKING. A copy between
 * two devices comes after such work of both: of the context that cuMemAlloc() had
 * current, for other memory of all contexts. The call returns when its work is done. Fills of a device's memory, and copies within that of
 * the context's device, go on as if they had a stream if they have to wait, but not
 * with managed memory, nor with memory that has SYNC_MEMOPS.
 *
 * With a stream, the call checks its arguments, a window's bindings too
 * (ours). Host memory outside all reservations is used as NVIDIA's driver uses
 * pageable memory: as source it may change once the call has returned, as
 * destination it is written by then (the call waits for the stream). Sources of up to
 * 1 MiB, 64 MiB of all streams together, are put aside; for others the call waits.
 *
 * Further errors: CUDA_ERROR_INVALID_HANDLE (not a stream, or destroyed); the
 * failure of earlier work in the context's streams; _NOT_PERMITTED in a host function.
 */

/**
 * cuMemcpyPeer() - copy between contexts
 * @dstDevice: to, mapped
 * @dstContext: its device must have access to @dstDevice
 * @srcDevice: from, mapped
 * @srcContext: its device must have access to @srcDevice
 * @ByteCount: bytes
 *
 * Comes after the work of both contexts, too. NULL is the current context (ours).
 */
CUresult CUDAAPI cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext,
			      CUdeviceptr srcDevice, CUcontext srcContext,
			      size_t ByteCount);

/**
 * cuMemcpy2D() - copy rows
 * @pCopy: from where to where; a pitch is 0, or x and width at least. All rows
 *	are checked before the first is written.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (also a pitch over
 * CU_DEVICE_ATTRIBUTE_MAX_PITCH), _NOT_SUPPORTED (arrays).
 */
CUresult CUDAAPI cuMemcpy2D(const CUDA_MEMCPY2D *pCopy);

/**
 * cuMemcpy2DUnaligned() - copy rows, whatever their pitch
 * @pCopy: as above
 */
CUresult CUDAAPI cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *pCopy);

/**
 * cuMemcpy3D() - copy layers of rows
 * @pCopy: from where to where; a pitch is 0, or x and width at least; a height is 0,
 *	or y and the copy's height at least. All rows are checked before the first is
 *	written. A width, height or depth of 0 copies nothing.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (also a pitch over
 * CU_DEVICE_ATTRIBUTE_MAX_PITCH), _NOT_SUPPORTED (arrays). Source: hardware.
 */
CUresult CUDAAPI cuMemcpy3D(const CUDA_MEMCPY3D *pCopy);

/**
 * cuMemcpy3DPeer() - copy layers of rows between devices
 * @pCopy: as cuMemcpy3D(); each device has to have access to its own side only
 *
 * Waits for the work of both contexts, as cuMemcpyPeer() does.
 */
CUresult CUDAAPI cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy);

/**
 * cuMemsetD2D8() - fill rows with a byte
 * @dstDevice: the first row, mapped
 * @dstPitch: bytes from one row to the next; a row at least, if there are two
 * @uc: value
 * @Width: bytes of a row
 * @Height: rows
 */
CUresult CUDAAPI cuMemsetD2D8(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
			      size_t Width, size_t Height);

/**
 * cuMemsetD2D16() - fill rows with a 16-bit value
 * @dstDevice: the first row, mapped, a multiple of 2
 * @dstPitch: bytes from one row to the next, a multiple of 2
 * @us: value
 * @Width: values in a row
 * @Height: rows
 */
CUresult CUDAAPI cuMemsetD2D16(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
			       size_t Width, size_t Height);

/**
 * cuMemsetD2D32() - fill rows with a 32-bit value
 * @dstDevice: the first row, mapped, a multiple of 4
 * @dstPitch: bytes from one row to the next, a multiple of 4
 * @ui: value
 * @Width: values in a row
 * @Height: rows
 */
CUresult CUDAAPI cuMemsetD2D32(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
			       size_t Width, size_t Height);

/* The same with a stream, hStream: NULL is the legacy one. */
CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount,
			       CUstream hStream);
CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr dstDevice, const void *srcHost,
				   size_t ByteCount, CUstream hStream);
CUresult CUDAAPI cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr srcDevice,
				   size_t ByteCount, CUstream hStream);
CUresult CUDAAPI cuMemcpyDtoDAsync(CUdeviceptr dstDevice, CUdeviceptr srcDevice,
				   size_t ByteCount, CUstream hStream);
CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext,
				   CUdeviceptr srcDevice, CUcontext srcContext,
				   size_t ByteCount, CUstream hStream);
CUresult CUDAAPI cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream);
CUresult CUDAAPI cuMemcpy3DAsync(const CUDA_MEMCPY3D *pCopy, CUstream hStream);
CUresult CUDAAPI cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream);
CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N,
				 CUstream hStream);
CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N,
				  CUstream hStream);
CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N,
				  CUstream hStream);
CUresult CUDAAPI cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch,
				   unsigned char uc, size_t Width, size_t Height,
				   CUstream hStream);
CUresult CUDAAPI cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch,
				    unsigned short us, size_t Width, size_t Height,
				    CUstream hStream);
CUresult CUDAAPI cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch,
				    unsigned int ui, size_t Width, size_t Height,
				    CUstream hStream);

/**
 * cuMemcpyBatchAsync() - copy between many addresses, each any memory
 * @dsts: array of @count addresses
 * @srcs: likewise
 * @sizes: likewise, bytes of each copy, over 0
 * @count: over 0
 * @attrs: array of @numAttrs
 * @attrsIdxs: where each attribute starts: the first at copy 0, each later one at
 *	a later copy. It is for all copies up to the next one's start.
 * @numAttrs: 1 to @count
 * @hStream: any but the legacy one
 *
 * The copies are done in the order of the arrays (hardware: in any order). The call waits for
 * no copy, whatever its memory, except copies whose source is read during the call.
 * The arrays are checked first; when a copy itself fails, the copies
 * before it are done. Not for streams that are being captured.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _STREAM_CAPTURE_UNSUPPORTED, as other calls with
 * streams. Source: hardware.
 */
CUresult CUDAAPI cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
				    size_t count, CUmemcpyAttributes *attrs,
				    size_t *attrsIdxs, size_t numAttrs, CUstream hStream);

/**
 * cuMemcpy3DBatchAsync() - do many copies of layers of rows
 * @numOps: over 0
 * @opList: array; all are checked before the first is copied, except for their mappings
 * @flags: 0
 * @hStream: any but the legacy one
 *
 * As cuMemcpyBatchAsync().
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _NOT_SUPPORTED (arrays), as other calls with
 * streams. Source: hardware.
 */
CUresult CUDAAPI cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList,
				      unsigned long long flags, CUstream hStream);

/*
 * Streams (source: the API document, unless another is named)
 *
 * Work in a stream is done in the order in which it was queued, by the stream's thread.
 * The legacy stream waits for the context's other streams and they for it, except
 * those that are CU_STREAM_NON_BLOCKING. Each thread has a default stream of
 * its own in each context, CU_STREAM_PER_THREAD, which is not NON_BLOCKING.
 *
 * Work that fails after it was queued (because its memory has been unmapped, for
 * example) ends the device for the process, as on hardware: CUDA_ERROR_LAUNCH_FAILED.
 * Later work is not done, every call here and every other that uses the
 * device's contexts returns that failure, and no new context can be made. Contexts
 * can still be destroyed, reset and asked for their device, flags and version, and
 * memory can be unmapped and released. A call that destroys an object does so even if it fails.
 *
 * Errors of all: CUDA_ERROR_INVALID_HANDLE (not a stream or not an event, or
 * destroyed), _INVALID_CONTEXT (a default stream, and no context is current),
 * _NOT_PERMITTED (called from a host function), and an earlier failure on the device.
 */

/**
 * cuStreamCreate() - create a stream in the current context
 * @phStream: output
 * @Flags: CUstream_flags
 *
 * A call that queues work waits while the stream has 16384 pieces of work that are not done;
 * hardware makes it wait from about 1,024 launches on. So work that the same thread is to let go
 * on later must not have more than that queued behind it.
 */
CUresult CUDAAPI cuStreamCreate(CUstream *phStream, unsigned int Flags);

/**
 * cuStreamCreateWithPriority() - create a stream in the current context
 * @phStream: output
 * @flags: CUstream_flags
 * @priority: any; brought into the range of priorities
 */
CUresult CUDAAPI cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags,
					    int priority);

/**
 * cuStreamDestroy() - end a stream
 * @hStream: not a default one. Work that is queued in it will still be done.
 */
CUresult CUDAAPI cuStreamDestroy(CUstream hStream);

/**
 * cuStreamQuery() - has a stream done its work?
 * @hStream: the legacy stream is done when the streams that it waits for are
 *
 * Errors: CUDA_ERROR_NOT_READY (it has not; not logged).
 */
CUresult CUDAAPI cuStreamQuery(CUstream hStream);

/**
 * cuStreamSynchronize() - wait until a stream has done its work
 * @hStream: as cuStreamQuery()
 */
CUresult CUDAAPI cuStreamSynchronize(CUstream hStream);

/* Properties that a stream was created with; its number, which no other stream has had. */
CUresult CUDAAPI cuStreamGetPriority(CUstream hStream, int *priority);
CUresult CUDAAPI cuStreamGetFlags(CUstream hStream, unsigned int *flags);
CUresult CUDAAPI cuStreamGetId(CUstream hStream, unsigned long long *streamId);
CUresult CUDAAPI cuStreamGetDevice(CUstream hStream, CUdevice *device);
CUresult CUDAAPI cuStreamGetCtx(CUstream hStream, CUcontext *pctx);

/**
 * cuStreamGetCtx_v2() - the context of a stream
 * @hStream: any
 * @pCtx: output
 * @pGreenCtx: output: NULL. One of the outputs may be NULL (source: hardware).
 */
CUresult CUDAAPI cuStreamGetCtx_v2(CUstream hStream, CUcontext *pCtx,
				   CUgreenCtx *pGreenCtx);

/**
 * cuStreamSetAttribute() - set an attribute of a stream
 * @hStream: any
 * @attr: one of CU_STREAM_ATTRIBUTE_…
 * @value: a priority is brought into the range; the others are kept, and have no effect
 *
 * Errors: CUDA_ERROR_INVALID_VALUE: another attribute, or a bad value.
 */
CUresult CUDAAPI cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr,
				      const CUstreamAttrValue *value);
CUresult CUDAAPI cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr,
				      CUstreamAttrValue *value_out);

/* Of two streams of one context */
CUresult CUDAAPI cuStreamCopyAttributes(CUstream dst, CUstream src);

/**
 * cuStreamAttachMemAsync() - attach managed memory to a stream
 * @hStream: any; not a legacy stream with CU_MEM_ATTACH_SINGLE
 * @dptr: where managed memory starts
 * @length: bytes: all that was allocated, or 0
 * @flags: one of CUmemAttach_flags
 *
 * Without effect: devices here reach managed memory at any time, as
 * CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS says.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _STREAM_CAPTURE_UNSUPPORTED.
 */
CUresult CUDAAPI cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
					unsigned int flags);

/**
 * cuLaunchHostFunc() - have a stream call a function
 * @hStream: later work in it waits until the function has returned
 * @fn: runs in the stream's thread, with all signals blocked except SIGSEGV and SIGBUS; it
 *	may make no call about streams, events or copies. Not called after a failure.
 * @userData: for it
 */
CUresult CUDAAPI cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData);

/**
 * cuStreamAddCallback() - have a stream call a function, with the stream's result
 * @hStream: as above
 * @callback: as above, but also called after a failure, which it is told
 * @userData: for it
 * @flags: 0
 */
CUresult CUDAAPI cuStreamAddCallback(CUstream hStream, CUstreamCallback callback,
				     void *userData, unsigned int flags);

/**
 * cuStreamWaitValue32() - have a stream wait for a word
 * @stream: goes on when the word fulfills the condition
 * @addr: of the word, a multiple of its size: mapped memory, a window, a
 *	replica or registered memory of the host. The wait polls, from at once down
 *	to 1,000 times in a second, or less where that would use over 5 % of a
 *	processor; what other processes write is seen.
 * @value: to compare with
 * @flags: CUstreamWaitValue_flags
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (address or flags), _NOT_SUPPORTED (FLUSH).
 */
CUresult CUDAAPI cuStreamWaitValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value,
				     unsigned int flags);
CUresult CUDAAPI cuStreamWaitValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value,
				     unsigned int flags);

/**
 * cuStreamWriteValue32() - have a stream write a word
 * @stream: writes after all its earlier work
 * @addr: as above; to a window it reaches every replica
 * @value: what to write
 * @flags: 0
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (address, also one in memory of a pool; flags).
 */
CUresult CUDAAPI cuStreamWriteValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value,
				      unsigned int flags);
CUresult CUDAAPI cuStreamWriteValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value,
				      unsigned int flags);

/**
 * cuStreamBatchMemOp() - several waits and writes at once, in their order
 * @stream: as above
 * @count: up to 255
 * @paramArray: checked as a whole before anything is queued
 * @flags: 0
 *
 * Errors: as cuStreamWaitValue32() and cuStreamWriteValue32().
 */
CUresult CUDAAPI cuStreamBatchMemOp(CUstream stream, unsigned int count,
				    CUstreamBatchMemOpParams *paramArray,
				    unsigned int flags);

/*
 * Events: points in streams. An event that was never recorded stands for no work.
 */

/**
 * cuEventCreate() - create an event in the current context
 * @phEvent: output
 * @Flags: mask of CUevent_flags
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (INTERPROCESS without DISABLE_TIMING).
 */
CUresult CUDAAPI cuEventCreate(CUevent *phEvent, unsigned int Flags);

/**
 * cuEventDestroy() - end an event
 * @hEvent: streams and threads that wait for it go on waiting
 *
 * Errors: CUDA_ERROR_CONTEXT_IS_DESTROYED (the event has ended with its context).
 */
CUresult CUDAAPI cuEventDestroy(CUevent hEvent);

/**
 * cuEventRecord() - let an event stand for the work in a stream now
 * @hEvent: its last record is forgotten, except in waits that have begun
 * @hStream: of the event's context (else CUDA_ERROR_INVALID_HANDLE)
 */
CUresult CUDAAPI cuEventRecord(CUevent hEvent, CUstream hStream);

/**
 * cuEventRecordWithFlags() - let an event stand for the work in a stream now
 * @hEvent: as above
 * @hStream: as above
 * @flags: CU_EVENT_RECORD_DEFAULT; a captured stream takes CU_EVENT_RECORD_EXTERNAL, too
 *
 * Errors: CUDA_ERROR_ILLEGAL_STATE (EXTERNAL, and the stream is not being captured).
 */
CUresult CUDAAPI cuEventRecordWithFlags(CUevent hEvent, CUstream hStream,
					unsigned int flags);

/**
 * cuEventQuery() - is the work done that an event stands for?
 * @hEvent: an event
 *
 * Errors: CUDA_ERROR_NOT_READY (it is not; not logged).
 */
CUresult CUDAAPI cuEventQuery(CUevent hEvent);

/**
 * cuEventSynchronize() - wait until the work is done that an event stands for
 * @hEvent: an event
 */
CUresult CUDAAPI cuEventSynchronize(CUevent hEvent);

/**
 * cuEventElapsedTime() - the time between two events
 * @pMilliseconds: output (NULL: CUDA_ERROR_INVALID_HANDLE)
 * @hStart: was recorded, with timing (else CUDA_ERROR_INVALID_HANDLE)
 * @hEnd: likewise, in the same context
 *
 * Errors: CUDA_ERROR_NOT_READY (one of them is not done).
 */
CUresult CUDAAPI cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd);

/**
 * cuStreamWaitEvent() - have a stream wait for the work that an event stands for now
 * @hStream: of any context
 * @hEvent: of any context
 * @Flags: CU_EVENT_WAIT_DEFAULT; a captured stream takes CU_EVENT_WAIT_EXTERNAL, too
 *
 * Errors: as cuEventRecordWithFlags().
 */
CUresult CUDAAPI cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags);

/*
 * Plain allocation (source: the API document; which blocks share memory, and when it goes
 * back to the device: ours)
 *
 * Blocks are aligned to 512 bytes, and to G from a size of G on. Smaller ones of
 * one context share memory. A new block is zero or holds old data of this process.
 * All devices may access it. It ends with its context.
 *
 * Errors of all: CUDA_ERROR_INVALID_CONTEXT.
 */

/**
 * cuMemAlloc() - allocate memory of the current context's device
 * @dptr: output
 * @bytesize: over 0
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _OUT_OF_MEMORY.
 */
CUresult CUDAAPI cuMemAlloc(CUdeviceptr *dptr, size_t bytesize);

/**
 * cuMemAllocPitch() - allocate rows of memory
 * @dptr: output
 * @pPitch: output: bytes from one row to the next, a multiple of 512
 * @WidthInBytes: of a row, over 0
 * @Height: how many, over 0
 * @ElementSizeBytes: 4, 8 or 16
 *
 * Errors: as cuMemAlloc().
 */
CUresult CUDAAPI cuMemAllocPitch(CUdeviceptr *dptr, size_t *pPitch,
				 size_t WidthInBytes, size_t Height,
				 unsigned int ElementSizeBytes);

/**
 * cuMemFree() - free memory from cuMemAlloc() or a pool
 * @dptr: as it was given
 *
 * Waits for the work in the streams of the memory's context, but not for a
 * pool's memory.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, an earlier failure in the context's streams.
 */
CUresult CUDAAPI cuMemFree(CUdeviceptr dptr);

/**
 * cuMemHostAlloc() - allocate memory of the host
 * @pp: output; also its device pointer
 * @bytesize: over 0
 * @Flags: CU_MEMHOSTALLOC_…
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _OUT_OF_MEMORY.
 */
CUresult CUDAAPI cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags);

/* As cuMemHostAlloc() without flags. */
CUresult CUDAAPI cuMemAllocHost(void **pp, size_t bytesize);

/**
 * cuMemFreeHost() - free memory of the host
 * @p: from cuMemHostAlloc() or cuMemAllocHost()
 *
 * Errors: as cuMemFree().
 */
CUresult CUDAAPI cuMemFreeHost(void *p);

/**
 * cuMemHostRegister() - let devices use memory of the program's own
 * @p: where it starts
 * @bytesize: over 0
 * @Flags: CU_MEMHOSTREGISTER_…
 *
 * The range ends with the current context, as memory of cuMemHostAlloc() does.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (not all of it can be written),
 * _HOST_MEMORY_ALREADY_REGISTERED (a part of it), _NOT_SUPPORTED.
 */
CUresult CUDAAPI cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags);

/**
 * cuMemHostUnregister() - undo cuMemHostRegister()
 * @p: as given to it
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (NULL), _HOST_MEMORY_NOT_REGISTERED.
 */
CUresult CUDAAPI cuMemHostUnregister(void *p);

/**
 * cuMemHostGetDevicePointer() - the devices' address of memory of the host
 * @pdptr: output: @p
 * @p: in memory that was allocated on the host, or registered
 * @Flags: 0
 *
 * Errors: CUDA_ERROR_INVALID_VALUE.
 */
CUresult CUDAAPI cuMemHostGetDevicePointer(CUdeviceptr *pdptr, void *p,
					   unsigned int Flags);

/**
 * cuMemHostGetFlags() - the flags with which memory was allocated on the host
 * @pFlags: output
 * @p: in it
 *
 * Errors: CUDA_ERROR_INVALID_VALUE.
 */
CUresult CUDAAPI cuMemHostGetFlags(unsigned int *pFlags, void *p);

/*
 * Pools (source: the API document; the behaviour when memory is short: ours)
 *
 * As plain allocation, but frees are work in a stream, the pool decides which devices may
 * access its memory, and blocks whose size is a multiple of G can be bound with
 * cuMulticastBindAddr(). A device has a default pool, and one that is current:
 * the default, until another is set.
 *
 * Errors of all: CUDA_ERROR_INVALID_VALUE (not a pool, or destroyed).
 */

/* Managed memory */

/**
 * cuMemAllocManaged() - allocate memory that the CPU and all devices use at the same address
 * @dptr: output; NULL after an error that is not of this argument
 * @bytesize: over 0
 * @flags: CU_MEM_ATTACH_GLOBAL or _HOST; both are alike here
 *
 * It is memory of the host, not of a device's pool: as much can be allocated as the
 * machine has, whatever the devices have. It belongs to the current context, and ends with it.
 * cuMemFree() frees it.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _OUT_OF_MEMORY, _NOT_SUPPORTED (the profile's device does
 * not have it: CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY).
 */
CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags);

/**
 * cuMemAdvise() - give advice about the use of managed memory
 * @devPtr: anywhere in managed memory; whole pages count
 * @count: bytes, over 0; no more than what was allocated there
 * @advice: CUmem_advise
 * @location: ignored with READ_MOSTLY and UNSET_PREFERRED_LOCATION; a device or the host
 *	for ACCESSED_BY; also a node of the host for SET_PREFERRED_LOCATION
 *
 * Nothing moves here: advice only changes the output of cuMemRangeGetAttribute().
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _INVALID_DEVICE, _OUT_OF_MEMORY.
 */
CUresult CUDAAPI cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
			     CUmemLocation location);

/**
 * cuMemPrefetchAsync() - prefetch managed memory to a location
 * @devPtr: anywhere in managed memory; whole pages count
 * @count: bytes, over 0; no more than what was allocated there
 * @location: a device, the host or one of its nodes
 * @flags: 0
 * @hStream: any that is not being captured
 *
 * Nothing moves; cuMemRangeGetAttribute() outputs the location.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _INVALID_DEVICE, _OUT_OF_MEMORY,
 * _STREAM_CAPTURE_UNSUPPORTED.
 */
CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUmemLocation location,
				    unsigned int flags, CUstream hStream);

/**
 * cuMemPrefetchBatchAsync() - several cuMemPrefetchAsync()
 * @dptrs: array of @count: as @devPtr there
 * @sizes: array of @count: as @count there
 * @count: over 0
 * @prefetchLocs: array of @numPrefetchLocs: where to
 * @prefetchLocIdxs: array of @numPrefetchLocs: from which range on; 0 at first, and rising
 * @numPrefetchLocs: from 1 to @count
 * @flags: 0
 * @hStream: not a legacy stream
 *
 * All ranges are checked before one is changed. Errors: as cuMemPrefetchAsync().
 */
CUresult CUDAAPI cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
					 CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
					 size_t numPrefetchLocs, unsigned long long flags,
					 CUstream hStream);

/**
 * cuMemDiscardBatchAsync() - discard the content of managed memory
 * @dptrs: array of @count: anywhere in managed memory
 * @sizes: array of @count: bytes, over 0
 * @count: over 0
 * @flags: 0
 * @hStream: not a legacy stream
 *
 * Here the content stays, but programs must not count on it. Errors: as cuMemPrefetchAsync().
 */
CUresult CUDAAPI cuMemDiscardBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
					unsigned long long flags, CUstream hStream);

/* cuMemDiscardBatchAsync() and then cuMemPrefetchBatchAsync() */
CUresult CUDAAPI cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes,
						   size_t count, CUmemLocation *prefetchLocs,
						   size_t *prefetchLocIdxs,
						   size_t numPrefetchLocs,
						   unsigned long long flags, CUstream hStream);

/**
 * cuMemRangeGetAttribute() - the advice that managed memory was given
 * @data: output
 * @dataSize: its bytes: 4; of ACCESSED_BY a multiple of 4, over 0: what is left over is
 *	CU_DEVICE_INVALID
 * @attribute: which
 * @devPtr: anywhere in managed memory; whole pages count
 * @count: bytes, over 0; no more than what was allocated there
 *
 * Errors: CUDA_ERROR_INVALID_VALUE.
 */
CUresult CUDAAPI cuMemRangeGetAttribute(void *data, size_t dataSize,
					CUmem_range_attribute attribute, CUdeviceptr devPtr,
					size_t count);

/**
 * cuMemRangeGetAttributes() - several cuMemRangeGetAttribute()
 * @data: array of @numAttributes outputs
 * @dataSizes: array of @numAttributes: their bytes
 * @attributes: array of @numAttributes
 * @numAttributes: over 0
 * @devPtr: as there
 * @count: as there
 *
 * All arguments are checked before an output is written. Errors: as there.
 */
CUresult CUDAAPI cuMemRangeGetAttributes(void **data, size_t *dataSizes,
					 CUmem_range_attribute *attributes,
					 size_t numAttributes, CUdeviceptr devPtr,
					 size_t count);

/**
 * cuMemPoolCreate() - make a pool
 * @pool: output
 * @poolProps: location, handle type, largest size
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (also a device or node that does not exist),
 * _OUT_OF_MEMORY (maxSize is more than addresses reach; the device may have less), _NOT_SUPPORTED
 * (fabric handles: ours).
 */
CUresult CUDAAPI cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps);

/**
 * cuMemPoolDestroy() - destroy a pool
 * @pool: not a default one; its memory is freed with its last block
 *
 * If it was the current pool of a device, the default pool becomes current.
 */
CUresult CUDAAPI cuMemPoolDestroy(CUmemoryPool pool);

/**
 * cuMemPoolTrimTo() - give back memory that no block uses
 * @pool: of this pool
 * @minBytesToKeep: bytes that it keeps, if it has them
 */
CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep);

/* @value: an int or a cuuint64_t, see CUmemPool_attribute. */
CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr,
				       void *value);
CUresult CUDAAPI cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr,
				       void *value);

/**
 * cuMemPoolSetAccess() - set devices' access to a pool's memory
 * @pool: for all memory that it has and will have
 * @map: array; the pool's own device keeps its access
 * @count: its length
 *
 * Errors: CUDA_ERROR_INVALID_DEVICE.
 */
CUresult CUDAAPI cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map,
				    size_t count);
CUresult CUDAAPI cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool,
				    CUmemLocation *location);

/**
 * cuMemPoolExportToShareableHandle() - let other processes have a pool's blocks
 * @handle_out: output: int, a new fd, close-on-exec
 * @pool: created with @handleType
 * @handleType: POSIX_FILE_DESCRIPTOR
 * @flags: 0
 *
 * Errors: CUDA_ERROR_NOT_SUPPORTED (other handle types).
 */
CUresult CUDAAPI cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool,
						  CUmemAllocationHandleType handleType,
						  unsigned long long flags);

/**
 * cuMemPoolImportFromShareableHandle() - import a pool; it takes blocks of the exporter only
 * @pool_out: output
 * @handle: the fd itself, as (void *)(intptr_t)fd; stays the caller's
 * @handleType: how it was exported
 * @flags: 0
 *
 * Errors: as cuMemPoolExportToShareableHandle().
 */
CUresult CUDAAPI cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle,
						    CUmemAllocationHandleType handleType,
						    unsigned long long flags);

/**
 * cuMemPoolExportPointer() - the data that another process needs to import a block
 * @shareData_out: output
 * @ptr: where a block of a pool that was created with a handle type starts
 */
CUresult CUDAAPI cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out,
					CUdeviceptr ptr);

/**
 * cuMemPoolImportPointer() - map another process's block
 * @ptr_out: output; to be freed here before the exporter frees the block
 * @pool: imported
 * @shareData: of a block that is not imported yet
 */
CUresult CUDAAPI cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool,
					CUmemPoolPtrExportData *shareData);

/* A device's pools. Errors: CUDA_ERROR_INVALID_DEVICE. */
CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev);
CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev);
CUresult CUDAAPI cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool);

/* The same for a @location: a device, the host or a node of it; only for type PINNED. */
CUresult CUDAAPI cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location,
					CUmemAllocationType type);
CUresult CUDAAPI cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location,
				 CUmemAllocationType type);
CUresult CUDAAPI cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type,
				 CUmemoryPool pool);

/**
 * cuMemAllocAsync() - allocate from the current pool of a stream's device
 * @dptr: output; can be used at once
 * @bytesize: over 0
 * @hStream: if the pool is empty, the call waits for its work, which may free some
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _OUT_OF_MEMORY, as other calls with streams.
 */
CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream);
CUresult CUDAAPI cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize,
					 CUmemoryPool pool, CUstream hStream);

/**
 * cuMemFreeAsync() - free memory in the order of a stream
 * @dptr: from a pool or cuMemAlloc(); must not be freed again from now on
 * @hStream: the stream
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, as other calls with streams.
 */
CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream);

/*
 * Graphs (source: hardware, unless another is named)
 *
 * A graph has nodes, and edges between them: a node is done after those that it
 * depends on. cuGraphInstantiate() makes an instance of it, which can be launched in any
 * stream, many times. Nodes that do not depend on each other may be done in any
 * order; here, one after the other, but a node that waits (for an event, for a word)
 * holds up only those that depend on it. External semaphores are not supported.
 *
 * A graph's functions may be called from several threads at once. Handles of graphs
 * and nodes that were destroyed are known as such (ours).
 *
 * Errors of all: CUDA_ERROR_INVALID_VALUE (NULL; not a graph or a node, or
 * destroyed), _OUT_OF_MEMORY (also for more than 1,048,576 nodes in a process).
 */

/**
 * cuGraphCreate() - create an empty graph
 * @phGraph: output
 * @flags: 0
 */
CUresult CUDAAPI cuGraphCreate(CUgraph *phGraph, unsigned int flags);

/**
 * cuGraphDestroy() - destroy a graph and its nodes
 * @hGraph: not a child node's, and not one that a stream is being captured to.
 *	Its instances stay.
 */
CUresult CUDAAPI cuGraphDestroy(CUgraph hGraph);

/**
 * cuGraphClone() - copy a graph
 * @phGraphClone: output
 * @originalGraph: without nodes that allocate or free
 *
 * Errors: CUDA_ERROR_NOT_SUPPORTED (it has such nodes).
 */
CUresult CUDAAPI cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph);

/**
 * cuGraphNodeFindInClone() - find a node's copy
 * @phNode: output
 * @hOriginalNode: of the graph that was cloned
 * @hClonedGraph: from cuGraphClone()
 */
CUresult CUDAAPI cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode,
					CUgraph hClonedGraph);

/*
 * Calls that add a node of one type. Common to all:
 *
 * @phGraphNode: output
 * @hGraph: to this graph
 * @dependencies: array of nodes of the graph, none twice
 * @numDependencies: its length
 *
 * Memory and addresses are checked as a copy or a fill checks them when it is called; if one is gone
 * by the time of a launch, the launch's stream fails. Not checked is a copy whose two sides are
 * UNIFIED and within the first page: cuGraphExecMemcpyNodeSetParams() brings its addresses.
 */
CUresult CUDAAPI cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				      const CUgraphNode *dependencies,
				      size_t numDependencies,
				      const CUDA_MEMCPY3D *copyParams, CUcontext ctx);
CUresult CUDAAPI cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				      const CUgraphNode *dependencies,
				      size_t numDependencies,
				      const CUDA_MEMSET_NODE_PARAMS *memsetParams,
				      CUcontext ctx);
CUresult CUDAAPI cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				    const CUgraphNode *dependencies,
				    size_t numDependencies,
				    const CUDA_HOST_NODE_PARAMS *nodeParams);
CUresult CUDAAPI cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				     const CUgraphNode *dependencies,
				     size_t numDependencies);
CUresult CUDAAPI cuGraphAddBatchMemOpNode(CUgraphNode *phGraphNode, CUgraph hGraph,
					  const CUgraphNode *dependencies,
					  size_t numDependencies,
					  const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams);

/**
 * cuGraphAddChildGraphNode() - add a copy of another graph as a node
 * @childGraph: without nodes that allocate or free; graphs nest 64 deep (ours)
 *
 * Errors: CUDA_ERROR_NOT_SUPPORTED (it has such nodes, is @hGraph, or nests too deep).
 */
CUresult CUDAAPI cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph,
					  const CUgraphNode *dependencies,
					  size_t numDependencies, CUgraph childGraph);

/**
 * cuGraphAddEventRecordNode() - add a node that records an event
 * @event: stands for the node from the call of cuGraphLaunch() on
 */
CUresult CUDAAPI cuGraphAddEventRecordNode(CUgraphNode *phGraphNode, CUgraph hGraph,
					   const CUgraphNode *dependencies,
					   size_t numDependencies, CUevent event);

/**
 * cuGraphAddEventWaitNode() - add a node that waits for an event
 * @event: for the work that it stands for when cuGraphLaunch() is called; for the last record
 *	node of it that this node depends on, if there is one
 */
CUresult CUDAAPI cuGraphAddEventWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph,
					 const CUgraphNode *dependencies,
					 size_t numDependencies, CUevent event);

/**
 * cuGraphAddMemAllocNode() - add a node that allocates memory
 * @nodeParams: dptr is an output: the address, the same for all launches
 *
 * The memory may be used by nodes that depend on this one, and by work that comes after
 * the launch, until it is freed: by a node that cuGraphAddMemFreeNode() adds, by
 * cuMemFreeAsync() or by cuMemFree(). It stays allocated when the graph is destroyed.
 * It is taken from the device when the node is added, and given back when it is
 * not allocated and neither the graph nor an instance of it exists any
 * more (ours; hardware takes it at the launch).
 *
 * Of a graph with such nodes no node or edge can be removed, it can be neither
 * cloned nor copied into a child node, and there can be one instance of it at a time.
 *
 * Errors: CUDA_ERROR_OUT_OF_MEMORY, _NOT_SUPPORTED (handle types, memory of the host).
 */
CUresult CUDAAPI cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph,
					const CUgraphNode *dependencies,
					size_t numDependencies,
					CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams);

/**
 * cuGraphAddMemFreeNode() - add a node that frees memory
 * @dptr: from an alloc node of this or another graph, with no other free node
 *	in this one
 */
CUresult CUDAAPI cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				       const CUgraphNode *dependencies,
				       size_t numDependencies, CUdeviceptr dptr);

/**
 * cuGraphAddNode() - add a node of any type
 * @dependencyData: array of @numDependencies, or NULL: all of type DEFAULT
 * @nodeParams: alloc.dptr and conditional.phGraph_out are outputs
 *
 * Errors: CUDA_ERROR_NOT_SUPPORTED (type).
 */
CUresult CUDAAPI cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				const CUgraphNode *dependencies,
				const CUgraphEdgeData *dependencyData,
				size_t numDependencies, CUgraphNodeParams *nodeParams);

/**
 * cuGraphConditionalHandleCreate() - make a condition, for a conditional node
 * @pHandle_out: output; kernels set the condition by cudaGraphSetConditional(handle, value)
 * @hGraph: the graph that is to have the node, itself or in the graph of another conditional node.
 *	An instance can be made of it as soon as a node has the handle.
 * @ctx: of the node and its kernels; NULL: the current one
 * @defaultLaunchValue: what the condition is at first
 * @flags: CU_GRAPH_COND_ASSIGN_DEFAULT (it is so again as each launch of the whole graph begins,
 *	not each turn of a loop) or 0
 *
 * A graph with conditional nodes has one instance at a time, and cannot be cloned or become a child
 * graph (CUDA_ERROR_NOT_SUPPORTED), as NVIDIA's headers say.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _INVALID_CONTEXT, _OUT_OF_MEMORY.
 */
CUresult CUDAAPI cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out,
						CUgraph hGraph, CUcontext ctx,
						unsigned int defaultLaunchValue,
						unsigned int flags);

/*
 * A node's parameters; the node must be of the type. Arrays that they point to belong to
 * the node, until it is destroyed or gets others. Instances made before
 * keep their own.
 */
CUresult CUDAAPI cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams);
CUresult CUDAAPI cuGraphMemcpyNodeSetParams(CUgraphNode hNode,
					    const CUDA_MEMCPY3D *nodeParams);
CUresult CUDAAPI cuGraphMemsetNodeGetParams(CUgraphNode hNode,
					    CUDA_MEMSET_NODE_PARAMS *nodeParams);
CUresult CUDAAPI cuGraphMemsetNodeSetParams(CUgraphNode hNode,
					    const CUDA_MEMSET_NODE_PARAMS *nodeParams);
CUresult CUDAAPI cuGraphHostNodeGetParams(CUgraphNode hNode,
					  CUDA_HOST_NODE_PARAMS *nodeParams);
CUresult CUDAAPI cuGraphHostNodeSetParams(CUgraphNode hNode,
					  const CUDA_HOST_NODE_PARAMS *nodeParams);
CUresult CUDAAPI cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent *event_out);
CUresult CUDAAPI cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event);
CUresult CUDAAPI cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent *event_out);
CUresult CUDAAPI cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event);
CUresult CUDAAPI
cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode,
			       CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out);
CUresult CUDAAPI
cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode,
			       const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams);
CUresult CUDAAPI cuGraphMemAllocNodeGetParams(CUgraphNode hNode,
					      CUDA_MEM_ALLOC_NODE_PARAMS *params_out);
CUresult CUDAAPI cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr *dptr_out);

/**
 * cuGraphChildGraphNodeGetGraph() - the graph inside a child node
 * @hNode: a child node
 * @phGraph: output; it may be changed, but ends with the node
 */
CUresult CUDAAPI cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph);

/**
 * cuGraphNodeSetParams() - give a node other parameters
 * @hNode: a node that copies, fills, calls, records, waits or has words
 * @nodeParams: of the same type
 *
 * Errors: CUDA_ERROR_NOT_SUPPORTED (a node of another type).
 */
CUresult CUDAAPI cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams);

/**
 * cuGraphNodeGetType() - the type of a node
 * @hNode: any
 * @type: output
 */
CUresult CUDAAPI cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type);

/*
 * A graph's nodes and edges, in the order in which they were added; edges, in the order of the
 * nodes at which they start. The arrays may be NULL, to find only their number;
 * else the number is an input as well: the length of the arrays. Elements left over
 * become NULL. @edgeData may be NULL if all edges are of type DEFAULT (else
 * CUDA_ERROR_LOSSY_QUERY).
 */
CUresult CUDAAPI cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes);
CUresult CUDAAPI cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes,
				     size_t *numRootNodes);
CUresult CUDAAPI cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
				 CUgraphEdgeData *edgeData, size_t *numEdges);
CUresult CUDAAPI cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies,
					    CUgraphEdgeData *edgeData,
					    size_t *numDependencies);
CUresult CUDAAPI cuGraphNodeGetDependentNodes(CUgraphNode hNode,
					      CUgraphNode *dependentNodes,
					      CUgraphEdgeData *edgeData,
					      size_t *numDependentNodes);

/**
 * cuGraphAddDependencies() - add edges
 * @hGraph: of this graph
 * @from: array of nodes
 * @to: array of nodes, each to come after the one in @from
 * @edgeData: array, or NULL: all of type DEFAULT
 * @numDependencies: the length of the arrays
 *
 * A cycle is found when the graph is instantiated. Edges are added one after the
 * other: edges before one that cannot be added (from a node to itself, or one
 * that exists already) stay.
 */
CUresult CUDAAPI cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from,
					const CUgraphNode *to,
					const CUgraphEdgeData *edgeData,
					size_t numDependencies);

/**
 * cuGraphRemoveDependencies() - remove edges
 * @hGraph: as above
 * @from: as above
 * @to: as above
 * @edgeData: as above: as the edges have it
 * @numDependencies: as above
 *
 * Errors: CUDA_ERROR_NOT_SUPPORTED (the graph allocates or frees).
 */
CUresult CUDAAPI cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from,
					   const CUgraphNode *to,
					   const CUgraphEdgeData *edgeData,
					   size_t numDependencies);

/**
 * cuGraphDestroyNode() - remove a node, and its edges
 * @hNode: any
 *
 * Errors: CUDA_ERROR_NOT_SUPPORTED (the graph allocates or frees).
 */
CUresult CUDAAPI cuGraphDestroyNode(CUgraphNode hNode);

/**
 * cuGraphDebugDotPrint() - write a graph to a file for dot, of Graphviz
 * @hGraph: any
 * @path: the file; replaced
 * @flags: CUgraphDebugDot_flags; others are ignored
 *
 * Errors: CUDA_ERROR_OPERATING_SYSTEM (the file cannot be written).
 */
CUresult CUDAAPI cuGraphDebugDotPrint(CUgraph hGraph, const char *path,
				      unsigned int flags);

/**
 * cuGraphInstantiate() - make an instance of a graph, which can be launched
 * @phGraphExec: output; independent of the graph from now on
 * @hGraph: any without cycles
 * @flags: AUTO_FREE_ON_LAUNCH, USE_NODE_PRIORITY
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (a cycle), _NOT_SUPPORTED (the graph allocates, and
 * has an instance already), _STREAM_CAPTURE_UNSUPPORTED (a stream is being
 * captured to it: the capture fails).
 */
CUresult CUDAAPI cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph,
				    unsigned long long flags);

/**
 * cuGraphInstantiateWithParams() - the same, with more detail about an error
 * @phGraphExec: output
 * @hGraph: as above
 * @instantiateParams: also flag UPLOAD, with a stream
 *
 * Errors: as above, _NOT_SUPPORTED (DEVICE_LAUNCH).
 */
CUresult CUDAAPI
cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
			     CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams);

/**
 * cuGraphExecGetFlags() - the flags with which a graph was instantiated
 * @hGraphExec: an instance
 * @flags: output: AUTO_FREE_ON_LAUNCH or 0
 */
CUresult CUDAAPI cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags);

/**
 * cuGraphExecDestroy() - destroy an instance
 * @hGraphExec: launches of it that are under way go on
 */
CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec hGraphExec);

/**
 * cuGraphLaunch() - have a stream do the work of a graph
 * @hGraphExec: also comes after all earlier launches of the same instance
 * @hStream: any
 *
 * A node that fails fails the stream, as other work does: the nodes not begun are left
 * out.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (memory that an earlier launch allocated was not freed;
 * memory to free is not allocated), _STREAM_CAPTURE_UNSUPPORTED (the stream is
 * being captured: the capture fails), as other calls with streams.
 */
CUresult CUDAAPI cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream);

/* Without effect: a device needs no preparation. Errors: as cuGraphLaunch(). */
CUresult CUDAAPI cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream);

/**
 * cuGraphExecUpdate() - give an instance the parameters of another graph
 * @hGraphExec: launches that are under way keep theirs
 * @hGraph: with as many nodes of the same types, and the same edges. Nodes that no other
 *	depends on are paired in the order in which they were added, then those that a pair
 *	depends on, in the order in which these edges were added. A fill of one row stays one,
 *	a copy stays between the same memory types, words keep their operations.
 * @resultInfo: output, or NULL
 *
 * Errors: CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE (@resultInfo says why; nothing is
 * changed).
 */
CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph,
				   CUgraphExecUpdateResultInfo *resultInfo);

/*
 * Other parameters for one node of an instance. @hNode is of the graph that was
 * instantiated. cuGraphExecUpdate() says which changes are possible.
 */
CUresult CUDAAPI cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
						const CUDA_MEMCPY3D *copyParams,
						CUcontext ctx);
CUresult CUDAAPI
cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
			       const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx);
CUresult CUDAAPI cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
					      const CUDA_HOST_NODE_PARAMS *nodeParams);
CUresult CUDAAPI cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec,
						    CUgraphNode hNode, CUevent event);
CUresult CUDAAPI cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec,
						  CUgraphNode hNode, CUevent event);
CUresult CUDAAPI
cuGraphExecBatchMemOpNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
				   const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams);
CUresult CUDAAPI cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
					  CUgraphNodeParams *nodeParams);

/**
 * cuGraphExecChildGraphNodeSetParams() - other parameters for all of a child node
 * @hGraphExec: an instance
 * @hNode: a child node of the graph that was instantiated
 * @childGraph: related to the child node's graph as in cuGraphExecUpdate()
 *
 * Errors: CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE.
 */
CUresult CUDAAPI cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec,
						    CUgraphNode hNode,
						    CUgraph childGraph);

/**
 * cuGraphNodeSetEnabled() - have an instance skip a node, or do it again
 * @hGraphExec: an instance
 * @hNode: a copy or a fill of the graph that was instantiated
 * @isEnabled: 0 or another number
 */
CUresult CUDAAPI cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
				       unsigned int isEnabled);
CUresult CUDAAPI cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
				       unsigned int *isEnabled);

/*
 * Memory that the launches of a process have allocated on a device.
 *
 * Errors of all: CUDA_ERROR_INVALID_DEVICE.
 */
CUresult CUDAAPI cuDeviceGraphMemTrim(CUdevice device);
CUresult CUDAAPI cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
					      void *value);
CUresult CUDAAPI cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
					      void *value);

/**
 * cuUserObjectCreate() - have an object destroyed when no graph uses it any more
 * @object_out: output
 * @ptr: for @destroy
 * @destroy: called when the last reference is gone, in a thread of the library; it
 *	may call nothing here
 * @initialRefcount: the caller's references, 1 to INT_MAX
 * @flags: CU_USER_OBJECT_NO_DESTRUCTOR_SYNC
 */
CUresult CUDAAPI cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy,
				    unsigned int initialRefcount, unsigned int flags);

/* The caller's own references: 1 to INT_MAX more or less. */
CUresult CUDAAPI cuUserObjectRetain(CUuserObject object, unsigned int count);
CUresult CUDAAPI cuUserObjectRelease(CUuserObject object, unsigned int count);

/**
 * cuGraphRetainUserObject() - give a graph references to an object
 * @graph: its clones and instances, and launches of those, have references of their own
 * @object: an object
 * @count: 1 to INT_MAX
 * @flags: 0, or CU_GRAPH_USER_OBJECT_MOVE
 */
CUresult CUDAAPI cuGraphRetainUserObject(CUgraph graph, CUuserObject object,
					 unsigned int count, unsigned int flags);

/**
 * cuGraphReleaseUserObject() - take references from a graph
 * @graph: a graph
 * @object: an object
 * @count: at most as many as the graph has
 */
CUresult CUDAAPI cuGraphReleaseUserObject(CUgraph graph, CUuserObject object,
					  unsigned int count);

/*
 * Capture (source: hardware)
 *
 * While a stream is captured, work that is queued in it becomes nodes of a graph and is
 * not done. Each node depends on the stream's last one. An event that is recorded in
 * the stream brings other streams into the capture when they wait for it; all that
 * they got must be joined to the first stream in the same way before it ends.
 *
 * Calls that cannot be captured return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED and fail the
 * capture: queries of a captured stream, or waits for it; callbacks; copies between
 * contexts; launches of graphs; cuStreamGetFlags(); cuCtxSynchronize() in the context.
 * So do, for other streams as well, cuMemAlloc(), cuMemFree(), memory of the host,
 * cuMemAllocAsync(), cuMemPoolTrimTo(), and to ask or wait for streams and events,
 * where the modes of the thread and of the capture forbid it. The legacy stream must
 * not be used while a blocking stream of its context is captured
 * (CUDA_ERROR_STREAM_CAPTURE_IMPLICIT). Calls for a captured stream return
 * CUDA_ERROR_STREAM_CAPTURE_INVALIDATED from the failure on until its capture is ended.
 */

/**
 * cuStreamBeginCapture() - capture a stream to a new graph
 * @hStream: any but the legacy one
 * @mode: GLOBAL: forbids the calls above to all threads; THREAD_LOCAL: to this one
 *
 * Errors: CUDA_ERROR_ILLEGAL_STATE (it is being captured), _STREAM_CAPTURE_UNSUPPORTED
 * (the legacy stream).
 */
CUresult CUDAAPI cuStreamBeginCapture(CUstream hStream, CUstreamCaptureMode mode);

/**
 * cuStreamBeginCaptureToGraph() - capture a stream to a graph
 * @hStream: as above
 * @hGraph: gets the nodes; not a child node's
 * @dependencies: array of nodes of it that the first ones depend on
 * @dependencyData: array for these edges, or NULL: all of type DEFAULT
 * @numDependencies: their length
 * @mode: as above
 */
CUresult CUDAAPI cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
					     const CUgraphNode *dependencies,
					     const CUgraphEdgeData *dependencyData,
					     size_t numDependencies,
					     CUstreamCaptureMode mode);

/**
 * cuStreamEndCapture() - end a capture
 * @hStream: the stream in which it began
 * @phGraph: output: the graph; NULL if the capture has failed. May be NULL: the graph is
 *	destroyed then, unless it was there before
 *
 * Unless its mode is RELAXED, the thread that began it has to end it.
 *
 * Errors: CUDA_ERROR_ILLEGAL_STATE (no capture), _STREAM_CAPTURE_UNMATCHED (another
 * stream of the capture, which fails), _STREAM_CAPTURE_INVALIDATED (it had failed),
 * _STREAM_CAPTURE_UNJOINED, _STREAM_CAPTURE_WRONG_THREAD. All but the first two end it.
 */
CUresult CUDAAPI cuStreamEndCapture(CUstream hStream, CUgraph *phGraph);

/**
 * cuStreamIsCapturing() - is a stream being captured?
 * @hStream: any
 * @captureStatus: output
 *
 * Errors: CUDA_ERROR_STREAM_CAPTURE_IMPLICIT (the legacy stream, while a blocking one is
 * captured: no capture fails by this).
 */
CUresult CUDAAPI cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus);

/**
 * cuStreamGetCaptureInfo() - the state of a stream's capture
 * @hStream: any
 * @captureStatus_out: output. Unless it is ACTIVE, the other outputs are not written
 * @id_out: output, or NULL: the capture's number, which no other has had
 * @graph_out: output, or NULL: may be changed, but not destroyed or instantiated
 * @dependencies_out: output, or NULL: array of nodes that the next node will depend on,
 *	good until the stream is used again or its capture ends
 * @edgeData_out: output, or NULL: array for the same edges
 * @numDependencies_out: output, or NULL: their length
 *
 * Errors: as cuStreamIsCapturing(); CUDA_ERROR_LOSSY_QUERY (@dependencies_out without
 * @edgeData_out, and an edge is not of type DEFAULT).
 */
CUresult CUDAAPI cuStreamGetCaptureInfo(CUstream hStream,
					CUstreamCaptureStatus *captureStatus_out,
					cuuint64_t *id_out, CUgraph *graph_out,
					const CUgraphNode **dependencies_out,
					const CUgraphEdgeData **edgeData_out,
					size_t *numDependencies_out);

/**
 * cuStreamUpdateCaptureDependencies() - change the dependencies of a captured stream's next node
 * @hStream: a captured stream
 * @dependencies: array of nodes of the graph
 * @dependencyData: array for these edges, or NULL: all of type DEFAULT
 * @numDependencies: their length
 * @flags: CU_STREAM_ADD_CAPTURE_DEPENDENCIES or _SET_
 *
 * Errors: CUDA_ERROR_ILLEGAL_STATE (no capture), _STREAM_CAPTURE_INVALIDATED.
 */
CUresult CUDAAPI cuStreamUpdateCaptureDependencies(CUstream hStream,
						   CUgraphNode *dependencies,
						   const CUgraphEdgeData *dependencyData,
						   size_t numDependencies,
						   unsigned int flags);

/**
 * cuThreadExchangeStreamCaptureMode() - set which captures forbid calls to this thread
 * @mode: input: GLOBAL: those of all threads that are GLOBAL, and its own but for
 *	RELAXED ones; THREAD_LOCAL: its own, but for RELAXED ones; any other: none.
 *	Output: what it was before, GLOBAL at first
 */
CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode);

/*
 * Memory of other processes (source: the API document; which processes may use a handle: ours)
 *
 * A handle is 64 bytes, sent in any way. It is valid in other processes of the same
 * user, as long as these have the exporter's user namespace, and the exporter lives and
 * has not freed the memory. A process in another PID namespace that has the exporter's
 * number there gets CUDA_ERROR_INVALID_CONTEXT, as on hardware. Opened memory stays until
 * it is closed, also when the exporter frees it or dies. Needs a current context.
 */

/**
 * cuIpcGetMemHandle() - let other processes have an allocation
 * @pHandle: output; the same each time
 * @dptr: anywhere in memory from cuMemAlloc() or cuMemAllocPitch()
 *
 * Errors: CUDA_ERROR_INVALID_VALUE.
 */
CUresult CUDAAPI cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr);

/**
 * cuIpcOpenMemHandle() - map another process's allocation
 * @pdptr: output: where it starts; in the same context the same each time
 * @handle: from cuIpcGetMemHandle()
 * @Flags: CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _INVALID_CONTEXT (it is this process's own).
 */
CUresult CUDAAPI cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle,
				    unsigned int Flags);

/**
 * cuIpcCloseMemHandle() - undo one cuIpcOpenMemHandle(); the last one unmaps it
 * @dptr: as it was given
 *
 * Waits for the work in the context's streams. cuMemFree() refuses such memory.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE.
 */
CUresult CUDAAPI cuIpcCloseMemHandle(CUdeviceptr dptr);

/**
 * cuIpcGetEventHandle() - let other processes have an event
 * @pHandle: output; the same each time, until the event is destroyed
 * @event: created here with CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING
 *
 * The same processes may open it as a handle of memory. Each may record it: queries and
 * waits mean the last record of any process. A record of a process that dies has happened.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _INVALID_HANDLE (another kind of event).
 */
CUresult CUDAAPI cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event);

/**
 * cuIpcOpenEventHandle() - an event of another process, each time a new handle
 * @phEvent: output; destroy it with cuEventDestroy()
 * @handle: from cuIpcGetEventHandle()
 *
 * Errors: CUDA_ERROR_MAP_FAILED (no such handle), _INVALID_HANDLE (the event was
 * destroyed), _INVALID_CONTEXT (it is this process's own), _OUT_OF_MEMORY (a process has
 * 1,024 such events: the limit is ours).
 */
CUresult CUDAAPI cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle);

/*
 * External memory (source: the API document): dma-bufs of other drivers, which
 * a device can read and write, copy from and to, and bind. Needs a current
 * context.
 *
 * Other users of the buffer: copies and fills wait for its fences before they start
 * and tell its exporter of the access, as DMA_BUF_IOCTL_SYNC does, with which programs
 * need not be combined. A program that loads and stores through the address does
 * both itself, with that ioctl or poll() on the fd; on x86 its stores are seen
 * by all other CPUs and devices at once, as caches are coherent there (ours).
 */

/**
 * cuImportExternalMemory() - import another driver's memory
 * @extMem_out: output
 * @memHandleDesc: of type OPAQUE_FD or DMABUF_FD: handle.fd, any dma-buf's that
 *	cuMemImportFromShareableHandle() would take, but no team's (ours); size, at
 *	least 1 and no more than the dma-buf's; flags, 0 or, for OPAQUE_FD,
 *	CUDA_EXTERNAL_MEMORY_DEDICATED, which changes nothing (ours)
 *
 * It counts as memory of the current context's device, ends with that context, and keeps
 * the buffer until it and the buffers mapped from it are gone. The fd belongs to the library from
 * then on for OPAQUE_FD; it stays the caller's for DMABUF_FD (ours).
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _INVALID_CONTEXT, _NOT_PERMITTED (it is
 * read-only: ours), _NOT_SUPPORTED (other types; no CPU may map it: ours),
 * _OUT_OF_MEMORY.
 */
CUresult CUDAAPI
cuImportExternalMemory(CUexternalMemory *extMem_out,
		       const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *memHandleDesc);

/**
 * cuExternalMemoryGetMappedBuffer() - an address for a part of external memory
 * @devPtr: output; aligned as @bufferDesc's offset is in the memory, up to G. Ends
 *	with cuMemFree(), or with the context
 * @extMem: of any context
 * @bufferDesc: offset and size, any that are inside; several may overlap
 *
 * Every device may access it. It can be bound with cuMulticastBindAddr(), in
 * multiples of G.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE, _INVALID_HANDLE, _INVALID_CONTEXT,
 * _CONTEXT_IS_DESTROYED (the one that imported it).
 */
CUresult CUDAAPI
cuExternalMemoryGetMappedBuffer(CUdeviceptr *devPtr, CUexternalMemory extMem,
				const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *bufferDesc);

/**
 * cuDestroyExternalMemory() - give external memory back
 * @extMem: from cuImportExternalMemory(). Buffers mapped from it stay until
 *	they are freed (ours; the document: they must no longer be used)
 *
 * Errors: CUDA_ERROR_INVALID_HANDLE.
 */
CUresult CUDAAPI cuDestroyExternalMemory(CUexternalMemory extMem);

/*
 * Device code: modules, libraries and their kernels. Source of all rules: hardware.
 * @image is PTX text that ends with a 0 byte, a cubin, a fatbin, or the wrapper that nvcc puts
 * around a fatbin; it may be freed after the call. PTX is read as far as its instructions' names,
 * and compiled when a kernel is first launched.
 *
 * Errors of loading: CUDA_ERROR_INVALID_IMAGE (none of these), _INVALID_PTX,
 * _UNSUPPORTED_PTX_VERSION, _NO_BINARY_FOR_GPU (a fatbin without code for this device),
 * _FILE_NOT_FOUND, _INVALID_CONTEXT.
 */

/**
 * cuModuleLoad() - load the device code of a file into the current context
 * @module: output
 * @fname: path
 */
CUresult CUDAAPI cuModuleLoad(CUmodule *module, const char *fname);
CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image);
CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin);

/**
 * cuModuleLoadDataEx() - the same, with options
 * @options: array of CUjit_option
 * @optionValues: array of their values, or of addresses
 * @numOptions: length of both
 */
CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *module, const void *image,
				    unsigned int numOptions, CUjit_option *options,
				    void **optionValues);

/**
 * cuModuleUnload() - end a module, after all work of its context
 * @hmod: not a library's
 *
 * Errors: CUDA_ERROR_INVALID_HANDLE, _NOT_PERMITTED (a library's).
 */
CUresult CUDAAPI cuModuleUnload(CUmodule hmod);

/**
 * cuModuleGetFunction() - find a kernel
 * @hfunc: output; NULL if there is none
 * @name: as in the module: a mangled name, if it has one
 *
 * Errors: CUDA_ERROR_NOT_FOUND, _INVALID_HANDLE.
 */
CUresult CUDAAPI cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name);
CUresult CUDAAPI cuModuleGetFunctionCount(unsigned int *count, CUmodule mod);
CUresult CUDAAPI cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions,
					    CUmodule mod);

/**
 * cuModuleGetGlobal() - find a variable
 * @dptr: output: its address, memory of the device; or NULL
 * @bytes: output: its size; or NULL, but not both
 *
 * It has the value that the image gives it, or 0. Addresses in such values are not
 * known, and 0 (ours). The memory is allocated when the variable is first looked up (ours).
 */
CUresult CUDAAPI cuModuleGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod,
				   const char *name);

/* The mode is lazy, unless the environment has CUDA_MODULE_LOADING=EAGER. */
CUresult CUDAAPI cuModuleGetLoadingMode(CUmoduleLoadingMode *mode);

/* What cuLinkAddData() is given */
typedef enum CUjitInputType_enum {
	CU_JIT_INPUT_CUBIN = 0,
	CU_JIT_INPUT_PTX = 1,
	CU_JIT_INPUT_FATBINARY = 2,
	CU_JIT_INPUT_OBJECT = 3,
	CU_JIT_INPUT_LIBRARY = 4,
	CU_JIT_INPUT_NVVM = 5,
	CU_JIT_NUM_INPUT_TYPES = 6,
} CUjitInputType;

typedef struct CUlinkState_st *CUlinkState;

/**
 * cuLinkCreate() - begin to link device code of several parts
 * @numOptions, @options, @optionValues: as those of cuModuleLoadDataEx(); logs are written by
 *	cuLinkAddData() and cuLinkComplete(), so @optionValues and the logs must stay until
 *	cuLinkDestroy()
 * @stateOut: output
 *
 * Ours: the parts are PTX, or fatbins with PTX; the calls need the package memcast-ptx
 * (CUDA_ERROR_NOT_SUPPORTED).
 */
CUresult CUDAAPI cuLinkCreate(unsigned int numOptions, CUjit_option *options,
			      void **optionValues, CUlinkState *stateOut);

/**
 * cuLinkAddData() - add a part
 * @type: CU_JIT_INPUT_PTX or _FATBINARY
 * @data, @size: the part, which the call copies; of PTX, a 0 ends it
 * @name: for messages, or NULL
 *
 * Errors: CUDA_ERROR_INVALID_PTX, _INVALID_SOURCE (a second definition of a name),
 * _INVALID_VALUE, _INVALID_HANDLE.
 */
CUresult CUDAAPI cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size,
			       const char *name, unsigned int numOptions, CUjit_option *options,
			       void **optionValues);
CUresult CUDAAPI cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
			       unsigned int numOptions, CUjit_option *options,
			       void **optionValues);

/**
 * cuLinkComplete() - link the parts
 * @cubinOut: output, an image for cuModuleLoadData(); valid until cuLinkDestroy()
 * @sizeOut: output, its size, or NULL
 *
 * Errors: CUDA_ERROR_INVALID_SOURCE (a name that no part defines).
 */
CUresult CUDAAPI cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut);
CUresult CUDAAPI cuLinkDestroy(CUlinkState state);

/**
 * cuLibraryLoadData() - load device code for all contexts; no context is needed
 * @library: output
 * @code: an image. One that is not valid has no kernels, and the error comes when the
 *	library is used in a context
 * @jitOptions: array of CUjit_option, @jitOptionsValues of their values
 * @numJitOptions: length of both
 * @libraryOptions: array of CUlibraryOption, @libraryOptionValues of their values
 * @numLibraryOptions: length of both
 */
CUresult CUDAAPI cuLibraryLoadData(CUlibrary *library, const void *code,
				   CUjit_option *jitOptions, void **jitOptionsValues,
				   unsigned int numJitOptions,
				   CUlibraryOption *libraryOptions,
				   void **libraryOptionValues, unsigned int numLibraryOptions);
CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary *library, const char *fileName,
				       CUjit_option *jitOptions, void **jitOptionsValues,
				       unsigned int numJitOptions,
				       CUlibraryOption *libraryOptions,
				       void **libraryOptionValues,
				       unsigned int numLibraryOptions);
CUresult CUDAAPI cuLibraryUnload(CUlibrary library);
CUresult CUDAAPI cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name);
CUresult CUDAAPI cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib);
CUresult CUDAAPI cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels,
					   CUlibrary lib);

/* The library's module in the current context, made when it is first needed. */
CUresult CUDAAPI cuLibraryGetModule(CUmodule *pMod, CUlibrary library);
CUresult CUDAAPI cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
				    const char *name);

/*
 * A variable with __managed__ (PTX: .attribute(.managed)): memory of the host, one for the program
 * and for the library's modules in all contexts, until the library is unloaded.
 *
 * NOT_FOUND: the library has no such managed variable.
 */
CUresult CUDAAPI cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
				     const char *name);

/*
 * A device function with PTX's .attribute(.unified(1, 2)): all functions of these two numbers have
 * one address, for kernels of all devices. A call there is one of the function in the kernel's own
 * module, or else in another one of its context. The CPU cannot call it. The library's module in the
 * current context is made if there is none yet.
 *
 * NOT_FOUND: the library has no such function.
 */
CUresult CUDAAPI cuLibraryGetUnifiedFunction(void **fptr, CUlibrary library, const char *symbol);

/* The kernel as a function of the current context. */
CUresult CUDAAPI cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel);
CUresult CUDAAPI cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel);
CUresult CUDAAPI cuKernelGetName(const char **name, CUkernel hfunc);
CUresult CUDAAPI cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex,
				      size_t *paramOffset, size_t *paramSize);
CUresult CUDAAPI cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel,
				      CUdevice dev);

/* Sets the attribute of the kernel and of its functions on that device, but not the reverse. */
CUresult CUDAAPI cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel,
				      CUdevice dev);
CUresult CUDAAPI cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev);

/**
 * cuFuncGetAttribute() - an attribute of a kernel
 * @pi: output
 * @attrib: CUfunction_attribute
 * @hfunc: a function; not a CUkernel
 */
CUresult CUDAAPI cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc);
CUresult CUDAAPI cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value);
CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config);
CUresult CUDAAPI cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config);
CUresult CUDAAPI cuFuncGetModule(CUmodule *hmod, CUfunction hfunc);
CUresult CUDAAPI cuFuncGetName(const char **name, CUfunction hfunc);

/**
 * cuFuncGetParamInfo() - the offset and size of a parameter
 * @func: a function
 * @paramIndex: from 0
 * @paramOffset: output: from the first parameter's first byte
 * @paramSize: output, or NULL
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (no such parameter).
 */
CUresult CUDAAPI cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
				    size_t *paramSize);
CUresult CUDAAPI cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function);
CUresult CUDAAPI cuFuncLoad(CUfunction function);

/*
 * How many blocks of a kernel a multiprocessor of the emulated device could have at a
 * time: by its attributes (threads, blocks, shared memory); registers are not known for
 * PTX. The numbers do not describe this machine.
 */
CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func,
							     int blockSize,
							     size_t dynamicSMemSize);
CUresult CUDAAPI
cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func,
						     int blockSize, size_t dynamicSMemSize,
						     unsigned int flags);
CUresult CUDAAPI cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize,
						  CUfunction func,
						  CUoccupancyB2DSize blockSizeToDynamicSMemSize,
						  size_t dynamicSMemSize, int blockSizeLimit);
CUresult CUDAAPI
cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
					  CUoccupancyB2DSize blockSizeToDynamicSMemSize,
					  size_t dynamicSMemSize, int blockSizeLimit,
					  unsigned int flags);
CUresult CUDAAPI cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize,
							 CUfunction func, int numBlocks,
							 int blockSize);
CUresult CUDAAPI cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func,
						    const CUlaunchConfig *config);
CUresult CUDAAPI cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func,
					      const CUlaunchConfig *config);

/**
 * cuLaunchKernel() - have a stream run a kernel
 * @f: a function, or a CUkernel
 * @gridDimX: blocks; @gridDimY and @gridDimZ at most 65,535
 * @blockDimX: threads, at most 1,024 in all
 * @sharedMemBytes: dynamic shared memory of each block
 * @hStream: of the function's context
 * @kernelParams: an address for each parameter; read before the call returns
 * @extra: in place of it, one buffer: CU_LAUNCH_PARAM_…
 *
 * The stream calls the C function that is registered for the kernel's name: see
 * memcast/kernel.h. A fault in it ends the context, as a device's fault does.
 *
 * Errors: CUDA_ERROR_INVALID_HANDLE, _INVALID_VALUE, _NOT_SUPPORTED (no function is
 * registered: ours), _INVALID_CLUSTER_SIZE, _COOPERATIVE_LAUNCH_TOO_LARGE.
 */
CUresult CUDAAPI cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
				unsigned int gridDimZ, unsigned int blockDimX,
				unsigned int blockDimY, unsigned int blockDimZ,
				unsigned int sharedMemBytes, CUstream hStream,
				void **kernelParams, void **extra);
CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f,
				  void **kernelParams, void **extra);

/* All blocks run at the same time, if the C function asks for that: memcast/kernel.h. */
CUresult CUDAAPI cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX,
					   unsigned int gridDimY, unsigned int gridDimZ,
					   unsigned int blockDimX, unsigned int blockDimY,
					   unsigned int blockDimZ, unsigned int sharedMemBytes,
					   CUstream hStream, void **kernelParams);

/* Calls from before CUDA 4.0: set shape and parameters one by one, then launch. */
CUresult CUDAAPI cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z);
CUresult CUDAAPI cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes);
CUresult CUDAAPI cuParamSetSize(CUfunction hfunc, unsigned int numbytes);
CUresult CUDAAPI cuParamSeti(CUfunction hfunc, int offset, unsigned int value);
CUresult CUDAAPI cuParamSetf(CUfunction hfunc, int offset, float value);
CUresult CUDAAPI cuParamSetv(CUfunction hfunc, int offset, void *ptr, unsigned int numbytes);
CUresult CUDAAPI cuLaunch(CUfunction f);
CUresult CUDAAPI cuLaunchGrid(CUfunction f, int grid_width, int grid_height);
CUresult CUDAAPI cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height,
				   CUstream hStream);

/* Kernel nodes: the function, the shape and the parameters are checked as by a launch. */
CUresult CUDAAPI cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				      const CUgraphNode *dependencies,
				      size_t numDependencies,
				      const CUDA_KERNEL_NODE_PARAMS *nodeParams);
CUresult CUDAAPI cuGraphKernelNodeGetParams(CUgraphNode hNode,
					    CUDA_KERNEL_NODE_PARAMS *nodeParams);
CUresult CUDAAPI cuGraphKernelNodeSetParams(CUgraphNode hNode,
					    const CUDA_KERNEL_NODE_PARAMS *nodeParams);
CUresult CUDAAPI cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
						const CUDA_KERNEL_NODE_PARAMS *nodeParams);
CUresult CUDAAPI cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src);
CUresult CUDAAPI cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
					       CUkernelNodeAttrValue *value_out);
CUresult CUDAAPI cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
					       const CUkernelNodeAttrValue *value);

/* The default of a program built for the per-thread stream is that stream. */
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
static inline CUresult
cuGetProcAddress_v2_ptsz(const char *symbol, void **pfn, int cudaVersion,
			 cuuint64_t flags,
			 CUdriverProcAddressQueryResult *symbolStatus)
{
	if (flags == CU_GET_PROC_ADDRESS_DEFAULT)
		flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, symbolStatus);
}

#define cuGetProcAddress_v2 cuGetProcAddress_v2_ptsz
#endif

#ifdef __cplusplus
}
#endif

#endif /* __cuda_cuda_h__ */
