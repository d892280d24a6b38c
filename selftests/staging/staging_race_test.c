// SPDX-License-Identifier: MIT
/*
 * The dma-buf of a team, written by several processes at a time. Each writer has words of its own,
 * in pages that all of them share; after each end of a writer's bracket, every replica has what
 * that writer stored, whatever the others do to these pages meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "importer.h"
#include "memcast_test.h"
#include "peers.h"

#define DEVICES	3
#define BYTES	(2 * CHUNK)
#define TOUCHED	16	/* pages around the border of the chunks: few, so that writers meet */
#define WRITERS	3
#define RW	DMA_BUF_SYNC_RW

FIXTURE(staging_race)
{
	int fd, replica_fd[DEVICES];
	int device;
	volatile int *stop;
};

FIXTURE_SETUP(staging_race)
{
	CUmemGenericAllocationHandle team, own;
	const char *why;

	self->device = importer_open(&why);
	self->stop = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->stop);
	cuda_start(0);
	team = complete_team(DEVICES, BYTES);
	for (int i = 0; i < DEVICES; i++) {
		own = new_bound(team, i, BYTES);
		self->replica_fd[i] = exported(own);
	}
	self->fd = exported(team);
}
NOTHING_LEFT(staging_race)

static volatile uint64_t *word(volatile char *at, unsigned int writer, unsigned int page)
{
	size_t first = CHUNK / PAGE - TOUCHED / 2;

	return (volatile uint64_t *)(at + (first + page) * PAGE) + 1 + writer;
}

static volatile char *map_all(int fd)
{
	void *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		_exit(2);
	return at;
}

/* Return: 0, or what the replicas did not have */
static int write_and_look(int fd, const int *replica_fd, unsigned int writer, uint64_t rounds)
{
	volatile char *at = map_all(fd), *replica[DEVICES];
	unsigned int seed = writer;
	uint64_t round;

	for (int i = 0; i < DEVICES; i++)
		replica[i] = map_all(replica_fd[i]);
	for (round = 1; round <= rounds; round++) {
		unsigned int page = rand_r(&seed) % TOUCHED;

		if (rand_r(&seed) % 4 == 0 && dma_buf_sync(fd, DMA_BUF_SYNC_START | RW))
			return 3;
		*word(at, writer, page) = round;
		if (rand_r(&seed) % 64 == 0) {
			munmap((void *)at, BYTES);
			at = map_all(fd);
		} else if (dma_buf_sync(fd, DMA_BUF_SYNC_END | RW)) {
			return 3;
		}
		for (int i = 0; i < DEVICES; i++) {
			if (*word(replica[i], writer, page) == round)
				continue;
			fprintf(stderr, "# writer %u, page %u: replica %d has %lu, not %lu\n",
				writer, page, i, *word(replica[i], writer, page), round);
			return 1;
		}
		if (*word(at, writer, page) != round)
			return 4;
	}
	return 0;
}

static void start_writers(struct __test_metadata *_metadata, FIXTURE_DATA(staging_race) *self,
			  pid_t *writer, uint64_t rounds)
{
	int link;

	for (unsigned int i = 0; i < WRITERS; i++) {
		writer[i] = peer_fork(&link);
		if (!writer[i])
			_exit(write_and_look(self->fd, self->replica_fd, i, rounds));
		peer_close(link);
	}
}

#define expect_equal_replicas()	expect_equal_replicas_(_metadata, self)
static void expect_equal_replicas_(struct __test_metadata *_metadata,
				   FIXTURE_DATA(staging_race) *self)
{
	char *first = (char *)map_all(self->replica_fd[0]);

	for (int i = 1; i < DEVICES; i++)
		EXPECT_EQ(0, memcmp(first, (char *)map_all(self->replica_fd[i]), BYTES));
}

TEST_F(staging_race, writers)
{
	pid_t writer[WRITERS];

	start_writers(_metadata, self, writer, loops(4000));
	for (int i = 0; i < WRITERS; i++)
		EXPECT_EQ(0, reap_child(writer[i]));
	expect_equal_replicas();
}

/* Devices and the kernel map the same pages, for reading and for writing. */
TEST_F(staging_race, writers_and_devices)
{
	const uint32_t slot[] = { 0, 1, MEMCAST_IMPORTER_VMAP };
	const enum memcast_importer_direction direction[] = {
		MEMCAST_IMPORTER_READS, MEMCAST_IMPORTER_BOTH, MEMCAST_IMPORTER_BOTH,
	};
	pid_t writer[WRITERS], device[3];
	int link;

	if (self->device < 0)
		SKIP(return, "no importer");
	for (int i = 0; i < 3; i++) {
		device[i] = peer_fork(&link);
		if (!device[i]) {
			const char *why;
			int importer = importer_open(&why);
			uint32_t id;

			if (importer_attach(importer, self->fd, &id))
				_exit(2);
			while (!*self->stop)
				if (importer_map(importer, id, slot[i], direction[i], NULL) ||
				    importer_unmap(importer, id, slot[i]))
					_exit(3);
			_exit(0);
		}
	}
	start_writers(_metadata, self, writer, loops(1000));
	for (int i = 0; i < WRITERS; i++)
		EXPECT_EQ(0, reap_child(writer[i]));
	*self->stop = 1;
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(0, reap_child(device[i]));
	expect_equal_replicas();
}

