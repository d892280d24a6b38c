// SPDX-License-Identifier: MIT
/* Work in streams that fails, is discarded with its context, or comes from several threads. */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "stream_fixture.h"
#include "reason.h"

/* ---- host functions ---- */

static void sigmask_of(void *mask)
{
	pthread_sigmask(SIG_BLOCK, NULL, mask);
}

TEST_F(stream, threads_block_signals)
{
	sigset_t mask;

	sigemptyset(&mask);
	ASSERT_OK(cuLaunchHostFunc(self->first, sigmask_of, &mask));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(1, sigismember(&mask, SIGTERM));
	EXPECT_EQ(1, sigismember(&mask, SIGPROF));
	EXPECT_EQ(1, sigismember(&mask, SIGUSR1));
}

struct seen {
	CUstream stream;
	CUresult status, inside;
};

static void look(CUstream stream, CUresult status, void *data)
{
	struct seen *seen = data;

	seen->stream = stream;
	seen->status = status;
	seen->inside = cuStreamSynchronize(stream);
}

TEST_F(stream, callbacks_may_not_call)
{
	struct seen seen = { .status = CUDA_ERROR_UNKNOWN };

	EXPECT_REASON(cuStreamAddCallback(self->first, look, &seen, 1), "flags must be #");
	EXPECT_REASON(cuStreamAddCallback(self->first, NULL, &seen, 0), "NULL function");
	EXPECT_REASON(cuLaunchHostFunc(self->first, NULL, NULL), "NULL function");
	ASSERT_OK(cuStreamAddCallback(self->first, look, &seen, 0));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(self->first, seen.stream);
	EXPECT_CU(CUDA_SUCCESS, seen.status);
	EXPECT_CU(CUDA_ERROR_NOT_PERMITTED, seen.inside);
}

/* ---- copies ---- */

TEST_F(stream, async_arguments_are_checked_at_the_call)
{
	uint32_t host = 0;

	HOLD(self->first);
	EXPECT_REASON(cuMemcpyHtoDAsync(AT(CHUNK / 4 - 1), &host, 8, self->first),
		      "device # cannot write # bytes at #: unmapped, unbound");
	EXPECT_REASON(cuMemcpyHtoDAsync(AT(0), NULL, 4, self->first),
		      "the source # is not accessible");
	EXPECT_REASON(cuMemcpyDtoDAsync(AT(0), ADDRESS(&host), 4, self->first),
		      "the source # is not device memory");
	EXPECT_REASON(cuMemsetD32Async(AT(0) + 2, 0, 1, self->first),
		      "# or the pitch # is not a multiple of #");
	EXPECT_REASON(cuMemsetD8Async(ADDRESS(&host), 0, 1, self->first),
		      "the destination # is not device memory");
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
		  cuMemsetD32Async(AT(0), 0, 1, (CUstream)0x1234));
	LET_GO();
	EXPECT_OK(cuStreamSynchronize(self->first));
}

TEST_F(stream, host_source_may_change_after_the_call)
{
	uint32_t host[64], i;

	for (i = 0; i < 64; i++)
		host[i] = i;
	HOLD(self->first);
	ASSERT_OK(cuMemcpyHtoDAsync(AT(0), host, sizeof(host), self->first));
	memset(host, 0xff, sizeof(host));
	EXPECT_EQ(0, self->at[63]);
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(1, self->at[1]);
	EXPECT_EQ(63, self->at[63]);
}

TEST_F(stream, host_destination_is_written_at_return)
{
	uint32_t host = 0;
	pthread_t thread;

	HOLD(self->first);
	SET(0, 8, self->first);
	thread = LET_GO_LATER();
	ASSERT_OK(cuMemcpyDtoHAsync(&host, AT(0), 4, self->first));
	EXPECT_EQ(8, host);
	pthread_join(thread, NULL);
}

struct copier {
	CUcontext context;
	CUstream stream;		/* NULL: a call without a stream */
	CUdeviceptr device;
	uint32_t *host;
	bool to_device;
	atomic_int thread;
	CUresult result;
};

static CUresult copy_by(const struct copier *copier)
{
	if (copier->to_device)
		return cuMemcpyHtoD(copier->device, copier->host, 4);
	return copier->stream ?
		cuMemcpyDtoHAsync(copier->host, copier->device, 4, copier->stream) :
		cuMemcpyDtoH(copier->host, copier->device, 4);
}

