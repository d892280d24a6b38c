// SPDX-License-Identifier: MIT
/*
 * The cost of touching 1 GiB for the first time: through mmap() of an exported fd, through a
 * mapping of cuMemMap(), through a udmabuf and a buffer of the system heap. Faults are counted
 * and judged; times are printed, with their ratios.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "memcast_test.h"
#include "peers.h"

#define GIB	(1UL << 30)
#define ROUNDS	3

FIXTURE(export_scale)
{
	size_t bytes;
};

FIXTURE_SETUP(export_scale)
{
	if (stat_of("pmd_faults") < 0)
		SKIP(return, "needs root and debugfs");
	cuda_start(0);
	/* the whole pool, if it is smaller than 1 GiB */
	self->bytes = device_bytes(0, "pool_bytes");
	if (self->bytes > GIB)
		self->bytes = GIB;
}
NOTHING_LEFT(export_scale)

struct cost {
	double map;		/* seconds for mmap() or cuMemMap() */
	double first, again;	/* seconds for a store to every page, twice */
	double touch;		/* seconds by which the first stores took longer */
	long minor;		/* faults of this process, by getrusage() */
	long chunk, other;	/* faults that memcast handled */
};

/* Unmaps so many pages that the kernel flushes the whole TLB rather than page by page. */
static void flush_tlb(void)
{
	void *pages = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	munmap(pages, CHUNK);
}

/* Stores to every page, and adds the time of each 2 MiB, times @sign, to @times. */
static double touch(volatile char *at, size_t bytes, double *times, int sign)
{
	double started = now();

	for (size_t i = 0; i < bytes / CHUNK; i++) {
		double before = now();

		for (size_t page = 0; page < CHUNK; page += PAGE)
			at[i * CHUNK + page] = 1;
		times[i] += sign * (now() - before);
	}
	return now() - started;
}

static struct cost begin(void)
{
	struct rusage usage;
	struct cost cost = { .chunk = stat_of(CHUNK_FAULTS), .other = stat_of(OTHER_FAULTS) };

	flush_tlb();
	getrusage(RUSAGE_SELF, &usage);
	cost.minor = usage.ru_minflt;
	cost.map = now();
	return cost;
}

/*
 * The second stores take as long as the first ones without faults, and are subtracted. The median
 * is used, as some of the times have work of other programs in them.
 */
static struct cost end(struct cost start, void *at, size_t bytes)
{
	struct cost cost = { .map = now() - start.map };
	double times[GIB / CHUNK] = { };
	struct rusage usage;

	cost.first = touch(at, bytes, times, 1);
	getrusage(RUSAGE_SELF, &usage);
	cost.minor = usage.ru_minflt - start.minor;
	cost.chunk = stat_of(CHUNK_FAULTS) - start.chunk;
	cost.other = stat_of(OTHER_FAULTS) - start.other;
	flush_tlb();
	cost.again = touch(at, bytes, times, -1);
	cost.touch = median(times, bytes / CHUNK) * (bytes / CHUNK);
	return cost;
}

static struct cost through_own(struct __test_metadata *_metadata,
			       CUmemGenericAllocationHandle own, size_t bytes)
{
	struct cost start = begin(), cost;
	CUdeviceptr at = ADDRESS(mapped(own, bytes, 0));

	cost = end(start, (void *)at, bytes);
	ASSERT_OK(cuMemUnmap(at, bytes));
	return cost;
}

/* @aligned: asks for an address that 2 MiB entries fit, as mmap() may give a dma-buf any address */
static struct cost through_fd(struct __test_metadata *_metadata, int fd, size_t bytes,
			      bool aligned)
{
	struct cost start = begin(), cost;
	char *space = NULL, *at;

	if (aligned) {
		space = mmap(NULL, bytes + CHUNK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
		ASSERT_NE(MAP_FAILED, (void *)space);
		space += -(uintptr_t)space & (CHUNK - 1);
	}
	at = mmap(space, bytes, PROT_READ | PROT_WRITE,
		  MAP_SHARED | (aligned ? MAP_FIXED : 0), fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)at);
	cost = end(start, at, bytes);
	ASSERT_EQ(0, munmap(at, bytes));
	return cost;
}

