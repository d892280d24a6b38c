// SPDX-License-Identifier: MIT
/* Pools of stream-ordered memory; ordered.c allocates from them. */
#include "runtime.h"

SAME_LAYOUT(struct cudaMemPoolProps, CUmemPoolProps);
SAME_LAYOUT(struct cudaMemLocation, CUmemLocation);
SAME_LAYOUT(struct cudaMemAccessDesc, CUmemAccessDesc);
SAME_LAYOUT(struct cudaMemPoolPtrExportData, CUmemPoolPtrExportData);

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties)
{
	return DRIVER(cuMemPoolCreate(pool, (const CUmemPoolProps *)properties));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
	return DRIVER(cuMemPoolDestroy(pool));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
	return DRIVER(cuMemPoolTrimTo(pool, bytes));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
				    void *value)
{
	return DRIVER(cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, value));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
				    void *value)
{
	return DRIVER(cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, value));
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *access,
				 size_t count)
{
	return DRIVER(cuMemPoolSetAccess(pool, (const CUmemAccessDesc *)access, count));
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
				 struct cudaMemLocation *location)
{
	return DRIVER(cuMemPoolGetAccess((CUmemAccess_flags *)flags, pool,
					 (CUmemLocation *)location));
}

cudaError_t cudaMemPoolExportToShareableHandle(void *handle, cudaMemPool_t pool,
					       enum cudaMemAllocationHandleType type,
					       unsigned int flags)
{
	return DRIVER(cuMemPoolExportToShareableHandle(handle, pool,
						       (CUmemAllocationHandleType)type, flags));
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *pool, void *handle,
						 enum cudaMemAllocationHandleType type,
						 unsigned int flags)
{
	return DRIVER(cuMemPoolImportFromShareableHandle(pool, handle,
							 (CUmemAllocationHandleType)type, flags));
}

cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *data, void *pointer)
{
	return DRIVER(cuMemPoolExportPointer((CUmemPoolPtrExportData *)data, address(pointer)));
}

cudaError_t cudaMemPoolImportPointer(void **pointer, cudaMemPool_t pool,
				     struct cudaMemPoolPtrExportData *data)
{
	return DRIVER(cuMemPoolImportPointer((CUdeviceptr *)pointer, pool,
					     (CUmemPoolPtrExportData *)data));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
	return DRIVER(cuDeviceGetDefaultMemPool(pool, device));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
	return DRIVER(cuDeviceGetMemPool(pool, device));
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
	return DRIVER(cuDeviceSetMemPool(device, pool));
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
				     enum cudaMemAllocationType type)
{
	return DRIVER(cuMemGetDefaultMemPool(pool, (CUmemLocation *)location,
					     (CUmemAllocationType)type));
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
			      enum cudaMemAllocationType type)
{
	return DRIVER(cuMemGetMemPool(pool, (CUmemLocation *)location,
				      (CUmemAllocationType)type));
}

cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location, enum cudaMemAllocationType type,
			      cudaMemPool_t pool)
{
	return DRIVER(cuMemSetMemPool((CUmemLocation *)location, (CUmemAllocationType)type, pool));
}
