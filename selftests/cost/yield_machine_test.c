// SPDX-License-Identifier: MIT
/*
 * As yield_test.c, on a machine whose devices reach memory only by bounce buffers (the kernel's
 * swiotlb=…,force) and whose pools are lazy. selftests/cost/host-yield.sh starts such a machine,
 * whose clock counts instructions.
 */
#include <sys/mman.h>
#include "importer.h"
#include "lazy_fixture.h"
#include "peers.h"
#include "yield_watcher.h"

#define CHUNKS		(1U << 15)		/* memories of one chunk each */
#define MAPPINGS	(1U << 14)		/* of a page for a device: 64 MiB of bounces */

/* Milliseconds, where a million instructions are one */
#define LIMIT		5.0

FIXTURE(yield_machine)
{
	struct watcher watcher;
	int client;
};

FIXTURE_SETUP(yield_machine)
{
	if (geteuid())
		SKIP(return, "only root may be of a higher priority");
	self->client = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->client);
	start_watching(_metadata, &self->watcher);
	if (!self->watcher.exact)
		run_on_cpu(1);
}

FIXTURE_TEARDOWN(yield_machine)
{
	self->watcher.stop = true;
	pthread_join(self->watcher.thread, NULL);
}

#define DO(NAME, name, ...)							\
({										\
	struct memcast_##name argument_ = { __VA_ARGS__ };			\
	ASSERT_EQ(0, RAW(self->client, NAME, argument_));			\
	argument_;								\
})

static void judge(struct __test_metadata *_metadata, const struct watcher *watcher,
		  const char *what)
{
	double longest = watcher->longest / 1e6;

	TH_LOG("%8.2f ms  %s", longest, what);
	if (watcher->exact)
		EXPECT_GE(LIMIT, longest);
}

/* A bracket copies each mapping's bounce buffer. */
TEST_F(yield_machine, bracket)
{
	char line[4096] = "";
	const char *why;
	uint32_t page, id = 0;
	int importer, fd;

	read_file(line, sizeof(line), "/proc/cmdline");
	if (!strstr(line, ",force"))
		SKIP(return, "no device here takes bounce buffers: swiotlb=65536,force");
	importer = importer_open(&why);
	if (importer < 0)
		SKIP(return, "%s", why);
	page = DO(MEMORY_CREATE, memory_create, .bytes = PAGE,
		  .location = MEMCAST_LOCATION_HOST_NUMA,
		  .handle_types = MEMCAST_HANDLE_FD).out_handle;
	fd = DO(EXPORT, export, .handle = page, .handle_type = MEMCAST_HANDLE_FD).out_fd;
	for (unsigned int i = 0; i < MAPPINGS; i++) {
		if (i % MEMCAST_IMPORTER_SLOTS == 0)
			ASSERT_EQ(0, importer_attach(importer, fd, &id));
		ASSERT_EQ(0, importer_map(importer, id, i % MEMCAST_IMPORTER_SLOTS,
					  MEMCAST_IMPORTER_BOTH, NULL));
	}
	self->watcher.longest = 0;
	ASSERT_EQ(0, dma_buf_sync(fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW));
	ASSERT_EQ(0, dma_buf_sync(fd, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW));
	judge(_metadata, &self->watcher, "bracket an access, with bounce buffers");
	close(importer);
}

/* A fill counts the untouched chunks that it needs, and takes none if one of them is too many. */
TEST_F(yield_machine, untouched)
{
	struct memcast_access_entry entry = {
		.location = MEMCAST_LOCATION_DEVICE, .access = MEMCAST_ACCESS_READWRITE,
	};
	struct memcast_fill fill = { .count = CHUNKS * CHUNK, .width = 1 };
	void *at;

	NEEDS_LAZY();
	at = mmap(NULL, CHUNKS * CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, self->client, 0);
	ASSERT_NE(MAP_FAILED, at);
	fill.to = (uintptr_t)at;
	for (unsigned int i = 0; i < CHUNKS; i++) {
		uint32_t memory = DO(MEMORY_CREATE, memory_create, .bytes = CHUNK,
				     .location = MEMCAST_LOCATION_DEVICE).out_handle;

		DO(MAP, map, .handle = memory, .address = fill.to + i * CHUNK, .bytes = CHUNK);
	}
	DO(SET_ACCESS, set_access, .address = fill.to, .bytes = CHUNKS * CHUNK,
	   .entries = (uintptr_t)&entry, .count = 1);
	ASSERT_EQ(0, set_limit("lazy_max_mib", (CHUNKS - 1) * (CHUNK >> 20)));
	self->watcher.longest = 0;
	EXPECT_EQ(ENOMEM, RAW(self->client, FILL, fill));
	judge(_metadata, &self->watcher, "fill what nobody has touched");
	ASSERT_EQ(0, set_limit("lazy_max_mib", 0));
}

TEST_HARNESS_MAIN
