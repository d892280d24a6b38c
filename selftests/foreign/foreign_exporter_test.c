// SPDX-License-Identifier: MIT
/* Foreign memory: the calls that its exporter gets, with which locks; and its fences. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "foreign.h"
#include "importer.h"
#include "kmod/memcast_exporter.h"
#include "peers.h"
#include "reason.h"

/* ---- the exporter of selftests/kmod, whose buffers have faults on purpose ---- */

#define PAGES	8
#define BYTES	(PAGES * PAGE)

/* Exporters that users may import from: this one not, unless root adds it */
#define PARAMETERS	"/sys/module/memcast/parameters"
#define KNOWN		"udmabuf,system,vgem"

FIXTURE(exporter)
{
	int device;
};

/* What other tests, and programs that they have killed, have left of the exporter's counts */
static struct memcast_exporter_counts before;

FIXTURE_SETUP(exporter)
{
	if (geteuid())
		SKIP(return, "needs root");
	if (access("/dev/memcast-exporter", F_OK) && load_test_module("memcast_exporter"))
		SKIP(return, "no memcast_exporter.ko for this kernel");
	self->device = open("/dev/memcast-exporter", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->device);
	ASSERT_EQ(0, ioctl(self->device, MEMCAST_EXPORTER_COUNTS, &before));
	ASSERT_EQ(0, write_in(PARAMETERS, "foreign_exporters", KNOWN ",memcast_exporter"));
	cuda_start(0);
}

FIXTURE_TEARDOWN_PARENT(exporter)
{
	write_in(PARAMETERS, "foreign_exporters", KNOWN);
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

#define new_buffer(vice, pages)	new_buffer_(_metadata, self->device, vice, pages)
static int new_buffer_(struct __test_metadata *_metadata, int device, uint32_t vice,
		       uint32_t pages)
{
	struct memcast_exporter arg = { .vice = vice, .pages = pages };

	ASSERT_EQ(0, ioctl(device, MEMCAST_EXPORTER_CREATE, &arg));
	return arg.out_fd;
}

#define read_counts()	read_counts_(_metadata, self->device)
static struct memcast_exporter_counts read_counts_(struct __test_metadata *_metadata, int device)
{
	struct memcast_exporter_counts counts = {};

	ASSERT_EQ(0, ioctl(device, MEMCAST_EXPORTER_COUNTS, &counts));
	counts.begun_reads -= before.begun_reads;
	counts.begun_writes -= before.begun_writes;
	counts.ended_reads -= before.ended_reads;
	counts.ended_writes -= before.ended_writes;
	counts.locked -= before.locked;
	return counts;
}

/* Both kinds of import refuse the buffer, and leave it neither attached nor mapped. */
static void refused(struct __test_metadata *_metadata, int device, uint32_t vice,
		    CUresult result)
{
	CUmemGenericAllocationHandle handle = 77;
	CUexternalMemory memory = (void *)77;
	int fd = new_buffer_(_metadata, device, vice, PAGES);
	struct memcast_exporter_counts is;

	/* for an unusable fd, hardware's two imports have different results */
	EXPECT_CU(result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_UNKNOWN : result,
		  import_raw(&handle, fd)) TH_LOG("vice %u", vice);
	EXPECT_CU(result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_NOT_SUPPORTED : result,
		  import_as(&memory, DMABUF, fd, 1)) TH_LOG("vice %u", vice);
	EXPECT_EQ(77, handle);
	EXPECT_EQ((void *)77, memory);
	is = read_counts_(_metadata, device);
	EXPECT_EQ(0, is.attached + is.mapped);
	EXPECT_EQ(0, stat_of("memories") + stat_of("foreign"));
	EXPECT_EQ(1, is.buffers);
	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(0, read_counts_(_metadata, device).buffers);
}

TEST_F(exporter, refused)
{
	static const struct {
		uint32_t vice;
		CUresult result;
	} vices[] = {
		{ MEMCAST_EXPORTER_NO_CPU, CUDA_ERROR_NOT_SUPPORTED },
		{ MEMCAST_EXPORTER_READ_ONLY, CUDA_ERROR_NOT_PERMITTED },
		{ MEMCAST_EXPORTER_ODD_SIZE, CUDA_ERROR_INVALID_VALUE },
		{ MEMCAST_EXPORTER_NO_ATTACH, CUDA_ERROR_NOT_SUPPORTED },
		{ MEMCAST_EXPORTER_NO_MAP, CUDA_ERROR_NOT_SUPPORTED },
		{ MEMCAST_EXPORTER_SHORT, CUDA_ERROR_NOT_SUPPORTED },
		{ MEMCAST_EXPORTER_UNALIGNED, CUDA_ERROR_NOT_SUPPORTED },
		{ MEMCAST_EXPORTER_NO_PAGES, CUDA_ERROR_NOT_SUPPORTED },
		{ MEMCAST_EXPORTER_RESERVED, CUDA_ERROR_NOT_SUPPORTED },
		{ MEMCAST_EXPORTER_REFUSES, CUDA_ERROR_NOT_SUPPORTED },
	};
	unsigned int i;

	for (i = 0; i < sizeof(vices) / sizeof(vices[0]); i++)
		refused(_metadata, self->device, vices[i].vice, vices[i].result);
}

/* No buffer of an exporter that is not known is imported, not even a good one. */
TEST_F(exporter, not_known)
{
	static const char *const lists[] = { KNOWN, "", "memcast_export", "xmemcast_exporter,a" };
	static const uint32_t vices[] = {
		MEMCAST_EXPORTER_GOOD, MEMCAST_EXPORTER_REFUSES, MEMCAST_EXPORTER_OWN_ADDRESS,
	};
	CUmemGenericAllocationHandle handle;
	unsigned int i;
	int fd;

	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, write_in(PARAMETERS, "foreign_exporters", lists[i]));
		refused(_metadata, self->device, vices[i % 3], CUDA_ERROR_NOT_SUPPORTED);
	}
	fd = new_buffer(MEMCAST_EXPORTER_OWN_ADDRESS, PAGES);
	EXPECT_CU_REASON(CUDA_ERROR_NOT_SUPPORTED, import_raw(&handle, fd),
			 "dma-bufs of memcast_exporter are not imported");
	ASSERT_EQ(0, close(fd));
	ASSERT_EQ(0, write_in(PARAMETERS, "foreign_exporters", "a,memcast_exporter,b"));
	imported(new_buffer(MEMCAST_EXPORTER_GOOD, PAGES));
}

