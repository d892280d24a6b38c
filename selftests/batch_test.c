// SPDX-License-Identifier: MIT
/* Copies of layers of rows, and batches of copies. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include "stream_fixture.h"

#define SIDE	(64 * 1024)

/* What a copy of layers does, byte by byte */
static void expect_copy(unsigned char *to, const unsigned char *from, const CUDA_MEMCPY3D *copy)
{
	size_t x, y, z;

	for (z = 0; z < copy->Depth; z++)
		for (y = 0; y < copy->Height; y++)
			for (x = 0; x < copy->WidthInBytes; x++)
				to[((z + copy->dstZ) * copy->dstHeight + y + copy->dstY) *
				   copy->dstPitch + x + copy->dstXInBytes] =
				from[((z + copy->srcZ) * copy->srcHeight + y + copy->srcY) *
				     copy->srcPitch + x + copy->srcXInBytes];
}

static unsigned int below(unsigned int *seed, unsigned int limit)
{
	return rand_r(seed) % limit;
}

/* A shape of at most 4 x 8 x 8, in layers of at most 6 x 11 x 20: 1,320 bytes */
static void any_shape(CUDA_MEMCPY3D *copy, unsigned int *seed)
{
	copy->WidthInBytes = 1 + below(seed, 8);
	copy->Height = 1 + below(seed, 8);
	copy->Depth = 1 + below(seed, 4);
	copy->srcXInBytes = below(seed, 5);
	copy->srcY = below(seed, 3);
	copy->srcZ = below(seed, 3);
	copy->srcPitch = copy->srcXInBytes + copy->WidthInBytes + below(seed, 8);
	copy->srcHeight = copy->srcY + copy->Height + below(seed, 2);
	copy->dstXInBytes = below(seed, 5);
	copy->dstY = below(seed, 3);
	copy->dstZ = below(seed, 3);
	copy->dstPitch = copy->dstXInBytes + copy->WidthInBytes + below(seed, 8);
	copy->dstHeight = copy->dstY + copy->Height + below(seed, 2);
}

static void fill_sides(unsigned char *to, unsigned char *from, unsigned int seed)
{
	unsigned int i;

	for (i = 0; i < SIDE / 16; i++) {
		to[i] = i;
		from[i] = i * 7 + seed;
	}
}

/* Between every two kinds of memory, by every form of the call */
TEST_F(stream, layers_go_where_they_should)
{
	unsigned char *device = (unsigned char *)self->at, *other = malloc(SIDE);
	unsigned char *expected = malloc(SIDE);
	unsigned int seed = 1, i;
	CUcontext context;

	ASSERT_OK(cuCtxGetCurrent(&context));
	for (i = 0; i < 64; i++) {
		bool to_device = i & 1, from_device = i & 2, typed = i & 4, async = i & 8;
		unsigned char *to = to_device ? device : other;
		unsigned char *from = from_device ? device + SIDE : other + SIDE / 2;
		CUDA_MEMCPY3D copy = {
			.srcMemoryType = CU_MEMORYTYPE_UNIFIED, .srcDevice = ADDRESS(from),
			.dstMemoryType = CU_MEMORYTYPE_UNIFIED, .dstDevice = ADDRESS(to),
			/* of no meaning */
			.srcLOD = 3, .reserved0 = &seed,
		};

		if (typed) {
			copy.srcMemoryType = from_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
			copy.dstMemoryType = to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
			copy.srcHost = from;
			copy.dstHost = to;
		}
		any_shape(&copy, &seed);
		fill_sides(to, from, i);
		memcpy(expected, to, SIDE / 16);
		expect_copy(expected, from, &copy);
		ASSERT_OK(async ? cuMemcpy3DAsync(&copy, self->first) : cuMemcpy3D(&copy));
		ASSERT_OK(cuStreamSynchronize(self->first));
		EXPECT_EQ(0, memcmp(expected, to, SIDE / 16)) TH_LOG("copy %u", i);
	}
	free(other);
	free(expected);
}

