// SPDX-License-Identifier: MIT
/*
 * The names that a program built for the per-thread default stream imports: each does what its
 * plain form does, in the thread's own stream.
 *
 * A call's stream shows in what it waits for. A blocking stream with unfinished work holds up the
 * legacy stream, but not the thread's own; unfinished work in the thread's own stream does hold up
 * the call.
 */
#include "stream_fixture.h"

#define ADDRESS_OF(at, word)	((at) + 4 * (word))

/* The memory that a form uses; device memory is zero, except for the words that the form reads. */
struct place {
	CUdeviceptr to, from;		/* 64 words of device 0 each */
	CUdeviceptr other;		/* 64 words of device 1, to which device 0 has no access */
	uint32_t *host;			/* 64 words: 0x1000, 0x1001, ... */
	CUcontext context, peer;	/* of device 0 and of 1 */
};

static CUDA_MEMCPY2D *rows(const struct place *at, size_t pitch)
{
	static CUDA_MEMCPY2D copy;

	copy = (CUDA_MEMCPY2D) {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = at->from, .srcPitch = 16,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = at->to, .dstPitch = pitch,
		.WidthInBytes = 12, .Height = 3,
	};
	return &copy;
}

static CUDA_MEMCPY3D *layers(const struct place *at)
{
	static CUDA_MEMCPY3D copy;

	copy = (CUDA_MEMCPY3D) {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = at->from, .srcPitch = 16,
		.srcHeight = 3,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = at->to, .dstPitch = 20,
		.dstHeight = 2,
		.WidthInBytes = 12, .Height = 2, .Depth = 2,
	};
	return &copy;
}

static CUDA_MEMCPY3D_PEER *peer_layers(const struct place *at)
{
	static CUDA_MEMCPY3D_PEER copy;

	copy = (CUDA_MEMCPY3D_PEER) {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = at->other, .srcPitch = 16,
		.srcContext = at->peer,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = at->to, .dstPitch = 20,
		.dstContext = at->context,
		.WidthInBytes = 12, .Height = 2, .Depth = 2,
	};
	return &copy;
}

static CUstreamBatchMemOpParams *two_writes(const struct place *at)
{
	static CUstreamBatchMemOpParams params[2];

	params[0].writeValue = (struct CUstreamMemOpWriteValueParams_st) {
		.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32,
		.address = ADDRESS_OF(at->to, 2), .value = 21,
	};
	params[1].writeValue = (struct CUstreamMemOpWriteValueParams_st) {
		.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64,
		.address = ADDRESS_OF(at->to, 4), .value64 = 1ULL << 40,
	};
	return params;
}

static void write_word(void *data)
{
	((uint32_t *)data)[5] = 55;
}

static void write_word_if_good(CUstream stream, CUresult status, void *data)
{
	(void)stream;
	if (status == CUDA_SUCCESS)
		write_word(data);
}

/* State of the work when the call returns: queued in the stream, or done */
enum returns { QUEUED, DONE, DONE_LAST };

/*
 * FORM(name, suffix, returns, arguments): DONE is a call with the host's memory; DONE_LAST is a
 * call that, like the legacy stream, comes after the other streams of its contexts.
 */
