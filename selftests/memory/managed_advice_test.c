// SPDX-License-Identifier: MIT
/* Advice for managed memory, and what the attributes of a range tell of it. */
#include "managed_fixture.h"
#include "reason.h"

TEST_F(managed, advice)
{
	const CUmemLocation node = { CU_MEM_LOCATION_TYPE_HOST_NUMA, 0 };
	const CUmemLocation here = { CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 77 };
	CUdeviceptr memory, plain, first, second;
	int accessors[4], count;

	cuda_start(0);
	ASSERT_OK(cuDeviceGetCount(&count));
	ASSERT_OK(cuMemAlloc(&plain, 16 * PAGE));
	ASSERT_OK(cuMemAllocManaged(&memory, 16 * PAGE, CU_MEM_ATTACH_GLOBAL));
	EXPECT_EQ(0, READ_MOSTLY(memory, 16 * PAGE));
	EXPECT_EQ(CU_DEVICE_INVALID, PREFERRED(memory, 16 * PAGE));
	EXPECT_EQ(CU_DEVICE_INVALID, PREFETCHED(memory, 16 * PAGE));

	/* advice goes to whole pages, and an attribute is set if all pages of the range agree */
	EXPECT_OK(cuMemAdvise(memory + 5 * PAGE + 7, PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, nowhere));
	EXPECT_EQ(1, READ_MOSTLY(memory + 5 * PAGE, 2 * PAGE));
	EXPECT_EQ(0, READ_MOSTLY(memory + 5 * PAGE, 2 * PAGE + 1));
	EXPECT_EQ(0, READ_MOSTLY(memory + 5 * PAGE - 1, 2));
	EXPECT_OK(cuMemAdvise(memory, 16 * PAGE, CU_MEM_ADVISE_UNSET_READ_MOSTLY, nowhere));
	EXPECT_EQ(0, READ_MOSTLY(memory + 5 * PAGE, 1));

	EXPECT_OK(cuMemAdvise(memory, 8 * PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device(1)));
	EXPECT_OK(cuMemAdvise(memory + 8 * PAGE, 1, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
	EXPECT_OK(cuMemAdvise(memory + 9 * PAGE, 1, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, node));
	EXPECT_OK(cuMemAdvise(memory + 10 * PAGE, 1, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
	EXPECT_EQ(1, PREFERRED(memory, 8 * PAGE));
	EXPECT_EQ(CU_DEVICE_INVALID, PREFERRED(memory, 9 * PAGE));
	EXPECT_EQ(CU_DEVICE_CPU, PREFERRED(memory + 8 * PAGE, PAGE));
	EXPECT_EQ(CU_DEVICE_CPU, PREFERRED(memory + 9 * PAGE, PAGE));
	EXPECT_EQ(CU_MEM_LOCATION_TYPE_HOST_NUMA,
		  range_attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
				  memory + 10 * PAGE, PAGE));
	EXPECT_EQ(CU_MEM_LOCATION_TYPE_DEVICE,
		  range_attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, memory, PAGE));
	EXPECT_EQ(1, range_attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, memory, PAGE));
	EXPECT_EQ(CU_MEM_LOCATION_TYPE_INVALID,
		  range_attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
				  memory + 7 * PAGE, 2 * PAGE));
	EXPECT_OK(cuMemAdvise(memory, PAGE, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, device(-5)));
	EXPECT_EQ(CU_DEVICE_INVALID, PREFERRED(memory, PAGE));

	EXPECT_OK(cuMemAdvise(memory, 4 * PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY, device(1)));
	EXPECT_OK(cuMemAdvise(memory, 4 * PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY, host));
	EXPECT_OK(cuMemAdvise(memory, 2 * PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY, device(0)));
	EXPECT_OK(cuMemRangeGetAttribute(accessors, 16, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
					 memory, PAGE));
	EXPECT_EQ(0, accessors[0]);
	EXPECT_EQ(1, accessors[1]);
	EXPECT_EQ(CU_DEVICE_CPU, accessors[2]);
	EXPECT_EQ(CU_DEVICE_INVALID, accessors[3]);
	EXPECT_OK(cuMemAdvise(memory, 4 * PAGE, CU_MEM_ADVISE_UNSET_ACCESSED_BY, host));
	EXPECT_OK(cuMemRangeGetAttribute(accessors, 8, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
					 memory, 4 * PAGE));
	EXPECT_EQ(1, accessors[0]);
	EXPECT_EQ(CU_DEVICE_INVALID, accessors[1]);
	EXPECT_OK(cuMemRangeGetAttribute(accessors, 4, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
					 memory, PAGE));
	EXPECT_EQ(0, accessors[0]);

	EXPECT_REASON(cuMemAdvise(memory, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, nowhere),
		      "the range is empty");
	EXPECT_REASON(cuMemAdvise(memory, 16 * PAGE + 1, CU_MEM_ADVISE_SET_READ_MOSTLY, nowhere),
		      "# bytes from # on are more than was allocated there, #");
	EXPECT_REASON(cuMemAdvise(memory, -1, CU_MEM_ADVISE_SET_READ_MOSTLY, nowhere),
		      "# bytes from # on are more than was allocated there, #");
	EXPECT_REASON(cuMemAdvise(memory - 1, PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, nowhere),
		      "# is not in a reservation");
	EXPECT_REASON(cuMemAdvise(plain, PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, nowhere),
		      "# is not managed memory");
	EXPECT_REASON(cuMemAdvise(ADDRESS(accessors), 4, CU_MEM_ADVISE_SET_READ_MOSTLY, nowhere),
		      "# is not in a reservation");
	EXPECT_REASON(cuMemAdvise(memory, PAGE, 0, host), "no advice #");
	EXPECT_REASON(cuMemAdvise(memory, PAGE, 7, host), "no advice #");
	EXPECT_REASON(cuMemAdvise(memory, PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY, node),
		      "a location of type # is not for this");
	EXPECT_REASON(cuMemAdvise(memory, PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, nowhere),
		      "a location of type # is not for this");
	EXPECT_REASON(cuMemAdvise(memory, PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
				  (CUmemLocation) { CU_MEM_LOCATION_TYPE_HOST_NUMA, 1000 }),
		      "there is no node #");
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE,
		  cuMemAdvise(memory, PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device(count)));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE,
		  cuMemAdvise(memory, PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY, device(-1)));
	EXPECT_EQ(0, READ_MOSTLY(memory, PAGE));

	/* blocks that share a page share no advice */
	ASSERT_OK(cuMemAllocManaged(&first, 100, CU_MEM_ATTACH_GLOBAL));
	ASSERT_OK(cuMemAllocManaged(&second, 100, CU_MEM_ATTACH_GLOBAL));
	EXPECT_EQ(first / PAGE, second / PAGE);
	EXPECT_OK(cuMemAdvise(second, 1, CU_MEM_ADVISE_SET_READ_MOSTLY, nowhere));
	EXPECT_EQ(1, READ_MOSTLY(second, 100));
	EXPECT_EQ(0, READ_MOSTLY(first, 100));

	/* a block that gets the same address later does not inherit the advice */
	ASSERT_OK(cuMemFree(memory));
	ASSERT_OK(cuMemAllocManaged(&plain, 16 * PAGE, CU_MEM_ATTACH_GLOBAL));
	EXPECT_EQ(memory, plain);
	EXPECT_EQ(CU_DEVICE_INVALID, PREFERRED(plain + PAGE, PAGE));
}

