// SPDX-License-Identifier: MIT
/*
 * Hosts that are lost, and return: the results of their own processes' calls, dma-bufs of
 * their memory, and that lost memory does not return. On a machine with several hosts, the
 * test loses host 1; else the only host, with all its processes' memory.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include "importer.h"
#include "kmod/memcast_exporter.h"
#include "memcast_test.h"
#include "lost_host.h"
#include "raw.h"
#include "reason.h"

FIXTURE(lost)
{
	struct lost_host host;
};

FIXTURE_SETUP(lost)
{
	if (!lost_host_find(&self->host))
		SKIP(return, "needs root and two devices per host");
}

FIXTURE_TEARDOWN_PARENT(lost)
{
	host_return(&self->host);
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

#define LOST	"host # was lost, and with it all that this process had of its devices"
#define ENDED	"the host was lost, and its devices with it: only another process can go on"

/* Forks a process of the host that will be lost, with device 0 current. */
#define fork_victim(link)	fork_victim_(_metadata, self, link)
static pid_t fork_victim_(struct __test_metadata *_metadata, FIXTURE_DATA(lost) *self,
			  int *link)
{
	pid_t pid = peer_fork(link);

	if (!pid) {
		ASSERT_EQ(0, host_enter(&self->host, self->host.number));
		cuda_start(0);
	}
	return pid;
}

/* ---- the lost host's own processes ---- */

/* The first call that needs the device reports the loss; from then on, every call fails. */
static void be_lost(struct __test_metadata *_metadata, int link)
{
	CUmemGenericAllocationHandle handle, again;
	CUmemAllocationProp prop = memory_on(0);
	CUdeviceptr at, plain;
	CUcontext context;
	CUstream stream;
	uint32_t word;
	int count;

	handle = new_memory(0, CHUNK);
	at = ADDRESS(mapped(handle, CHUNK, 0));
	ASSERT_OK(cuMemAlloc(&plain, 64));
	ASSERT_OK(cuStreamCreate(&stream, 0));
	*(volatile uint32_t *)at = 1;
	*(volatile uint32_t *)plain = 1;
	handshake(link);

	EXPECT_EQ(SIGBUS, try_load((void *)at, &word));
	EXPECT_EQ(SIGBUS, try_store((void *)at, 2));
	EXPECT_EQ(SIGBUS, try_load((void *)plain, &word));
	EXPECT_CU_REASON(CUDA_ERROR_UNKNOWN, cuMemCreate(&again, CHUNK, &prop, 0), LOST);
	EXPECT_CU_REASON(CUDA_ERROR_UNKNOWN, cuMemCreate(&again, CHUNK, &prop, 0), ENDED);
	EXPECT_CU(CUDA_ERROR_UNKNOWN, cuMemRelease(handle));
	EXPECT_CU(CUDA_ERROR_UNKNOWN, cuMemUnmap(at, CHUNK));
	EXPECT_CU(CUDA_ERROR_UNKNOWN, cuMemFree(plain));
	EXPECT_CU(CUDA_ERROR_UNKNOWN, cuMemcpyDtoH(&word, plain, sizeof(word)));
	EXPECT_CU(CUDA_ERROR_UNKNOWN, cuStreamSynchronize(stream));
	EXPECT_CU(CUDA_ERROR_UNKNOWN, cuCtxGetCurrent(&context));
	EXPECT_CU(CUDA_ERROR_UNKNOWN, cuDeviceGetCount(&count));
	EXPECT_CU(CUDA_ERROR_UNKNOWN, cuInit(0));
	/* nor does the module give it addresses */
	EXPECT_EQ(MAP_FAILED, mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED,
				   raw_library_fd(), 0));
	EXPECT_EQ(EHOSTDOWN, errno);
	handshake(link);
	/* the host has returned, but this process stays lost */
	EXPECT_CU(CUDA_ERROR_UNKNOWN, cuMemCreate(&again, CHUNK, &prop, 0));
	EXPECT_EQ(SIGBUS, try_load((void *)at, &word));
	EXPECT_EQ(SIGBUS, try_load((void *)plain, &word));
	handshake(link);
	_exit(_metadata->exit_code);
}

/* While the host is lost, cuInit() fails there; after the return, a new process can use it. */
static void open_lost(struct __test_metadata *_metadata, FIXTURE_DATA(lost) *self)
{
	int link;
	pid_t pid = peer_fork(&link);

	if (pid) {
		EXPECT_EQ(0, reap_child(pid));
		return;
	}
	ASSERT_EQ(0, host_enter(&self->host, self->host.number));
	EXPECT_CU_REASON(CUDA_ERROR_NO_DEVICE, cuInit(0), "/dev/memcast: the host was lost");
	_exit(_metadata->exit_code);
}

