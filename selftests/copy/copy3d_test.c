// SPDX-License-Identifier: MIT
/* Copies of layers of rows. */
#include "stream_fixture.h"
#include "reason.h"

#define SIDE	(64 * 1024)

/* Makes the copy of layers byte by byte, as the model to compare with. */
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
			/* ignored fields */
			.srcLOD = 3, .reserved0 = &seed,
		};

		if (typed) {
			copy.srcMemoryType = from_device ? CU_MEMORYTYPE_DEVICE :
							   CU_MEMORYTYPE_HOST;
			copy.dstMemoryType = to_device ? CU_MEMORYTYPE_DEVICE :
							 CU_MEMORYTYPE_HOST;
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

/* The call reads the program's own memory at once, not when the stream gets there. */
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

/* The last layer is unmapped, so the first ones stay as they are. */
TEST_F(stream, layers_are_checked_before_the_first_is_written)
{
	CUDA_MEMCPY3D copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = AT(1024), .srcPitch = 8,
		.srcHeight = 1,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = AT(0), .dstPitch = 8,
		.dstHeight = CHUNK / 16, .WidthInBytes = 8, .Height = 1, .Depth = 3,
	};

	self->at[1024] = 5;
	EXPECT_REASON(cuMemcpy3D(&copy), "the destination # is not device memory");
	EXPECT_REASON(cuMemcpy3DAsync(&copy, self->first),
		      "the destination # is not device memory");
	EXPECT_EQ(0, self->at[0]);
	copy.Depth = 2;
	EXPECT_OK(cuMemcpy3D(&copy));
	EXPECT_EQ(5, self->at[0]);
}

/* A pitch counts where there is a second row. */
TEST_F(stream, pitches_of_one_row)
{
	CUDA_MEMCPY3D copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = AT(1), .srcPitch = 1UL << 31,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = AT(0), .dstPitch = 1UL << 33,
		.WidthInBytes = 4, .Height = 1, .Depth = 1,
	};

	self->at[1] = 5;
	EXPECT_OK(cuMemcpy3D(&copy));
	EXPECT_EQ(5, self->at[0]);
	copy.Height = 2;
	EXPECT_REASON(cuMemcpy3D(&copy), "pitch # is less than x 0 and width #, or over #");
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
#define BAD(text, ...)	EXPECT_REASON(({ copy = good; __VA_ARGS__; cuMemcpy3D(&copy); }), text)
	BAD("pitch # is less than x # and width #", copy.srcPitch = 3);
	BAD("pitch # is less than x # and width #", copy.dstPitch = 1ULL << 31);
	BAD("layers of # rows are less than y # and height #", copy.srcHeight = 1);
	BAD("layers of # rows are less than y # and height #", copy.dstHeight = 1);
	BAD("layers of # rows are less than y # and height #", copy.srcHeight = 2, copy.srcY = 1);
	BAD("no such memory type: #", copy.srcMemoryType = 0);
	BAD("no such memory type: #", copy.srcMemoryType = 9);
	BAD("the array is NULL", copy.srcMemoryType = CU_MEMORYTYPE_ARRAY);
	BAD("the destination # is not device memory", copy.dstDevice = 0);
	BAD("the end of a row or a layer overflows", copy.srcXInBytes = SIZE_MAX);
	BAD("the end of a row or a layer overflows", copy.srcY = SIZE_MAX);
	BAD("the first row's address overflows", copy.srcZ = SIZE_MAX);
	BAD("the last layer's address overflows", copy.Depth = SIZE_MAX);
	BAD("the first row's address overflows", copy.Height = SIZE_MAX);
	BAD("pitch # is less than x # and width #", copy.WidthInBytes = SIZE_MAX);
	BAD("the first row's address overflows",
	    copy.dstPitch = INT32_MAX, copy.dstHeight = SIZE_MAX / 4);
	EXPECT_REASON(cuMemcpy3D(NULL), "NULL pointer");
	EXPECT_REASON(cuMemcpy3DPeer(NULL), "NULL pointer");
	EXPECT_EQ(0, self->at[0]);
}

/* A copy between what two contexts of a device have allocated is a fault, but not an empty one. */
TEST_F(stream, layers_that_are_none_between_contexts)
{
	CUDA_MEMCPY3D copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.WidthInBytes = 4, .Height = 2,
	};
	CUcontext other;

	ASSERT_OK(cuMemAlloc(&copy.srcDevice, 64));
	ASSERT_OK(cuCtxCreate(&other, NULL, 0, 0));
	ASSERT_OK(cuMemAlloc(&copy.dstDevice, 64));
	EXPECT_OK(cuMemcpy3D(&copy));
	copy.Height = 0;
	copy.Depth = 2;
	EXPECT_OK(cuMemcpy3D(&copy));
	EXPECT_OK(cuMemcpy3DAsync(&copy, NULL));
	EXPECT_OK(cuCtxSynchronize());
	EXPECT_OK(cuCtxDestroy(other));
}

/* Each context's device has access to its own side of the copy only. */
TEST_F(stream, layers_between_devices)
{
	volatile uint32_t *other = mapped(new_memory(1, CHUNK), CHUNK, 1);
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
	EXPECT_REASON(cuMemcpy3DPeer(&copy),
		      "device # cannot read # bytes at #: unmapped, unbound or");
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

TEST_HARNESS_MAIN
