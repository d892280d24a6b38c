// SPDX-License-Identifier: MIT
/* Foreign memory: loads, stores, copies and fills, its attributes, and calls that are refused. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include "foreign_fixture.h"
#include "reason.h"

/* ---- external memory ---- */

TEST_F(foreign, shows_the_buffer)
{
	uint8_t *ours;

	pattern(self->theirs, SIZE, 1);
	ours = (uint8_t *)map_buffer(import_buffer(self->fd, SIZE), 0, SIZE);
	EXPECT_EQ(0, memcmp(ours, self->theirs, SIZE));
	pattern(ours, SIZE, 2);
	EXPECT_EQ(0, memcmp(ours, self->theirs, SIZE));
	ours[SIZE - 1] ^= 1;
	EXPECT_EQ(ours[SIZE - 1], self->theirs[SIZE - 1]);
}

TEST_F(foreign, copies)
{
	uint8_t *plain = patterned(_metadata, SIZE, 3), *back = calloc(1, SIZE);
	CUdeviceptr at = map_buffer(import_buffer(self->fd, SIZE), 0, SIZE), device;

	ASSERT_NE(NULL, back);
	ASSERT_OK(cuMemcpyHtoD(at, plain, SIZE));
	EXPECT_EQ(0, memcmp(plain, self->theirs, SIZE));
	ASSERT_OK(cuMemcpyDtoH(back, at, SIZE));
	EXPECT_EQ(0, memcmp(plain, back, SIZE));

	/* to and from device memory, at odd addresses */
	ASSERT_OK(cuMemAlloc(&device, SIZE));
	ASSERT_OK(cuMemcpyDtoD(device, at, SIZE));
	memset(self->theirs, 0, SIZE);
	ASSERT_OK(cuMemcpyDtoD(at + 5, device + 3, SIZE - 9));
	EXPECT_TRUE(all_are(self->theirs, 0, 5));
	EXPECT_EQ(0, memcmp(plain + 3, self->theirs + 5, SIZE - 9));
	EXPECT_TRUE(all_are(self->theirs + SIZE - 4, 0, 4));

	/* from one part of the buffer to another */
	pattern(self->theirs, SIZE, 4);
	ASSERT_OK(cuMemcpyDtoD(at + SIZE / 2 + 1, at, SIZE / 2 - 1));
	EXPECT_EQ(0, memcmp(self->theirs, self->theirs + SIZE / 2 + 1, SIZE / 2 - 1));
}

TEST_F(foreign, fills_and_rows)
{
	CUdeviceptr at = map_buffer(import_buffer(self->fd, SIZE), 0, SIZE);
	size_t i;

	memset(self->theirs, 1, SIZE);
	ASSERT_OK(cuMemsetD8(at + PAGE - 1, 7, CHUNK));
	EXPECT_TRUE(all_are(self->theirs, 1, PAGE - 1));
	EXPECT_TRUE(all_are(self->theirs + PAGE - 1, 7, CHUNK));
	EXPECT_TRUE(all_are(self->theirs + PAGE - 1 + CHUNK, 1, SIZE - CHUNK - PAGE + 1));
	ASSERT_OK(cuMemsetD32(at, 0x09090909, SIZE / 4));
	EXPECT_TRUE(all_are(self->theirs, 9, SIZE));
	ASSERT_OK(cuMemsetD2D8(at + 10, 3 * PAGE, 2, PAGE, SIZE / (3 * PAGE)));
	for (i = 0; i < SIZE / (3 * PAGE); i++) {
		EXPECT_EQ(9, self->theirs[3 * PAGE * i + 9]);
		EXPECT_TRUE(all_are(self->theirs + 3 * PAGE * i + 10, 2, PAGE));
		EXPECT_EQ(9, self->theirs[3 * PAGE * i + 10 + PAGE]);
	}
}

