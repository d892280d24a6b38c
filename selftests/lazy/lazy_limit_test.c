// SPDX-License-Identifier: MIT
/*
 * Lazy pools that have reached lazy_max_mib or the limit of a memory cgroup: a process that asks
 * for more gets an error, and no other process is affected.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <memcast/kernel.h>
#include "lazy_limit_fixture.h"
#include "peers.h"

/* Sets the limit so that all pools together can take @chunks more. */
#define leave_room(chunks)	\
	ASSERT_EQ(0, set_limit("lazy_max_mib", (taken_by_all() + (long)((chunks) * CHUNK)) / MIB))

TEST_F(lazy_limit, copies)
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr at, other;
	uint32_t word = 0;
	char text[4096];

	ASSERT_EQ(0, setenv("CUDA_LOG_FILE", LOG, 1));
	cuda_start(0);
	handle = new_memory(0, SIZE);
	at = ADDRESS(mapped(handle, SIZE, 0));
	other = ADDRESS(mapped(new_memory(0, SIZE), SIZE, 0));
	ASSERT_OK(cuMemsetD32(other, 3, CHUNK / 4));
	leave_room(4);
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemsetD32(at, 1, 5 * CHUNK / 4));
	read_file(text, sizeof(text), LOG);
	EXPECT_SAYS(text, "lazy_max_mib");
	/* the refused call has written nothing and taken nothing */
	EXPECT_TAKEN(1, 0);
	EXPECT_OK(cuMemcpyDtoH(&word, at, 4));
	EXPECT_EQ(0, word);
	EXPECT_OK(cuMemsetD32(at, 1, 4 * CHUNK / 4));
	EXPECT_TAKEN(5, 0);
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemcpyHtoD(at + 4 * CHUNK, &word, 4));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemcpyDtoD(at + 3 * CHUNK, other, 2 * CHUNK));
	EXPECT_OK(cuMemcpyDtoH(&word, at + 3 * CHUNK, 4));
	EXPECT_EQ(1, word);
	/* chunks that were taken before can be used */
	EXPECT_OK(cuMemcpyDtoD(at, other, CHUNK));
	EXPECT_OK(cuMemcpyDtoH(&word, at, 4));
	EXPECT_EQ(3, word);
	/* chunks that were given back can be taken again */
	EXPECT_OK(cuMemUnmap(at, SIZE));
	EXPECT_OK(cuMemRelease(handle));
	EXPECT_OK(cuMemsetD32(other, 1, 5 * CHUNK / 4));
}

static const char code[] =
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".visible .global .b8 large[6291456];\n"
	".visible .entry ask() { ret; }\n";

MEMCAST_KERNEL(ask, MEMCAST_ONCE)
{
	memcastKernelVariable(at, "large");
}

static void nothing(const struct memcast_launch *launch)
{
	(void)launch;
}

/* A kernel that ends, as its module's variable has no memory, leaves nothing locked. */
TEST_F(lazy_limit, variables_of_kernels)
{
	const struct memcast_kernel other = {
		.size = sizeof(other), .name = "other", .shape = MEMCAST_ONCE, .function = nothing,
	};
	CUfunction function;
	CUmodule module;

	cuda_start(0);
	ASSERT_OK(cuModuleLoadData(&module, code));
	ASSERT_OK(cuModuleGetFunction(&function, module, "ask"));
	leave_room(1);
	ASSERT_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuCtxSynchronize());
	/* looks at all modules */
	EXPECT_OK(memcastKernelRegister(&other));
}

/* A call counts each chunk that it needs once, however often the chunk is mapped or written. */
TEST_F(lazy_limit, aliases_and_rows)
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr at, rows;
	int i;

	cuda_start(0);
	handle = new_memory(0, CHUNK);
	at = reserve(8 * CHUNK);
	rows = ADDRESS(mapped(new_memory(0, SIZE), SIZE, 0));
	for (i = 0; i < 8; i++)
		ASSERT_OK(cuMemMap(at + i * CHUNK, CHUNK, 0, handle, 0));
	ASSERT_OK(allow(at, 8 * CHUNK, 0, READWRITE));
	leave_room(2);
	EXPECT_OK(cuMemsetD8(at, 1, 8 * CHUNK));
	EXPECT_TAKEN(1, 0);
	EXPECT_OK(cuMemsetD2D8(rows, 16384, 1, 4096, CHUNK / 16384));
	EXPECT_TAKEN(2, 0);
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemsetD2D8(rows, CHUNK, 1, 4096, 2));
}

