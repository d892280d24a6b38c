// SPDX-License-Identifier: MIT
/* Batches of copies. */
#include <dlfcn.h>
#include "reason.h"
#include "stream_fixture.h"

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

/* srcAccessOrder: the source is read when the stream gets there, or before the call returns. */
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

/* The call does not wait for the stream, even if the destination is the program's own memory. */
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
	CUmemGenericAllocationHandle group = complete_team(3, CHUNK), members[3];
	volatile uint32_t *window, *replicas[3];
	CUdeviceptr to[2], from[2] = { AT(1024), AT(1032) };
	size_t bytes[] = { 8, 4 }, start = 0, i;
	CUmemcpyAttributes attribute = { .srcAccessOrder = STREAM };

	for (i = 0; i < 3; i++) {
		members[i] = new_bound(group, i, CHUNK);
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

/* Copies before a bad one are made, as on hardware. */
TEST_F(stream, batch_stops_at_a_bad_copy)
{
	CUdeviceptr to[] = { AT(0), AT(1), AT(2) }, from[] = { AT(1024), AT(1024), AT(1024) };
	size_t bytes[] = { 4, 0, 4 }, start = 0, failed = 77;
	CUmemcpyAttributes attribute = { .srcAccessOrder = STREAM };
	CUresult (*older)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *,
			  size_t *, size_t, size_t *, CUstream) =
		dlsym(RTLD_DEFAULT, "cuMemcpyBatchAsync");

	self->at[1024] = 5;
	EXPECT_REASON(cuMemcpyBatchAsync(to, from, bytes, 3, &attribute, &start, 1,
					 self->first), "copy # has no bytes");
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(5, self->at[0]);
	EXPECT_EQ(0, self->at[2]);

	ASSERT_NE(NULL, older);
	EXPECT_REASON(older(to, from, bytes, 3, &attribute, &start, 1, &failed, self->first),
		      "copy # has no bytes");
	EXPECT_EQ(1, failed);
	bytes[1] = 4;
	to[2] = 0;
	EXPECT_REASON(older(to, from, bytes, 3, &attribute, &start, 1, &failed, self->first),
		      "the destination # is not accessible");
	EXPECT_EQ(2, failed);
	start = 1;
	EXPECT_REASON(older(to, from, bytes, 3, &attribute, &start, 1, &failed, self->first),
		      "the first attribute is not for copy #");
	EXPECT_EQ(SIZE_MAX, failed);
}