/* A buffer can have any offset and size; copies refuse the bytes beside the buffer. */
TEST_F(foreign, buffers_of_any_place)
{
	const struct {
		size_t offset, bytes;
	} place[] = {
		{ 0, 1 }, { 1, 1 }, { PAGE - 1, 2 }, { CHUNK - 1, 2 }, { SIZE - 1, 1 },
		{ 77, PAGE }, { CHUNK - 512, PAGE }, { CHUNK, CHUNK }, { 3 * PAGE, CHUNK },
		{ CHUNK + 13, 2 * CHUNK }, { CHUNK - 1, CHUNK + 2 }, { 0, SIZE },
	};
	const unsigned int count = sizeof(place) / sizeof(place[0]);
	CUdeviceptr at[sizeof(place) / sizeof(place[0])];
	CUexternalMemory memory = import_buffer(self->fd, SIZE);
	unsigned int i;
	uint8_t byte;

	pattern(self->theirs, SIZE, 5);
	for (i = 0; i < count; i++)
		at[i] = map_buffer(memory, place[i].offset, place[i].bytes);
	for (i = 0; i < count; i++) {
		EXPECT_EQ(0, (at[i] ^ place[i].offset) % CHUNK);
		EXPECT_EQ(0, memcmp((void *)at[i], self->theirs + place[i].offset,
				    place[i].bytes));
		EXPECT_OK(cuMemcpyDtoH(&byte, at[i] + place[i].bytes - 1, 1));
		EXPECT_EQ(self->theirs[place[i].offset + place[i].bytes - 1], byte);
		/* behind the last chunk may be another reservation, or none */
		EXPECT_REASON(cuMemcpyDtoH(&byte, at[i] + place[i].bytes, 1),
			      (at[i] + place[i].bytes) % CHUNK ?
			      "the source leaves the block at #" : "the source ");
		EXPECT_REASON(cuMemsetD8(at[i] + place[i].bytes - 1, 0, 2),
			      "the destination leaves the block at #");
	}
	/* frees from both ends to the middle; a second cuMemFree() fails */
	for (i = 0; i < count; i++) {
		unsigned int which = i % 2 ? count - 1 - i / 2 : i / 2;

		EXPECT_OK(cuMemFree(at[which]));
		EXPECT_REASON(cuMemFree(at[which]), "# is not in a reservation");
	}
}

TEST_F(foreign, pointer_attributes)
{
	unsigned int type = 0, handle_types = ~0U, access = 0;
	CUcontext current, context = NULL;
	CUdeviceptr at, base = 0;
	int ordinal = -5;
	size_t size = 0;

	ASSERT_OK(cuDevicePrimaryCtxRetain(&current, 1));
	ASSERT_OK(cuCtxSetCurrent(current));
	at = map_buffer(import_buffer(self->fd, SIZE), 100, CHUNK);
	EXPECT_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at));
	EXPECT_EQ(CU_MEMORYTYPE_DEVICE, type);
	EXPECT_OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at));
	EXPECT_EQ(1, ordinal);
	EXPECT_OK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, at));
	EXPECT_EQ(current, context);
	EXPECT_OK(cuPointerGetAttribute(&access, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, at));
	EXPECT_EQ(READWRITE, access);
	EXPECT_OK(cuPointerGetAttribute(&handle_types,
					CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, at));
	EXPECT_EQ(SHAREABLE, handle_types);
	EXPECT_OK(cuMemGetAddressRange(&base, &size, at + 1000));
	EXPECT_EQ(at, base);
	EXPECT_EQ(CHUNK, size);
}

/* ---- as a memory ---- */

