// SPDX-License-Identifier: MIT
/*
 * Host functions and callbacks: a call that uses the current context, or could wait for its own
 * stream, answers CUDA_ERROR_NOT_PERMITTED there, whichever stream it names, and does nothing.
 */
#include <setjmp.h>
#include <signal.h>
#include "stream_fixture.h"
#include "processor.h"

struct inside {
	CUcontext context;
	CUstream stream, made;
	CUevent event, other;
	CUdeviceptr at, block;
	uint32_t *host;
	unsigned int call;
	CUresult set, result;
};

static void nothing(void *data)
{
	(void)data;
}

static void nothing_either(CUstream stream, CUresult status, void *data)
{
	(void)stream;
	(void)status;
	(void)data;
}

static CUDA_MEMCPY2D *rows(const struct inside *in)
{
	static CUDA_MEMCPY2D copy;

	copy = (CUDA_MEMCPY2D) {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = in->at,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = in->at + 512,
		.WidthInBytes = 4, .Height = 2,
	};
	return &copy;
}

/* Calls of a stream, for the default streams and for the callback's own stream */
#define OF_STREAM(CALL, stream)						\
	CALL(cuStreamQuery(stream))					\
	CALL(cuStreamSynchronize(stream))				\
	CALL(cuStreamGetId(stream, &number))				\
	CALL(cuStreamGetFlags(stream, &word))				\
	CALL(cuStreamGetPriority(stream, &priority))			\
	CALL(cuStreamGetDevice(stream, &device))			\
	CALL(cuStreamGetCtx(stream, &context))				\
	CALL(cuStreamGetCtx_v2(stream, &context, &green))		\
	CALL(cuLaunchHostFunc(stream, nothing, NULL))			\
	CALL(cuStreamAddCallback(stream, nothing_either, NULL, 0))	\
	CALL(cuStreamWaitEvent(stream, in->event, 0))			\
	CALL(cuStreamWaitValue32(stream, in->at, 0, 0))			\
	CALL(cuStreamWaitValue64(stream, in->at, 0, 0))			\
	CALL(cuStreamWriteValue32(stream, in->at, 9, 0))		\
	CALL(cuStreamWriteValue64(stream, in->at, 9, 0))		\
	CALL(cuStreamBatchMemOp(stream, 0, NULL, 0))			\
	CALL(cuEventRecord(in->event, stream))				\
	CALL(cuEventRecordWithFlags(in->event, stream, 0))		\
	CALL(cuMemcpyAsync(in->at, in->at + 8, 4, stream))		\
	CALL(cuMemcpyHtoDAsync(in->at, in->host, 4, stream))		\
	CALL(cuMemcpyDtoHAsync(in->host, in->at, 4, stream))		\
	CALL(cuMemcpyDtoDAsync(in->at, in->at + 8, 4, stream))		\
	CALL(cuMemcpyPeerAsync(in->at, in->context, in->at + 8, in->context, 4, stream)) \
	CALL(cuMemcpy2DAsync(rows(in), stream))				\
	CALL(cuMemsetD8Async(in->at, 9, 4, stream))			\
	CALL(cuMemsetD16Async(in->at, 9, 4, stream))			\
	CALL(cuMemsetD32Async(in->at, 9, 4, stream))			\
	CALL(cuMemsetD2D8Async(in->at, 8, 9, 4, 2, stream))		\
	CALL(cuMemsetD2D16Async(in->at, 8, 9, 4, 2, stream))		\
	CALL(cuMemsetD2D32Async(in->at, 16, 9, 4, 2, stream))		\
	CALL(cuMemAllocAsync(&address, 4, stream))			\
	CALL(cuMemFreeAsync(in->block, stream))

#define WITHOUT_STREAM(CALL)						\
	CALL(cuStreamCreate(&made, 0))					\
	CALL(cuStreamCreateWithPriority(&made, 0, 0))			\
	CALL(cuStreamDestroy(in->made))					\
	CALL(cuEventDestroy(in->event))					\
	CALL(cuEventQuery(in->event))					\
	CALL(cuEventSynchronize(in->event))				\
	CALL(cuEventElapsedTime(&time, in->event, in->other))		\
	CALL(cuCtxSynchronize())					\
	CALL(cuCtxSynchronize_v2(in->context))				\
	CALL(cuCtxAttach(&context, 0))					\
	CALL(cuCtxDetach(in->context))					\
	CALL(cuMemcpy(in->at, in->at + 8, 4))				\
	CALL(cuMemcpyHtoD(in->at, in->host, 4))				\
	CALL(cuMemcpyDtoH(in->host, in->at, 4))				\
	CALL(cuMemcpyDtoD(in->at, in->at + 8, 4))			\
	CALL(cuMemcpyPeer(in->at, in->context, in->at + 8, in->context, 4)) \
	CALL(cuMemcpy2D(rows(in)))					\
	CALL(cuMemcpy2DUnaligned(rows(in)))				\
	CALL(cuMemsetD8(in->at, 9, 4))					\
	CALL(cuMemsetD16(in->at, 9, 4))					\
	CALL(cuMemsetD32(in->at, 9, 4))					\
	CALL(cuMemsetD2D8(in->at, 8, 9, 4, 2))				\
	CALL(cuMemsetD2D16(in->at, 8, 9, 4, 2))				\
	CALL(cuMemsetD2D32(in->at, 16, 9, 4, 2))			\
	CALL(cuMemFree(in->block))					\
	CALL(cuMemAlloc(&address, 4))					\
	CALL(cuMemAllocPitch(&address, &bytes, 4, 2, 4))		\
	CALL(cuMemAllocHost(&pointer, 4))				\
	CALL(cuMemHostAlloc(&pointer, 4, 0))				\
	CALL(cuMemHostRegister(in->host, 4, 0))				\
	CALL(cuMemAllocManaged(&address, 4, CU_MEM_ATTACH_GLOBAL))	\
	CALL(cuMemGetInfo(&bytes, NULL))				\
	CALL(cuEventCreate(&event, 0))

