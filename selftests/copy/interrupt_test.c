// SPDX-License-Identifier: MIT
/*
 * Long copies and fills, which a signal interrupts between two pieces, as does the freezer. They go
 * on where they were.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "cgroup.h"
#include "memcast_test.h"
#include "raw.h"

/* As much as takes far longer than a signal, or the freezer; it is never filled to the end. */
#define ENDLESS		(16384 * CHUNK)
#define WORD		0x600df00dU

#define SUSPEND		"/sys/module/suspend/parameters"

FIXTURE(interrupt)
{
	int device;
	char *to, *from;		/* two ranges, of ENDLESS bytes each */
	volatile uint32_t *first, *last;	/* words of @to */
	pthread_t main, watcher;
	bool copies;
	pid_t child;
	bool suspends;
	struct cgroup cgroup;
};

FIXTURE_VARIANT(interrupt)
{
	bool copies;
};

FIXTURE_VARIANT_ADD(interrupt, fill) { .copies = false };
FIXTURE_VARIANT_ADD(interrupt, copy) { .copies = true };

/* What a handler of this process's only signal sees */
static volatile uint32_t *watched;
static volatile sig_atomic_t handled, in_the_middle, leaves;
static sigjmp_buf way_out;

static void handler(int number)
{
	(void)number;
	handled++;
	in_the_middle += *watched != WORD;
	if (leaves)
		siglongjmp(way_out, 1);
}

static uint32_t new_chunk(struct __test_metadata *_metadata, int device)
{
	struct memcast_memory_create create = {
		.location = MEMCAST_LOCATION_DEVICE, .bytes = CHUNK,
	};

	ASSERT_EQ(0, RAW(device, MEMORY_CREATE, create));
	return create.out_handle;
}

/* Return: a range of that many bytes, for the device; all its chunks show one memory but the last */
static char *new_range(struct __test_metadata *_metadata, int device, size_t bytes)
{
	struct memcast_map map = { .handle = new_chunk(_metadata, device), .bytes = CHUNK };
	struct memcast_access_entry entry = {
		.location = MEMCAST_LOCATION_DEVICE, .access = MEMCAST_ACCESS_READWRITE,
	};
	struct memcast_set_access access = {
		.bytes = bytes, .entries = (uintptr_t)&entry, .count = 1,
	};
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);

	ASSERT_NE(MAP_FAILED, at);
	for (size_t offset = 0; offset < bytes; offset += CHUNK) {
		if (offset + CHUNK == bytes)
			map.handle = new_chunk(_metadata, device);
		map.address = (uintptr_t)at + offset;
		ASSERT_EQ(0, RAW(device, MAP, map));
	}
	access.address = (uintptr_t)at;
	ASSERT_EQ(0, RAW(device, SET_ACCESS, access));
	return at;
}

FIXTURE_SETUP(interrupt)
{
	struct sigaction action = { .sa_handler = handler };

	self->device = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->device);
	self->copies = variant->copies;
	handled = 0;
	in_the_middle = 0;
	leaves = 0;
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
}