static void *copy_there(void *data)
{
	struct copier *copier = data;

	copier->result = cuCtxSetCurrent(copier->context);
	copier->thread = (int)syscall(SYS_gettid);
	if (copier->result == CUDA_SUCCESS)
		copier->result = copy_by(copier);
	return NULL;
}

/* Other threads' work comes after a copy that waits for its turn. */
TEST_F(stream, copies_that_wait_are_in_their_stream)
{
	uint32_t host;
	struct copier copier = { .device = AT(0), .host = &host };
	CUstream streams[] = { self->first, NULL };
	pthread_t thread;

	ASSERT_OK(cuCtxGetCurrent(&copier.context));
	for (unsigned int i = 0; i < 20; i++) {
		copier.stream = streams[i % 2];
		copier.thread = 0;
		host = 0;
		*self->gate = 0;
		HOLD(self->first);
		SET(0, 1, self->first);
		ASSERT_EQ(0, pthread_create(&thread, NULL, copy_there, &copier));
		while (!copier.thread)
			sched_yield();
		ASSERT_TRUE(sleeps(getpid(), copier.thread));
		SET(0, 2, copier.stream);
		LET_GO();
		ASSERT_EQ(0, pthread_join(thread, NULL));
		EXPECT_OK(copier.result);
		EXPECT_EQ(1, host);
		ASSERT_OK(cuCtxSynchronize());
		EXPECT_EQ(2, self->at[0]);
	}
}

/* A page that is there once provide() is called: until then a copy of it does not end. */
#define page_to_come(fd)	page_to_come_(_metadata, fd)
TEST_HELPER void *page_to_come_(struct __test_metadata *_metadata, int *fd)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	ASSERT_LE(0, *fd);
	ASSERT_EQ(0, ioctl(*fd, UFFDIO_API, &api));
	ASSERT_NE(MAP_FAILED, page);
	range.range.start = (uintptr_t)page;
	range.range.len = PAGE;
	ASSERT_EQ(0, ioctl(*fd, UFFDIO_REGISTER, &range));
	return page;
}

TEST_HELPER int provide(int fd, void *page, const void *content)
{
	struct uffdio_copy copy = {
		.dst = (uintptr_t)page, .src = (uintptr_t)content, .len = PAGE,
	};

	return ioctl(fd, UFFDIO_COPY, &copy);
}

/* So does other threads' work with a copy that a thread does itself, as the stream was idle. */
TEST_F(stream, copies_that_are_done_at_once_are_in_their_stream)
{
	struct copier copier = { .device = AT(0), .to_device = true };
	uint32_t *content = calloc(1, PAGE);
	struct uffd_msg message;
	pthread_t thread;
	int fd, ran = 0;

	ASSERT_NE(NULL, content);
	content[0] = 5;
	copier.host = page_to_come(&fd);
	ASSERT_OK(cuCtxGetCurrent(&copier.context));
	ASSERT_EQ(0, pthread_create(&thread, NULL, copy_there, &copier));
	ASSERT_EQ(sizeof(message), read(fd, &message, sizeof(message)));

	EXPECT_WAITS(NULL);
	EXPECT_OK(cuStreamQuery(self->free));
	SET(0, 6, NULL);
	ASSERT_OK(cuLaunchHostFunc(self->first, add_one, &ran));
	EXPECT_WAITS(NULL);
	EXPECT_WAITS(self->first);
	EXPECT_EQ(0, ran);
	ASSERT_EQ(0, provide(fd, copier.host, content));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_OK(copier.result);
	ASSERT_OK(cuCtxSynchronize());
	EXPECT_EQ(6, self->at[0]);
	EXPECT_EQ(1, ran);
	ASSERT_EQ(0, close(fd));
	ASSERT_EQ(0, munmap(copier.host, PAGE));
	free(content);
}