/* What the stream has put aside is what there was when it was asked to copy. */
TEST_F(stream, layers_from_other_memory_are_read_at_once)
{
	unsigned char host[3 * 5 * 7];
	CUDA_MEMCPY3D copy = {
		.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 7,
		.srcHeight = 5,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = AT(0), .dstPitch = 16,
		.dstHeight = 4, .WidthInBytes = 6, .Height = 4, .Depth = 3,
	};
	unsigned char expected[3 * 4 * 16] = {};
	unsigned int i;

	for (i = 0; i < sizeof(host); i++)
		host[i] = i + 1;
	expect_copy(expected, host, &copy);
	HOLD(self->first);
	ASSERT_OK(cuMemcpy3DAsync(&copy, self->first));
	memset(host, 0, sizeof(host));
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(0, memcmp(expected, (void *)self->at, sizeof(expected)));
}

/* The last layer is in nothing: the first ones stay as they are. */
TEST_F(stream, layers_are_checked_before_the_first_is_written)
{
	CUDA_MEMCPY3D copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = AT(1024), .srcPitch = 8,
		.srcHeight = 1,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = AT(0), .dstPitch = 8,
		.dstHeight = CHUNK / 16, .WidthInBytes = 8, .Height = 1, .Depth = 3,
	};

	self->at[1024] = 5;
	EXPECT_INVALID(cuMemcpy3D(&copy));
	EXPECT_INVALID(cuMemcpy3DAsync(&copy, self->first));
	EXPECT_EQ(0, self->at[0]);
	copy.Depth = 2;
	EXPECT_OK(cuMemcpy3D(&copy));
	EXPECT_EQ(5, self->at[0]);
}

TEST_F(stream, layers_that_are_none)
{
	const CUDA_MEMCPY3D good = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = AT(1024),
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = AT(0),
		.WidthInBytes = 4, .Height = 2, .Depth = 2,
	};
	CUDA_MEMCPY3D copy;

	self->at[1024] = 5;
#define EMPTY(...)	EXPECT_OK(({ copy = good; __VA_ARGS__; cuMemcpy3D(&copy); }))
	EMPTY(copy.WidthInBytes = 0);
	EMPTY(copy.Height = 0);
	EMPTY(copy.Depth = 0);
#define BAD(result, ...)	EXPECT_CU(CUDA_ERROR_##result, \
					  ({ copy = good; __VA_ARGS__; cuMemcpy3D(&copy); }))
	BAD(INVALID_VALUE, copy.srcPitch = 3);
	BAD(INVALID_VALUE, copy.dstPitch = 1ULL << 31);
	BAD(INVALID_VALUE, copy.srcHeight = 1);
	BAD(INVALID_VALUE, copy.dstHeight = 1);
	BAD(INVALID_VALUE, copy.srcHeight = 2, copy.srcY = 1);
	BAD(INVALID_VALUE, copy.srcMemoryType = 0);
	BAD(INVALID_VALUE, copy.srcMemoryType = 9);
	BAD(INVALID_VALUE, copy.srcMemoryType = CU_MEMORYTYPE_ARRAY);
	BAD(INVALID_VALUE, copy.dstDevice = 0);
	BAD(INVALID_VALUE, copy.srcXInBytes = SIZE_MAX);
	BAD(INVALID_VALUE, copy.srcY = SIZE_MAX);
	BAD(INVALID_VALUE, copy.srcZ = SIZE_MAX);
	BAD(INVALID_VALUE, copy.Depth = SIZE_MAX);
	BAD(INVALID_VALUE, copy.Height = SIZE_MAX);
	BAD(INVALID_VALUE, copy.WidthInBytes = SIZE_MAX);
	BAD(INVALID_VALUE, copy.dstPitch = INT32_MAX, copy.dstHeight = SIZE_MAX / 4);
	EXPECT_INVALID(cuMemcpy3D(NULL));
	EXPECT_INVALID(cuMemcpy3DPeer(NULL));
	EXPECT_EQ(0, self->at[0]);
}