FIXTURE_TEARDOWN_PARENT(interrupt)
{
	if (self->suspends) {
		write_in("/sys/power", "pm_test", "none");
		write_in(SUSPEND, "pm_test_delay", "5");
	}
	EXPECT_TRUE(cgroup_end(&self->cgroup, self->child));
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

static void make_ranges(struct __test_metadata *_metadata, FIXTURE_DATA(interrupt) *self)
{
	self->to = new_range(_metadata, self->device, ENDLESS);
	if (self->copies)
		self->from = new_range(_metadata, self->device, ENDLESS);
	self->first = (void *)self->to;
	self->last = (void *)(self->to + ENDLESS - sizeof(*self->last));
	watched = self->last;
	if (self->copies)
		*(volatile uint32_t *)self->from = WORD;
}

/* Fills, or copies to, all of the range. */
static int work(FIXTURE_DATA(interrupt) *self)
{
	struct memcast_fill fill = {
		.to = (uintptr_t)self->to, .count = ENDLESS / 4, .width = 4, .value = WORD,
	};
	struct memcast_copy copy = {
		.to = (uintptr_t)self->to, .from = (uintptr_t)self->from, .bytes = ENDLESS,
	};

	return self->copies ? RAW(self->device, COPY, copy) : RAW(self->device, FILL, fill);
}

/* Signals the main thread once it has begun to write. */
static void *signal_in_the_middle(void *data)
{
	FIXTURE_DATA(interrupt) *self = data;

	while (*self->first != WORD)
		sched_yield();
	pthread_kill(self->main, SIGUSR1);
	return NULL;
}

TEST_F(interrupt, handler_runs_in_the_middle)
{
	make_ranges(_metadata, self);
	leaves = 1;
	self->main = pthread_self();
	ASSERT_EQ(0, pthread_create(&self->watcher, NULL, signal_in_the_middle, self));
	if (!sigsetjmp(way_out, 1))
		EXPECT_EQ(0, work(self));
	EXPECT_EQ(1, handled);
	EXPECT_EQ(1, in_the_middle);
	ASSERT_EQ(0, pthread_join(self->watcher, NULL));
}

/* Return: a word of the child's memory */
static uint32_t word_of(struct __test_metadata *_metadata, pid_t child, volatile uint32_t *at)
{
	char path[32];
	uint32_t word;
	int file;

	snprintf(path, sizeof(path), "/proc/%d/mem", child);
	file = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, file);
	ASSERT_EQ(sizeof(word), pread(file, &word, sizeof(word), (uintptr_t)at));
	close(file);
	return word;
}

/* Forks a child, in the cgroup if there is one, that fills or copies, and has begun to. */
static void begin_in_child(struct __test_metadata *_metadata, FIXTURE_DATA(interrupt) *self)
{
	int link;
	pid_t pid = peer_fork(&link);

	if (!pid) {
		self->device = open("/dev/memcast", O_RDWR | O_CLOEXEC);
		make_ranges(_metadata, self);
		ASSERT_EQ(0, peer_send(link, (long)(uintptr_t)self->to, -1));
		if (self->cgroup.path[0])
			ASSERT_EQ(0, write_in(self->cgroup.path, "cgroup.procs", "0"));
		_exit(work(self));
	}
	self->child = pid;
	self->to = (char *)(uintptr_t)receive_number(link);
	self->first = (void *)self->to;
	self->last = (void *)(self->to + ENDLESS - sizeof(*self->last));
	ASSERT_TRUE(comes_true(word_of(_metadata, self->child, self->first) == WORD));
}

TEST_F(interrupt, is_frozen_in_the_middle)
{
	if (!cgroup_make(&self->cgroup, NULL))
		SKIP(return, "needs root, and cgroups of version 2");
	begin_in_child(_metadata, self);
	ASSERT_EQ(0, write_in(self->cgroup.path, "cgroup.freeze", "1"));
	EXPECT_TRUE(comes_true(cgroup_says(&self->cgroup, "cgroup.events", "frozen 1")));
	EXPECT_EQ(0, word_of(_metadata, self->child, self->last));
	ASSERT_EQ(0, write_in(self->cgroup.path, "cgroup.freeze", "0"));
	EXPECT_TRUE(comes_true(cgroup_says(&self->cgroup, "cgroup.events", "frozen 0")));
}