/* A peer copy reads with one context's device and writes with the other's. */
TEST_F(stream, peer_copies)
{
	volatile uint32_t *other = mapped(new_memory(1, CHUNK), CHUNK, 1);
	CUcontext context, peer;

	ASSERT_OK(cuCtxGetCurrent(&context));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&peer, 1));
	self->at[0] = 11;
	EXPECT_REASON(cuMemcpyDtoD(ADDRESS(other), AT(0), 4),
		      "device # cannot write # bytes at #: unmapped, unbound");
	ASSERT_OK(cuMemcpyPeer(ADDRESS(other), peer, AT(0), context, 4));
	EXPECT_EQ(11, other[0]);
	EXPECT_REASON(cuMemcpyPeer(ADDRESS(other), context, AT(0), peer, 4),
		      "device # cannot write # bytes at #: unmapped, unbound");
	other[0] = 12;
	ASSERT_OK(cuMemcpyPeerAsync(AT(1), context, ADDRESS(other), peer, 4, self->first));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(12, self->at[1]);
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT,
		  cuMemcpyPeer(ADDRESS(other), (CUcontext)0x5, AT(0), context, 4));
}

/* ---- failures ---- */

TEST_F(stream, late_failures_stay)
{
	struct seen seen = {};
	CUdeviceptr gone = ADDRESS(mapped(new_memory(0, CHUNK), CHUNK, 0));
	CUcontext context;
	CUstream stream;
	int calls = 0;

	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuStreamCreate(&stream, 0));
	HOLD(stream);
	ASSERT_OK(cuMemsetD32Async(gone, 1, 1, stream));
	ASSERT_OK(cuLaunchHostFunc(stream, add_one, &calls));
	ASSERT_OK(cuStreamAddCallback(stream, look, &seen, 0));
	ASSERT_OK(cuMemUnmap(gone, CHUNK));
	LET_GO();
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(stream));
	EXPECT_EQ(0, calls);
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, seen.status);
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamQuery(stream));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuMemsetD32Async(AT(0), 1, 1, stream));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuMemsetD32(AT(0), 1, 1));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
	/* the failure stays in the device's other contexts as well */
	ASSERT_OK(cuCtxDestroy(context));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(stream));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamQuery(self->first));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
}

/* As recorded on hardware: few calls still work after a fault, and the device never comes back. */
TEST_F(stream, a_fault_ends_the_device)
{
	CUdeviceptr gone = ADDRESS(mapped(new_memory(0, CHUNK), CHUNK, 0)), address = 77;
	CUcontext primary, made, other = (CUcontext)77;
	unsigned int value;
	CUevent event;
	size_t bytes;
	int active;

	ASSERT_OK(cuEventCreate(&event, 0));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&primary, 0));
	ASSERT_OK(cuCtxCreate(&made, NULL, 0, 0));
	ASSERT_OK(cuCtxSetCurrent(primary));
	HOLD(self->first);
	ASSERT_OK(cuMemsetD32Async(gone, 1, 1, self->first));
	ASSERT_OK(cuMemUnmap(gone, CHUNK));
	LET_GO();
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(self->first));

	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuMemAlloc(&address, 4));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuMemGetInfo(&bytes, &bytes));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuCtxGetLimit(&bytes, CU_LIMIT_STACK_SIZE));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuEventQuery(event));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuEventDestroy(event));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamDestroy(self->free));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize_v2(made));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuCtxCreate(&other, NULL, 0, 0));
	EXPECT_EQ((CUcontext)77, other);
	EXPECT_EQ(77, address);
	EXPECT_OK(cuCtxGetFlags(&value));
	EXPECT_OK(cuCtxGetApiVersion(NULL, &value));
	EXPECT_OK(cuCtxSetCurrent(made));
	EXPECT_OK(cuCtxSetCurrent(primary));
	EXPECT_OK(cuDevicePrimaryCtxRetain(&other, 0));
	EXPECT_EQ(primary, other);
	/* other devices go on */
	ASSERT_OK(cuCtxCreate(&other, NULL, 0, 1));
	EXPECT_OK(cuMemAlloc(&address, 4));
	ASSERT_OK(cuCtxDestroy(other));

	EXPECT_OK(cuCtxDestroy(made));
	EXPECT_OK(cuDevicePrimaryCtxReset(0));
	EXPECT_OK(cuDevicePrimaryCtxGetState(0, &value, &active));
	EXPECT_EQ(0, active);
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuDevicePrimaryCtxRetain(&other, 0));
	EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&address, 4));
}

/* A call takes a word that the device may only read: the write fails later, in the stream. */
TEST_F(stream, words_that_cannot_be_written)
{
	CUmemAccessDesc reads = {
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READ,
	};
	CUdeviceptr at = ADDRESS(mapped(new_memory(0, CHUNK), CHUNK, 0));

	ASSERT_OK(cuMemSetAccess(at, CHUNK, &reads, 1));
	EXPECT_OK(cuStreamWriteValue32(self->first, at, 1, 0));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(self->first));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuMemsetD8(AT(0), 1, 1));
}