static void open_returned(struct __test_metadata *_metadata, FIXTURE_DATA(lost) *self)
{
	volatile uint32_t *at;
	int link;
	pid_t pid = fork_victim(&link);

	if (pid) {
		EXPECT_EQ(0, reap_child(pid));
		return;
	}
	at = mapped(new_memory(0, CHUNK), CHUNK, 0);
	EXPECT_EQ(0, *at);
	ASSERT_OK(cuMemsetD32(ADDRESS(at), 7, 1));
	EXPECT_EQ(7, *at);
	_exit(_metadata->exit_code);
}

TEST_F(lost, own_processes)
{
	unsigned int device = self->host.first;
	int link;
	pid_t pid = fork_victim(&link);

	if (!pid)
		be_lost(_metadata, link);
	receive_number(link);
	ASSERT_NE(device_bytes(device, "pool_bytes"), device_bytes(device, "free_bytes"));
	ASSERT_EQ(0, host_lose(&self->host));
	/* the process has not ended, but holds no memory */
	EXPECT_EQ(device_bytes(device, "pool_bytes"), device_bytes(device, "free_bytes"));
	EXPECT_EQ(0, stat_of("memories"));
	handshake(link);
	open_lost(_metadata, self);
	ASSERT_EQ(0, host_return(&self->host));
	open_returned(_metadata, self);
	handshake(link);
	end_peer(link, pid);
}

/* A process that loads from its lost memory ends by SIGBUS, with the reason on stderr. */
TEST_F(lost, words_of_a_signal)
{
	char said[1024] = "";
	volatile uint32_t *at;
	int link, status, out[2];
	ssize_t length;
	pid_t pid;

	ASSERT_EQ(0, pipe2(out, O_CLOEXEC));
	pid = fork_victim(&link);
	if (!pid) {
		dup2(out[1], STDERR_FILENO);
		at = mapped(new_memory(0, CHUNK), CHUNK, 0);
		*at = 1;
		handshake(link);
		_exit((int)*at);
	}
	close(out[1]);
	receive_number(link);
	ASSERT_EQ(0, host_lose(&self->host));
	send_number(link, 0);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	length = read(out[0], said, sizeof(said) - 1);
	EXPECT_LT(0, length);
	EXPECT_SAYS(said, "a load ends the program");
	EXPECT_SAYS(said, "was lost, and with it all");
}

enum waiting { FOR_MEMBERS_TO_BIND, FOR_MEMBERS_TO_MAP, FOR_THE_FABRIC, FOR_A_WORD, WAITINGS };

static CUresult wait_for(struct __test_metadata *_metadata, enum waiting what, int link)
{
	CUmemGenericAllocationHandle team = new_team(2, CHUNK);
	CUdeviceptr at = reserve(CHUNK), word;
	CUstream stream;

	ASSERT_OK(cuMulticastAddDevice(team, 0));
	if (what == FOR_THE_FABRIC)
		ASSERT_OK(cuMulticastAddDevice(team, 1));
	ASSERT_OK(cuMemAlloc(&word, 64));
	ASSERT_OK(cuMemsetD32(word, 0, 16));
	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	if (what == FOR_A_WORD)
		ASSERT_OK(cuStreamWaitValue32(stream, word, 1, CU_STREAM_WAIT_VALUE_EQ));
	send_number(link, 0);
	switch (what) {
	case FOR_MEMBERS_TO_BIND:
	case FOR_THE_FABRIC:
		return cuMulticastBindMem(team, 0, new_memory(0, CHUNK), 0, CHUNK, 0);
	case FOR_MEMBERS_TO_MAP:
		return cuMemMap(at, CHUNK, 0, team, 0);
	default:
		return cuStreamSynchronize(stream);
	}
}

TEST_F(lost, who_waits_is_woken)
{
	int link, i;
	pid_t pid;

	for (i = 0; i < WAITINGS; i++) {
		ASSERT_EQ(0, write_in(PARAMETERS, "team_setup_delay_ms",
				      i == FOR_THE_FABRIC ? "1000000" : "0"));
		pid = fork_victim(&link);
		if (!pid) {
			EXPECT_CU(CUDA_ERROR_UNKNOWN, wait_for(_metadata, i, link));
			_exit(_metadata->exit_code);
		}
		receive_number(link);
		if (i != FOR_A_WORD)
			EXPECT_TRUE(sleeps(pid, pid));
		ASSERT_EQ(0, host_lose(&self->host));
		EXPECT_EQ(0, reap_child(pid)) TH_LOG("waiting %d", i);
		ASSERT_EQ(0, host_return(&self->host));
	}
	ASSERT_EQ(0, write_in(PARAMETERS, "team_setup_delay_ms", "0"));
}