/* Each device reaches its own side only. */
TEST_F(stream, layers_between_devices)
{
	volatile uint32_t *other = mapped(memory(1, CHUNK), CHUNK, 1);
	CUDA_MEMCPY3D_PEER copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = ADDRESS(other),
		.srcPitch = 64, .srcHeight = 2,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = AT(0), .dstPitch = 32,
		.dstHeight = 3, .WidthInBytes = 4, .Height = 2, .Depth = 2,
	};
	CUcontext peer;

	ASSERT_OK(cuDevicePrimaryCtxRetain(&peer, 1));
	other[0] = 1;
	other[16] = 2;
	other[32] = 3;
	other[48] = 4;
	EXPECT_INVALID(cuMemcpy3DPeer(&copy));
	copy.srcContext = peer;
	EXPECT_OK(cuMemcpy3DPeer(&copy));
	EXPECT_EQ(1, self->at[0]);
	EXPECT_EQ(2, self->at[8]);
	EXPECT_EQ(3, self->at[24]);
	EXPECT_EQ(4, self->at[32]);
	copy.dstDevice = AT(100);
	EXPECT_OK(cuMemcpy3DPeerAsync(&copy, self->first));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(4, self->at[132]);
}

/* ---- batches ---- */

#define STREAM	CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
#define DURING	CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL

TEST_F(stream, batch_copies_all)
{
	uint32_t host[2] = { 7, 0 };
	CUdeviceptr to[] = { AT(0), AT(8), ADDRESS(&host[1]) };
	CUdeviceptr from[] = { AT(1024), ADDRESS(&host[0]), AT(1025) };
	size_t bytes[] = { 8, 4, 4 }, starts[] = { 0, 2 };
	CUmemcpyAttributes attributes[] = { { .srcAccessOrder = STREAM },
					    { .srcAccessOrder = DURING } };

	self->at[1024] = 3;
	self->at[1025] = 4;
	ASSERT_OK(cuMemcpyBatchAsync(to, from, bytes, 3, attributes, starts, 2, self->first));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(3, self->at[0]);
	EXPECT_EQ(4, self->at[1]);
	EXPECT_EQ(7, self->at[8]);
	EXPECT_EQ(4, host[1]);
}

/* The source is read when the stream comes there, or before the call returns. */
TEST_F(stream, batch_reads_when_it_is_told_to)
{
	uint32_t host[] = { 1, 1 };
	CUdeviceptr to[] = { AT(0), AT(1) }, from[] = { ADDRESS(&host[0]), ADDRESS(&host[1]) };
	size_t bytes[] = { 4, 4 }, starts[] = { 0, 1 };
	CUmemcpyAttributes attributes[] = { { .srcAccessOrder = STREAM },
					    { .srcAccessOrder = DURING } };

	HOLD(self->first);
	ASSERT_OK(cuMemcpyBatchAsync(to, from, bytes, 2, attributes, starts, 2, self->first));
	host[0] = host[1] = 2;
	EXPECT_EQ(0, self->at[0]);
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(2, self->at[0]);
	EXPECT_EQ(1, self->at[1]);
}

/* Nobody waits, whatever the destination is. */
TEST_F(stream, batch_to_other_memory_does_not_wait)
{
	uint32_t host = 0;
	CUdeviceptr to = ADDRESS(&host), from = AT(1024);
	size_t bytes = 4, start = 0;
	CUmemcpyAttributes attribute = { .srcAccessOrder = STREAM };

	self->at[1024] = 9;
	HOLD(self->first);
	ASSERT_OK(cuMemcpyBatchAsync(&to, &from, &bytes, 1, &attribute, &start, 1,
				     self->first));
	EXPECT_EQ(0, host);
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(9, host);
}