TEST_F(foreign, as_a_memory)
{
	CUmemGenericAllocationHandle handle = imported(self->fd), again;
	CUmemAllocationProp prop;
	struct stat was, is;
	uint8_t *ours;
	int fd;

	ASSERT_OK(cuMemGetAllocationPropertiesFromHandle(&prop, handle));
	EXPECT_EQ(CU_MEM_LOCATION_TYPE_HOST, prop.location.type);
	EXPECT_EQ(SHAREABLE, prop.requestedHandleTypes);
	ours = (uint8_t *)mapped(handle, SIZE, 1);
	pattern(self->theirs, SIZE, 6);
	EXPECT_EQ(0, memcmp(ours, self->theirs, SIZE));

	/* an export of the handle gives the same dma-buf */
	fd = exported(handle);
	EXPECT_NE(self->fd, fd);
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	ASSERT_EQ(0, fstat(self->fd, &was));
	ASSERT_EQ(0, fstat(fd, &is));
	EXPECT_EQ(was.st_ino, is.st_ino);
	EXPECT_OK(cuMemRetainAllocationHandle(&again, ours));
	EXPECT_EQ(handle, again);
	EXPECT_REASON(cuMemGetHandleForAddressRange(&fd, ADDRESS(ours), SIZE,
						    CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
		      "no device's memory is mapped there");
}

/* Foreign memory is mapped as a whole, at any page; without write access, stores fault. */
TEST_F(foreign, mapped_at_any_page)
{
	CUmemGenericAllocationHandle handle = imported(self->fd);
	CUdeviceptr at = reserve(2 * SIZE + CHUNK) + 3 * PAGE;
	volatile uint32_t *first = (void *)at, *second = (void *)(at + SIZE);

	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(at, PAGE / 2, 0, handle, 0));
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(at, 3 * PAGE, 0, handle, 0));
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(at, 2 * SIZE, 0, handle, 0));
	EXPECT_REASON(cuMemMap(at + PAGE / 2, SIZE, 0, handle, 0),
		      "address # is not a multiple of the granularity #");
	ASSERT_OK(cuMemMap(at, SIZE, 0, handle, 0));
	ASSERT_OK(cuMemMap(at + SIZE, SIZE, 0, handle, 0));
	EXPECT_EQ(SIGSEGV, try_load(first, NULL));
	ASSERT_OK(allow(at, SIZE, 0, READ));
	ASSERT_OK(allow(at + SIZE, SIZE, 0, READWRITE));
	pattern(self->theirs, SIZE, 7);
	EXPECT_EQ(0, memcmp((void *)at, self->theirs, SIZE));
	EXPECT_EQ(0, memcmp((void *)(at + SIZE), self->theirs, SIZE));
	EXPECT_EQ(SIGSEGV, try_store(first, 1));
	EXPECT_EQ(0, try_store(second, 1));
	EXPECT_EQ(1, *first);
	EXPECT_EQ(SIGSEGV, try_load((void *)(at + 2 * SIZE), NULL));
	EXPECT_REASON(cuMemUnmap(at, 3 * PAGE),
		      "only a part of the mapping of # bytes at # is in the");
	EXPECT_REASON(cuMemUnmap(at, SIZE + PAGE),
		      "only a part of the mapping of # bytes at # is in the");
	ASSERT_OK(cuMemUnmap(at, SIZE));
	EXPECT_EQ(SIGSEGV, try_load(first, NULL));
	EXPECT_EQ(1, *second);
}

/* One fault maps a chunk: by one PMD entry if the chunk is a huge page, else by all its PTEs. */
TEST_F(foreign, faults)
{
	long huge, small;
	volatile uint8_t *ours;
	size_t i;

	if (stat_of("pmd_faults") < 0)
		SKIP(return, "needs root and debugfs");
	ours = (uint8_t *)map_buffer(import_buffer(self->fd, SIZE), 0, SIZE);
	huge = stat_of(CHUNK_FAULTS);
	small = stat_of(OTHER_FAULTS);
	for (i = 0; i < SIZE; i += PAGE)
		ours[i] = 1;
	huge = stat_of(CHUNK_FAULTS) - huge;
	small = stat_of(OTHER_FAULTS) - small;
	EXPECT_EQ(SIZE / CHUNK, huge + small);
	if (variant->exporter == HUGE_UDMABUF || variant->exporter == OURS)
		EXPECT_EQ(0, small);
}

/* ---- a refused call changes nothing and says why ---- */

TEST_F(foreign, import_refused)
{
	CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
		.type = DMABUF, .handle.fd = self->fd, .size = SIZE,
	};
	CUexternalMemory memory = (void *)0x77;
	int null = open("/dev/null", O_RDWR), type;
	long memories = stat_of("memories");

	EXPECT_REASON(cuImportExternalMemory(NULL, &desc), "NULL pointer");
	EXPECT_REASON(cuImportExternalMemory(&memory, NULL), "NULL pointer");
	EXPECT_REASON(import_as(&memory, DMABUF, -1, SIZE), "-# is no fd");
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, import_as(&memory, DMABUF, 12345, SIZE));
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, import_as(&memory, DMABUF, null, SIZE));
	EXPECT_REASON(import_as(&memory, DMABUF, self->fd, 0), "the size is #");
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, import_as(&memory, DMABUF, self->fd, SIZE + 1));
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
		  import_as(&memory, DMABUF, exported(new_team(2, SIZE)), SIZE));
	/* an OPAQUE fd has to be of a memory that memcast exported */
	EXPECT_CU(CUDA_ERROR_UNKNOWN, import_as(&memory, OPAQUE, -1, SIZE));
	EXPECT_CU(CUDA_ERROR_UNKNOWN, import_as(&memory, OPAQUE, null, SIZE));
	EXPECT_CU(CUDA_ERROR_UNKNOWN, import_as(&memory, OPAQUE, self->fd, SIZE));
	EXPECT_CU(CUDA_ERROR_UNKNOWN,
		  import_as(&memory, OPAQUE, exported(new_team(2, SIZE)), SIZE));
	for (type = 0; type < 11; type++)
		if (type != OPAQUE && type != DMABUF)
			EXPECT_CU(type >= 2 && type <= 4 ? CUDA_ERROR_NOT_SUPPORTED :
							   CUDA_ERROR_INVALID_VALUE,
				  import_as(&memory, type, self->fd, SIZE));
	desc.flags = CUDA_EXTERNAL_MEMORY_DEDICATED;
	EXPECT_REASON(cuImportExternalMemory(&memory, &desc), "flags must be #");
	desc.type = OPAQUE;
	desc.flags = 2;
	EXPECT_REASON(cuImportExternalMemory(&memory, &desc), "unknown flags");
	desc.flags = 0;
	desc.reserved[15] = 1;
	EXPECT_REASON(cuImportExternalMemory(&memory, &desc), "reserved fields must be #");
	ASSERT_OK(cuCtxSetCurrent(NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, import_as(&memory, DMABUF, self->fd, SIZE));
	EXPECT_EQ((void *)0x77, memory);
	EXPECT_EQ(memories, stat_of("memories"));
	EXPECT_EQ(0, stat_of("foreign"));
	/* a failed import leaves the fd alone */
	EXPECT_EQ(0, ERRNO_OF(fcntl(self->fd, F_GETFD)));
}