/* Maps a buffer whose exporter never answers: the process cannot change its addresses any more. */
static void hold_addresses(struct __test_metadata *_metadata, int link)
{
	struct memcast_exporter buffer = { .vice = MEMCAST_EXPORTER_HANGS, .pages = 1 };
	int exporter = open("/dev/memcast-exporter", O_RDWR | O_CLOEXEC);
	volatile uint32_t *at = mapped(new_memory(0, CHUNK), CHUNK, 0);

	*at = 1;
	ASSERT_EQ(0, ioctl(exporter, MEMCAST_EXPORTER_CREATE, &buffer));
	send_number(link, 0);
	mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, buffer.out_fd, 0);
	_exit(1);
}

/* A process that holds mmap_lock for ever does not keep its host from being lost. */
TEST_F(lost, waits_for_no_process)
{
	unsigned int device = self->host.first;
	int link, other, status = -1;
	pid_t pid, loser;

	if (access("/dev/memcast-exporter", F_OK) && load_test_module("memcast_exporter"))
		SKIP(return, "no memcast_exporter.ko for this kernel");
	pid = fork_victim(&link);
	if (!pid)
		hold_addresses(_metadata, link);
	receive_number(link);
	EXPECT_TRUE(comes_true(thread_state(pid, pid) == 'D'));
	loser = peer_fork(&other);
	if (!loser)
		_exit(host_lose(&self->host));
	EXPECT_TRUE(comes_true(waitpid(loser, &status, WNOHANG)));
	EXPECT_EQ(0, status);
	EXPECT_EQ(device_bytes(device, "pool_bytes"), device_bytes(device, "free_bytes"));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	reap_child(pid);
	peer_close(other);
	peer_close(link);
}

/* ---- events of several processes, whose words are in memory that they share ---- */

static void *synchronize(void *event)
{
	return (void *)(intptr_t)cuEventSynchronize(event);
}

static void expect_lost_event(struct __test_metadata *_metadata, CUevent event, int link)
{
	EXPECT_CU(CUDA_ERROR_UNKNOWN, cuEventRecord(event, NULL));
	EXPECT_CU(CUDA_ERROR_UNKNOWN, cuEventDestroy(event));
	handshake(link);
	_exit(_metadata->exit_code);
}

/*
 * Queries and waits for an event that stays pending. The loss of the host may come at any moment of
 * the calls: none ends in a signal.
 */
static void ask_about_event(struct __test_metadata *_metadata, CUevent event, int link)
{
	pthread_t thread;
	CUresult result;
	void *woken;

	ASSERT_EQ(0, pthread_create(&thread, NULL, synchronize, event));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(event));
	send_number(link, 0);
	do
		result = cuEventQuery(event);
	while (result == CUDA_ERROR_NOT_READY);
	EXPECT_EQ(CUDA_ERROR_UNKNOWN, result);
	ASSERT_EQ(0, pthread_join(thread, &woken));
	EXPECT_EQ(CUDA_ERROR_UNKNOWN, (intptr_t)woken);
	expect_lost_event(_metadata, event, link);
}

/*
 * Makes no call until the host is lost, as the library learns that from the module: so the query
 * looks at the event's words.
 */
static void ask_after_loss(struct __test_metadata *_metadata, CUevent event, int link)
{
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(event));
	handshake(link);
	EXPECT_CU(CUDA_ERROR_UNKNOWN, cuEventQuery(event));
	expect_lost_event(_metadata, event, link);
}