TEST_F(stream, batch_to_a_team_reaches_every_replica)
{
	CUmemGenericAllocationHandle group = full_team(3, CHUNK), members[3];
	volatile uint32_t *window, *replicas[3];
	CUdeviceptr to[2], from[2] = { AT(1024), AT(1032) };
	size_t bytes[] = { 8, 4 }, start = 0, i;
	CUmemcpyAttributes attribute = { .srcAccessOrder = STREAM };

	for (i = 0; i < 3; i++) {
		members[i] = memory(i, CHUNK);
		ASSERT_OK(cuMulticastBindMem(group, 0, members[i], 0, CHUNK, 0));
		replicas[i] = mapped(members[i], CHUNK, i);
	}
	window = mapped(group, CHUNK, 0);
	to[0] = ADDRESS(window);
	to[1] = ADDRESS(window + 100);
	self->at[1025] = 21;
	self->at[1032] = 22;
	ASSERT_OK(cuMemcpyBatchAsync(to, from, bytes, 2, &attribute, &start, 1, self->first));
	ASSERT_OK(cuStreamSynchronize(self->first));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(21, replicas[i][1]);
		EXPECT_EQ(22, replicas[i][100]);
	}
}

/* A copy that cannot be done leaves those before it done: so does hardware. */
TEST_F(stream, batch_stops_at_a_bad_copy)
{
	CUdeviceptr to[] = { AT(0), AT(1), AT(2) }, from[] = { AT(1024), AT(1024), AT(1024) };
	size_t bytes[] = { 4, 0, 4 }, start = 0, failed = 77;
	CUmemcpyAttributes attribute = { .srcAccessOrder = STREAM };
	CUresult (*older)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *,
			  size_t *, size_t, size_t *, CUstream) =
		dlsym(RTLD_DEFAULT, "cuMemcpyBatchAsync");

	self->at[1024] = 5;
	EXPECT_INVALID(cuMemcpyBatchAsync(to, from, bytes, 3, &attribute, &start, 1,
					  self->first));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(5, self->at[0]);
	EXPECT_EQ(0, self->at[2]);

	ASSERT_NE(NULL, older);
	EXPECT_INVALID(older(to, from, bytes, 3, &attribute, &start, 1, &failed, self->first));
	EXPECT_EQ(1, failed);
	bytes[1] = 4;
	to[2] = 0;
	EXPECT_INVALID(older(to, from, bytes, 3, &attribute, &start, 1, &failed, self->first));
	EXPECT_EQ(2, failed);
	start = 1;
	EXPECT_INVALID(older(to, from, bytes, 3, &attribute, &start, 1, &failed, self->first));
	EXPECT_EQ(SIZE_MAX, failed);
}

TEST_F(stream, batches_that_are_none)
{
	CUdeviceptr to[] = { AT(0), AT(1) }, from[] = { AT(1024), AT(1024) };
	size_t bytes[] = { 4, 4 }, starts[] = { 0, 1 };
	CUmemcpyAttributes good = { .srcAccessOrder = STREAM }, attributes[2];

	self->at[1024] = 5;
#define NO_BATCH(count, attributes_count, stream, ...)					\
({										\
	attributes[0] = attributes[1] = good;					\
	starts[0] = 0;								\
	starts[1] = 1;								\
	__VA_ARGS__;								\
	EXPECT_INVALID(cuMemcpyBatchAsync(to, from, bytes, count, attributes, starts,	\
					  attributes_count, stream));		\
})
	NO_BATCH(0, 1, self->first);
	NO_BATCH(2, 0, self->first);
	NO_BATCH(1, 2, self->first);
	NO_BATCH(2, 1, NULL);
	NO_BATCH(2, 1, CU_STREAM_LEGACY);
	NO_BATCH(2, 2, self->first, starts[0] = 1);
	NO_BATCH(2, 2, self->first, starts[1] = 0);
	NO_BATCH(2, 2, self->first, starts[1] = 2);
	NO_BATCH(2, 2, self->first, attributes[1].srcAccessOrder = 0);
	NO_BATCH(2, 2, self->first, attributes[1].srcAccessOrder = 4);
	NO_BATCH(2, 2, self->first, attributes[1].flags = 2);
	NO_BATCH(2, 2, self->first, attributes[1].srcLocHint.type = 5);
	NO_BATCH(2, 2, self->first, attributes[1].dstLocHint =
		 (CUmemLocation) { CU_MEM_LOCATION_TYPE_DEVICE, 64 });
	attributes[0] = good;
	EXPECT_INVALID(cuMemcpyBatchAsync(NULL, from, bytes, 1, attributes, starts, 1,
					  self->first));
	EXPECT_INVALID(cuMemcpyBatchAsync(to, NULL, bytes, 1, attributes, starts, 1, self->first));
	EXPECT_INVALID(cuMemcpyBatchAsync(to, from, NULL, 1, attributes, starts, 1, self->first));
	EXPECT_INVALID(cuMemcpyBatchAsync(to, from, bytes, 1, NULL, starts, 1, self->first));
	EXPECT_INVALID(cuMemcpyBatchAsync(to, from, bytes, 1, attributes, NULL, 1, self->first));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(0, self->at[0]);
}