/* A call writes all replicas of a team, or none. */
TEST_F(lazy_limit, windows)
{
	CUmemGenericAllocationHandle all, part[2];
	volatile uint32_t *window;
	uint32_t word = 1;
	int i;

	cuda_start(0);
	all = complete_team(2, SIZE);
	leave_room(3);
	for (i = 0; i < 2; i++)
		part[i] = new_bound(all, i, SIZE);
	window = mapped(all, SIZE, 0);
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemsetD32(ADDRESS(window), 5, 2 * CHUNK / 4));
	EXPECT_EQ(0, taken_by_all());
	EXPECT_OK(cuMemsetD32(ADDRESS(window), 5, CHUNK / 4));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemsetD32(ADDRESS(window) + CHUNK, 5, 1));
	EXPECT_EQ(5, window[7]);
	EXPECT_EQ((long)(2 * CHUNK), taken_by_all());
	/* a plain store does so too */
	EXPECT_EQ(SIGBUS, try_store(window + CHUNK / 4, 6));
	EXPECT_EQ(0, try_load(mapped(part[0], SIZE, 0) + CHUNK / 4, &word));
	EXPECT_EQ(0, word);
	leave_room(1);
	window[CHUNK / 4] = 6;
	for (i = 0; i < 2; i++)
		EXPECT_EQ(6, mapped(part[i], SIZE, i)[CHUNK / 4]);
}

TEST_F(lazy_limit, touch)
{
	volatile uint32_t *at;
	uint32_t value;

	cuda_start(0);
	at = mapped(new_memory(0, SIZE), SIZE, 0);
	leave_room(2);
	EXPECT_EQ(0, try_store(at, 4));
	EXPECT_EQ(0, try_load(at + CHUNK / 4, &value));
	EXPECT_EQ(SIGBUS, try_store(at + 2 * CHUNK / 4, 4));
	EXPECT_EQ(SIGBUS, try_load(at + 2 * CHUNK / 4, &value));
	EXPECT_EQ(0, try_load(at, &value));
	EXPECT_EQ(4, value);
	leave_room(1);
	EXPECT_EQ(0, try_store(at + 2 * CHUNK / 4, 4));
	EXPECT_TAKEN(3, 0);
}

/* A program that does not catch SIGBUS ends, and stderr names the limit. */
TEST_F(lazy_limit, words_of_a_touch)
{
	char text[4096];
	int link, status;
	pid_t pid = peer_fork(&link);

	if (!pid) {
		volatile uint32_t *at;
		int fd = open(LOG, O_CREAT | O_TRUNC | O_WRONLY, 0600);

		cuda_start(0);
		at = mapped(new_memory(0, SIZE), SIZE, 0);
		at[0] = 1;
		leave_room(0);
		dup2(fd, 2);
		at[CHUNK / 4] = 1;
		_exit(0);
	}
	status = reap_child(pid);
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGBUS, WTERMSIG(status));
	read_file(text, sizeof(text), LOG);
	EXPECT_SAYS(text, "lazy_max_mib");
	TH_LOG("%s", text);
	peer_close(link);
}

#define USER	1001
#define OTHER	1002

/* Return: how many chunks the caller's memory gets, one after the other; it keeps them. */
static int chunks_got(struct __test_metadata *_metadata)
{
	CUdeviceptr at;
	int got = 0;

	cuda_start(0);
	at = ADDRESS(mapped(new_memory(0, SIZE), SIZE, 0));
	while (cuMemsetD32(at + got * CHUNK, 1, CHUNK / 4) == CUDA_SUCCESS)
		got++;
	return got;
}

/*
 * A user without CAP_IPC_LOCK gets a share, of which others' is no part, and gets it again when it
 * has given it back. Root takes the rest.
 */
