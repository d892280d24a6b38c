// SPDX-License-Identifier: MIT
/* The dma-buf of a team: devices that import it, and mappings in the kernel. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "importer.h"
#include "staging_fixture.h"

/*
 * A team larger than any memory: stores to single pages work, mapping all of it for a device does
 * not.
 */
TEST_F(staging, more_than_there_is)
{
	const size_t bytes = 1UL << 44;
	volatile char *at;
	const char *why;
	uint32_t id;
	int fd, device;

	fd = exported(complete_team(2, bytes));
	at = map_fd(fd, bytes);
	at[bytes - 1] = 1;
	EXPECT_EQ(1, at[bytes - 1]);
	sync_fd(fd, END | RW);

	device = importer_open(&why);
	if (device < 0)
		SKIP(return, "%s", why);
	ASSERT_EQ(0, importer_attach(device, fd, &id));
	EXPECT_EQ(-ENOMEM, importer_map(device, id, 0, MEMCAST_IMPORTER_BOTH, NULL));
	EXPECT_EQ(1, stat_of("staging_pages"));
}

/*
 * The kernel's dma-buf code warns if vmap() fails. A killed process must cause no such warning in
 * the kernel's log, which the runner searches.
 */
TEST_F(staging, killed_in_vmap)
{
	int fd = exported(complete_team(2, 32 * CHUNK)), device, link;
	double end = now() + 60;
	const char *why;
	uint32_t id;
	pid_t pid;

	device = importer_open(&why);
	if (device < 0)
		SKIP(return, "%s", why);
	pid = peer_fork(&link);
	if (!pid) {
		if (!importer_attach(device, fd, &id))
			importer_map(device, id, MEMCAST_IMPORTER_VMAP, MEMCAST_IMPORTER_BOTH,
				     NULL);
		receive_number(link);
		_exit(0);
	}
	while (stat_of("staging_pages") <= 0 && now() < end)
		;
	EXPECT_LT(0, stat_of("staging_pages"));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(SIGKILL, reap_child(pid));
	peer_close(link);
}

FIXTURE(imported)
{
	CUmemGenericAllocationHandle team, own[DEVICES];
	volatile char *replica[DEVICES];
	int fd, device;
	uint32_t id;
};

FIXTURE_SETUP(imported)
{
	const char *why;

	self->device = importer_open(&why);
	if (self->device < 0)
		SKIP(return, "%s", why);
	staging_start();
	ASSERT_EQ(0, importer_attach(self->device, self->fd, &self->id));
}
NOTHING_LEFT(imported)