TEST_F(managed, questions)
{
	CUmem_range_attribute wanted[] = {
		CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
	};
	int one = 77, other = 77;
	void *outputs[] = { &one, &other };
	size_t sizes[] = { 4, 4 };
	CUdeviceptr memory;

	cuda_start(0);
	ASSERT_OK(cuMemAllocManaged(&memory, PAGE, CU_MEM_ATTACH_GLOBAL));
	ASSERT_OK(cuMemAdvise(memory, PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, nowhere));
	EXPECT_REASON(cuMemRangeGetAttributes(NULL, sizes, wanted, 2, memory, PAGE),
		      "no attributes, or a NULL pointer");
	EXPECT_REASON(cuMemRangeGetAttributes(outputs, NULL, wanted, 2, memory, PAGE),
		      "no attributes, or a NULL pointer");
	EXPECT_REASON(cuMemRangeGetAttributes(outputs, sizes, NULL, 2, memory, PAGE),
		      "no attributes, or a NULL pointer");
	EXPECT_REASON(cuMemRangeGetAttributes(outputs, sizes, wanted, 0, memory, PAGE),
		      "no attributes, or a NULL pointer");
	EXPECT_REASON(cuMemRangeGetAttributes(outputs, sizes, wanted, 2, memory, 0),
		      "the range is empty");
	EXPECT_REASON(cuMemRangeGetAttributes(outputs, sizes, wanted, 2, memory, PAGE + 1),
		      "# bytes from # on are more than was allocated there, #");
	sizes[1] = 8;
	EXPECT_REASON(cuMemRangeGetAttributes(outputs, sizes, wanted, 2, memory, PAGE),
		      "attribute # is not of # bytes");
	sizes[1] = 4;
	wanted[1] = 9;
	EXPECT_REASON(cuMemRangeGetAttributes(outputs, sizes, wanted, 2, memory, PAGE),
		      "no attribute #");
	wanted[1] = 0;
	EXPECT_REASON(cuMemRangeGetAttributes(outputs, sizes, wanted, 2, memory, PAGE),
		      "no attribute #");
	EXPECT_REASON(cuMemRangeGetAttribute(NULL, 4, wanted[0], memory, PAGE), "NULL output");
	EXPECT_REASON(cuMemRangeGetAttribute(&one, 0, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory,
					     PAGE), "attribute # is not of # bytes");
	EXPECT_REASON(cuMemRangeGetAttribute(&one, 6, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory,
					     PAGE), "attribute # is not of # bytes");
	EXPECT_EQ(77, one);
	wanted[1] = CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE;
	EXPECT_OK(cuMemRangeGetAttributes(outputs, sizes, wanted, 2, memory, PAGE));
	EXPECT_EQ(1, one);
	EXPECT_EQ(CU_MEM_LOCATION_TYPE_INVALID, other);
}