/* Return: how many page faults a process has had that read nothing from a disk */
static unsigned long faults_of(pid_t pid)
{
	unsigned long faults = 0;
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (file && fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %lu", &faults) != 1)
		faults = 0;
	if (file)
		fclose(file);
	return faults;
}

/* The program's own memory is checked before a copy begins: page by page, if it has none yet. */
TEST_F(interrupt, is_frozen_while_its_memory_is_checked)
{
	const unsigned long pages = ENDLESS / PAGE;
	int link;
	pid_t pid;

	if (!self->copies)
		SKIP(return, "a fill has no source");
	if (!cgroup_make(&self->cgroup, NULL))
		SKIP(return, "needs root, and cgroups of version 2");
	pid = peer_fork(&link);
	if (!pid) {
		self->device = open("/dev/memcast", O_RDWR | O_CLOEXEC);
		self->to = new_range(_metadata, self->device, ENDLESS);
		self->from = mmap(NULL, ENDLESS, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS |
				  MAP_NORESERVE, -1, 0);
		ASSERT_NE(MAP_FAILED, self->from);
		ASSERT_EQ(0, madvise(self->from, ENDLESS, MADV_NOHUGEPAGE));
		ASSERT_EQ(0, write_in(self->cgroup.path, "cgroup.procs", "0"));
		send_number(link, faults_of(getpid()));
		_exit(work(self));
	}
	self->child = pid;
	receive_number(link);
	ASSERT_TRUE(comes_true(faults_of(pid) > pages / 16));
	ASSERT_EQ(0, write_in(self->cgroup.path, "cgroup.freeze", "1"));
	EXPECT_TRUE(comes_true(cgroup_says(&self->cgroup, "cgroup.events", "frozen 1")));
	EXPECT_GT(pages, faults_of(pid));
	ASSERT_EQ(0, write_in(self->cgroup.path, "cgroup.freeze", "0"));
	EXPECT_TRUE(comes_true(cgroup_says(&self->cgroup, "cgroup.events", "frozen 0")));
}

/* Linux freezes all programs for suspend, and fails if one is not frozen for 20 s. */
TEST_F(interrupt, lets_the_machine_suspend)
{
	if (write_in("/sys/power", "pm_test", "freezer"))
		SKIP(return, "needs root, and a kernel that can try to suspend");
	self->suspends = true;
	ASSERT_EQ(0, write_in(SUSPEND, "pm_test_delay", "0"));
	begin_in_child(_metadata, self);
	EXPECT_EQ(0, write_in("/sys/power", "state", "freeze"));
	EXPECT_EQ(0, word_of(_metadata, self->child, self->last));
	/* and goes on */
	EXPECT_EQ(0, waitpid(self->child, NULL, WNOHANG));
}

/* ---- calls that are interrupted again and again are done as a whole */

enum { ROWS = 24, PITCH = 768 * 1024, ROW = PITCH - 4096 };

static bool stops;

static void *storm(void *data)
{
	while (!__atomic_load_n(&stops, __ATOMIC_SEQ_CST)) {
		pthread_kill(*(pthread_t *)data, SIGUSR1);
		sched_yield();
	}
	return NULL;
}

TEST_F(interrupt, nothing_is_left_out)
{
	size_t words = ROWS * PITCH / 4, i, row;
	pthread_t own = pthread_self(), other;
	uint32_t *wanted = malloc(words * 4), *found = malloc(words * 4), rounds = 0;
	struct memcast_heap_create heap = { .location = MEMCAST_LOCATION_DEVICE };
	struct memcast_block_alloc block = { .bytes = ROWS * PITCH };
	struct memcast_fill fill = {
		.count = ROW / 4, .width = 4, .value = WORD, .rows = ROWS, .pitch = PITCH,
	};
	struct memcast_copy copy = {
		.bytes = ROW, .rows = ROWS, .to_pitch = PITCH, .from_pitch = PITCH,
	};

	ASSERT_EQ(0, RAW(self->device, HEAP_CREATE, heap));
	block.heap = heap.out_heap;
	ASSERT_EQ(0, RAW(self->device, BLOCK_ALLOC, block));
	fill.to = block.out_address;
	copy.to = block.out_address;
	copy.from = (uintptr_t)wanted;
	self->last = (void *)(uintptr_t)(block.out_address + (ROWS - 1) * PITCH + ROW - 4);
	watched = self->last;
	__atomic_store_n(&stops, false, __ATOMIC_SEQ_CST);
	ASSERT_EQ(0, pthread_create(&other, NULL, storm, &own));
	while (in_the_middle < 20 && rounds < 100000) {
		struct memcast_copy whole = {
			.to = block.out_address, .from = (uintptr_t)found, .bytes = words * 4,
		};

		/* what no row has stays 5; the words differ, so each has its place */
		for (i = 0; i < words; i++) {
			found[i] = 5;
			wanted[i] = self->copies ? rounds + i : WORD;
		}
		wanted[(ROWS - 1) * (PITCH / 4) + ROW / 4 - 1] = WORD;
		ASSERT_EQ(0, RAW(self->device, COPY, whole));
		ASSERT_EQ(0, self->copies ? RAW(self->device, COPY, copy) :
					    RAW(self->device, FILL, fill));
		EXPECT_EQ(0, copy.progress.done);
		EXPECT_EQ(0, fill.progress.done);
		whole.to = (uintptr_t)found;
		whole.from = block.out_address;
		ASSERT_EQ(0, RAW(self->device, COPY, whole));
		for (row = 0; row < ROWS; row++) {
			size_t at = row * (PITCH / 4);

			ASSERT_EQ(0, memcmp(found + at, wanted + at, ROW));
			for (i = ROW / 4; i < PITCH / 4; i++)
				ASSERT_EQ(5, found[at + i]);
		}
		rounds++;
	}
	__atomic_store_n(&stops, true, __ATOMIC_SEQ_CST);
	ASSERT_EQ(0, pthread_join(other, NULL));
	EXPECT_LE(20, in_the_middle);
	free(wanted);
	free(found);
}

/* A caller that changes the progress changes what is done, and nothing else. */
TEST_F(interrupt, forged_progress)
{
	struct memcast_heap_create heap = { .location = MEMCAST_LOCATION_DEVICE };
	struct memcast_block_alloc block = { .bytes = 4096 };
	uint32_t source[16] = { 1, 2, 3, 4, 5, 6, 7, 8 }, own[16] = {};
	struct memcast_fill fill = { .count = 16, .width = 4, .value = 9 };
	struct memcast_copy copy = { .from = (uintptr_t)source, .bytes = sizeof(source) };

	ASSERT_EQ(0, RAW(self->device, HEAP_CREATE, heap));
	block.heap = heap.out_heap;
	ASSERT_EQ(0, RAW(self->device, BLOCK_ALLOC, block));
	fill.to = block.out_address;
	copy.to = block.out_address;
	if (self->copies) {
		copy.progress.done = sizeof(source) + 1;
		EXPECT_EQ(EINVAL, RAW(self->device, COPY, copy));
		copy.progress.done = 16;
		copy.progress.missed = ~0ULL;
		EXPECT_EQ(0, RAW(self->device, COPY, copy));
		EXPECT_EQ(0, copy.progress.done);
		EXPECT_EQ(0, *(uint32_t *)(uintptr_t)(block.out_address + 12));
		EXPECT_EQ(5, *(uint32_t *)(uintptr_t)(block.out_address + 16));
		/* memory of the program's own has no members to miss */
		copy.to = (uintptr_t)own;
		copy.progress.done = 16;
		copy.progress.missed = 1;
		EXPECT_EQ(0, RAW(self->device, COPY, copy));
		EXPECT_EQ(0, own[3]);
		EXPECT_EQ(5, own[4]);
		return;
	}
	fill.progress.done = 68;
	EXPECT_EQ(EINVAL, RAW(self->device, FILL, fill));
	fill.progress.done = 2;
	EXPECT_EQ(EINVAL, RAW(self->device, FILL, fill));
	fill.progress.done = 60;
	EXPECT_EQ(0, RAW(self->device, FILL, fill));
	EXPECT_EQ(0, *(uint32_t *)(uintptr_t)(block.out_address + 56));
	EXPECT_EQ(9, *(uint32_t *)(uintptr_t)(block.out_address + 60));
	EXPECT_EQ(0, *(uint32_t *)(uintptr_t)(block.out_address + 64));
}

TEST_HARNESS_MAIN