TEST_F(foreign, buffer_refused)
{
	CUexternalMemory memory = import_buffer(self->fd, SIZE);
	CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = { .size = SIZE };
	CUdeviceptr at = 77;
	long blocks = stat_of("blocks"), mappings = stat_of("mappings");

	EXPECT_REASON(cuExternalMemoryGetMappedBuffer(NULL, memory, &desc), "NULL pointer");
	EXPECT_REASON(cuExternalMemoryGetMappedBuffer(&at, memory, NULL), "NULL pointer");
	EXPECT_REASON(buffer_at(&at, memory, 0, 0), "the size is #");
	EXPECT_REASON(buffer_at(&at, memory, 0, SIZE + 1),
		      "# bytes from # are outside the memory of # bytes");
	EXPECT_REASON(buffer_at(&at, memory, 1, SIZE),
		      "# bytes from # are outside the memory of # bytes");
	EXPECT_REASON(buffer_at(&at, memory, SIZE, 1),
		      "# bytes from # are outside the memory of # bytes");
	EXPECT_REASON(buffer_at(&at, memory, ~0UL, 1),
		      "# bytes from # are outside the memory of # bytes");
	EXPECT_REASON(buffer_at(&at, memory, 1, ~0UL),
		      "# bytes from # are outside the memory of # bytes");
	EXPECT_REASON(buffer_at(&at, memory, PAGE, -(size_t)PAGE),
		      "# bytes from # are outside the memory of # bytes");
	desc.flags = 1;
	EXPECT_REASON(cuExternalMemoryGetMappedBuffer(&at, memory, &desc), "flags must be #");
	desc.flags = 0;
	desc.reserved[0] = 1;
	EXPECT_REASON(cuExternalMemoryGetMappedBuffer(&at, memory, &desc),
		      "reserved fields must be #");
	EXPECT_REASON(buffer_at(&at, NULL, 0, PAGE), "NULL external memory");
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, buffer_at(&at, (void *)-1L, 0, PAGE));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
		  buffer_at(&at, (void *)(uintptr_t)new_team(2, SIZE), 0, PAGE));
	EXPECT_REASON(cuDestroyExternalMemory(NULL), "NULL external memory");
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuDestroyExternalMemory((void *)-1L));
	EXPECT_EQ(77, at);
	EXPECT_EQ(blocks, stat_of("blocks"));
	EXPECT_EQ(mappings, stat_of("mappings"));
	EXPECT_OK(cuDestroyExternalMemory(memory));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuDestroyExternalMemory(memory));
}

/* An import of an OPAQUE fd closes the fd; the memory's size counts, not the descriptor's. */
TEST_F(foreign, opaque_fd)
{
	CUmemGenericAllocationHandle handle = new_memory(0, SIZE);
	size_t said[] = { SIZE - 100, 2 * SIZE };
	uint8_t *ours = (void *)mapped(handle, SIZE, 0);

	for (int i = 0; i < 2; i++) {
		CUexternalMemory memory = NULL;
		int fd = exported(handle);

		ASSERT_OK(import_as(&memory, OPAQUE, fd, said[i]));
		EXPECT_EQ(EBADF, ERRNO_OF(fcntl(fd, F_GETFD)));
		memset(ours, 8 + i, SIZE);
		EXPECT_TRUE(all_are((void *)map_buffer(memory, 0, SIZE), 8 + i, SIZE));
		EXPECT_OK(cuDestroyExternalMemory(memory));
	}
}

TEST_HARNESS_MAIN