#define FORMS(FORM)									\
	FORM(cuMemcpy, ptds, QUEUED, at->to, at->from, 12)				\
	FORM(cuMemcpyHtoD_v2, ptds, DONE, at->to, at->host, 12)				\
	FORM(cuMemcpyDtoH_v2, ptds, DONE, at->host, at->from, 12)			\
	FORM(cuMemcpyDtoD_v2, ptds, QUEUED, at->to, at->from, 12)			\
	FORM(cuMemcpyPeer, ptds, DONE_LAST, at->to, at->context, at->other, at->peer, 12)	\
	FORM(cuMemcpy2D_v2, ptds, QUEUED, rows(at, 20))					\
	FORM(cuMemcpy2DUnaligned_v2, ptds, QUEUED, rows(at, 13))			\
	FORM(cuMemcpy3D_v2, ptds, QUEUED, layers(at))					\
	FORM(cuMemcpy3DPeer, ptds, DONE_LAST, peer_layers(at))				\
	FORM(cuMemsetD8_v2, ptds, QUEUED, at->to, 0x11, 5)				\
	FORM(cuMemsetD16_v2, ptds, QUEUED, at->to, 0x1122, 5)				\
	FORM(cuMemsetD32_v2, ptds, QUEUED, at->to, 0x11223344, 5)			\
	FORM(cuMemsetD2D8_v2, ptds, QUEUED, at->to, 7, 0x11, 5, 3)			\
	FORM(cuMemsetD2D16_v2, ptds, QUEUED, at->to, 12, 0x1122, 5, 3)			\
	FORM(cuMemsetD2D32_v2, ptds, QUEUED, at->to, 24, 0x11223344, 5, 3)		\
	FORM(cuMemcpyAsync, ptsz, QUEUED, at->to, at->from, 12, stream)			\
	FORM(cuMemcpyHtoDAsync_v2, ptsz, QUEUED, at->to, at->host, 12, stream)		\
	FORM(cuMemcpyDtoHAsync_v2, ptsz, DONE, at->host, at->from, 12, stream)		\
	FORM(cuMemcpyDtoDAsync_v2, ptsz, QUEUED, at->to, at->from, 12, stream)		\
	FORM(cuMemcpyPeerAsync, ptsz, QUEUED, at->to, at->context, at->other, at->peer, 12,	\
	     stream)									\
	FORM(cuMemcpy2DAsync_v2, ptsz, QUEUED, rows(at, 20), stream)			\
	FORM(cuMemcpy3DAsync_v2, ptsz, QUEUED, layers(at), stream)			\
	FORM(cuMemcpy3DPeerAsync, ptsz, QUEUED, peer_layers(at), stream)		\
	FORM(cuMemsetD8Async, ptsz, QUEUED, at->to, 0x11, 5, stream)			\
	FORM(cuMemsetD16Async, ptsz, QUEUED, at->to, 0x1122, 5, stream)			\
	FORM(cuMemsetD32Async, ptsz, QUEUED, at->to, 0x11223344, 5, stream)		\
	FORM(cuMemsetD2D8Async, ptsz, QUEUED, at->to, 7, 0x11, 5, 3, stream)		\
	FORM(cuMemsetD2D16Async, ptsz, QUEUED, at->to, 12, 0x1122, 5, 3, stream)	\
	FORM(cuMemsetD2D32Async, ptsz, QUEUED, at->to, 24, 0x11223344, 5, 3, stream)	\
	FORM(cuLaunchHostFunc, ptsz, QUEUED, stream, write_word, at->host)		\
	FORM(cuStreamAddCallback, ptsz, QUEUED, stream, write_word_if_good, at->host, 0)	\
	FORM(cuStreamWriteValue32_v2, ptsz, QUEUED, stream, at->to, 99, 0)		\
	FORM(cuStreamWriteValue64_v2, ptsz, QUEUED, stream, at->to, 99ULL << 33, 0)	\
	FORM(cuStreamBatchMemOp_v2, ptsz, QUEUED, stream, 2, two_writes(at), 0)

#define BOTH_WAYS(name, suffix, returns, ...)						\
extern __typeof__(name) name##_##suffix;						\
static CUresult plain_##name(const struct place *at, CUstream stream)			\
{											\
	(void)stream;									\
	return name(__VA_ARGS__);							\
}											\
static CUresult own_##name(const struct place *at, CUstream stream)			\
{											\
	(void)stream;									\
	return name##_##suffix(__VA_ARGS__);						\
}
FORMS(BOTH_WAYS)

