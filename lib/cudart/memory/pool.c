// SPDX-License-Identifier: MIT
/* Pools of stream-ordered memory; ordered.c allocates from them. */
#include "runtime.h"

SAME_LAYOUT(struct cudaMemPoolProps, CUmemPoolProps);
SAME_LAYOUT(struct cudaMemLocation, CUmemLocation);
SAME_LAYOUT(struct cudaMemAccessDesc, CUmemAccessDesc);
SAME_LAYOUT(struct cudaMemPoolPtrExportData, CUmemPoolPtrExportData);

FORWARD(cudaMemPoolCreate, (cudaMemPool_t *pool, const struct cudaMemPoolProps *properties),
	cuMemPoolCreate(pool, (const CUmemPoolProps *)properties))
FORWARD(cudaMemPoolDestroy, (cudaMemPool_t pool), cuMemPoolDestroy(pool))
FORWARD(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t bytes), cuMemPoolTrimTo(pool, bytes))
FORWARD(cudaMemPoolSetAttribute, (cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value),
	cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, value))
FORWARD(cudaMemPoolGetAttribute, (cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value),
	cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, value))
FORWARD(cudaMemPoolSetAccess, (cudaMemPool_t pool, const struct cudaMemAccessDesc *access,
			       size_t count),
	cuMemPoolSetAccess(pool, (const CUmemAccessDesc *)access, count))
FORWARD(cudaMemPoolGetAccess, (enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
			       struct cudaMemLocation *location),
	cuMemPoolGetAccess((CUmemAccess_flags *)flags, pool, (CUmemLocation *)location))
FORWARD(cudaMemPoolExportToShareableHandle, (void *handle, cudaMemPool_t pool,
					     enum cudaMemAllocationHandleType type,
					     unsigned int flags),
	cuMemPoolExportToShareableHandle(handle, pool, (CUmemAllocationHandleType)type, flags))
FORWARD(cudaMemPoolImportFromShareableHandle, (cudaMemPool_t *pool, void *handle,
					       enum cudaMemAllocationHandleType type,
					       unsigned int flags),
	cuMemPoolImportFromShareableHandle(pool, handle, (CUmemAllocationHandleType)type, flags))
FORWARD(cudaMemPoolExportPointer, (struct cudaMemPoolPtrExportData *data, void *pointer),
	cuMemPoolExportPointer((CUmemPoolPtrExportData *)data, address(pointer)))
FORWARD(cudaMemPoolImportPointer, (void **pointer, cudaMemPool_t pool,
				   struct cudaMemPoolPtrExportData *data),
	cuMemPoolImportPointer((CUdeviceptr *)pointer, pool, (CUmemPoolPtrExportData *)data))
FORWARD(cudaDeviceGetDefaultMemPool, (cudaMemPool_t *pool, int device),
	cuDeviceGetDefaultMemPool(pool, device))
FORWARD(cudaDeviceGetMemPool, (cudaMemPool_t *pool, int device), cuDeviceGetMemPool(pool, device))
FORWARD(cudaDeviceSetMemPool, (int device, cudaMemPool_t pool), cuDeviceSetMemPool(device, pool))
FORWARD(cudaMemGetDefaultMemPool, (cudaMemPool_t *pool, struct cudaMemLocation *location,
				   enum cudaMemAllocationType type),
	cuMemGetDefaultMemPool(pool, (CUmemLocation *)location, (CUmemAllocationType)type))
FORWARD(cudaMemGetMemPool, (cudaMemPool_t *pool, struct cudaMemLocation *location,
			    enum cudaMemAllocationType type),
	cuMemGetMemPool(pool, (CUmemLocation *)location, (CUmemAllocationType)type))
FORWARD(cudaMemSetMemPool, (struct cudaMemLocation *location, enum cudaMemAllocationType type,
			    cudaMemPool_t pool),
	cuMemSetMemPool((CUmemLocation *)location, (CUmemAllocationType)type, pool))