/* Keeps the least cost of all rounds, as the machine may be busy. */
static void keep(struct cost *least, struct cost cost)
{
	if (!least->first) {
		*least = cost;
		return;
	}
	if (cost.map < least->map)
		least->map = cost.map;
	if (cost.touch < least->touch) {
		least->touch = cost.touch;
		least->first = cost.first;
		least->again = cost.again;
	}
}

static double net(struct cost cost)
{
	return cost.map + (cost.touch > 0 ? cost.touch : 0);
}

#define HEAD(bytes)								\
	TH_LOG("%4zu MiB, ms               mmap    first    again   faults  times",	\
	       (bytes) >> 20)
#define SHOW(what, cost, ours)							\
	TH_LOG("%-20s %9.2f %8.2f %8.2f %8ld %6.1f", what, (cost).map * 1e3,		\
	       (cost).first * 1e3, (cost).again * 1e3, (cost).minor, net(cost) / net(ours))

TEST_F(export_scale, as_few_faults_as_our_own_mapping)
{
	const long chunks = self->bytes / CHUNK;
	CUmemGenericAllocationHandle handle = new_memory(0, self->bytes);
	struct cost own = { }, aligned = { }, plain = { }, cost;
	int fd = exported(handle);

	for (int round = 0; round < ROUNDS; round++) {
		cost = through_own(_metadata, handle, self->bytes);
		EXPECT_EQ(chunks, cost.chunk);
		EXPECT_EQ(0, cost.other);
		keep(&own, cost);

		cost = through_fd(_metadata, fd, self->bytes, true);
		EXPECT_EQ(chunks, cost.chunk);
		EXPECT_EQ(0, cost.other);
		EXPECT_GE(chunks + 16, cost.minor);
		keep(&aligned, cost);

		/* where no 2 MiB entry fits, a fault maps all pages of its 2 MiB at once */
		cost = through_fd(_metadata, fd, self->bytes, false);
		EXPECT_GE(chunks + 1, cost.chunk + cost.other);
		EXPECT_GE(chunks + 16, cost.minor);
		keep(&plain, cost);
	}
	EXPECT_GE(own.minor + 16, aligned.minor);
	EXPECT_GE(own.minor + 16, plain.minor);
	HEAD(self->bytes);
	SHOW("our own mapping", own, own);
	SHOW("its fd, at 2 MiB", aligned, own);
	SHOW("its fd, anywhere", plain, own);
}

/* Touches a memory of memcast and a buffer of another driver, @theirs, in turn. */
static void compare(struct __test_metadata *_metadata, const char *name, int theirs,
		    size_t bytes)
{
	CUmemGenericAllocationHandle handle = new_memory(0, bytes);
	struct cost own = { }, aligned = { }, plain = { }, peer = { };
	int fd = exported(handle);

	for (int round = 0; round < ROUNDS; round++) {
		keep(&own, through_own(_metadata, handle, bytes));
		keep(&aligned, through_fd(_metadata, fd, bytes, true));
		keep(&plain, through_fd(_metadata, fd, bytes, false));
		keep(&peer, through_fd(_metadata, theirs, bytes, true));
	}
	HEAD(bytes);
	SHOW("our own mapping", own, aligned);
	SHOW("its fd, at 2 MiB", aligned, aligned);
	SHOW("its fd, anywhere", plain, aligned);
	SHOW(name, peer, aligned);
	/* For the reader: memcast-bench judges times. Here, faults are counted. */
	EXPECT_GE((long)(bytes / CHUNK) + 16, aligned.minor);
	EXPECT_GE(own.minor + 16, aligned.minor);
}

TEST_F(export_scale, udmabuf)
{
	int theirs = udmabuf_buffer(self->bytes);

	if (theirs < 0)
		SKIP(return, "needs the driver udmabuf");
	compare(_metadata, "udmabuf", theirs, self->bytes);
}

/* The heap fills the page table in mmap(), so that mapping is where its cost is. */
TEST_F(export_scale, system_heap)
{
	int theirs = heap_buffer(self->bytes);

	if (theirs < 0)
		SKIP(return, "needs the dma-heap \"system\"");
	compare(_metadata, "system heap", theirs, self->bytes);
}

TEST_HARNESS_MAIN