/* After a writer is killed at any moment, all replicas are equal. */
TEST_F(staging_race, killed_writers)
{
	pid_t writer[WRITERS];

	for (unsigned int round = 0; round < loops(50); round++) {
		start_writers(_metadata, self, writer, UINT64_MAX);
		usleep(1000 * (round % 20));
		for (int i = 0; i < WRITERS; i++)
			ASSERT_EQ(0, kill(writer[i], SIGKILL));
		for (int i = 0; i < WRITERS; i++)
			EXPECT_EQ(SIGKILL, reap_child(writer[i]));
	}
	expect_equal_replicas();
}

/* Bindings come and go: the members that are bound in the end get what is written then. */
TEST_F(staging_race, bindings_and_writers)
{
	CUmemGenericAllocationHandle team, own;
	volatile char *at;
	pid_t child;
	int link;

	child = peer_fork(&link);
	if (!child) {
		int fd = receive_fd(link);

		at = map_all(fd);
		for (uint64_t round = 1; !*self->stop; round++) {
			*word(at, 0, round % TOUCHED) = round;
			if (dma_buf_sync(fd, DMA_BUF_SYNC_START | RW) ||
			    dma_buf_sync(fd, DMA_BUF_SYNC_END | RW))
				_exit(3);
		}
		_exit(0);
	}
	team = complete_team(2, BYTES);
	at = map_all(exported(team));
	send_fd(link, exported(team));
	for (unsigned int round = 0; round < loops(500); round++) {
		own = new_memory(round % 2, BYTES);
		ASSERT_OK(RETRY_BIND(cuMulticastBindMem(team, 0, own, 0, BYTES, 0)));
		/* an unbind of its own, or with the end of the memory */
		if (round % 3)
			ASSERT_OK(cuMulticastUnbind(team, round % 2, 0, BYTES));
		ASSERT_OK(cuMemRelease(own));
	}
	*self->stop = 1;
	EXPECT_EQ(0, reap_child(child));
}

/* ---- no memory for pages ---- */

#define CGROUPS		"/tmp/memcast-cgroups"
#define CGROUP		CGROUPS "/memcast-staging"

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return done;
}

/*
 * At the limit, any other allocation of the kernel for this process would end it. So the page
 * tables are filled before, and the limit is lifted before anything else is done.
 */
TEST_F(staging_race, out_of_memory)
{
	const size_t bytes = 128UL << 20;
	long pages, page, before, after;
	int fd, limit, result;
	volatile char *at;
	uint32_t id;

	if (self->device < 0)
		SKIP(return, "no importer");
	mkdir(CGROUPS, 0755);
	if (mount("none", CGROUPS, "cgroup2", 0, NULL))
		SKIP(return, "needs root and cgroup2");
	put(CGROUPS "/cgroup.subtree_control", "+memory");
	mkdir(CGROUP, 0755);
	limit = open(CGROUP "/memory.max", O_WRONLY | O_CLOEXEC);
	if (limit < 0 || !put(CGROUP "/cgroup.procs", "0"))
		SKIP(return, "no memory controller in cgroup2");

	fd = exported(complete_team(2, bytes));
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)at);
	for (size_t i = 0; i < bytes; i += CHUNK)
		at[i] = 1;
	before = bytes / CHUNK;
	ASSERT_EQ(before, stat_of("staging_pages"));
	ASSERT_EQ(0, importer_attach(self->device, fd, &id));

	ASSERT_EQ(8, write(limit, "50331648", 8));
	result = importer_map(self->device, id, 0, MEMCAST_IMPORTER_BOTH, NULL);
	ASSERT_EQ(3, write(limit, "max", 3));
	/* the pages of the failed call are gone; those that were stored to are not */
	EXPECT_EQ(-ENOMEM, result);
	EXPECT_EQ(before, stat_of("staging_pages"));
	EXPECT_EQ(1, at[0]);

	/* touch pages until there is no more memory */
	pages = bytes / PAGE;
	ASSERT_EQ(8, write(limit, "50331648", 8));
	for (page = 0; page < pages && !(result = try_store(at + page * PAGE, 1)); page++)
		;
	ASSERT_EQ(3, write(limit, "max", 3));
	EXPECT_EQ(SIGBUS, result);
	EXPECT_LT(4UL << 20, page * PAGE);
	EXPECT_GT(48UL << 20, page * PAGE);
	after = before + page - (page + CHUNK / PAGE - 1) / (CHUNK / PAGE);
	EXPECT_EQ(after, stat_of("staging_pages"));
	/* with more memory, stores work again */
	EXPECT_EQ(0, try_store(at + page * PAGE, 1));
	EXPECT_EQ(0, dma_buf_sync(fd, DMA_BUF_SYNC_END | RW));
	put(CGROUPS "/cgroup.procs", "0");
	rmdir(CGROUP);
	umount2(CGROUPS, MNT_DETACH);
}

TEST_HARNESS_MAIN
