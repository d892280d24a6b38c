// SPDX-License-Identifier: MIT
/*
 * Foreign memory: what its exporter is asked and told, when, and by whom; and
 * processes that die and threads that race. See foreign_test.c for what it shows.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "importer.h"
#include "kmod/memcast_exporter.h"
#include "memcast_test.h"
#include "peers.h"

#define SIZE	(4 * CHUNK)
#define DMABUF	CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD

static CUresult import_size(CUexternalMemory *memory, int fd, size_t bytes)
{
	CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
		.type = DMABUF, .handle.fd = fd, .size = bytes,
	};

	return cuImportExternalMemory(memory, &desc);
}

static CUresult import_raw(CUmemGenericAllocationHandle *handle, int fd)
{
	return cuMemImportFromShareableHandle(handle, (void *)(intptr_t)fd, SHAREABLE);
}

static CUresult buffer_of(CUdeviceptr *at, CUexternalMemory memory, size_t offset, size_t bytes)
{
	CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = { .offset = offset, .size = bytes };

	return cuExternalMemoryGetMappedBuffer(at, memory, &desc);
}

/* All of a dma-buf at an address, which alone keeps it */
#define shown(fd, bytes)	shown_(_metadata, fd, bytes)
static CUdeviceptr shown_(struct __test_metadata *_metadata, int fd, size_t bytes)
{
	CUexternalMemory memory;
	CUdeviceptr at = 0;

	ASSERT_OK(import_size(&memory, fd, bytes));
	ASSERT_OK(buffer_of(&at, memory, 0, bytes));
	ASSERT_OK(cuDestroyExternalMemory(memory));
	return at;
}

/* ---- the exporter of selftests/kmod: what is wrong with its buffers ---- */

#define PAGES	8
#define BYTES	(PAGES * 4096UL)

FIXTURE(exporter)
{
	int device;
};

FIXTURE_SETUP(exporter)
{
	if (geteuid())
		SKIP(return, "needs root");
	if (access("/dev/memcast-exporter", F_OK) && load_test_module("memcast_exporter"))
		SKIP(return, "no memcast_exporter.ko for this kernel");
	self->device = open("/dev/memcast-exporter", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->device);
	cuda_start(0);
}
NOTHING_LEFT(exporter)

#define create(vice, pages)	create_(_metadata, self->device, vice, pages)
static int create_(struct __test_metadata *_metadata, int device, uint32_t vice, uint32_t pages)
{
	struct memcast_exporter arg = { .vice = vice, .pages = pages };

	ASSERT_EQ(0, ioctl(device, MEMCAST_EXPORTER_CREATE, &arg));
	return arg.out_fd;
}

#define counts()	counts_(_metadata, self->device)
static struct memcast_exporter_counts counts_(struct __test_metadata *_metadata, int device)
{
	struct memcast_exporter_counts counts = {};

	ASSERT_EQ(0, ioctl(device, MEMCAST_EXPORTER_COUNTS, &counts));
	return counts;
}

/* Refused by either import, and the exporter has everything back. */
static void refused(struct __test_metadata *_metadata, int device, uint32_t vice,
		    CUresult result)
{
	CUmemGenericAllocationHandle handle = 77;
	CUexternalMemory memory = (void *)77;
	int fd = create_(_metadata, device, vice, PAGES);
	struct memcast_exporter_counts is;

	EXPECT_CU(result, import_raw(&handle, fd)) TH_LOG("vice %u", vice);
	EXPECT_CU(result, import_size(&memory, fd, 1)) TH_LOG("vice %u", vice);
	EXPECT_EQ(77, handle);
	EXPECT_EQ((void *)77, memory);
	is = counts_(_metadata, device);
	EXPECT_EQ(0, is.attached + is.mapped);
	EXPECT_EQ(0, stat_of("memories") + stat_of("foreign"));
	EXPECT_EQ(1, is.buffers);
	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(0, counts_(_metadata, device).buffers);
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
	};
	unsigned int i;

	for (i = 0; i < sizeof(vices) / sizeof(vices[0]); i++)
		refused(_metadata, self->device, vices[i].vice, vices[i].result);
}