/* If the exporter refuses CPU access, fills and copies fail without moving a byte. */
TEST_F(exporter, refuses_access)
{
	int fd = new_buffer(MEMCAST_EXPORTER_NO_ACCESS, PAGES);
	volatile uint8_t *ours = (void *)map_dmabuf(fd, BYTES);
	uint8_t byte = 9;

	EXPECT_CU(CUDA_ERROR_OPERATING_SYSTEM, cuMemsetD8(ADDRESS(ours), 5, BYTES));
	EXPECT_CU(CUDA_ERROR_OPERATING_SYSTEM, cuMemcpyHtoD(ADDRESS(ours), &byte, 1));
	EXPECT_EQ(0, ours[0]);
	EXPECT_CU(CUDA_ERROR_OPERATING_SYSTEM, cuMemcpyDtoH(&byte, ADDRESS(ours), 1));
	EXPECT_EQ(9, byte);
}

/* Fills and copies begin and end CPU access, in its direction; loads and stores do not. */
TEST_F(exporter, is_told_of_accesses)
{
	const uint32_t pages = 2 * CHUNK / PAGE;
	CUmemGenericAllocationHandle first = imported(new_buffer(MEMCAST_EXPORTER_GOOD, pages));
	CUmemGenericAllocationHandle second = imported(new_buffer(MEMCAST_EXPORTER_GOOD, pages));
	CUmemGenericAllocationHandle group = complete_team(2, 2 * CHUNK);
	struct memcast_exporter_counts was = read_counts(), is;
	CUdeviceptr at, window, own;
	char bytes[100];

	at = ADDRESS(mapped(first, 2 * CHUNK, 0));
	own = ADDRESS(mapped(new_memory(0, CHUNK), CHUNK, 0));
#define EXPECT_TOLD(reads, writes)						\
do {										\
	is = read_counts();								\
	EXPECT_EQ((unsigned int)(reads), is.begun_reads - was.begun_reads);	\
	EXPECT_EQ((unsigned int)(writes), is.begun_writes - was.begun_writes);	\
	EXPECT_EQ(is.begun_reads, is.ended_reads);				\
	EXPECT_EQ(is.begun_writes, is.ended_writes);				\
	was = is;								\
} while (0)
	memset((void *)at, 1, 2 * CHUNK);
	EXPECT_TOLD(0, 0);
	ASSERT_OK(cuMemsetD8(at, 3, 2 * CHUNK));
	EXPECT_TOLD(0, 1);
	ASSERT_OK(cuMemcpyDtoH(bytes, at + 1, sizeof(bytes)));
	EXPECT_TOLD(1, 0);
	ASSERT_OK(cuMemcpyHtoD(at + CHUNK - 50, bytes, sizeof(bytes)));
	EXPECT_TOLD(0, 1);
	ASSERT_OK(cuMemcpyDtoD(at + CHUNK, at, CHUNK));
	EXPECT_TOLD(1, 1);
	ASSERT_OK(cuMemcpyDtoD(own, at, CHUNK));
	EXPECT_TOLD(1, 0);
	ASSERT_OK(cuMemsetD8(own, 0, CHUNK));
	EXPECT_TOLD(0, 0);
	/* a fill that fails before it starts begins no access */
	EXPECT_REASON(cuMemsetD8(at, 3, 2 * CHUNK + 1), "device # cannot write # bytes at #:");
	EXPECT_TOLD(0, 0);
	ASSERT_OK(cuMemsetD2D8(at, 8192, 4, 100, 2 * CHUNK / 8192));
	EXPECT_TOLD(0, 1);

	/* a fill of a window begins access to all foreign replicas in its range */
	ASSERT_OK(cuMulticastBindMem_v2(group, 0, 0, first, 0, 2 * CHUNK, 0));
	ASSERT_OK(cuMulticastBindMem_v2(group, 1, CHUNK, second, 0, CHUNK, 0));
	window = ADDRESS(mapped(group, 2 * CHUNK, 0));
	ASSERT_OK(cuMemsetD8(window, 3, 2 * CHUNK));
	EXPECT_TOLD(0, 2);
	ASSERT_OK(cuMemsetD8(window, 3, CHUNK));
	EXPECT_TOLD(0, 1);
	EXPECT_EQ(0, is.locked);
}

