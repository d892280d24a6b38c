// SPDX-License-Identifier: MIT
/*
 * What a client holds: how much of it in /proc/PID/fdinfo/, and all of it in the module's list, with
 * the bindings of members and the chunks of memories in pools. Lines have a limited length, and so
 * has the fdinfo, however much there is.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <memcast/view.h>
#include "log_lines.h"
#include "memcast_test.h"
#include "raw.h"

#define BINDINGS	64	/* in a line */
#define RANGES		256	/* likewise */

FIXTURE(fdinfo)
{
	char text[1 << 20], wanted[256];
};
FIXTURE_SETUP(fdinfo)
{
	cuda_start(0);
}
NOTHING_LEFT(fdinfo)

/* Reads all of a client's list anew, @step bytes at a time. */
static const char *look_at(struct __test_metadata *_metadata, FIXTURE_DATA(fdinfo) *self,
			   int device, size_t step)
{
	int list = client_list(device, client_key(getpid(), device));
	size_t length = 0;
	ssize_t got;

	ASSERT_LE(0, list);
	while ((got = read(list, self->text + length, step)) > 0) {
		length += got;
		ASSERT_LT(length + step, sizeof(self->text));
	}
	ASSERT_EQ(0, got);
	self->text[length] = '\0';
	ASSERT_EQ(0, close(list));
	return self->text;
}

static const char *look(struct __test_metadata *_metadata, FIXTURE_DATA(fdinfo) *self)
{
	return look_at(_metadata, self, raw_library_fd(), 4096);
}

/* Counts how often @part stands in @text. */
static unsigned int times(const char *text, const char *part)
{
	unsigned int found = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		found++;
	}
	return found;
}

/* Return: the number of the last memory or team in a line of handles or mappings */
static uint64_t number_of(const char *text, const char *how)
{
	uint64_t number = 0;

	while ((text = strstr(text, how))) {
		text += strlen(how);
		sscanf(text, "%" SCNu64, &number);
	}
	return number;
}

/* ---- how much there is, and all of it */

/* Return: the number in a line of the fdinfo of a client; -1: there is no such line */
static long total(struct __test_metadata *_metadata, FIXTURE_DATA(fdinfo) *self, int device,
		  const char *name)
{
	char path[40];
	const char *line;
	long value;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", device);
	read_file(self->text, sizeof(self->text), path);
	/* the kernel keeps all of the text for as long as the file is open: a page has room */
	EXPECT_GT(1024, strlen(self->text));
	snprintf(self->wanted, sizeof(self->wanted), "memcast-%s:", name);
	line = strstr(self->text, self->wanted);
	return line && sscanf(line, "%*s %ld", &value) == 1 ? value : -1;
}

TEST_F(fdinfo, totals_of_many)
{
	enum { MAPPINGS = 3000, HANDLES = 500 };
	const size_t bytes = chunks_for(MAPPINGS * PAGE);
	int device = open("/dev/memcast", O_RDWR | O_CLOEXEC), i;
	struct memcast_memory_create create = {
		.location = MEMCAST_LOCATION_HOST, .bytes = PAGE,
	};
	struct memcast_map map = { .bytes = PAGE };
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);
	size_t step;

	ASSERT_NE(MAP_FAILED, at);
	for (i = 0; i < HANDLES; i++)
		ASSERT_EQ(0, RAW(device, MEMORY_CREATE, create));
	map.handle = create.out_handle;
	for (i = 0; i < MAPPINGS; i++) {
		map.address = (uintptr_t)at + i * PAGE;
		ASSERT_EQ(0, RAW(device, MAP, map));
	}
	EXPECT_EQ(HANDLES, total(_metadata, self, device, "handles"));
	EXPECT_EQ(MAPPINGS, total(_metadata, self, device, "mappings"));
	EXPECT_EQ(0, total(_metadata, self, device, "waits"));

	/* each line once, whatever the reader's pieces are */
	for (step = 1000; step < 100000; step = step * 8 + 1) {
		look_at(_metadata, self, device, step);
		EXPECT_EQ(HANDLES, times(self->text, "memcast-handle:"));
		EXPECT_EQ(MAPPINGS, times(self->text, "memcast-mapping:"));
		EXPECT_EQ(0, times(self->text, "memcast-wait:"));
	}
	/* a mapping keeps the released handle; an unmapped one goes */
	for (i = 1; i <= HANDLES; i++) {
		struct memcast_handle_release release = { .handle = i };

		ASSERT_EQ(0, RAW(device, HANDLE_RELEASE, release));
	}
	EXPECT_EQ(1, total(_metadata, self, device, "handles"));
	EXPECT_EQ(0, times(look_at(_metadata, self, device, 4096), "memcast-handle:"));
	ASSERT_EQ(0, munmap(at, bytes));
	EXPECT_EQ(0, total(_metadata, self, device, "handles"));
	EXPECT_EQ(0, total(_metadata, self, device, "mappings"));
	ASSERT_EQ(0, close(device));
}