/* An access that the exporter refuses: nothing is copied, either way. */
TEST_F(exporter, refuses_access)
{
	int fd = create(MEMCAST_EXPORTER_NO_ACCESS, PAGES);
	volatile uint8_t *ours = (void *)shown(fd, BYTES);
	uint8_t byte = 9;

	EXPECT_CU(CUDA_ERROR_OPERATING_SYSTEM, cuMemsetD8(ADDRESS(ours), 5, BYTES));
	EXPECT_CU(CUDA_ERROR_OPERATING_SYSTEM, cuMemcpyHtoD(ADDRESS(ours), &byte, 1));
	EXPECT_EQ(0, ours[0]);
	EXPECT_CU(CUDA_ERROR_OPERATING_SYSTEM, cuMemcpyDtoH(&byte, ADDRESS(ours), 1));
	EXPECT_EQ(9, byte);
}

/* Calls begin and end each access, in its direction; loads and stores do not. */
TEST_F(exporter, is_told_of_accesses)
{
	CUmemGenericAllocationHandle first = import(create(MEMCAST_EXPORTER_GOOD, 2 * CHUNK / 4096));
	CUmemGenericAllocationHandle second = import(create(MEMCAST_EXPORTER_GOOD, 2 * CHUNK / 4096));
	CUmemGenericAllocationHandle group = full_team(2, 2 * CHUNK);
	struct memcast_exporter_counts was = counts(), is;
	CUdeviceptr at, window, own;
	char bytes[100];

	at = ADDRESS(mapped(first, 2 * CHUNK, 0));
	own = ADDRESS(mapped(memory(0, CHUNK), CHUNK, 0));
#define EXPECT_TOLD(reads, writes)						\
do {										\
	is = counts();								\
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
	/* what fails before it starts */
	EXPECT_INVALID(cuMemsetD8(at, 3, 2 * CHUNK + 1));
	EXPECT_TOLD(0, 0);
	ASSERT_OK(cuMemsetD2D8(at, 8192, 4, 100, 2 * CHUNK / 8192));
	EXPECT_TOLD(0, 1);

	/* a window: all replicas that are there, in the range */
	ASSERT_OK(cuMulticastBindMem_v2(group, 0, 0, first, 0, 2 * CHUNK, 0));
	ASSERT_OK(cuMulticastBindMem_v2(group, 1, CHUNK, second, 0, CHUNK, 0));
	window = ADDRESS(mapped(group, 2 * CHUNK, 0));
	ASSERT_OK(cuMemsetD8(window, 3, 2 * CHUNK));
	EXPECT_TOLD(0, 2);
	ASSERT_OK(cuMemsetD8(window, 3, CHUNK));
	EXPECT_TOLD(0, 1);
	EXPECT_EQ(0, is.locked);
}

/* It is given its buffer back at once, and never under the process's mmap_lock. */
TEST_F(exporter, is_called_without_locks)
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr at;
	int fd;

	fd = create(MEMCAST_EXPORTER_GOOD, PAGES);
	handle = import(fd);
	at = ADDRESS(mapped(handle, BYTES, 0));
	*(volatile int *)at = 1;
	ASSERT_EQ(0, close(fd));
	ASSERT_OK(cuMemRelease(handle));
	EXPECT_EQ(1, counts().mapped);
	/* the last user is a mapping that munmap() takes along */
	ASSERT_EQ(0, munmap((void *)at, BYTES));
	EXPECT_EQ(0, counts().mapped + counts().attached + counts().buffers);
	EXPECT_EQ(0, counts().locked);

	/* or it is a buffer */
	fd = create(MEMCAST_EXPORTER_GOOD, PAGES);
	at = shown(fd, BYTES);
	ASSERT_EQ(0, close(fd));
	*(volatile int *)at = 1;
	ASSERT_OK(cuMemFree(at));
	EXPECT_EQ(0, counts().mapped + counts().attached + counts().buffers);
	EXPECT_EQ(0, counts().locked);
}

/* ---- our own memory, as external memory ---- */

FIXTURE(own) { char unused; };
FIXTURE_SETUP(own)
{
	cuda_start(0);
}
NOTHING_LEFT(own)