TEST_F(stream, batches_that_are_none)
{
	CUdeviceptr to[] = { AT(0), AT(1) }, from[] = { AT(1024), AT(1024) };
	size_t bytes[] = { 4, 4 }, starts[] = { 0, 1 };
	CUmemcpyAttributes good = { .srcAccessOrder = STREAM }, attributes[2];

	self->at[1024] = 5;
#define NO_BATCH(count, attributes_count, stream, reason, ...)			\
({										\
	attributes[0] = attributes[1] = good;					\
	starts[0] = 0;								\
	starts[1] = 1;								\
	__VA_ARGS__;								\
	EXPECT_REASON(cuMemcpyBatchAsync(to, from, bytes, count, attributes, starts, \
					 attributes_count, stream), reason);	\
})
	NO_BATCH(0, 1, self->first, "# attributes for # copies");
	NO_BATCH(2, 0, self->first, "# attributes for # copies");
	NO_BATCH(1, 2, self->first, "# attributes for # copies");
	NO_BATCH(2, 1, NULL, "batches are not for the legacy stream");
	NO_BATCH(2, 1, CU_STREAM_LEGACY, "batches are not for the legacy stream");
	NO_BATCH(2, 2, self->first, "the first attribute is not for copy #", starts[0] = 1);
	NO_BATCH(2, 2, self->first, "attribute # starts at copy #, not after", starts[1] = 0);
	NO_BATCH(2, 2, self->first, "attribute # starts at copy #, not after", starts[1] = 2);
	NO_BATCH(2, 2, self->first, "no such order of access: #", attributes[1].srcAccessOrder = 0);
	NO_BATCH(2, 2, self->first, "no such order of access: #", attributes[1].srcAccessOrder = 4);
	NO_BATCH(2, 2, self->first, "unknown flags #", attributes[1].flags = 2);
	NO_BATCH(2, 2, self->first, "no such location: #", attributes[1].srcLocHint.type = 5);
	NO_BATCH(2, 2, self->first, "the hint names device #", attributes[1].dstLocHint =
		 (CUmemLocation) { CU_MEM_LOCATION_TYPE_DEVICE, 64 });
	attributes[0] = good;
	EXPECT_REASON(cuMemcpyBatchAsync(NULL, from, bytes, 1, attributes, starts, 1,
					 self->first), "NULL pointer");
	EXPECT_REASON(cuMemcpyBatchAsync(to, NULL, bytes, 1, attributes, starts, 1, self->first),
		      "NULL pointer");
	EXPECT_REASON(cuMemcpyBatchAsync(to, from, NULL, 1, attributes, starts, 1, self->first),
		      "NULL pointer");
	EXPECT_REASON(cuMemcpyBatchAsync(to, from, bytes, 1, NULL, starts, 1, self->first),
		      "NULL pointer");
	EXPECT_REASON(cuMemcpyBatchAsync(to, from, bytes, 1, attributes, NULL, 1, self->first),
		      "NULL pointer");
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

/* The first copy is good, but the second is checked before the first is made. */
TEST_F(stream, batches_of_layers_that_are_none)
{
	CUDA_MEMCPY3D_BATCH_OP copies[2];
	CUresult (*older)(size_t, CUDA_MEMCPY3D_BATCH_OP *, size_t *, unsigned long long,
			  CUstream) = dlsym(RTLD_DEFAULT, "cuMemcpy3DBatchAsync");
	size_t failed = 77;

	self->at[1024] = 5;
#define NO_LAYERS(result, text, ...)						\
({										\
	copies[0] = layers_op(AT(0), AT(1024));					\
	copies[1] = layers_op(AT(100), AT(1024));				\
	__VA_ARGS__;								\
	EXPECT_CU_REASON(CUDA_ERROR_##result,					\
			 cuMemcpy3DBatchAsync(2, copies, 0, self->first), text);	\
})
	NO_LAYERS(INVALID_VALUE, "the extent is empty", copies[1].extent.width = 0);
	NO_LAYERS(INVALID_VALUE, "the extent is empty", copies[1].extent.height = 0);
	NO_LAYERS(INVALID_VALUE, "the extent is empty", copies[1].extent.depth = 0);
	NO_LAYERS(INVALID_VALUE, "no such order of access: #", copies[1].srcAccessOrder = 9);
	NO_LAYERS(INVALID_VALUE, "unknown flags #", copies[1].flags = 4);
	NO_LAYERS(INVALID_VALUE, "no such operand: #", copies[1].src.type = 0);
	NO_LAYERS(INVALID_VALUE, "rows of # are less than the width #",
		  copies[1].src.op.ptr.rowLength = 3);
	NO_LAYERS(INVALID_VALUE, "layers of # are less than the height #",
		  copies[1].dst.op.ptr.layerHeight = 1);
	NO_LAYERS(INVALID_VALUE, "no such location: #", copies[1].dst.op.ptr.locHint.type = 77);
	NO_LAYERS(NOT_SUPPORTED, "there are no arrays",
		  copies[1].dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY,
		  copies[1].dst.op.array.array = (CUarray)0x1000);
	copies[0] = layers_op(AT(0), AT(1024));
	EXPECT_REASON(cuMemcpy3DBatchAsync(0, copies, 0, self->first), "no copies");
	EXPECT_REASON(cuMemcpy3DBatchAsync(1, NULL, 0, self->first), "no copies");
	EXPECT_REASON(cuMemcpy3DBatchAsync(1, copies, 1, self->first), "flags must be #");
	EXPECT_REASON(cuMemcpy3DBatchAsync(1, copies, 0, NULL), "batches are not for the legacy");
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(0, self->at[0]);

	/* the call of older programs says which copy was bad */
	ASSERT_NE(NULL, older);
	EXPECT_OK(older(1, copies, &failed, 0, self->first));
	EXPECT_EQ(77, failed);
	copies[1] = layers_op(AT(100), AT(1024));
	copies[1].extent.width = 0;
	EXPECT_REASON(older(2, copies, &failed, 0, self->first), "the extent is empty");
	EXPECT_EQ(1, failed);
	EXPECT_REASON(older(2, copies, &failed, 1, self->first), "flags must be #");
	EXPECT_EQ(SIZE_MAX, failed);
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(5, self->at[0]);
}

TEST_HARNESS_MAIN