static int count(int device, const volatile void *at, uint64_t operations)
{
	struct memcast_team_count count = { .address = ADDRESS(at), .multimem = operations };

	return RAW(device, TEAM_COUNT, count);
}

/* Operations at a window are counted as a process tells them, whose window it has to be. */
TEST_F(fdinfo, multimem_of_a_team)
{
	int device = raw_library_fd(), other = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	CUmemGenericAllocationHandle team = complete_team(2, 2 * CHUNK), memory;
	const struct memcast_view *view;
	volatile uint32_t *window, *plain;
	size_t offset;

	memory = new_bound(team, 0, 2 * CHUNK);
	plain = mapped(memory, 2 * CHUNK, 0);
	window = mapped(team, 2 * CHUNK, 0);
	view = memcastViewAt(ADDRESS(window), &offset);
	ASSERT_NE(NULL, view);

	EXPECT_NE(NULL, strstr(look(_metadata, self), " multimem 0\n"));
	EXPECT_EQ(0, count(device, window, 5));
	EXPECT_EQ(0, count(device, (char *)window + 2 * CHUNK - 1, 7));
	EXPECT_NE(NULL, strstr(look(_metadata, self), " writes 0 multimem 12\n"));
	EXPECT_EQ(EINVAL, count(device, window, 1ULL << 63));
	EXPECT_EQ(EINVAL, count(device, plain, 1));
	EXPECT_EQ(EINVAL, count(device, view->replica[0], 1));
	EXPECT_EQ(EINVAL, count(device, self, 1));
	EXPECT_EQ(EINVAL, count(other, window, 1));
	EXPECT_NE(NULL, strstr(look(_metadata, self), " multimem 12\n"));
	EXPECT_EQ(0, count(device, window, INT64_MAX));
	EXPECT_EQ(0, count(device, window, INT64_MAX));
	EXPECT_NE(NULL, strstr(look(_metadata, self), " multimem 9223372036854775807\n"));
	ASSERT_OK(cuMemUnmap(ADDRESS(window), 2 * CHUNK));
	EXPECT_EQ(EINVAL, count(device, window, 1));
	ASSERT_EQ(0, close(other));
}

/* A key is of an open file: no other number lists a client. */
TEST_F(fdinfo, unknown_key)
{
	int device = raw_library_fd(), other = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	uint64_t key = client_key(getpid(), other);

	ASSERT_LE(0, other);
	ASSERT_NE(0, key);
	EXPECT_NE(key, client_key(getpid(), device));
	EXPECT_EQ(-ENOENT, client_list(device, key + 1));
	EXPECT_EQ(-ENOENT, client_list(device, 0));
	ASSERT_EQ(0, close(other));
	EXPECT_EQ(-ENOENT, client_list(device, key));
}

/* The list of a client that has gone is empty, and harms nothing. */
TEST_F(fdinfo, list_outlives_client)
{
	int other = open("/dev/memcast", O_RDWR | O_CLOEXEC), list;
	struct memcast_memory_create create = {
		.location = MEMCAST_LOCATION_DEVICE, .bytes = CHUNK,
	};
	char text[100];

	ASSERT_LE(0, other);
	list = client_list(raw_library_fd(), client_key(getpid(), other));
	ASSERT_LE(0, list);
	ASSERT_EQ(0, RAW(other, MEMORY_CREATE, create));
	ASSERT_EQ(0, close(other));
	EXPECT_EQ(0, read(list, text, sizeof(text)));
	ASSERT_EQ(0, close(list));
}

/* ---- the lines of pieces */

#define TEAM	"memcast-handle:\tteam "
#define MEMORY	"memcast-handle:\tmemory "

