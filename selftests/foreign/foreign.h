/* SPDX-License-Identifier: MIT */
/* Helpers of the tests of foreign memory: import a dma-buf, and map it. */
#ifndef FOREIGN_H
#define FOREIGN_H

#include "memcast_test.h"

#define SIZE	(4 * CHUNK)

TEST_HELPER CUresult import_as(CUexternalMemory *memory, CUexternalMemoryHandleType type,
			       int fd, size_t bytes)
{
	CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
		.type = type, .handle.fd = fd, .size = bytes,
	};

	return cuImportExternalMemory(memory, &desc);
}

#define DMABUF		CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD
#define OPAQUE		CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD

#define import_buffer(fd, bytes)	import_buffer_(_metadata, fd, bytes)
TEST_HELPER CUexternalMemory import_buffer_(struct __test_metadata *_metadata, int fd, size_t bytes)
{
	CUexternalMemory memory = NULL;

	ASSERT_OK(import_as(&memory, DMABUF, fd, bytes));
	return memory;
}

TEST_HELPER CUresult buffer_at(CUdeviceptr *at, CUexternalMemory memory, size_t offset,
			       size_t bytes)
{
	CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = { .offset = offset, .size = bytes };

	return cuExternalMemoryGetMappedBuffer(at, memory, &desc);
}

#define map_buffer(memory, offset, bytes)	map_buffer_(_metadata, memory, offset, bytes)
TEST_HELPER CUdeviceptr map_buffer_(struct __test_metadata *_metadata, CUexternalMemory memory,
				    size_t offset, size_t bytes)
{
	CUdeviceptr at = 0;

	ASSERT_OK(buffer_at(&at, memory, offset, bytes));
	return at;
}

TEST_HELPER CUresult import_raw(CUmemGenericAllocationHandle *handle, int fd)
{
	return cuMemImportFromShareableHandle(handle, (void *)(intptr_t)fd, SHAREABLE);
}

/* Maps a whole dma-buf; only the mapping keeps the import. */
#define map_dmabuf(fd, bytes)	map_dmabuf_(_metadata, fd, bytes)
TEST_HELPER CUdeviceptr map_dmabuf_(struct __test_metadata *_metadata, int fd, size_t bytes)
{
	CUexternalMemory memory = import_buffer(fd, bytes);
	CUdeviceptr at = map_buffer(memory, 0, bytes);

	ASSERT_OK(cuDestroyExternalMemory(memory));
	return at;
}

#endif /* FOREIGN_H */