/* The last user's end detaches the buffer at once, and not under the process's mmap_lock. */
TEST_F(exporter, is_called_without_locks)
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr at;
	int fd;

	fd = new_buffer(MEMCAST_EXPORTER_GOOD, PAGES);
	handle = imported(fd);
	at = ADDRESS(mapped(handle, BYTES, 0));
	*(volatile int *)at = 1;
	ASSERT_EQ(0, close(fd));
	ASSERT_OK(cuMemRelease(handle));
	EXPECT_EQ(1, read_counts().mapped);
	/* the last user is a mapping that munmap() ends */
	ASSERT_EQ(0, munmap((void *)at, chunks_for(BYTES)));
	EXPECT_EQ(0, read_counts().mapped + read_counts().attached + read_counts().buffers);
	EXPECT_EQ(0, read_counts().locked);

	/* the last user is a mapped buffer of external memory */
	fd = new_buffer(MEMCAST_EXPORTER_GOOD, PAGES);
	at = map_dmabuf(fd, BYTES);
	ASSERT_EQ(0, close(fd));
	*(volatile int *)at = 1;
	ASSERT_OK(cuMemFree(at));
	EXPECT_EQ(0, read_counts().mapped + read_counts().attached + read_counts().buffers);
	EXPECT_EQ(0, read_counts().locked);
}

/* ---- fences ---- */

FIXTURE(fence)
{
	int card, fd;
	uint32_t handle;
};