TEST_F(fdinfo, bindings)
{
	CUmemGenericAllocationHandle team = complete_team(2, 8 * CHUNK);
	CUmemGenericAllocationHandle own = new_memory(1, 4 * CHUNK);
	uint64_t number, memory;
	volatile uint32_t *window;

	look(_metadata, self);
	EXPECT_EQ(NULL, strstr(self->text, "memcast-bindings:"));
	number = number_of(self->text, TEAM);
	memory = number_of(self->text, MEMORY);
	ASSERT_OK(cuMulticastBindMem(team, 5 * CHUNK, own, 0, CHUNK, 0));
	ASSERT_OK(cuMulticastBindMem(team, CHUNK, own, 2 * CHUNK, 2 * CHUNK, 0));
	snprintf(self->wanted, sizeof(self->wanted),
		 "\nmemcast-bindings:\tteam %" PRIu64 " device 1 %lu:%" PRIu64 ":%lu:%lu "
		 "%lu:%" PRIu64 ":0:%lu\n", number, CHUNK, memory, 2 * CHUNK, 2 * CHUNK,
		 5 * CHUNK, memory, CHUNK);
	EXPECT_EQ(1, times(look(_metadata, self), self->wanted)) TH_LOG("%s", self->text);
	EXPECT_EQ(1, times(self->text, "memcast-bindings:"));

	/* a team without a handle, but with a mapping, shows its bindings as well */
	window = mapped(team, 8 * CHUNK, 0);
	ASSERT_OK(cuMemRelease(team));
	EXPECT_EQ(1, times(look(_metadata, self), self->wanted)) TH_LOG("%s", self->text);
	EXPECT_EQ(NULL, strstr(self->text, TEAM));

	/* a binding goes with its memory */
	ASSERT_OK(cuMemRelease(own));
	EXPECT_EQ(NULL, strstr(look(_metadata, self), "memcast-bindings:"));
	ASSERT_OK(cuMemUnmap(ADDRESS(window), 8 * CHUNK));
}

TEST_F(fdinfo, more_bindings_than_a_line_has)
{
	enum { ALL = BINDINGS + 3 };
	CUmemGenericAllocationHandle team = complete_team(2, ALL * CHUNK);
	CUmemGenericAllocationHandle own = new_memory(0, CHUNK);
	unsigned int i;

	for (i = 0; i < BINDINGS; i++)
		ASSERT_OK(cuMulticastBindMem(team, i * CHUNK, own, 0, CHUNK, 0));
	snprintf(self->wanted, sizeof(self->wanted), ":%" PRIu64 ":0:2097152",
		 number_of(look(_metadata, self), MEMORY));
	EXPECT_EQ(BINDINGS, times(self->text, self->wanted));
	EXPECT_EQ(NULL, strstr(self->text, " more "));
	for (; i < ALL; i++)
		ASSERT_OK(cuMulticastBindMem(team, i * CHUNK, own, 0, CHUNK, 0));
	EXPECT_EQ(BINDINGS, times(look(_metadata, self), self->wanted));
	EXPECT_EQ(1, times(self->text, " more 6291456\n"));
}

/* Several handles to one team follow each other: its bindings are listed once. */
TEST_F(fdinfo, bindings_once)
{
	CUmemGenericAllocationHandle own = new_memory(0, CHUNK);
	CUmemGenericAllocationHandle team = complete_team(2, CHUNK), again;
	unsigned int i;
	int fd;

	ASSERT_OK(cuMulticastBindMem(team, 0, own, 0, CHUNK, 0));
	ASSERT_OK(cuMemExportToShareableHandle(&fd, team, SHAREABLE, 0));
	for (i = 0; i < 3; i++)
		ASSERT_OK(cuMemImportFromShareableHandle(&again, (void *)(intptr_t)fd, SHAREABLE));
	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(4, times(look(_metadata, self), TEAM));
	EXPECT_EQ(1, times(self->text, "memcast-bindings:"));
}

/*
 * Counts the places of all memories. Return: how many chunks they have, including those left out of
 * lines
 */
