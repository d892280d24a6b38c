// SPDX-License-Identifier: MIT
/* Foreign memory: processes that die, and threads that race. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>
#include "foreign.h"
#include "peers.h"

/* ---- processes that are killed in any call ---- */

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

/* Imports, maps, binds, fills, copies and accesses the dma-buf, until killed. */
static void live(struct __test_metadata *_metadata, int fd, int link)
{
	CUmemGenericAllocationHandle group, handle;
	CUdeviceptr window, at;
	bool told = false;

	cuda_start(0);
	group = complete_team(2, SIZE);
	window = ADDRESS(mapped(group, SIZE, 0));
	for (;;) {
		at = map_dmabuf(fd, SIZE);
		handle = imported(fd);
		ASSERT_OK(cuMulticastBindMem_v2(group, 1, 0, handle, 0, SIZE, 0));
		ASSERT_OK(cuMemsetD8(window, 1, SIZE));
		ASSERT_OK(cuMemcpyDtoD(at, window, SIZE / 2));
		*(volatile int *)(at + CHUNK) = 7;
		try_load((void *)window, NULL);
		ASSERT_OK(cuMemRelease(handle));
		ASSERT_OK(cuMemFree(at));
		if (!told)
			send_number(link, 1);
		told = true;
	}
}

TEST_F(ends, killed)
{
	unsigned int i;
	int fd = any_buffer(SIZE), link;
	pid_t pid;

	if (fd < 0)
		SKIP(return, "needs udmabuf, a dma-heap or vgem");
	for (i = 0; i < loops(40); i++) {
		pid = peer_fork(&link);
		if (!pid)
			live(_metadata, fd, link);
		receive_number(link);
		usleep(i * 997 % 30000);
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(SIGKILL, reap_child(pid));
		peer_close(link);
		/* a reader of its /proc/PID/stat may keep its address space for a moment */
		EXPECT_TRUE(comes_true(bufinfo_attached(fd) <= 0));
	}
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

/* Imports, maps, stores to and frees external memory. */
static void *comes_and_goes(void *data)
{
	struct racers *racers = data;
	unsigned int i;

	current_context();
	for (i = 0; !atomic_load(&racers->stop); i++) {
		CUexternalMemory memory;
		CUdeviceptr at;

		MUST(import_as(&memory, DMABUF, racers->fd, SIZE));
		MUST(buffer_at(&at, memory, i % 4096, SIZE / 2));
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

/* Binds an imported memory, and releases it while it is bound, or after an unbind. */
static void *binds(void *data)
{
	struct racers *racers = data;
	unsigned int i;

	current_context();
	for (i = 0; !atomic_load(&racers->stop); i++) {
		CUmemGenericAllocationHandle handle;

		MUST(import_raw(&handle, racers->fd));
		MUST(RETRY_BIND(cuMulticastBindMem_v2(racers->group, 0, 0, handle, 0, SIZE, 0)));
		if (i % 2)
			MUST(cuMulticastUnbind(racers->group, 0, 0, SIZE));
		MUST(cuMemRelease(handle));
	}
	return NULL;
}

/* Loads from and fills the window, while the other threads bind and unbind. */
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
	racers.group = complete_team(2, SIZE);
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
