// SPDX-License-Identifier: MIT
/*
 * A process that imports blocks of another process's heap says itself where each block is. The
 * module accepts only places where the heap's owner can have put a block: noting a block past the
 * end of a chunk would write past the chunk's bitmap.
 */
#include <fcntl.h>
#include <pthread.h>
#include "memcast_test.h"
#include "raw.h"

#define SLOT	((uint64_t)MEMCAST_BLOCK_ALIGN)

FIXTURE(heap_import)
{
	/*
	 * Each client notes its own blocks. With one client for both, the module would refuse a
	 * block that leaves its memory only because the owner's block is noted there already.
	 */
	int owner, client;
	uint32_t own, imported;		/* heaps */
	uint64_t chunk, large;		/* memories: of small blocks, of one large block */
};

/* Allocates a block. Return: the number of the memory that holds the block */
static uint64_t memory_of_block(struct __test_metadata *_metadata,
				FIXTURE_DATA(heap_import) *self, uint64_t bytes)
{
	struct memcast_block_alloc alloc = { .heap = self->own, .bytes = bytes };
	struct memcast_block_export export = {};

	ASSERT_EQ(0, RAW(self->owner, BLOCK_ALLOC, alloc));
	export.address = alloc.out_address;
	ASSERT_EQ(0, RAW(self->owner, BLOCK_EXPORT, export));
	EXPECT_EQ(bytes, export.out_bytes);
	return export.out_object;
}

FIXTURE_SETUP(heap_import)
{
	struct memcast_heap_create create = {
		.location = MEMCAST_LOCATION_DEVICE,
		.handle_types = MEMCAST_HANDLE_FD,
		.flags = MEMCAST_HEAP_POOL,
	};
	struct memcast_heap_export export = { .handle_type = MEMCAST_HANDLE_FD };
	struct memcast_heap_import import = { .handle_type = MEMCAST_HANDLE_FD };

	self->owner = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->owner);
	self->client = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->client);
	ASSERT_EQ(0, RAW(self->owner, HEAP_CREATE, create));
	self->own = create.out_heap;
	self->chunk = memory_of_block(_metadata, self, 100);
	self->large = memory_of_block(_metadata, self, 3 * CHUNK);
	ASSERT_NE(self->chunk, self->large);
	export.heap = self->own;
	ASSERT_EQ(0, RAW(self->owner, HEAP_EXPORT, export));
	import.fd = export.out_fd;
	ASSERT_EQ(0, RAW(self->client, HEAP_IMPORT, import));
	self->imported = import.out_heap;
	close(export.out_fd);
}
NOTHING_LEFT(heap_import)

/* Return: how many bytes of the imported heap are in blocks */
static uint64_t used(struct __test_metadata *_metadata, FIXTURE_DATA(heap_import) *self)
{
	struct memcast_heap_info info = { .heap = self->imported };

	ASSERT_EQ(0, RAW(self->client, HEAP_INFO, info));
	return info.out_used;
}

static int import_block(FIXTURE_DATA(heap_import) *self, uint64_t object, uint64_t offset,
			uint64_t bytes, uint64_t *address)
{
	struct memcast_block_import import = {
		.heap = self->imported, .object = object, .offset = offset, .bytes = bytes,
	};
	int ret = RAW(self->client, BLOCK_IMPORT, import);

	*address = import.out_address;
	return ret;
}

static void free_block(struct __test_metadata *_metadata, FIXTURE_DATA(heap_import) *self,
		       uint64_t address)
{
	struct memcast_block_free arg = { .address = address };

	EXPECT_EQ(0, RAW(self->client, BLOCK_FREE, arg));
}

#define CAN_BE_THERE(object, offset, bytes)	check(_metadata, self, object, offset, bytes, 0)
#define CANNOT(object, offset, bytes)	check(_metadata, self, object, offset, bytes, EINVAL)

static void check(struct __test_metadata *_metadata, FIXTURE_DATA(heap_import) *self,
		  uint64_t object, uint64_t offset, uint64_t bytes, int expected)
{
	uint64_t address;
	int ret = import_block(self, object, offset, bytes, &address);

	EXPECT_EQ(expected, ret)
		TH_LOG("%#lx bytes at %#lx", bytes, offset);
	if (ret)
		return;
	EXPECT_EQ(bytes, used(_metadata, self));
	free_block(_metadata, self, address);
	EXPECT_EQ(0, used(_metadata, self));
}

TEST_F(heap_import, small_blocks)
{
	CAN_BE_THERE(self->chunk, 0, 1);
	CAN_BE_THERE(self->chunk, 0, SLOT);
	CAN_BE_THERE(self->chunk, SLOT, CHUNK - SLOT);
	CAN_BE_THERE(self->chunk, 0, CHUNK);
	/* the last slot, to its last byte */
	CAN_BE_THERE(self->chunk, CHUNK - SLOT, 1);
	CAN_BE_THERE(self->chunk, CHUNK - SLOT, SLOT);
	CAN_BE_THERE(self->chunk, CHUNK - 2 * SLOT, SLOT + 1);
	CANNOT(self->chunk, CHUNK - SLOT, SLOT + 1);
	CANNOT(self->chunk, CHUNK - 2 * SLOT, 2 * SLOT + 1);
	CANNOT(self->chunk, SLOT, CHUNK - SLOT + 1);
	CANNOT(self->chunk, SLOT, CHUNK);
	CANNOT(self->chunk, 0, CHUNK + 1);
	/* blocks just behind the chunk, and far from it */
	CANNOT(self->chunk, CHUNK, 1);
	CANNOT(self->chunk, CHUNK, SLOT);
	CANNOT(self->chunk, CHUNK + SLOT, SLOT);
	CANNOT(self->chunk, 1UL << 40, SLOT);
	/* sums that become small because they overflow */
	CANNOT(self->chunk, -SLOT, SLOT);
	CANNOT(self->chunk, -SLOT, 2 * SLOT);
	CANNOT(self->chunk, 0, -SLOT);
	CANNOT(self->chunk, SLOT, -SLOT);
	/* no block starts within a slot, or has no bytes */
	CANNOT(self->chunk, 1, 1);
	CANNOT(self->chunk, SLOT / 2, SLOT / 2);
	CANNOT(self->chunk, CHUNK - 1, 1);
	CANNOT(self->chunk, 0, 0);
	CANNOT(self->chunk, CHUNK, 0);
}

