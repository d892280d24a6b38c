// SPDX-License-Identifier: MIT
/* What a copy or fill says of registered memory that the program has unmapped since. */
#include <sys/mman.h>
#include "log_lines.h"
#include "role.h"

#define BYTES	(2 * PAGE)

FIXTURE(registered) { char unused; };
FIXTURE_SETUP(registered) { }
NOTHING_LEFT(registered)

/* Return: BYTES that are registered, with pages of nobody's before and behind them */
static char *registered(CUdeviceptr *device)
{
	CUcontext context;
	char *at = mmap(NULL, BYTES + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	at = mmap(at + PAGE, BYTES, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memset(at, 1, BYTES);
	if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
	    cuMemAlloc(device, BYTES) || cuMemHostRegister(at, BYTES, 0) ||
	    cuMemcpyHtoD(*device, at, BYTES) || cuMemcpyDtoH(at, *device, BYTES))
		exit(2);
	return at;
}

static void map_anew(char *at, size_t bytes)
{
	if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) != at)
		exit(2);
	memset(at, 2, bytes);
}

/* The copy has the new bytes, and the second says nothing. */
static int copy_from(void)
{
	CUdeviceptr device;
	char *at = registered(&device), byte = 0;

	munmap(at, BYTES);
	map_anew(at, BYTES);
	return !cuMemcpyHtoD(device, at, BYTES) && !cuMemcpyHtoD(device, at, BYTES) &&
	       !cuMemcpyDtoH(&byte, device, 1) && byte == 2 &&
	       cuMemHostRegister(at, BYTES, 0) == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

/* mmap() over the last page unmaps it. The copy begins before the range. */
static int copy_to(void)
{
	CUdeviceptr device;
	char *at = registered(&device);

	map_anew(at - PAGE, PAGE);
	map_anew(at + BYTES - PAGE, PAGE);
	return !cuMemcpyDtoH(at - PAGE, device, BYTES);
}

/* The third row of a copy is the first in the range, and behind a range that nobody unmapped. */
static int rows(void)
{
	CUdeviceptr device;
	char *at = registered(&device);
	CUDA_MEMCPY2D copy = {
		.srcMemoryType = CU_MEMORYTYPE_HOST, .srcPitch = PAGE,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = device, .dstPitch = 64,
		.WidthInBytes = 64, .Height = 4,
	};
	char *before = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	copy.srcHost = before;
	map_anew(at, BYTES);
	return !cuMemHostRegister(before + PAGE, PAGE, 0) &&
	       !cuMemHostRegister(before + 2 * PAGE, PAGE, 0) &&
	       munmap(before + 2 * PAGE, PAGE) == 0 &&
	       (map_anew(before + 2 * PAGE, PAGE), !cuMemcpy2D(&copy));
}

/* Rows of @width bytes, two pages from each other; the range begins a page behind the first row. */
static int beside_rows(size_t width, size_t range)
{
	CUdeviceptr device;
	CUDA_MEMCPY2D copy = {
		.srcMemoryType = CU_MEMORYTYPE_HOST, .srcPitch = 2 * PAGE,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstPitch = width,
		.WidthInBytes = width, .Height = 2,
	};
	char *rows;

	registered(&device);
	if (cuMemAlloc(&copy.dstDevice, 2 * width))
		return 0;
	rows = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	copy.srcHost = rows;
	if (cuMemHostRegister(rows + PAGE, range, 0) || munmap(rows + PAGE, range))
		return 0;
	map_anew(rows + PAGE, range);
	return !cuMemcpy2D(&copy);
}

static int between_rows(void)
{
	return beside_rows(64, PAGE);
}

static int behind_row(void)
{
	return beside_rows(PAGE, PAGE);
}

static int end_of_row(void)
{
	return beside_rows(PAGE + 1, PAGE);
}

static int start_of_row(void)
{
	return beside_rows(64, PAGE + 1);
}

static int fill(void)
{
	CUdeviceptr device;
	char *at = registered(&device);

	if (mremap(at, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, at + (1 << 30)) == MAP_FAILED)
		return 0;
	map_anew(at, BYTES);
	return !cuMemsetD8(ADDRESS(at), 5, BYTES) && *at == 5;
}

/* Each range is told of, once, also while another one has not been. */
static int two_ranges(void)
{
	CUdeviceptr device;
	char *first = registered(&device), *second = registered(&device);

	map_anew(first, BYTES);
	map_anew(second, BYTES);
	return !cuMemcpyHtoD(device, first, 16) && !cuMemcpyHtoD(device, first, 16) &&
	       !cuMemcpyHtoD(device, second, 16) &&
	       fprintf(stderr, "%p %p\n", first, second) > 0;
}

/* Pages that leave without an unmapping, neighbours' and those of a child are not told of. */
static int nothing_unmapped(void)
{
	CUdeviceptr device;
	char *at = registered(&device);
	pid_t child;

	munmap(at - PAGE, PAGE);
	munmap(at + BYTES, PAGE);
	child = fork();
	if (!child) {
		munmap(at, BYTES);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	memset(at, 3, BYTES);
	mprotect(at, BYTES, PROT_READ);
	mprotect(at, BYTES, PROT_READ | PROT_WRITE);
	return !cuMemcpyHtoD(device, at, BYTES) && !cuMemcpyDtoH(at, device, BYTES);
}

static int unregistered(void)
{
	CUdeviceptr device;
	char *at = registered(&device);

	munmap(at, BYTES);
	if (cuMemHostUnregister(at))
		return 0;
	map_anew(at, BYTES);
	return !cuMemcpyHtoD(device, at, BYTES) && !cuMemHostRegister(at, BYTES, 0) &&
	       !cuMemcpyHtoD(device, at, BYTES);
}

static const struct role roles[] = {
	{ "copy_from", copy_from },
	{ "copy_to", copy_to },
	{ "fill", fill },
	{ "rows", rows },
	{ "between_rows", between_rows },
	{ "behind_row", behind_row },
	{ "end_of_row", end_of_row },
	{ "start_of_row", start_of_row },
	{ "two_ranges", two_ranges },
	{ "nothing_unmapped", nothing_unmapped },
	{ "unregistered", unregistered },
	{ }
};

TEST_F(registered, unmapped_is_said_once)
{
	static const char *const uses[] = { "copy_from", "copy_to", "fill", "rows", "end_of_row",
					   "start_of_row" };
	char said[4096];

	for (unsigned int i = 0; i < ARRAY_SIZE(uses); i++) {
		EXPECT_EQ(0, run_role(uses[i], "UNRELATED=1", said));
		EXPECT_EQ(1, count_lines(said))
			TH_LOG("%s: %s", uses[i], said);
		EXPECT_NE(NULL, strstr(said, " was registered, and the program has unmapped it "
				       "since; a GPU would go on with the pages that were there, "));
	}
}

TEST_F(registered, each_range)
{
	char said[4096], *last;
	void *first, *second;
	char words[2][64];

	ASSERT_EQ(0, run_role("two_ranges", "UNRELATED=1", said));
	EXPECT_EQ(3, count_lines(said))
		TH_LOG("%s", said);
	for (last = said + strlen(said) - 1; last > said && last[-1] != '\n'; last--)
		;
	ASSERT_EQ(2, sscanf(last, "%p %p", &first, &second));
	snprintf(words[0], sizeof(words[0]), "memory at %p was registered", first);
	snprintf(words[1], sizeof(words[1]), "memory at %p was registered", second);
	EXPECT_NE(NULL, strstr(said, words[0]));
	EXPECT_NE(NULL, strstr(said, words[1]));
}

TEST_F(registered, silence)
{
	static const char *const uses[] = { "nothing_unmapped", "unregistered", "between_rows",
					   "behind_row" };
	char said[4096];

	for (unsigned int i = 0; i < ARRAY_SIZE(uses); i++) {
		EXPECT_EQ(0, run_role(uses[i], "UNRELATED=1", said));
		EXPECT_EQ(0, count_lines(said))
			TH_LOG("%s: %s", uses[i], said);
	}
}

TEST_HARNESS_MAIN
