// SPDX-License-Identifier: MIT
/* cudaGetDeviceProperties(): a table with the attribute of each field. */
#include <string.h>

#include "runtime.h"

#define FIELD(field, attribute)							\
	{ #field, offsetof(struct cudaDeviceProp, field), false,		\
	  CU_DEVICE_ATTRIBUTE_##attribute }
#define BYTES(field, attribute)							\
	{ #field, offsetof(struct cudaDeviceProp, field), true,			\
	  CU_DEVICE_ATTRIBUTE_##attribute }

/* Each field is an int, or (@wide) a size_t with a number of bytes. */
static const struct field {
	const char *name;
	size_t offset;
	bool wide;
	CUdevice_attribute attribute;
} fields[] = {
	BYTES(sharedMemPerBlock, MAX_SHARED_MEMORY_PER_BLOCK),
	FIELD(regsPerBlock, MAX_REGISTERS_PER_BLOCK),
	FIELD(warpSize, WARP_SIZE),
	BYTES(memPitch, MAX_PITCH),
	FIELD(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK),
	FIELD(maxThreadsDim[0], MAX_BLOCK_DIM_X),
	FIELD(maxThreadsDim[1], MAX_BLOCK_DIM_Y),
	FIELD(maxThreadsDim[2], MAX_BLOCK_DIM_Z),
	FIELD(maxGridSize[0], MAX_GRID_DIM_X),
	FIELD(maxGridSize[1], MAX_GRID_DIM_Y),
	FIELD(maxGridSize[2], MAX_GRID_DIM_Z),
	BYTES(totalConstMem, TOTAL_CONSTANT_MEMORY),
	FIELD(major, COMPUTE_CAPABILITY_MAJOR),
	FIELD(minor, COMPUTE_CAPABILITY_MINOR),
	BYTES(textureAlignment, TEXTURE_ALIGNMENT),
	BYTES(texturePitchAlignment, TEXTURE_PITCH_ALIGNMENT),
	FIELD(multiProcessorCount, MULTIPROCESSOR_COUNT),
	FIELD(integrated, INTEGRATED),
	FIELD(canMapHostMemory, CAN_MAP_HOST_MEMORY),
	FIELD(maxTexture1D, MAXIMUM_TEXTURE1D_WIDTH),
	FIELD(maxTexture1DMipmap, MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH),
	FIELD(maxTexture2D[0], MAXIMUM_TEXTURE2D_WIDTH),
	FIELD(maxTexture2D[1], MAXIMUM_TEXTURE2D_HEIGHT),
	FIELD(maxTexture2DMipmap[0], MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH),
	FIELD(maxTexture2DMipmap[1], MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT),
	FIELD(maxTexture2DLinear[0], MAXIMUM_TEXTURE2D_LINEAR_WIDTH),
	FIELD(maxTexture2DLinear[1], MAXIMUM_TEXTURE2D_LINEAR_HEIGHT),
	FIELD(maxTexture2DLinear[2], MAXIMUM_TEXTURE2D_LINEAR_PITCH),
	FIELD(maxTexture2DGather[0], MAXIMUM_TEXTURE2D_GATHER_WIDTH),
	FIELD(maxTexture2DGather[1], MAXIMUM_TEXTURE2D_GATHER_HEIGHT),
	FIELD(maxTexture3D[0], MAXIMUM_TEXTURE3D_WIDTH),
	FIELD(maxTexture3D[1], MAXIMUM_TEXTURE3D_HEIGHT),
	FIELD(maxTexture3D[2], MAXIMUM_TEXTURE3D_DEPTH),
	FIELD(maxTexture3DAlt[0], MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE),
	FIELD(maxTexture3DAlt[1], MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE),
	FIELD(maxTexture3DAlt[2], MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE),
	FIELD(maxTextureCubemap, MAXIMUM_TEXTURECUBEMAP_WIDTH),
	FIELD(maxTexture1DLayered[0], MAXIMUM_TEXTURE1D_LAYERED_WIDTH),
	FIELD(maxTexture1DLayered[1], MAXIMUM_TEXTURE1D_LAYERED_LAYERS),
	FIELD(maxTexture2DLayered[0], MAXIMUM_TEXTURE2D_LAYERED_WIDTH),
	FIELD(maxTexture2DLayered[1], MAXIMUM_TEXTURE2D_LAYERED_HEIGHT),
	FIELD(maxTexture2DLayered[2], MAXIMUM_TEXTURE2D_LAYERED_LAYERS),
	FIELD(maxTextureCubemapLayered[0], MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH),
	FIELD(maxTextureCubemapLayered[1], MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS),
	FIELD(maxSurface1D, MAXIMUM_SURFACE1D_WIDTH),
	FIELD(maxSurface2D[0], MAXIMUM_SURFACE2D_WIDTH),
	FIELD(maxSurface2D[1], MAXIMUM_SURFACE2D_HEIGHT),
	FIELD(maxSurface3D[0], MAXIMUM_SURFACE3D_WIDTH),
	FIELD(maxSurface3D[1], MAXIMUM_SURFACE3D_HEIGHT),
	FIELD(maxSurface3D[2], MAXIMUM_SURFACE3D_DEPTH),
	FIELD(maxSurface1DLayered[0], MAXIMUM_SURFACE1D_LAYERED_WIDTH),
	FIELD(maxSurface1DLayered[1], MAXIMUM_SURFACE1D_LAYERED_LAYERS),
	FIELD(maxSurface2DLayered[0], MAXIMUM_SURFACE2D_LAYERED_WIDTH),
	FIELD(maxSurface2DLayered[1], MAXIMUM_SURFACE2D_LAYERED_HEIGHT),
	FIELD(maxSurface2DLayered[2], MAXIMUM_SURFACE2D_LAYERED_LAYERS),
	FIELD(maxSurfaceCubemap, MAXIMUM_SURFACECUBEMAP_WIDTH),
	FIELD(maxSurfaceCubemapLayered[0], MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH),
	FIELD(maxSurfaceCubemapLayered[1], MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS),
	BYTES(surfaceAlignment, SURFACE_ALIGNMENT),
	FIELD(concurrentKernels, CONCURRENT_KERNELS),
	FIELD(ECCEnabled, ECC_ENABLED),
	FIELD(pciBusID, PCI_BUS_ID),
	FIELD(pciDeviceID, PCI_DEVICE_ID),
	FIELD(pciDomainID, PCI_DOMAIN_ID),
	FIELD(tccDriver, TCC_DRIVER),
	FIELD(asyncEngineCount, ASYNC_ENGINE_COUNT),
	FIELD(unifiedAddressing, UNIFIED_ADDRESSING),
	FIELD(memoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH),
	FIELD(l2CacheSize, L2_CACHE_SIZE),
	FIELD(persistingL2CacheMaxSize, MAX_PERSISTING_L2_CACHE_SIZE),
	FIELD(maxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR),
	FIELD(streamPrioritiesSupported, STREAM_PRIORITIES_SUPPORTED),
	FIELD(globalL1CacheSupported, GLOBAL_L1_CACHE_SUPPORTED),
	FIELD(localL1CacheSupported, LOCAL_L1_CACHE_SUPPORTED),
	BYTES(sharedMemPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
	FIELD(regsPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR),
	FIELD(managedMemory, MANAGED_MEMORY),
	FIELD(isMultiGpuBoard, MULTI_GPU_BOARD),
	FIELD(multiGpuBoardGroupID, MULTI_GPU_BOARD_GROUP_ID),
	FIELD(hostNativeAtomicSupported, HOST_NATIVE_ATOMIC_SUPPORTED),
	FIELD(pageableMemoryAccess, PAGEABLE_MEMORY_ACCESS),
	FIELD(concurrentManagedAccess, CONCURRENT_MANAGED_ACCESS),
	FIELD(computePreemptionSupported, COMPUTE_PREEMPTION_SUPPORTED),
	FIELD(canUseHostPointerForRegisteredMem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM),
	FIELD(cooperativeLaunch, COOPERATIVE_LAUNCH),
	BYTES(sharedMemPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
	FIELD(pageableMemoryAccessUsesHostPageTables,
	      PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES),
	FIELD(directManagedMemAccessFromHost, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST),
	FIELD(maxBlocksPerMultiProcessor, MAX_BLOCKS_PER_MULTIPROCESSOR),
	FIELD(accessPolicyMaxWindowSize, MAX_ACCESS_POLICY_WINDOW_SIZE),
	BYTES(reservedSharedMemPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK),
	FIELD(hostRegisterSupported, HOST_REGISTER_SUPPORTED),
	FIELD(sparseCudaArraySupported, SPARSE_CUDA_ARRAY_SUPPORTED),
	FIELD(hostRegisterReadOnlySupported, READ_ONLY_HOST_REGISTER_SUPPORTED),
	FIELD(timelineSemaphoreInteropSupported, TIMELINE_SEMAPHORE_INTEROP_SUPPORTED),
	FIELD(memoryPoolsSupported, MEMORY_POOLS_SUPPORTED),
	FIELD(gpuDirectRDMASupported, GPU_DIRECT_RDMA_SUPPORTED),
	FIELD(gpuDirectRDMAFlushWritesOptions, GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS),
	FIELD(gpuDirectRDMAWritesOrdering, GPU_DIRECT_RDMA_WRITES_ORDERING),
	FIELD(memoryPoolSupportedHandleTypes, MEMPOOL_SUPPORTED_HANDLE_TYPES),
	FIELD(deferredMappingCudaArraySupported, DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED),
	FIELD(ipcEventSupported, IPC_EVENT_SUPPORTED),
	FIELD(clusterLaunch, CLUSTER_LAUNCH),
	FIELD(unifiedFunctionPointers, UNIFIED_FUNCTION_POINTERS),
	FIELD(deviceNumaConfig, NUMA_CONFIG),
	FIELD(deviceNumaId, NUMA_ID),
	FIELD(mpsEnabled, MPS_ENABLED),
	FIELD(hostNumaId, HOST_NUMA_ID),
	FIELD(gpuPciDeviceID, GPU_PCI_DEVICE_ID),
	FIELD(gpuPciSubsystemID, GPU_PCI_SUBSYSTEM_ID),
	FIELD(hostNumaMultinodeIpcSupported, HOST_NUMA_MULTINODE_IPC_SUPPORTED),
};

static cudaError_t fill_fields(struct cudaDeviceProp *properties, int device)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		void *field = (char *)properties + fields[i].offset;
		CUresult result;
		size_t wide;
		int value;

		result = cuDeviceGetAttribute(&value, fields[i].attribute, device);
		if (result != CUDA_SUCCESS)
			return refuse("cudaGetDeviceProperties", error_of(result),
				      "the driver has no %s", fields[i].name);
		wide = value;
		if (fields[i].wide)
			memcpy(field, &wide, sizeof(wide));
		else
			memcpy(field, &value, sizeof(value));
	}
	return cudaSuccess;
}

DEFINE_CALL_LOADED(cudaGetDeviceProperties, (struct cudaDeviceProp *properties, int device),
		   properties, device)
{
	struct cudaDeviceProp found = {};
	cudaError_t error;
	CUdevice handle;

	if (!properties)
		return refuse("cudaGetDeviceProperties", cudaErrorInvalidValue, "NULL output");
	error = error_of(cuDeviceGet(&handle, device));
	if (error == cudaSuccess)
		error = error_of(cuDeviceGetName(found.name, sizeof(found.name), device));
	if (error == cudaSuccess)
		error = error_of(cuDeviceGetUuid((CUuuid *)&found.uuid, device));
	if (error == cudaSuccess)
		error = error_of(cuDeviceTotalMem(&found.totalGlobalMem, device));
	if (error == cudaSuccess)
		error = fill_fields(&found, device);
	if (error == cudaSuccess)
		*properties = found;
	return error;
}

/* A property that is not wanted is 0. */
DEFINE_CALL_LOADED(cudaChooseDevice, (int *device, const struct cudaDeviceProp *wanted),
		   device, wanted)
{
	int count = 0, best = 0, major, minor;
	size_t bytes, most = 0;
	CUresult result;

	if (!device || !wanted)
		return refuse("cudaChooseDevice", cudaErrorInvalidValue, "NULL pointer");
	result = cuDeviceGetCount(&count);
	for (int i = 0; i < count && result == CUDA_SUCCESS; i++) {
		result = cuDeviceTotalMem(&bytes, i) ?:
			 cuDeviceComputeCapability(&major, &minor, i);
		if (result == CUDA_SUCCESS && bytes > most && bytes >= wanted->totalGlobalMem &&
		    (major > wanted->major ||
		     (major == wanted->major && minor >= wanted->minor))) {
			most = bytes;
			best = i;
		}
	}
	if (result == CUDA_SUCCESS)
		*device = best;
	return error_of(result);
}