TEST_F(lost, events_of_processes)
{
	CUipcEventHandle handle;
	int link, other;
	CUstream stream;
	CUevent event;
	CUdeviceptr word;
	pid_t pid, opener;

	opener = fork_victim(&other);
	if (!opener) {
		ASSERT_EQ(sizeof(handle), read(other, &handle, sizeof(handle)));
		ASSERT_OK(cuIpcOpenEventHandle(&event, handle));
		ask_after_loss(_metadata, event, other);
	}
	pid = fork_victim(&link);
	if (!pid) {
		ASSERT_OK(cuMemAlloc(&word, 64));
		ASSERT_OK(cuMemsetD32(word, 0, 16));
		ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
		ASSERT_OK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
		ASSERT_OK(cuStreamWaitValue32(stream, word, 1, CU_STREAM_WAIT_VALUE_EQ));
		ASSERT_OK(cuEventRecord(event, stream));
		ASSERT_OK(cuIpcGetEventHandle(&handle, event));
		ASSERT_EQ(sizeof(handle), write(link, &handle, sizeof(handle)));
		ask_about_event(_metadata, event, link);
	}
	ASSERT_EQ(sizeof(handle), read(link, &handle, sizeof(handle)));
	ASSERT_EQ(sizeof(handle), write(other, &handle, sizeof(handle)));
	receive_number(link);
	receive_number(other);
	ASSERT_EQ(0, host_lose(&self->host));
	send_number(other, 0);
	receive_number(link);
	receive_number(other);
	send_number(link, 0);
	end_peer(other, pid);
	EXPECT_EQ(0, reap_child(opener));
	ASSERT_EQ(0, host_return(&self->host));
}

/* Only memory of the process's own host can last. */
TEST_F(lost, heaps_that_last)
{
	struct memcast_heap_create heap = {
		.location = MEMCAST_LOCATION_DEVICE, .flags = MEMCAST_HEAP_LASTING,
	};
	struct memcast_memory_create memory = {
		.location = MEMCAST_LOCATION_DEVICE, .bytes = CHUNK,
	};
	struct memcast_block_map map = { .bytes = CHUNK };
	volatile uint32_t *at;
	uint32_t word;
	int link, device;
	pid_t pid = peer_fork(&link);

	if (!pid) {
		ASSERT_EQ(0, host_enter(&self->host, self->host.number));
		device = open("/dev/memcast", O_RDWR | O_CLOEXEC);
		EXPECT_EQ(EINVAL, RAW(device, HEAP_CREATE, heap));
		heap.location = MEMCAST_LOCATION_HOST;
		heap.flags |= MEMCAST_HEAP_POOL;
		EXPECT_EQ(EINVAL, RAW(device, HEAP_CREATE, heap));
		heap.flags = MEMCAST_HEAP_LASTING;
		ASSERT_EQ(0, RAW(device, HEAP_CREATE, heap));
		map.heap = heap.out_heap;
		ASSERT_EQ(0, RAW(device, MEMORY_CREATE, memory));
		map.handle = memory.out_handle;
		EXPECT_EQ(EINVAL, RAW(device, BLOCK_MAP, map));
		memory.location = MEMCAST_LOCATION_HOST;
		ASSERT_EQ(0, RAW(device, MEMORY_CREATE, memory));
		map.handle = memory.out_handle;
		ASSERT_EQ(0, RAW(device, BLOCK_MAP, map));
		at = (volatile uint32_t *)(uintptr_t)map.out_address;
		*at = 7;
		handshake(link);
		EXPECT_EQ(0, try_load(at, &word));
		EXPECT_EQ(7, word);
		EXPECT_EQ(0, try_store(at, 8));
		_exit(_metadata->exit_code);
	}
	receive_number(link);
	ASSERT_EQ(0, host_lose(&self->host));
	end_peer(link, pid);
	ASSERT_EQ(0, host_return(&self->host));
}

/* ---- dma-bufs of lost memory, mapped by processes of any host, and by drivers ---- */

TEST_F(lost, dmabufs)
{
	CUmemGenericAllocationHandle team, handle;
	volatile uint32_t *memory, *replicas;
	uint32_t word;
	int link, fd[2];
	pid_t pid = fork_victim(&link);

	if (!pid) {
		team = complete_team(2, CHUNK);
		handle = new_bound(team, 0, CHUNK);
		send_fd(link, exported(handle));
		send_fd(link, exported(team));
		receive_number(link);
		_exit(_metadata->exit_code);
	}
	fd[0] = receive_fd(link);
	fd[1] = receive_fd(link);
	memory = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, fd[0], 0);
	replicas = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, fd[1], 0);
	ASSERT_NE(MAP_FAILED, memory);
	ASSERT_NE(MAP_FAILED, replicas);
	*memory = 1;
	replicas[1] = 1;
	ASSERT_EQ(0, host_lose(&self->host));
	EXPECT_EQ(SIGBUS, try_load(memory, &word));
	EXPECT_EQ(SIGBUS, try_store(memory, 2));
	EXPECT_EQ(SIGBUS, try_load(replicas, &word));
	EXPECT_EQ(SIGBUS, try_store(replicas + 1, 2));
	end_peer(link, pid);
	ASSERT_EQ(0, host_return(&self->host));
	EXPECT_EQ(SIGBUS, try_load(memory, &word));
	EXPECT_EQ(SIGBUS, try_load(replicas, &word));
	/* new processes of the host cannot import the fds */
	pid = fork_victim(&link);
	if (!pid) {
		/* the result is the same as for an fd of no dma-buf */
		EXPECT_CU_REASON(CUDA_ERROR_UNKNOWN,
				 cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd[0],
								SHAREABLE),
				 "memory # was of host #, which was lost");
		EXPECT_CU_REASON(CUDA_ERROR_UNKNOWN,
				 cuMemImportFromShareableHandle(&team, (void *)(intptr_t)fd[1],
								SHAREABLE),
				 "team # was of host #, which was lost");
		_exit(_metadata->exit_code);
	}
	EXPECT_EQ(0, reap_child(pid));
	EXPECT_NE(device_bytes(self->host.first, "pool_bytes"),
		  device_bytes(self->host.first, "free_bytes"));
	munmap((void *)memory, CHUNK);
	munmap((void *)replicas, CHUNK);
	close(fd[0]);
	close(fd[1]);
	EXPECT_EQ(device_bytes(self->host.first, "pool_bytes"),
		  device_bytes(self->host.first, "free_bytes"));
}