/* It is the memory itself, wherever that is, and bound as such. */
TEST_F(own, handle)
{
	CUmemGenericAllocationHandle handle = memory(1, SIZE), group = full_team(2, SIZE);
	uint8_t *plain = (void *)mapped(handle, SIZE, 1);
	CUexternalMemory external;
	CUdeviceptr at, part;
	int ordinal = -1, fd = export(handle);

	ASSERT_OK(import_size(&external, fd, SIZE));
	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(0, stat_of("foreign"));
	ASSERT_OK(buffer_of(&at, external, 0, SIZE));
	ASSERT_OK(buffer_of(&part, external, CHUNK + 1, CHUNK));
	ASSERT_OK(cuMemRelease(handle));
	ASSERT_OK(cuMemsetD8(at, 1, SIZE));
	ASSERT_OK(cuMemsetD8(part, 2, CHUNK));
	EXPECT_EQ(1, plain[CHUNK]);
	EXPECT_EQ(2, plain[CHUNK + 1]);
	EXPECT_EQ(2, plain[2 * CHUNK]);
	EXPECT_EQ(1, plain[2 * CHUNK + 1]);
	EXPECT_OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at));
	EXPECT_EQ(1, ordinal);
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuMulticastBindAddr_v2(group, 0, 0, at, CHUNK, 0));
	EXPECT_OK(cuMulticastBindAddr(group, 0, at, CHUNK, 0));
	ASSERT_OK(cuMemUnmap(ADDRESS(plain), SIZE));
	EXPECT_OK(cuMemFree(part));
	EXPECT_OK(cuDestroyExternalMemory(external));
	EXPECT_OK(cuMemsetD8(at, 3, SIZE));
	EXPECT_OK(cuMemFreeAsync(at, NULL));
	EXPECT_OK(cuStreamSynchronize(NULL));
	EXPECT_EQ(0, stat_of("bindings"));
	EXPECT_EQ(0, stat_of("memories"));
}

TEST_F(own, attributes)
{
	int value = -1;

	EXPECT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 1));
	EXPECT_EQ(1, value);
	value = -1;
	EXPECT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_DMA_BUF_MMAP_SUPPORTED, 1));
	EXPECT_EQ(1, value);
}

/* ---- processes that end, at any place ---- */

FIXTURE(ends) { char unused; };
FIXTURE_SETUP(ends) { }
NOTHING_LEFT(ends)

static int any_buffer(size_t bytes)
{
	int card, fd = udmabuf_buffer(bytes);
	uint32_t handle;

	if (fd >= 0)
		return fd;
	fd = heap_buffer(bytes);
	if (fd >= 0)
		return fd;
	card = vgem_open();
	handle = card < 0 ? 0 : vgem_dumb(card, bytes);
	return handle ? vgem_export(card, handle) : -1;
}

/* All that one can do with it, until killed */
static void live(struct __test_metadata *_metadata, int fd, int link)
{
	CUmemGenericAllocationHandle group, handle;
	CUdeviceptr window, at;
	bool told = false;

	cuda_start(0);
	group = full_team(2, SIZE);
	window = ADDRESS(mapped(group, SIZE, 0));
	for (;;) {
		at = shown(fd, SIZE);
		handle = import(fd);
		ASSERT_OK(cuMulticastBindMem_v2(group, 1, 0, handle, 0, SIZE, 0));
		ASSERT_OK(cuMemsetD8(window, 1, SIZE));
		ASSERT_OK(cuMemcpyDtoD(at, window, SIZE / 2));
		*(volatile int *)(at + CHUNK) = 7;
		try_load((void *)window, NULL);
		ASSERT_OK(cuMemRelease(handle));
		ASSERT_OK(cuMemFree(at));
		if (!told)
			tell(link, 1);
		told = true;
	}
}