FIXTURE_SETUP(fence)
{
	self->card = vgem_open();
	if (self->card < 0)
		SKIP(return, "needs vgem");
	self->handle = vgem_dumb(self->card, CHUNK);
	ASSERT_NE(0, self->handle);
	self->fd = vgem_export(self->card, self->handle);
	ASSERT_LE(0, self->fd);
}
NOTHING_LEFT(fence)

struct copier {
	CUdeviceptr at;
	bool write;
	atomic_bool started, signalled, late;
};

static void *copy(void *data)
{
	struct copier *copier = data;
	CUcontext context;
	char bytes[64] = "";

	if (cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context))
		return (void *)"no context";
	atomic_store(&copier->started, true);
	if (copier->write ? cuMemcpyHtoD(copier->at, bytes, sizeof(bytes)) :
			    cuMemcpyDtoH(bytes, copier->at, sizeof(bytes)))
		return (void *)"the copy failed";
	atomic_store(&copier->late, atomic_load(&copier->signalled));
	return NULL;
}

/* A copy that meets a fence ends after the fence is signalled. */
static void copy_waits(struct __test_metadata *_metadata, int card, uint32_t handle, int fd,
		       bool fence_writes, bool write)
{
	struct copier copier = { .write = write };
	pthread_t thread;
	uint32_t fence;
	void *wrong;

	cuda_start(0);
	copier.at = map_dmabuf(fd, CHUNK);
	fence = vgem_fence(card, handle, fence_writes);
	ASSERT_NE(0, fence);
	ASSERT_EQ(0, pthread_create(&thread, NULL, copy, &copier));
	while (!atomic_load(&copier.started))
		usleep(1000);
	usleep(200000);
	atomic_store(&copier.signalled, true);
	EXPECT_EQ(0, vgem_signal(card, fence));
	ASSERT_EQ(0, pthread_join(thread, &wrong));
	EXPECT_EQ(NULL, wrong) TH_LOG("%s", (char *)wrong);
	EXPECT_TRUE(atomic_load(&copier.late));
}

TEST_F(fence, reading_waits_for_who_writes)
{
	copy_waits(_metadata, self->card, self->handle, self->fd, true, false);
}

TEST_F(fence, writing_waits_for_who_writes)
{
	copy_waits(_metadata, self->card, self->handle, self->fd, true, true);
}

TEST_F(fence, writing_waits_for_who_reads)
{
	copy_waits(_metadata, self->card, self->handle, self->fd, false, true);
}

TEST_F(fence, reading_does_not_wait_for_who_reads)
{
	char bytes[64];
	CUdeviceptr at;

	cuda_start(0);
	at = map_dmabuf(self->fd, CHUNK);
	ASSERT_NE(0, vgem_fence(self->card, self->handle, false));
	ASSERT_OK(cuMemcpyDtoH(bytes, at, sizeof(bytes)));
	/* the fence is still there: had the copy waited, the fence would have ended by itself */
	EXPECT_FALSE(writable(self->fd));
}

static void nothing(int number)
{
	(void)number;
}

/* A process can be killed while it waits for a fence; a handled signal does not end the wait. */
TEST_F(fence, waiting_can_be_killed)
{
	int link;
	pid_t pid = peer_fork(&link);
	double start;

	if (!pid) {
		CUdeviceptr at;

		cuda_start(0);
		at = map_dmabuf(self->fd, CHUNK);
		signal(SIGUSR1, nothing);
		send_number(link, 1);
		receive_number(link);
		/* the fence ends in 10 s */
		cuMemsetD8(at, 1, CHUNK);
		send_number(link, 2);
		_exit(0);
	}
	receive_number(link);
	ASSERT_NE(0, vgem_fence(self->card, self->handle, true));
	send_number(link, 1);
	usleep(100000);
	kill(pid, SIGUSR1);
	usleep(100000);
	start = now();
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(SIGKILL, reap_child(pid));
	/* the process died by the signal, not at the end of the fence: the fence is still there */
	EXPECT_FALSE(readable(self->fd));
	TH_LOG("killed after %.3f s", now() - start);
}

TEST_HARNESS_MAIN