TEST_F(lazy_limit, share_of_a_user)
{
	static const struct {
		unsigned long all_mib, user_mib;
		unsigned int user;
		int chunks;
	} tries[] = {
		{ 32, 6, USER, 3 }, { 32, 6, OTHER, 3 }, { 32, 6, USER, 0 }, { 32, 0, OTHER, 5 },
		{ 32, 8, USER, 1 },
	};
	int links[ARRAY_SIZE(tries)], link, status;
	pid_t pids[ARRAY_SIZE(tries)], last;
	char text[4096];

	for (unsigned int i = 0; i < ARRAY_SIZE(tries); i++) {
		ASSERT_EQ(0, set_limit("lazy_max_mib", tries[i].all_mib));
		ASSERT_EQ(0, set_limit("lazy_user_mib", tries[i].user_mib));
		pids[i] = user_fork(tries[i].user, &links[i]);
		if (!pids[i]) {
			setenv("CUDA_LOG_FILE", LOG, 1);
			send_number(links[i], chunks_got(_metadata));
			receive_number(links[i]);
			exit(0);
		}
		EXPECT_EQ(tries[i].chunks, receive_number(links[i]))
			TH_LOG("try %u", i);
		read_file(text, sizeof(text), LOG);
		EXPECT_SAYS(text, "this user's memories have taken ");
		EXPECT_SAYS(text, "lazy_user_mib");
		unlink(LOG);
	}
	last = user_fork(USER, &link);
	if (!last) {
		receive_number(link);
		exit(chunks_got(_metadata));
	}
	/* 3 + 3 + 5 + 1 of 16 are taken */
	EXPECT_EQ(4, chunks_got(_metadata));
	for (unsigned int i = 0; i < ARRAY_SIZE(tries); i++) {
		end_peer(links[i], pids[i]);
	}
	ASSERT_EQ(0, set_limit("lazy_user_mib", 6));
	send_number(link, 0);
	ASSERT_EQ(last, waitpid(last, &status, 0));
	EXPECT_EQ(3, WEXITSTATUS(status));
	peer_close(link);
}

/* Who touches another user's memory is told of that user's share. */
TEST_F(lazy_limit, memory_of_another_user)
{
	CUmemGenericAllocationHandle handle;
	char text[4096];
	pid_t owner;
	int link;

	ASSERT_EQ(0, set_limit("lazy_max_mib", 64));
	ASSERT_EQ(0, set_limit("lazy_user_mib", 6));
	ASSERT_EQ(0, setenv("CUDA_LOG_FILE", LOG, 1));
	owner = user_fork(USER, &link);
	if (!owner) {
		cuda_start(0);
		send_fd(link, exported(new_memory(0, SIZE)));
		receive_number(link);
		exit(0);
	}
	cuda_start(0);
	handle = imported(receive_fd(link));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY,
		  cuMemsetD32(ADDRESS(mapped(handle, SIZE, 0)), 1, 4 * CHUNK / 4));
	read_file(text, sizeof(text), LOG);
	EXPECT_SAYS(text, "the owner's memories have taken 0 of 6 MiB");
	end_peer(link, owner);
	peer_close(link);
}

/* Importers of a dma-buf and debuggers get an error, too, when they need new chunks. */
TEST_F(lazy_limit, importers_and_debuggers)
{
	int fd, of_team, card, self_memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	CUmemGenericAllocationHandle all;
	volatile uint32_t *at, *shared;
	uint32_t value = 1;

	cuda_start(0);
	all = complete_team(2, SIZE);
	for (int i = 0; i < 2; i++)
		ASSERT_OK(cuMulticastBindMem(all, 0, new_memory(i, SIZE), 0, SIZE, 0));
	of_team = exported(all);
	fd = exported(new_memory(0, SIZE));
	at = mapped(imported(fd), SIZE, 0);
	shared = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, shared);
	at[0] = 1;
	leave_room(4);
	card = vgem_open();
	if (card >= 0) {
		EXPECT_EQ(0, vgem_import(card, fd));
		EXPECT_EQ(ENOMEM, errno);
	}
	EXPECT_TAKEN(1, 0);
	/* a device that may write a team takes chunks of each member */
	if (card >= 0) {
		EXPECT_EQ(0, vgem_import(card, of_team));
		EXPECT_EQ(ENOMEM, errno);
	}
	leave_room(0);
	EXPECT_EQ(SIGBUS, try_store(shared + CHUNK / 4, 1));
	EXPECT_EQ(0, try_load(shared, &value));
	EXPECT_EQ(1, value);
	EXPECT_EQ(-1, pwrite(self_memory, &value, 4, (off_t)(uintptr_t)&at[CHUNK / 4]));
	EXPECT_EQ(4, pread(self_memory, &value, 4, (off_t)(uintptr_t)&at[CHUNK / 4]));
	EXPECT_EQ(0, value);
	munmap((void *)shared, SIZE);
	close(fd);
	close(of_team);
	close(self_memory);
}