#define MAP(slot, direction)	\
	ASSERT_EQ(0, importer_map(self->device, self->id, slot,		\
				  MEMCAST_IMPORTER_##direction, NULL))
#define UNMAP(slot)	ASSERT_EQ(0, importer_unmap(self->device, self->id, slot))
#define PUT(slot, offset, value)					\
	do {								\
		char _value = value;					\
		ASSERT_EQ(0, importer_write(self->device, self->id, slot, offset, &_value, 1)); \
	} while (0)
#define GET(slot, offset) get_(_metadata, self->device, self->id, slot, offset)
static char get_(struct __test_metadata *_metadata, int device, uint32_t id, uint32_t slot,
		 uint64_t offset)
{
	char value = -1;

	ASSERT_EQ(0, importer_read(device, id, slot, offset, &value, 1));
	return value;
}

TEST_F(imported, device_writes)
{
	for (int i = 0; i < DEVICES; i++)
		self->replica[i][100] = i + 1;
	MAP(0, BOTH);
	EXPECT_EQ(1, GET(0, 100));
	PUT(0, 0, 10);
	PUT(0, BYTES - 1, 11);
	EXPECT_ALL(0, 0);
	UNMAP(0);
	EXPECT_ALL(10, 0);
	EXPECT_ALL(11, BYTES - 1);
	/* bytes that the device did not write get their value from when the buffer was mapped */
	EXPECT_ALL(1, 100);
	/* the next mapping shows what was written to a replica meanwhile */
	self->replica[0][0] = 12;
	MAP(0, READS);
	EXPECT_EQ(12, GET(0, 0));
	UNMAP(0);
}

TEST_F(imported, device_reads)
{
	for (int i = 0; i < DEVICES; i++)
		self->replica[i][100] = i + 1;
	MAP(0, READS);
	EXPECT_EQ(1, GET(0, 100));
	UNMAP(0);
	EXPECT_ALL(_i + 1, 100);
}

/* A second mapping does not undo what the first has written and not yet ended. */
TEST_F(imported, two_mappings)
{
	MAP(0, WRITES);
	PUT(0, 0, 1);
	MAP(1, BOTH);
	EXPECT_EQ(1, GET(1, 0));
	PUT(1, 1, 2);
	UNMAP(1);
	EXPECT_ALL(1, 0);
	EXPECT_ALL(2, 1);
	PUT(0, 2, 3);
	EXPECT_ALL(0, 2);
	UNMAP(0);
	EXPECT_ALL(3, 2);
}

TEST_F(imported, device_and_processor)
{
	volatile char *at = map_fd(self->fd, BYTES);

	at[0] = 1;
	MAP(0, BOTH);
	EXPECT_EQ(1, GET(0, 0));
	PUT(0, 1, 2);
	PUT(0, PAGE, 3);
	/* a bracket of the processor does not undo what the device has written */
	sync_fd(self->fd, START | RW);
	EXPECT_EQ(2, at[1]);
	EXPECT_EQ(3, at[PAGE]);
	at[2 * PAGE] = 4;
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(1, 0);
	EXPECT_ALL(2, 1);
	EXPECT_ALL(0, PAGE);
	EXPECT_ALL(4, 2 * PAGE);
	at[3 * PAGE] = 5;
	UNMAP(0);
	EXPECT_ALL(3, PAGE);
	EXPECT_ALL(5, 3 * PAGE);
	/* a store after the device's write is noticed */
	at[3 * PAGE] = 6;
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(6, 3 * PAGE);
}

TEST_F(imported, kernel_addresses)
{
	self->replica[0][5] = 5;
	MAP(MEMCAST_IMPORTER_VMAP, BOTH);
	EXPECT_EQ(5, GET(MEMCAST_IMPORTER_VMAP, 5));
	PUT(MEMCAST_IMPORTER_VMAP, CHUNK, 1);
	EXPECT_ALL(0, CHUNK);
	sync_fd(self->fd, START | RW);
	EXPECT_EQ(1, GET(MEMCAST_IMPORTER_VMAP, CHUNK));
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(1, CHUNK);
	PUT(MEMCAST_IMPORTER_VMAP, CHUNK + 1, 2);
	UNMAP(MEMCAST_IMPORTER_VMAP);
	EXPECT_ALL(2, CHUNK + 1);
	EXPECT_ALL(5, 5);
}

/* If memory is not in pieces, a device gets few segments. */
TEST_F(imported, segments)
{
	uint32_t runs;

	ASSERT_EQ(0, importer_map(self->device, self->id, 0, MEMCAST_IMPORTER_BOTH, &runs));
	EXPECT_GE(BYTES / CHUNK, runs);
	UNMAP(0);
}

static long free_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	long kib = -1;

	if (file && fscanf(file, "MemTotal: %*d kB MemFree: %ld kB", &kib) != 1)
		kib = -1;
	if (file)
		fclose(file);
	return kib * 1024;
}

/* A buffer that ends gives back all that mappings of devices took, to the last page. */
TEST_F(imported, gives_back_what_it_took)
{
	enum { TIMES = 100 };
	long before = free_bytes();

	ASSERT_LT(0, before);
	for (int i = 0; i < TIMES; i++) {
		int fd = exported(self->team);
		uint32_t id;

		ASSERT_EQ(0, importer_attach(self->device, fd, &id));
		ASSERT_EQ(0, importer_map(self->device, id, 0, MEMCAST_IMPORTER_READS, NULL));
		ASSERT_EQ(0, importer_unmap(self->device, id, 0));
		ASSERT_EQ(0, importer_detach(self->device, id));
		ASSERT_EQ(0, close(fd));
	}
	/* whatever the machine does besides */
	EXPECT_GT((long)(TIMES / 2 * BYTES), before - free_bytes());
}

/* Closing the device's file ends its mapping, and so its write. */
TEST_F(imported, importer_dies)
{
	MAP(0, WRITES);
	PUT(0, 1, 1);
	ASSERT_EQ(0, close(self->fd));
	ASSERT_OK(cuMemRelease(self->team));
	EXPECT_ALL(0, 1);
	ASSERT_EQ(0, close(self->device));
	EXPECT_ALL(1, 1);
	EXPECT_EQ(0, stat_of("staging_pages"));
	EXPECT_EQ(0, stat_of("teams"));
}

TEST_HARNESS_MAIN