static unsigned long count_places(struct __test_metadata *_metadata, const char *text,
				  unsigned char *used, unsigned long chunks)
{
	unsigned long all = 0, first, last, more;
	int length;

	while ((text = strstr(text, "memcast-chunks:\tmemory "))) {
		unsigned int ranges = 0;

		ASSERT_EQ(0, sscanf(text, "memcast-chunks: memory %*u%n", &length));
		for (text += length; sscanf(text, " %lu-%lu%n", &first, &last, &length) == 2;
		     text += length, ranges++) {
			ASSERT_LE(first, last);
			ASSERT_LT(last, chunks);
			all += last - first + 1;
			for (; first <= last; first++)
				used[first]++;
		}
		if (sscanf(text, " more %lu%n", &more, &length) == 1) {
			EXPECT_EQ(RANGES, ranges);
			EXPECT_LT(0, more);
			text += length;
			all += more;
		}
		EXPECT_LE(ranges, RANGES);
		EXPECT_EQ('\n', *text);
	}
	return all;
}

/* Memories of one to seven chunks take all of a pool: each place of the pool is listed once. */
TEST_F(fdinfo, places)
{
	unsigned long chunks = device_bytes(0, "free_bytes") / CHUNK, left, n;
	CUmemGenericAllocationHandle own[chunks];
	unsigned int count, i, round;
	unsigned char used[chunks];

	ASSERT_EQ(device_bytes(0, "pool_bytes"), chunks * CHUNK);
	EXPECT_EQ(NULL, strstr(look(_metadata, self), "memcast-chunks:"));
	/*
	 * chunks first come in the order in which the pool was made, then in that of their return
	 */
	for (round = 0; round < 2; round++) {
		for (count = 0, left = chunks; left; left -= n) {
			n = 1 + count % 7;
			n = n < left ? n : left;
			own[count++] = new_memory(0, n * CHUNK);
		}
		memset(used, 0, sizeof(used));
		EXPECT_EQ(chunks, count_places(_metadata, look(_metadata, self), used, chunks));
		EXPECT_EQ(NULL, strstr(self->text, " more "));
		for (i = 0; i < chunks; i++) {
			EXPECT_EQ(1, used[i]) TH_LOG("chunk %u", i);
		}
		for (i = count; i--;)
			ASSERT_OK(cuMemRelease(own[i]));
	}
}

/*
 * Chunks that came back from last to first are taken in that order again: no two in a row follow
 * each other in the pool.
 */
TEST_F(fdinfo, more_places_than_a_line_has)
{
	unsigned long chunks = device_bytes(0, "free_bytes") / CHUNK, i;
	CUmemGenericAllocationHandle own[chunks];
	unsigned char used[chunks];

	for (i = 0; i < chunks; i++)
		own[i] = new_memory(0, CHUNK);
	while (i--)
		ASSERT_OK(cuMemRelease(own[i]));
	new_memory(0, chunks * CHUNK);
	memset(used, 0, sizeof(used));
	EXPECT_EQ(chunks, count_places(_metadata, look(_metadata, self), used, chunks));
	if (chunks > 2 * RANGES)
		EXPECT_EQ(1, times(self->text, " more "));
	if (chunks <= RANGES)
		EXPECT_EQ(0, times(self->text, " more "));
	for (i = 0; i < chunks; i++)
		EXPECT_LE(used[i], 1);
}

/*
 * Heaps have mappings and no handles; memory on the host has no pool. A memory with a handle and a
 * mapping is listed once.
 */
TEST_F(fdinfo, places_of_heaps)
{
	unsigned long chunks = device_bytes(0, "pool_bytes") / CHUNK;
	unsigned char used[chunks];
	CUdeviceptr block;
	void *host;

	ASSERT_OK(cuMemAllocHost(&host, CHUNK));
	memset(used, 0, sizeof(used));
	EXPECT_EQ(0, count_places(_metadata, look(_metadata, self), used, chunks));
	ASSERT_OK(cuMemAlloc(&block, 3 * CHUNK));
	mapped(new_memory(0, CHUNK), CHUNK, 0);
	EXPECT_EQ((device_bytes(0, "pool_bytes") - device_bytes(0, "free_bytes")) / CHUNK,
		  count_places(_metadata, look(_metadata, self), used, chunks));
	EXPECT_LE(3, count_places(_metadata, self->text, used, chunks));
	ASSERT_OK(cuMemFree(block));
	ASSERT_OK(cuMemFreeHost(host));
}

TEST_HARNESS_MAIN