/*
 * A driver keeps its DMA mappings of a lost object, but can make no new ones. A new mapping by
 * vmap(), which may fail for want of memory only, shows nothing of the lost team's contents.
 */
TEST_F(lost, dmabufs_of_drivers)
{
	CUmemGenericAllocationHandle handle[2];
	uint32_t id[2], word = 0x10051;
	int device, link, i, fd;
	const char *why;
	pid_t pid;

	device = importer_open(&why);
	if (device < 0)
		SKIP(return, "%s", why);
	pid = fork_victim(&link);
	if (!pid) {
		handle[0] = new_memory(0, CHUNK);
		handle[1] = complete_team(2, CHUNK);
		ASSERT_OK(cuMulticastBindMem(handle[1], 0, handle[0], 0, CHUNK, 0));
		for (i = 0; i < 2; i++)
			send_fd(link, exported(handle[i]));
		receive_number(link);
		_exit(_metadata->exit_code);
	}
	for (i = 0; i < 2; i++) {
		fd = receive_fd(link);
		ASSERT_EQ(0, importer_attach(device, fd, &id[i]));
		close(fd);
		ASSERT_EQ(0, importer_map(device, id[i], 0, MEMCAST_IMPORTER_BOTH, NULL));
		EXPECT_EQ(0, importer_write(device, id[i], 0, 0, &word, sizeof(word)));
	}
	ASSERT_EQ(0, host_lose(&self->host));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, importer_read(device, id[i], 0, 0, &word, sizeof(word)));
		EXPECT_EQ(0x10051, word);
		EXPECT_EQ(0, importer_unmap(device, id[i], 0));
		EXPECT_EQ(-EHOSTDOWN,
			  importer_map(device, id[i], 0, MEMCAST_IMPORTER_READS, NULL));
		EXPECT_EQ(0, importer_map(device, id[i], MEMCAST_IMPORTER_VMAP, 0, NULL));
	}
	EXPECT_EQ(0, importer_read(device, id[1], MEMCAST_IMPORTER_VMAP, 0, &word, sizeof(word)));
	EXPECT_EQ(0, word);
	end_peer(link, pid);
	ASSERT_EQ(0, host_return(&self->host));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(-EHOSTDOWN,
			  importer_map(device, id[i], 0, MEMCAST_IMPORTER_READS, NULL));
	close(device);
}

/* ---- the files ---- */

TEST_F(lost, files)
{
	static const char * const bad[] = { "x", "-1", "600", "1,2" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_NE(0, write_in(LOST_FILES, "lose_host", bad[i])) TH_LOG("%s", bad[i]);
		EXPECT_NE(0, write_in(LOST_FILES, "return_host", bad[i])) TH_LOG("%s", bad[i]);
	}
	EXPECT_EQ(0, lost_hosts(""));
	ASSERT_EQ(0, host_lose(&self->host));
	EXPECT_EQ(0, lost_hosts(self->host.name));
	/* to lose a lost host, or to return a host that is not lost, succeeds and does nothing */
	ASSERT_EQ(0, host_lose(&self->host));
	ASSERT_EQ(0, host_return(&self->host));
	EXPECT_EQ(0, lost_hosts(""));
	ASSERT_EQ(0, host_return(&self->host));
}

TEST_HARNESS_MAIN