#define ROW(name, suffix, returns, ...)							\
	{ #name "_" #suffix, plain_##name, own_##name, returns, #suffix[3] == 'z' },

static const struct form {
	const char *name;
	CUresult (*plain)(const struct place *at, CUstream stream);
	CUresult (*own)(const struct place *at, CUstream stream);
	enum returns returns;
	bool has_stream;
} forms[] = { FORMS(ROW) };

#define ALL	(sizeof(forms) / sizeof(forms[0]))
#define WORDS	64
#define BYTES	(4 * WORDS)

static uint32_t plain_host[WORDS], own_host[WORDS];

/* Gives both places the same contents, as before any call. */
#define fill_places(plain, own)	fill_places_(self, plain, own)
static void fill_places_(FIXTURE_DATA(stream) *self, struct place *plain, struct place *own)
{
	int i;

	memset((void *)self->at, 0, 4 * BYTES);
	for (i = 0; i < WORDS; i++) {
		self->at[WORDS + i] = self->at[3 * WORDS + i] = 0x2000 + i;
		plain_host[i] = own_host[i] = 0x1000 + i;
	}
	*self->gate = 0;
	plain->to = AT(0);
	plain->from = AT(WORDS);
	plain->host = plain_host;
	own->to = AT(2 * WORDS);
	own->from = AT(3 * WORDS);
	own->host = own_host;
}

#define make_places(plain, own)	make_places_(_metadata, plain, own)
static void make_places_(struct __test_metadata *_metadata, struct place *plain,
			 struct place *own)
{
	volatile uint32_t *other = mapped(new_memory(1, CHUNK), CHUNK, 1);
	int i;

	for (i = 0; i < WORDS; i++)
		other[i] = 0x3000 + i;
	plain->other = own->other = ADDRESS(other);
	ASSERT_OK(cuCtxGetCurrent(&plain->context));
	own->context = plain->context;
	ASSERT_OK(cuDevicePrimaryCtxRetain(&plain->peer, 1));
	own->peer = plain->peer;
}

static bool same(FIXTURE_DATA(stream) *self)
{
	return !memcmp((void *)self->at, (void *)(self->at + 2 * WORDS), 2 * BYTES) &&
	       !memcmp(plain_host, own_host, BYTES);
}

/* ---- forms in the table ---- */

TEST_F(stream, forms_do_what_plain_ones_do)
{
	struct place plain, own;
	unsigned int i;

	make_places(&plain, &own);
	for (i = 0; i < ALL; i++) {
		fill_places(&plain, &own);
		ASSERT_OK(forms[i].plain(&plain, NULL)) TH_LOG("%s", forms[i].name);
		ASSERT_OK(cuCtxSynchronize());
		EXPECT_FALSE(same(self)) TH_LOG("%s does nothing", forms[i].name);
		ASSERT_OK(forms[i].own(&own, NULL)) TH_LOG("%s", forms[i].name);
		ASSERT_OK(cuCtxSynchronize());
		EXPECT_TRUE(same(self)) TH_LOG("%s", forms[i].name);
	}
}

/* The legacy stream would wait for the stream that is held up. */
TEST_F(stream, forms_do_not_wait_as_the_legacy_stream)
{
	struct place plain, own;
	unsigned int i;

	make_places(&plain, &own);
	for (i = 0; i < ALL; i++) {
		if (forms[i].returns == DONE_LAST)
			continue;
		fill_places(&plain, &own);
		ASSERT_OK(forms[i].plain(&plain, NULL));
		ASSERT_OK(cuCtxSynchronize());
		HOLD(self->first);
		ASSERT_OK(forms[i].own(&own, NULL)) TH_LOG("%s", forms[i].name);
		ASSERT_OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
		EXPECT_TRUE(same(self)) TH_LOG("%s is in another stream", forms[i].name);
		EXPECT_WAITS(self->first);
		LET_GO();
		ASSERT_OK(cuCtxSynchronize());
	}
}

TEST_F(stream, forms_come_after_own_work)
{
	struct place plain, own;
	pthread_t thread;
	unsigned int i;

	make_places(&plain, &own);
	for (i = 0; i < ALL; i++) {
		fill_places(&plain, &own);
		ASSERT_OK(forms[i].plain(&plain, NULL));
		ASSERT_OK(cuCtxSynchronize());
		HOLD(CU_STREAM_PER_THREAD);
		if (forms[i].returns != QUEUED) {
			thread = LET_GO_LATER();
			ASSERT_OK(forms[i].own(&own, NULL));
			EXPECT_EQ(1, *self->gate) TH_LOG("%s did not wait", forms[i].name);
			EXPECT_TRUE(same(self)) TH_LOG("%s", forms[i].name);
			pthread_join(thread, NULL);
		} else {
			ASSERT_OK(forms[i].own(&own, NULL));
			EXPECT_FALSE(same(self)) TH_LOG("%s came before", forms[i].name);
			LET_GO();
			ASSERT_OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
			EXPECT_TRUE(same(self)) TH_LOG("%s", forms[i].name);
		}
		ASSERT_OK(cuCtxSynchronize());
	}
}

/* A form with a stream as argument uses that stream. */
TEST_F(stream, forms_take_other_streams)
{
	struct place plain, own;
	unsigned int i, seen = 0;

	make_places(&plain, &own);
	for (i = 0; i < ALL; i++) {
		if (!forms[i].has_stream)
			continue;
		fill_places(&plain, &own);
		ASSERT_OK(forms[i].plain(&plain, NULL));
		ASSERT_OK(cuCtxSynchronize());
		HOLD(CU_STREAM_PER_THREAD);
		ASSERT_OK(forms[i].own(&own, self->free));
		ASSERT_OK(cuStreamSynchronize(self->free));
		EXPECT_TRUE(same(self)) TH_LOG("%s", forms[i].name);
		EXPECT_WAITS(CU_STREAM_PER_THREAD);
		LET_GO();
		ASSERT_OK(cuCtxSynchronize());
		seen++;
	}
	EXPECT_EQ(19, seen);
}

TEST_HARNESS_MAIN