#define CALLS(CALL)							\
	WITHOUT_STREAM(CALL)						\
	OF_STREAM(CALL, NULL)						\
	OF_STREAM(CALL, CU_STREAM_PER_THREAD)				\
	OF_STREAM(CALL, in->stream)

#define NAME(expression)	#expression,
static const char *const names[] = { CALLS(NAME) };

#define CASE(expression)	if (in->call == next++) return expression;

static CUresult call(struct inside *in)
{
	unsigned int next = 0, word;
	CUdeviceptr address = 0;
	unsigned long long number;
	CUcontext context;
	CUgreenCtx green;
	CUdevice device;
	CUevent event;
	CUstream made;
	void *pointer;
	size_t bytes;
	int priority;
	float time;

	CALLS(CASE)
	return CUDA_ERROR_UNKNOWN;
}

static void call_inside(void *data)
{
	struct inside *in = data;

	in->set = cuCtxSetCurrent(in->context);
	in->result = call(in);
}

static void call_back_inside(CUstream stream, CUresult status, void *data)
{
	(void)stream;
	if (status == CUDA_SUCCESS)
		call_inside(data);
}

TEST_F(stream, nothing_that_could_wait_or_allocates)
{
	struct inside in = { .stream = self->first, .made = self->second, .at = AT(0) };
	unsigned int words[4];
	uint32_t host = 7;
	CUdeviceptr end;

	ASSERT_OK(cuCtxGetCurrent(&in.context));
	ASSERT_OK(cuEventCreate(&in.event, 0));
	ASSERT_OK(cuEventCreate(&in.other, 0));
	ASSERT_OK(cuEventRecord(in.event, self->free));
	ASSERT_OK(cuEventRecord(in.other, self->free));
	ASSERT_OK(cuMemAlloc(&in.block, 4));
	in.host = &host;
	for (in.call = 0; in.call < ARRAY_SIZE(names); in.call++) {
		in.set = in.result = CUDA_ERROR_UNKNOWN;
		ASSERT_OK(in.call % 2 ?
			  cuLaunchHostFunc(self->first, call_inside, &in) :
			  cuStreamAddCallback(self->first, call_back_inside, &in, 0));
		ASSERT_OK(cuStreamSynchronize(self->first));
		ASSERT_OK(in.set);
		EXPECT_CU(CUDA_ERROR_NOT_PERMITTED, in.result) TH_LOG("%s", names[in.call]);
	}
	/* none of the calls had any effect */
	EXPECT_OK(cuCtxSynchronize());
	memcpy(words, (void *)self->at, sizeof(words));
	EXPECT_EQ(0, words[0] | words[1] | words[2] | words[3]);
	EXPECT_EQ(7, host);
	EXPECT_OK(cuStreamQuery(self->second));
	EXPECT_OK(cuEventQuery(in.event));
	EXPECT_OK(cuMemGetAddressRange(&end, NULL, in.block));
	EXPECT_OK(cuMemFree(in.block));
}

/* ---- signals */

static sigjmp_buf out;

static void jump(int number)
{
	siglongjmp(out, number);
}

struct signals {
	bool own;
	int raised;
};

static void divide_by_zero(void *data)
{
	struct signals *signals = data;

	signals->own = signals_are_own();
	signals->raised = sigsetjmp(out, 1);
	if (!signals->raised)
		arithmetic_fails();
}

/* The program handles what a host function raises. */
TEST_F(stream, signals_of_a_host_function)
{
	struct signals signals = {};

	signal(SIGFPE, jump);
	ASSERT_OK(cuLaunchHostFunc(self->first, divide_by_zero, &signals));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_TRUE(signals.own);
	EXPECT_EQ(SIGFPE, signals.raised);
	signal(SIGFPE, SIG_DFL);
}

TEST_HARNESS_MAIN