/* A process is killed at any moment while it touches and copies: all its memory goes back. */
TEST_F(lazy_limit, kill)
{
	unsigned int round;

	for (round = 0; round < 10; round++) {
		int link;
		pid_t pid = peer_fork(&link);

		if (!pid) {
			cuda_start(0);
			send_number(link, 0);
			for (;;) {
				CUmemGenericAllocationHandle handle = new_memory(0, SIZE);
				CUdeviceptr at = ADDRESS(mapped(handle, SIZE, 0));

				*(volatile uint32_t *)(at + SIZE / 2) = 1;
				ASSERT_OK(cuMemsetD8(at, 1, SIZE));
				ASSERT_OK(cuMemUnmap(at, SIZE));
				ASSERT_OK(cuMemAddressFree(at, SIZE));
				ASSERT_OK(cuMemRelease(handle));
			}
		}
		receive_number(link);
		usleep(1000 + round * 7777);
		kill(pid, SIGKILL);
		reap_child(pid);
		peer_close(link);
		ASSERT_STREQ("", left_over());
	}
}

/* One of many processes that want more than the limit */
static void greedy(struct __test_metadata *_metadata, unsigned int seed)
{
	CUdevice device = seed % 2;
	volatile uint32_t *at;
	unsigned int round;
	CUdeviceptr other;

	cuda_start(device);
	for (round = 0; round < 20; round++) {
		CUmemGenericAllocationHandle handle = new_memory(device, SIZE);
		size_t i = rand_r(&seed) % 31 * (CHUNK / 4);
		CUresult result;
		int number;

		at = mapped(handle, SIZE, device);
		result = cuMemsetD32(ADDRESS(at), round, rand_r(&seed) % (SIZE / 4) + 1);
		if (result == CUDA_SUCCESS) {
			EXPECT_EQ(round, at[0]);
		} else {
			EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, result);
		}
		number = try_store(at + i, 1);
		if (number) {
			EXPECT_EQ(SIGBUS, number);
		}
		ASSERT_OK(cuMemAlloc(&other, CHUNK));
		result = cuMemsetD8(other, 1, CHUNK);
		if (result != CUDA_SUCCESS) {
			EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, result);
		}
		ASSERT_OK(cuMemFree(other));
		ASSERT_OK(cuMemUnmap(ADDRESS(at), SIZE));
		ASSERT_OK(cuMemAddressFree(ADDRESS(at), SIZE));
		ASSERT_OK(cuMemRelease(handle));
	}
	exit(_metadata->exit_code);
}

TEST_F(lazy_limit, eight_at_once)
{
	int links[8], bystander, i;
	pid_t pids[8], other;

	other = peer_fork(&bystander);
	if (!other) {
		volatile uint32_t *at;

		cuda_start(0);
		at = mapped(new_memory(0, SIZE), SIZE, 0);
		for (i = 0; i < 4; i++)
			at[i * (CHUNK / 4)] = i + 1;
		handshake(bystander);
		/* the bystander keeps the chunks that it has */
		for (i = 0; i < 4; i++)
			EXPECT_EQ(i + 1, (int)at[i * (CHUNK / 4)]);
		EXPECT_OK(cuMemsetD32(ADDRESS(at), 9, 4 * CHUNK / 4));
		exit(_metadata->exit_code);
	}
	receive_number(bystander);
	leave_room(40);
	for (i = 0; i < 8; i++) {
		pids[i] = peer_fork(&links[i]);
		if (!pids[i])
			greedy(_metadata, i);
	}
	for (i = 0; i < 8; i++) {
		EXPECT_EQ(0, reap_child(pids[i]));
		peer_close(links[i]);
	}
	end_peer(bystander, other);
	peer_close(bystander);
}

TEST_HARNESS_MAIN