TEST_F(heap_import, a_block_of_several_chunks)
{
	CAN_BE_THERE(self->large, 0, 3 * CHUNK);
	CAN_BE_THERE(self->large, 0, 3 * CHUNK - 1);
	CAN_BE_THERE(self->large, 0, CHUNK + 1);
	CANNOT(self->large, 0, 3 * CHUNK + 1);
	CANNOT(self->large, SLOT, 3 * CHUNK);
	/* a large block has its memory to itself, and starts where the memory starts */
	CANNOT(self->large, SLOT, 2 * CHUNK);
	CANNOT(self->large, CHUNK, 2 * CHUNK);
	CANNOT(self->large, 3 * CHUNK, CHUNK + 1);
	CANNOT(self->large, -CHUNK, 2 * CHUNK);
	/* no small block shares that memory */
	CANNOT(self->large, 0, CHUNK);
	CANNOT(self->large, 0, SLOT);
	CANNOT(self->large, CHUNK, CHUNK);
	CANNOT(self->large, 2 * CHUNK, SLOT);
	CANNOT(self->large, 0, 0);
	CANNOT(self->large + 1000, 0, 3 * CHUNK);
}

/* Imports every slot of a chunk, then one slot more than a chunk has. */
TEST_F(heap_import, all_slots)
{
	uint64_t at[CHUNK / SLOT], address, i;

	for (i = 0; i < ARRAY_SIZE(at); i++)
		ASSERT_EQ(0, import_block(self, self->chunk, i * SLOT, SLOT, &at[i]));
	EXPECT_EQ(CHUNK, used(_metadata, self));
	EXPECT_EQ(EINVAL, import_block(self, self->chunk, i * SLOT, SLOT, &address));
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		EXPECT_EQ(at[0] + i * SLOT, at[i]);
		/* the block is known, and no other block can be in its place */
		ASSERT_EQ(0, import_block(self, self->chunk, i * SLOT, SLOT, &address));
		ASSERT_EQ(at[i], address);
		ASSERT_EQ(EINVAL, import_block(self, self->chunk, i * SLOT, SLOT - 1, &address));
	}
	for (i = 0; i < ARRAY_SIZE(at); i++)
		free_block(_metadata, self, at[i]);
	EXPECT_EQ(0, used(_metadata, self));
	CAN_BE_THERE(self->chunk, 0, CHUNK);
}

struct importer {
	FIXTURE_DATA(heap_import) *heap;
	pthread_barrier_t *start;
	uint64_t address;
	int ret;
};

static void *import_large(void *argument)
{
	struct importer *importer = argument;

	pthread_barrier_wait(importer->start);
	importer->ret = import_block(importer->heap, importer->heap->large, 0, 3 * CHUNK,
				     &importer->address);
	return NULL;
}

/* Threads that import a block at once get one address. */
TEST_F(heap_import, by_several_threads)
{
	struct importer importers[3];
	pthread_barrier_t start;
	pthread_t threads[3];

	ASSERT_EQ(0, pthread_barrier_init(&start, NULL, 3));
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 3; i++) {
			importers[i] = (struct importer) { .heap = self, .start = &start };
			ASSERT_EQ(0, pthread_create(&threads[i], NULL, import_large,
						    &importers[i]));
		}
		for (int i = 0; i < 3; i++) {
			ASSERT_EQ(0, pthread_join(threads[i], NULL));
			ASSERT_EQ(0, importers[i].ret);
			ASSERT_EQ(importers[0].address, importers[i].address);
		}
		ASSERT_EQ(3 * CHUNK, used(_metadata, self));
		free_block(_metadata, self, importers[0].address);
	}
	pthread_barrier_destroy(&start);
}

/* Memory for the tiles of arrays has no addresses: no block shows it, as no mapping does. */
TEST_F(heap_import, tiles_are_in_no_block)
{
	struct memcast_memory_create create = {
		.location = MEMCAST_LOCATION_DEVICE, .bytes = CHUNK,
	};
	struct memcast_heap_create heap = { .location = MEMCAST_LOCATION_DEVICE };
	struct memcast_block_map map = { .bytes = CHUNK };

	ASSERT_EQ(0, RAW(self->owner, HEAP_CREATE, heap));
	map.heap = heap.out_heap;
	ASSERT_EQ(0, RAW(self->owner, MEMORY_CREATE, create));
	map.handle = create.out_handle;
	EXPECT_EQ(0, RAW(self->owner, BLOCK_MAP, map));
	create.flags = MEMCAST_MEMORY_TILES;
	ASSERT_EQ(0, RAW(self->owner, MEMORY_CREATE, create));
	map.handle = create.out_handle;
	EXPECT_EQ(EINVAL, RAW(self->owner, BLOCK_MAP, map));
}

TEST_HARNESS_MAIN