TEST_F(ends, killed)
{
	unsigned int i;
	int fd = any_buffer(SIZE), attached, link;
	pid_t pid;

	if (fd < 0)
		SKIP(return, "needs udmabuf, a dma-heap or vgem");
	for (i = 0; i < loops(40); i++) {
		pid = peer_fork(&link);
		ASSERT_LE(0, pid);
		if (!pid)
			live(_metadata, fd, link);
		hear(link);
		usleep(i * 997 % 30000);
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(SIGKILL, ended(pid));
		peer_close(link);
		attached = bufinfo_attached(fd);
		EXPECT_GE(0, attached);
	}
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

/* A copy that meets a fence ends after it; or the test could not tell. */
static void copy_waits(struct __test_metadata *_metadata, int card, uint32_t handle, int fd,
		       bool fence_writes, bool write)
{
	struct copier copier = { .write = write };
	pthread_t thread;
	uint32_t fence;
	void *wrong;

	cuda_start(0);
	copier.at = shown(fd, CHUNK);
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
	at = shown(self->fd, CHUNK);
	ASSERT_NE(0, vgem_fence(self->card, self->handle, false));
	ASSERT_OK(cuMemcpyDtoH(bytes, at, sizeof(bytes)));
	/* else it had waited until the fence ended by itself */
	EXPECT_FALSE(writable(self->fd));
}

/* Who waits can be killed, and signals that are handled do not end the wait. */
static void nothing(int number)
{
	(void)number;
}

TEST_F(fence, waiting_can_be_killed)
{
	int link;
	pid_t pid = peer_fork(&link);
	double start;

	ASSERT_LE(0, pid);
	if (!pid) {
		CUdeviceptr at;

		cuda_start(0);
		at = shown(self->fd, CHUNK);
		signal(SIGUSR1, nothing);
		tell(link, 1);
		hear(link);
		/* the fence ends in 10 s */
		cuMemsetD8(at, 1, CHUNK);
		tell(link, 2);
		_exit(0);
	}
	hear(link);
	ASSERT_NE(0, vgem_fence(self->card, self->handle, true));
	tell(link, 1);
	usleep(100000);
	kill(pid, SIGUSR1);
	usleep(100000);
	start = now();
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(SIGKILL, ended(pid));
	/* not by the end of the fence: it is still there */
	EXPECT_FALSE(readable(self->fd));
	TH_LOG("killed after %.3f s", now() - start);
}

/* ---- threads ---- */

FIXTURE(race) { char unused; };
FIXTURE_SETUP(race) { }
NOTHING_LEFT(race)

struct racers {
	int fd;
	CUmemGenericAllocationHandle group;
	CUdeviceptr window;
	atomic_bool stop;
	atomic_uint wrong;
};

#define MUST(call)								\
do {										\
	if (call)								\
		atomic_fetch_add(&racers->wrong, 1);				\
} while (0)

static void current_context(void)
{
	CUcontext context;

	cuDevicePrimaryCtxRetain(&context, 0);
	cuCtxSetCurrent(context);
}

/* Imports, maps and touches, frees */
static void *comes_and_goes(void *data)
{
	struct racers *racers = data;
	unsigned int i;

	current_context();
	for (i = 0; !atomic_load(&racers->stop); i++) {
		CUexternalMemory memory;
		CUdeviceptr at;

		MUST(import_size(&memory, racers->fd, SIZE));
		MUST(buffer_of(&at, memory, i % 4096, SIZE / 2));
		*(volatile char *)at = 1;
		if (i % 2) {
			MUST(cuDestroyExternalMemory(memory));
			*(volatile char *)(at + CHUNK) = 1;
			MUST(cuMemFree(at));
		} else {
			MUST(cuMemFree(at));
			MUST(cuDestroyExternalMemory(memory));
		}
	}
	return NULL;
}

/* Binds a memory that ends bound, or is unbound */
static void *binds(void *data)
{
	struct racers *racers = data;
	unsigned int i;

	current_context();
	for (i = 0; !atomic_load(&racers->stop); i++) {
		CUmemGenericAllocationHandle handle;

		MUST(import_raw(&handle, racers->fd));
		MUST(cuMulticastBindMem_v2(racers->group, 0, 0, handle, 0, SIZE, 0));
		if (i % 2)
			MUST(cuMulticastUnbind(racers->group, 0, 0, SIZE));
		MUST(cuMemRelease(handle));
	}
	return NULL;
}

/* Reads, fills: what is bound comes and goes meanwhile */
static void *uses(void *data)
{
	struct racers *racers = data;

	current_context();
	while (!atomic_load(&racers->stop)) {
		try_load((void *)racers->window, NULL);
		try_load((void *)(racers->window + 3 * CHUNK), NULL);
		cuMemsetD8(racers->window, 3, SIZE);
	}
	return NULL;
}

TEST_F(race, import_bind_fault_copy)
{
	static void *(*const roles[])(void *) = { comes_and_goes, comes_and_goes, binds, uses };
	struct racers racers = { .fd = any_buffer(SIZE) };
	pthread_t thread[4];
	unsigned int i;

	if (racers.fd < 0)
		SKIP(return, "needs udmabuf, a dma-heap or vgem");
	cuda_start(0);
	racers.group = full_team(2, SIZE);
	racers.window = ADDRESS(mapped(racers.group, SIZE, 0));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, roles[i], &racers));
	usleep(loops(3000) * 1000);
	atomic_store(&racers.stop, true);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	EXPECT_EQ(0, atomic_load(&racers.wrong));
	EXPECT_GE(0, bufinfo_attached(racers.fd));
}

TEST_HARNESS_MAIN