/* After a failure nothing can be queued, and a free that cannot be queued frees nothing. */
TEST_F(stream, nothing_new_after_a_failure)
{
	CUdeviceptr gone = ADDRESS(mapped(new_memory(0, CHUNK), CHUNK, 0)), block, other = 77;
	CUcontext current, context;
	int calls = 0;

	ASSERT_OK(cuMemAllocAsync(&block, 4, self->first));
	ASSERT_OK(cuStreamWaitValue32(self->first, gone, 1, CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(cuMemUnmap(gone, CHUNK));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(self->first));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuLaunchHostFunc(self->second, add_one, &calls));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED,
		  cuStreamAddCallback(self->free, look, NULL, 0));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamWriteValue32(self->free, AT(0), 1, 0));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamWaitValue32(NULL, AT(0), 0, 0));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuMemcpyAsync(AT(0), AT(1), 4, self->free));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuMemAllocAsync(&other, 4, self->free));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuMemFreeAsync(block, self->free));
	EXPECT_EQ(0, calls);
	EXPECT_EQ(0, self->at[0]);
	EXPECT_EQ(77, other);
	/* calls that need no device still work */
	EXPECT_OK(cuStreamGetCtx(self->free, &current));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamDestroy(self->free));
	/* with a context of a working device, the block can be freed */
	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 1));
	EXPECT_OK(cuMemFreeAsync(block, NULL));
	EXPECT_REASON(cuMemFreeAsync(block, NULL),
		      "no block starts at #; what was mapped is unmapped");
}

TEST_F(stream, waits_for_memory_that_goes)
{
	CUdeviceptr gone = ADDRESS(mapped(new_memory(0, CHUNK), CHUNK, 0));

	ASSERT_OK(cuStreamWaitValue32(self->first, gone, 1, CU_STREAM_WAIT_VALUE_EQ));
	usleep(20000);
	EXPECT_WAITS(self->first);
	ASSERT_OK(cuMemUnmap(gone, CHUNK));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(self->first));
}

/* A context that is destroyed discards its queued work, and waits for it end. */
TEST_F(stream, context_ends_with_work)
{
	CUcontext context;
	CUstream stream;

	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuStreamCreate(&stream, 0));
	HOLD(stream);
	SET(0, 1, stream);
	SET(1, 1, NULL);
	SET(2, 1, CU_STREAM_PER_THREAD);
	ASSERT_OK(cuCtxDestroy(context));
	EXPECT_TRUE(comes_true(threads() == 1));
	EXPECT_EQ(0, self->at[0]);
	EXPECT_EQ(0, self->at[1]);
	EXPECT_EQ(0, self->at[2]);
}

TEST_F(stream, child_of_fork)
{
	pid_t pid;

	HOLD(self->first);
	SET(0, 1, self->first);
	pid = fork();
	if (!pid) {
		exit(cuStreamSynchronize(self->first) != CUDA_ERROR_NOT_INITIALIZED ||
		     cuCtxSynchronize() != CUDA_ERROR_NOT_INITIALIZED ||
		     cuStreamDestroy(self->first) != CUDA_ERROR_NOT_INITIALIZED ||
		     cuMemsetD32Async(AT(0), 1, 1, NULL) != CUDA_ERROR_NOT_INITIALIZED);
	}
	EXPECT_EQ(0, reap_child(pid));
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(1, self->at[0]);
}

TEST(exit_with_work_queued)
{
	pid_t pid = fork();

	if (!pid) {
		static uint32_t never;
		CUstream stream;
		unsigned int i;

		cuda_start(0);
		ASSERT_OK(cuMemHostRegister(&never, sizeof(never), 0));
		for (i = 0; i < 4; i++) {
			ASSERT_OK(cuStreamCreate(&stream, 0));
			ASSERT_OK(cuStreamWaitValue32(stream, ADDRESS(&never), 1, 0));
			ASSERT_OK(cuMemsetD32Async(0, 0, 0, NULL));
		}
		exit(3);
	}
	EXPECT_EQ(3 << 8, reap_child(pid));
}

TEST_HARNESS_MAIN
