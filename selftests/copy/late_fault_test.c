// SPDX-License-Identifier: MIT
/*
 * Queued work that finds its memory unmapped: which error the stream gets, as recorded on
 * hardware. A fault ends the device for its process, and each test has a process of its own.
 */
#include "reason.h"
#include "stream_fixture.h"

enum work {
	FILL, FILL_ROWS, DEVICE_FROM, DEVICE_TO, GENERIC_FROM, GENERIC_HOST, ROWS, HOST_TO, HOST_FROM,
	BATCH, GRAPH_FILL, GRAPH_COPY, WRITE, WAIT,
};

FIXTURE(late)
{
	CUdeviceptr gone, other;	/* unmapped before the stream gets there; stays */
	char *host;			/* of cuMemHostAlloc() */
	CUstream stream;
};

FIXTURE_VARIANT(late)
{
	enum work work;
	size_t bytes;
	CUresult result;
};

#define CASE(name, ...) FIXTURE_VARIANT_ADD(late, name) { __VA_ARGS__ }
CASE(fill_of_1_byte, FILL, 1, CUDA_ERROR_LAUNCH_FAILED);
CASE(fill_below_16k, FILL, 16380, CUDA_ERROR_LAUNCH_FAILED);
CASE(fill_of_16k, FILL, 16384, CUDA_ERROR_ILLEGAL_ADDRESS);
CASE(fill_of_1m, FILL, 1 << 20, CUDA_ERROR_ILLEGAL_ADDRESS);
CASE(fill_of_rows, FILL_ROWS, 16, CUDA_ERROR_ILLEGAL_ADDRESS);
CASE(copy_from_it, DEVICE_FROM, 64, CUDA_ERROR_ILLEGAL_ADDRESS);
CASE(copy_to_it, DEVICE_TO, 1 << 20, CUDA_ERROR_ILLEGAL_ADDRESS);
CASE(generic_copy, GENERIC_FROM, 64, CUDA_ERROR_ILLEGAL_ADDRESS);
CASE(generic_copy_to_the_host, GENERIC_HOST, 64, CUDA_ERROR_LAUNCH_FAILED);
CASE(copy_of_rows, ROWS, 64, CUDA_ERROR_ILLEGAL_ADDRESS);
CASE(copy_from_the_host, HOST_TO, 4096, CUDA_ERROR_LAUNCH_FAILED);
CASE(copy_to_the_host, HOST_FROM, 1 << 16, CUDA_ERROR_LAUNCH_FAILED);
CASE(batch_of_a_copy, BATCH, 64, CUDA_ERROR_ILLEGAL_ADDRESS);
CASE(graph_with_a_fill, GRAPH_FILL, 64, CUDA_ERROR_LAUNCH_FAILED);
CASE(graph_with_a_copy, GRAPH_COPY, 64, CUDA_ERROR_ILLEGAL_ADDRESS);
CASE(write_of_a_word, WRITE, 4, CUDA_ERROR_LAUNCH_FAILED);
CASE(wait_for_a_word, WAIT, 4, CUDA_ERROR_LAUNCH_FAILED);

FIXTURE_SETUP(late)
{
	cuda_start(0);
	self->gone = ADDRESS(mapped(new_memory(0, CHUNK), CHUNK, 0));
	self->other = ADDRESS(mapped(new_memory(0, CHUNK), CHUNK, 0));
	ASSERT_OK(cuMemHostAlloc((void **)&self->host, CHUNK, 0));
	ASSERT_OK(cuStreamCreate(&self->stream, CU_STREAM_NON_BLOCKING));
}
NOTHING_LEFT(late)

static CUresult copy_rows(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	CUDA_MEMCPY2D copy = {
		.srcMemoryType = CU_MEMORYTYPE_UNIFIED, .srcDevice = from, .srcPitch = 2 * bytes,
		.dstMemoryType = CU_MEMORYTYPE_UNIFIED, .dstDevice = to, .dstPitch = 2 * bytes,
		.WidthInBytes = bytes, .Height = 4,
	};

	return cuMemcpy2DAsync(&copy, stream);
}