/* Random advice, against a table of pages */

#define BLOCKS	3
#define PAGES	24
#define ACTS	3000

struct page {
	int read_mostly, preferred, prefetched;
	bool accessed[3];	/* by two devices and the CPU */
};

static struct page pages[BLOCKS][PAGES];
static CUdeviceptr blocks[BLOCKS];

static int agree(int common, int value)
{
	return common == value ? common : CU_DEVICE_INVALID;
}

/* Return: the attributes that a range of pages should have */
static struct page expected(const struct page *first, unsigned int count)
{
	struct page all = first[0];

	for (unsigned int i = 1; i < count; i++) {
		all.read_mostly &= first[i].read_mostly;
		all.preferred = agree(all.preferred, first[i].preferred);
		all.prefetched = agree(all.prefetched, first[i].prefetched);
		for (unsigned int who = 0; who < 3; who++)
			all.accessed[who] &= first[i].accessed[who];
	}
	return all;
}

static bool told(CUdeviceptr at, size_t bytes, const struct page *all)
{
	int wanted[3] = { CU_DEVICE_INVALID, CU_DEVICE_INVALID, CU_DEVICE_INVALID };
	int accessors[3] = { -77, -77, -77 }, count = 0;

	for (int i = 0; i < 3; i++)
		if (all->accessed[i])
			wanted[count++] = i < 2 ? i : CU_DEVICE_CPU;
	cuMemRangeGetAttribute(accessors, 12, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, at, bytes);
	return READ_MOSTLY(at, bytes) == all->read_mostly &&
	       PREFERRED(at, bytes) == all->preferred &&
	       PREFETCHED(at, bytes) == all->prefetched &&
	       !memcmp(accessors, wanted, sizeof(wanted));
}

TEST_F(managed, random_advice)
{
	const char *given = getenv("MEMCAST_TEST_SEED");
	unsigned int seed = given ? strtoul(given, NULL, 0) : (unsigned int)getpid();
	unsigned int state = seed;

	cuda_start(0);
	for (unsigned int act = 0; act < ACTS; act++) {
		unsigned int b = rand_r(&state) % BLOCKS, what = rand_r(&state) % 40;
		unsigned int first = rand_r(&state) % PAGES;
		unsigned int count = 1 + rand_r(&state) % (PAGES - first);
		int to = (int)(rand_r(&state) % 3) - 1;
		CUmemLocation place = to < 0 ? host : device(to);
		struct page all;
		CUdeviceptr at;
		size_t bytes;

		if (!what || !blocks[b]) {
			ASSERT_OK(cuMemFree(blocks[b]));
			ASSERT_OK(cuMemAllocManaged(&blocks[b], PAGES * PAGE, CU_MEM_ATTACH_HOST));
			for (unsigned int i = 0; i < PAGES; i++)
				pages[b][i] = (struct page) { 0, CU_DEVICE_INVALID,
							      CU_DEVICE_INVALID, {} };
		}
		at = blocks[b] + first * PAGE + rand_r(&state) % 100;
		bytes = count * PAGE - 100;
		for (unsigned int i = first; i < first + count; i++) {
			struct page *page = &pages[b][i];

			page->read_mostly = what % 7 == 1 ? 1 :
					    what % 7 == 2 ? 0 : page->read_mostly;
			page->preferred = what % 7 == 3 ? to : what % 7 == 4 ? CU_DEVICE_INVALID :
								       page->preferred;
			if (what % 7 == 5 || what % 7 == 6)
				page->accessed[to < 0 ? 2 : to] = what % 7 == 5;
			if (what % 7 == 0)
				page->prefetched = to;
		}
		ASSERT_OK(what % 7 ? cuMemAdvise(at, bytes, what % 7, place) :
				     cuMemPrefetchAsync(at, bytes, place, 0, NULL));
		first = rand_r(&state) % PAGES;
		count = 1 + rand_r(&state) % (PAGES - first);
		all = expected(&pages[b][first], count);
		ASSERT_TRUE(told(blocks[b] + first * PAGE, count * PAGE, &all))
			TH_LOG("MEMCAST_TEST_SEED=%u, act %u", seed, act);
	}
}

TEST_HARNESS_MAIN