static CUDA_MEMCPY3D_BATCH_OP layers_op(CUdeviceptr to, CUdeviceptr from)
{
	return (CUDA_MEMCPY3D_BATCH_OP) {
		.src = { .type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = from },
		.dst = { .type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = to },
		.extent = { 4, 2, 2 },
		.srcAccessOrder = STREAM,
	};
}

TEST_F(stream, batch_of_layers)
{
	uint32_t host[] = { 1, 2, 3, 4 };
	CUDA_MEMCPY3D_BATCH_OP copies[] = { layers_op(AT(0), ADDRESS(host)),
					    layers_op(AT(100), AT(0)) };

	copies[1].dst.op.ptr.rowLength = 16;
	copies[1].dst.op.ptr.layerHeight = 3;
	HOLD(self->first);
	ASSERT_OK(cuMemcpy3DBatchAsync(2, copies, 0, self->first));
	host[3] = 5;
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(1, self->at[0]);
	EXPECT_EQ(5, self->at[3]);
	EXPECT_EQ(1, self->at[100]);
	EXPECT_EQ(2, self->at[104]);
	EXPECT_EQ(3, self->at[112]);
	EXPECT_EQ(5, self->at[116]);
}

/* The first is good, but the second is looked at before. */
TEST_F(stream, batches_of_layers_that_are_none)
{
	CUDA_MEMCPY3D_BATCH_OP copies[2];

	self->at[1024] = 5;
#define NO_LAYERS(result, ...)							\
({										\
	copies[0] = layers_op(AT(0), AT(1024));					\
	copies[1] = layers_op(AT(100), AT(1024));				\
	__VA_ARGS__;								\
	EXPECT_CU(CUDA_ERROR_##result, cuMemcpy3DBatchAsync(2, copies, 0, self->first)); \
})
	NO_LAYERS(INVALID_VALUE, copies[1].extent.width = 0);
	NO_LAYERS(INVALID_VALUE, copies[1].extent.height = 0);
	NO_LAYERS(INVALID_VALUE, copies[1].extent.depth = 0);
	NO_LAYERS(INVALID_VALUE, copies[1].srcAccessOrder = 9);
	NO_LAYERS(INVALID_VALUE, copies[1].flags = 4);
	NO_LAYERS(INVALID_VALUE, copies[1].src.type = 0);
	NO_LAYERS(INVALID_VALUE, copies[1].src.op.ptr.rowLength = 3);
	NO_LAYERS(INVALID_VALUE, copies[1].dst.op.ptr.layerHeight = 1);
	NO_LAYERS(INVALID_VALUE, copies[1].dst.op.ptr.locHint.type = 77);
	NO_LAYERS(NOT_SUPPORTED, copies[1].dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY,
		  copies[1].dst.op.array.array = (CUarray)0x1000);
	copies[0] = layers_op(AT(0), AT(1024));
	EXPECT_INVALID(cuMemcpy3DBatchAsync(0, copies, 0, self->first));
	EXPECT_INVALID(cuMemcpy3DBatchAsync(1, NULL, 0, self->first));
	EXPECT_INVALID(cuMemcpy3DBatchAsync(1, copies, 1, self->first));
	EXPECT_INVALID(cuMemcpy3DBatchAsync(1, copies, 0, NULL));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(0, self->at[0]);
}

TEST_HARNESS_MAIN