static CUresult copy_batch(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	CUmemcpyAttributes how = { .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM };
	size_t start = 0;

	return cuMemcpyBatchAsync(&to, &from, &bytes, 1, &how, &start, 1, stream);
}

/* Launches a graph of what the function queues. */
static CUresult captured(CUresult queued, CUstream stream)
{
	CUgraphExec instance;
	CUgraph graph;
	CUresult result = cuStreamEndCapture(stream, &graph);

	if (queued != CUDA_SUCCESS || result != CUDA_SUCCESS)
		return queued ? queued : result;
	result = cuGraphInstantiate(&instance, graph, 0);
	/* the wait that the graph comes after is the test's */
	return result == CUDA_SUCCESS ? cuGraphLaunch(instance, stream) : result;
}

static CUresult queue(FIXTURE_DATA(late) *self, const FIXTURE_VARIANT(late) *variant)
{
	CUdeviceptr gone = self->gone, other = self->other;
	CUstream stream = self->stream;
	size_t bytes = variant->bytes;

	switch (variant->work) {
	case FILL:
		return bytes % 4 ? cuMemsetD8Async(gone, 9, bytes, stream) :
				   cuMemsetD32Async(gone, 9, bytes / 4, stream);
	case FILL_ROWS:
		return cuMemsetD2D8Async(gone, 2 * bytes, 9, bytes, 4, stream);
	case DEVICE_FROM:
		return cuMemcpyDtoDAsync(other, gone, bytes, stream);
	case DEVICE_TO:
		return cuMemcpyDtoDAsync(gone, other, bytes, stream);
	case GENERIC_FROM:
		return cuMemcpyAsync(other, gone, bytes, stream);
	case GENERIC_HOST:
		return cuMemcpyAsync(ADDRESS(self->host), gone, bytes, stream);
	case ROWS:
		return copy_rows(other, gone, bytes, stream);
	case HOST_TO:
		return cuMemcpyHtoDAsync(gone, self->host, bytes, stream);
	case HOST_FROM:
		return cuMemcpyDtoHAsync(self->host, gone, bytes, stream);
	case BATCH:
		return copy_batch(other, gone, bytes, stream);
	case GRAPH_FILL:
		cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
		return captured(cuMemsetD8Async(gone, 9, bytes, stream), stream);
	case GRAPH_COPY:
		cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
		return captured(cuMemcpyDtoDAsync(other, gone, bytes, stream), stream);
	case WRITE:
		return cuStreamWriteValue32(stream, gone, 1, 0);
	default:
		return cuStreamWaitValue32(stream, gone, 1, CU_STREAM_WAIT_VALUE_EQ);
	}
}

TEST_F(late, result)
{
	volatile uint32_t *gate = (uint32_t *)(self->host + CHUNK) - 1;

	ASSERT_OK(cuStreamWaitValue32(self->stream, ADDRESS(gate), 1, CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(queue(self, variant));
	ASSERT_OK(cuMemUnmap(self->gone, CHUNK));
	*gate = 1;
	EXPECT_CU_REASON(variant->result, cuStreamSynchronize(self->stream),
			 "work in a stream has failed");
	EXPECT_CU(variant->result, cuCtxSynchronize());
	EXPECT_CU(variant->result, cuMemsetD8(self->other, 1, 1));
}

/* If the reservation is freed as well, the kind of the call tells whose side it was. */
TEST_F(late, without_its_reservation)
{
	volatile uint32_t *gate = (uint32_t *)(self->host + CHUNK) - 1;

	if (variant->work == GENERIC_FROM || variant->work == ROWS || variant->work == BATCH)
		SKIP(return, "the call does not say that both sides are a device's");
	ASSERT_OK(cuStreamWaitValue32(self->stream, ADDRESS(gate), 1, CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(queue(self, variant));
	ASSERT_OK(cuMemUnmap(self->gone, CHUNK));
	ASSERT_OK(cuMemAddressFree(self->gone, CHUNK));
	*gate = 1;
	EXPECT_CU(variant->result, cuStreamSynchronize(self->stream));
}

TEST_HARNESS_MAIN
