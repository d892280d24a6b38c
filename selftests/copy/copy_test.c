// SPDX-License-Identifier: MIT
/* The copy engine, and system calls that read and write mappings */
#include <fcntl.h>
#include <sys/uio.h>
#include "memcast_test.h"
#include "reason.h"

/* A memory of three chunks on each of devices 0 and 1, mapped for that device */
FIXTURE(copy)
{
	CUmemGenericAllocationHandle memory[2];
	unsigned char *at[2];
};

FIXTURE_SETUP(copy)
{
	int i;

	cuda_start(0);
	for (i = 0; i < 2; i++) {
		self->memory[i] = new_memory(i, 3 * CHUNK);
		self->at[i] = (unsigned char *)mapped(self->memory[i], 3 * CHUNK, i);
	}
	ASSERT_OK(allow(ADDRESS(self->at[1]), 3 * CHUNK, 0, READWRITE));
}
NOTHING_LEFT(copy)

#define AT(i, offset)	ADDRESS(self->at[i] + (offset))

static unsigned char pattern(size_t i)
{
	return (i * 2654435761U) >> 13;
}

static unsigned char *host_pattern(size_t bytes)
{
	unsigned char *host = malloc(bytes + 2);
	size_t i;

	for (i = 0; host && i < bytes; i++)
		host[i] = pattern(i);
	return host;
}

/* Return: how many bytes of [at, at + bytes) are not pattern(); one more if a neighbour is not 0 */
static size_t differences(const unsigned char *at, size_t bytes)
{
	size_t i, count = at[-1] != 0 || at[bytes] != 0;

	for (i = 0; i < bytes; i++)
		count += at[i] != pattern(i);
	return count;
}

/* Odd sizes at odd offsets, across no, one and two borders of chunks */
static const struct {
	size_t offset, bytes;
} pieces[] = {
	{ 1, 1 }, { 7, 63 }, { 4093, 16 * 1024 + 5 }, { CHUNK - 1, 2 },
	{ CHUNK - 3, 12345 }, { CHUNK - 11, CHUNK + 23 }, { 5, 3 * CHUNK - 9 },
};

TEST_F(copy, host_to_device_and_back)
{
	unsigned char *host = host_pattern(3 * CHUNK);
	unsigned char *back = calloc(1, 3 * CHUNK);
	unsigned int i;

	ASSERT_NE(NULL, host);
	ASSERT_NE(NULL, back);
	for (i = 0; i < ARRAY_SIZE(pieces); i++) {
		size_t offset = pieces[i].offset, bytes = pieces[i].bytes;

		ASSERT_OK(cuMemsetD8(AT(0, 0), 0, 3 * CHUNK));
		ASSERT_OK(cuMemcpyHtoD(AT(0, offset), host, bytes));
		EXPECT_EQ(0, differences(self->at[0] + offset, bytes));
		memset(back, 0, 3 * CHUNK);
		ASSERT_OK(cuMemcpyDtoH(back + 1, AT(0, offset), bytes));
		EXPECT_EQ(0, differences(back + 1, bytes));
	}
}

TEST_F(copy, device_to_device)
{
	unsigned char *host = host_pattern(3 * CHUNK);
	unsigned int i;

	ASSERT_OK(cuMemcpyHtoD(AT(0, 3), host, 3 * CHUNK - 3));
	for (i = 0; i < ARRAY_SIZE(pieces); i++) {
		size_t offset = pieces[i].offset, bytes = pieces[i].bytes;

		/* borders of source and destination do not coincide */
		if (offset + bytes > 3 * CHUNK - 5)
			bytes -= 5;
		ASSERT_OK(cuMemsetD8(AT(1, 0), 0, 3 * CHUNK));
		ASSERT_OK(cuMemcpyDtoD(AT(1, offset), AT(0, 3), bytes));
		EXPECT_EQ(0, differences(self->at[1] + offset, bytes));
	}
	ASSERT_OK(cuMemsetD8(AT(1, 0), 0, 3 * CHUNK));
	ASSERT_OK(cuMemcpy(AT(1, CHUNK - 7), AT(0, 3), 20));
	EXPECT_EQ(0, differences(self->at[1] + CHUNK - 7, 20));
	/* as many bytes as a word has, but the source is none: a border of chunks is in it */
	ASSERT_OK(cuMemcpyHtoD(AT(0, CHUNK - 2), host, 8));
	ASSERT_OK(cuMemcpyDtoD(AT(1, 8), AT(0, CHUNK - 2), 8));
	EXPECT_EQ(0, differences(self->at[1] + 8, 8));
}

/* cuMemcpy takes any address on either side */
TEST_F(copy, any_to_any)
{
	unsigned char *host = host_pattern(100), back[102] = {};

	EXPECT_OK(cuMemcpy(AT(0, CHUNK - 50), ADDRESS(host), 100));
	EXPECT_EQ(0, differences(self->at[0] + CHUNK - 50, 100));
	EXPECT_OK(cuMemcpy(ADDRESS(back + 1), AT(0, CHUNK - 50), 100));
	EXPECT_EQ(0, differences(back + 1, 100));
}

TEST_F(copy, memset)
{
	uint32_t *words = (uint32_t *)self->at[0];
	uint16_t *halves = (uint16_t *)self->at[0];
	unsigned char *bytes = self->at[0];

	EXPECT_OK(cuMemsetD8(AT(0, CHUNK - 3), 0xa5, 7));
	EXPECT_EQ(0, bytes[CHUNK - 4]);
	EXPECT_EQ(0xa5, bytes[CHUNK - 3]);
	EXPECT_EQ(0xa5, bytes[CHUNK + 3]);
	EXPECT_EQ(0, bytes[CHUNK + 4]);
	EXPECT_OK(cuMemsetD16(AT(0, CHUNK - 2), 0x1234, 2));
	EXPECT_EQ(0x1234, halves[CHUNK / 2 - 1]);
	EXPECT_EQ(0x1234, halves[CHUNK / 2]);
	EXPECT_EQ(0xa5a5, halves[CHUNK / 2 + 1]);
	EXPECT_OK(cuMemsetD32(AT(0, CHUNK - 4), 0x12345678, CHUNK / 4 + 2));
	EXPECT_EQ(0x12345678, words[CHUNK / 4 - 1]);
	EXPECT_EQ(0x12345678, words[CHUNK / 4]);
	EXPECT_EQ(0x12345678, words[CHUNK / 2]);
	EXPECT_EQ(0, words[CHUNK / 2 + 1]);
	EXPECT_EQ(0, words[CHUNK / 4 - 2]);
	EXPECT_REASON(cuMemsetD16(AT(0, 1), 1, 1), "# or the pitch # is not a multiple of #");
	EXPECT_REASON(cuMemsetD32(AT(0, 2), 1, 1), "# or the pitch # is not a multiple of #");
	EXPECT_REASON(cuMemsetD32(AT(0, 0), 1, 1UL << 62), "the size overflows");
	EXPECT_REASON(cuMemsetD8(ADDRESS(pieces), 1, 1), "the destination # is not device memory");
	EXPECT_EQ(0, words[0]);
}

TEST_F(copy, nothing)
{
	EXPECT_OK(cuMemcpyHtoD(AT(0, 0), self, 0));
	EXPECT_OK(cuMemcpyDtoH(self, AT(0, 0), 0));
	EXPECT_OK(cuMemcpyDtoD(AT(0, 0), AT(1, 0), 0));
	EXPECT_OK(cuMemsetD32(AT(0, 0), 1, 0));
	EXPECT_EQ(0, self->at[0][0]);
}

/* The whole range is checked before a byte is written. */
TEST_F(copy, out_of_range)
{
	unsigned char *host = host_pattern(3 * CHUNK);
	CUdeviceptr hole = reserve(3 * CHUNK);

	ASSERT_OK(cuMemMap(hole, CHUNK, 0, new_memory(0, CHUNK), 0));
	ASSERT_OK(cuMemMap(hole + 2 * CHUNK, CHUNK, 0, new_memory(1, CHUNK), 0));
	ASSERT_OK(allow(hole, CHUNK, 0, READWRITE));
	ASSERT_OK(allow(hole + 2 * CHUNK, CHUNK, 0, READWRITE));
	EXPECT_REASON(cuMemcpyHtoD(hole, host, 3 * CHUNK),
		      "device # cannot write # bytes at #: unmapped, unbound");
	EXPECT_REASON(cuMemcpyHtoD(hole, host, CHUNK + 1),
		      "device # cannot write # bytes at #: unmapped, unbound");
	EXPECT_REASON(cuMemsetD8(hole, 1, CHUNK + 1),
		      "device # cannot write # bytes at #: unmapped, unbound");
	EXPECT_REASON(cuMemcpyHtoD(AT(0, 3 * CHUNK - 10), host, 11),
		      "device # cannot write # bytes at #: unmapped, unbound");
	EXPECT_REASON(cuMemcpyHtoD(AT(0, 0), host, -1UL),
		      "the destination leaves the address space");
	EXPECT_REASON(cuMemsetD8(AT(0, 0), 1, -1UL), "the destination leaves the address space");
	EXPECT_REASON(cuMemcpyDtoD(AT(0, 0), hole, CHUNK + 1),
		      "device # cannot read # bytes at #: unmapped, unbound or");
	EXPECT_EQ(0, self->at[0][0]);
	EXPECT_EQ(0, self->at[0][3 * CHUNK - 10]);
	EXPECT_OK(cuMemcpyHtoD(hole, host, CHUNK));
}

TEST_F(copy, host_side_not_accessible)
{
	unsigned char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_EQ(0, munmap(page + PAGE, PAGE));
	memset(page, 1, PAGE);
	EXPECT_REASON(cuMemcpyHtoD(AT(0, 0), page, PAGE + 1), "the source # is not accessible");
	EXPECT_REASON(cuMemcpyHtoD(AT(0, 0), NULL, 1), "the source # is not accessible");
	EXPECT_EQ(0, self->at[0][0]);
	self->at[0][0] = 5;
	EXPECT_REASON(cuMemcpyDtoH(page, AT(0, 0), PAGE + 1), "the destination # is not accessible");
	EXPECT_REASON(cuMemcpyDtoH("constant", AT(0, 0), 1), "the destination # is not accessible");
	EXPECT_EQ(1, page[0]);
	/* host memory as an operand that must be device memory */
	EXPECT_REASON(cuMemcpyHtoD(ADDRESS(page), page, 1),
		      "the destination # is not device memory");
	EXPECT_REASON(cuMemcpyDtoD(AT(0, 0), ADDRESS(page), 1),
		      "the source # is not device memory");
	EXPECT_OK(cuMemcpyDtoH(page, AT(0, 0), PAGE));
	EXPECT_EQ(5, page[0]);
}

/* A copy needs access of the current device. */
TEST_F(copy, access_of_the_current_device)
{
	unsigned char byte = 3;

	ASSERT_OK(allow(AT(1, 0), 3 * CHUNK, 0, NONE));
	EXPECT_REASON(cuMemcpyHtoD(AT(1, 0), &byte, 1),
		      "device # cannot write # bytes at #: unmapped, unbound");
	EXPECT_REASON(cuMemcpyDtoH(&byte, AT(1, 0), 1),
		      "device # cannot read # bytes at #: unmapped, unbound or");
	EXPECT_REASON(cuMemsetD8(AT(1, 0), 1, 1),
		      "device # cannot write # bytes at #: unmapped, unbound");
	EXPECT_REASON(cuMemcpyDtoD(AT(0, 0), AT(1, 0), 1),
		      "device # cannot read # bytes at #: unmapped, unbound or");
	EXPECT_EQ(3, byte);
	EXPECT_EQ(0, self->at[1][0]);
	ASSERT_OK(allow(AT(1, 0), 3 * CHUNK, 0, READ));
	EXPECT_REASON(cuMemcpyHtoD(AT(1, 0), &byte, 1),
		      "device # cannot write # bytes at #: unmapped, unbound");
	EXPECT_OK(cuMemcpyDtoH(&byte, AT(1, 0), 1));
	EXPECT_EQ(0, byte);
	cuda_start(1);
	byte = 3;
	EXPECT_OK(cuMemcpyHtoD(AT(1, 0), &byte, 1));
	EXPECT_EQ(3, self->at[1][0]);
	ASSERT_OK(cuCtxSetCurrent(NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuMemcpyHtoD(AT(1, 0), &byte, 1));
}

/* ---- windows ---- */

TEST_F(copy, window_reaches_every_replica)
{
	CUmemGenericAllocationHandle team = complete_team(3, 3 * CHUNK);
	CUdeviceptr window = ADDRESS(mapped(team, 3 * CHUNK, 0));
	unsigned char *host = host_pattern(3 * CHUNK), *back = calloc(1, CHUNK + 2);
	unsigned int i;

	/* no memory is bound: a window has no replica to write to or to read from */
	EXPECT_REASON(cuMemcpyHtoD(window, host, 1),
		      "device # cannot write # bytes at #: unmapped, unbound");
	EXPECT_REASON(cuMemcpyDtoH(back, window, 1),
		      "device # cannot read # bytes at #: unmapped, unbound or");
	ASSERT_OK(cuMulticastBindMem(team, 0, self->memory[0], 0, 2 * CHUNK, 0));
	ASSERT_OK(cuMulticastBindMem(team, 0, self->memory[1], CHUNK, 2 * CHUNK, 0));
	ASSERT_OK(cuMemcpyHtoD(window + CHUNK - 9, host, 1000));
	EXPECT_EQ(0, differences(self->at[0] + CHUNK - 9, 1000));
	EXPECT_EQ(0, differences(self->at[1] + 2 * CHUNK - 9, 1000));
	EXPECT_OK(cuMemcpyDtoH(back + 1, window + CHUNK - 9, 1000));
	EXPECT_EQ(0, differences(back + 1, 1000));
	/* a copy that leaves the bound range writes nothing, not even its first byte */
	EXPECT_REASON(cuMemcpyHtoD(window + 2 * CHUNK - 1, host + 1, 2),
		      "device # cannot write # bytes at #: unmapped, unbound");
	EXPECT_REASON(cuMemsetD8(window + 2 * CHUNK - 1, 1, 2),
		      "device # cannot write # bytes at #: unmapped, unbound");
	EXPECT_EQ(0, self->at[0][2 * CHUNK - 1]);

	ASSERT_OK(cuMemsetD32(window + 2 * CHUNK - 8, 0xabcdef01, 2));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0xabcdef01, *(uint32_t *)(self->at[i] + (2 + i) * CHUNK - 4));

	/* from device memory, and from one of the replicas themselves */
	ASSERT_OK(cuMemsetD8(AT(0, 0), 0, 3 * CHUNK));
	ASSERT_OK(cuMemsetD8(AT(1, 0), 0, 3 * CHUNK));
	ASSERT_OK(cuMemcpyHtoD(AT(0, 2 * CHUNK + 1), host, 777));
	ASSERT_OK(cuMemcpyDtoD(window + 1, AT(0, 2 * CHUNK + 1), 777));
	EXPECT_EQ(0, differences(self->at[0] + 1, 777));
	EXPECT_EQ(0, differences(self->at[1] + CHUNK + 1, 777));
	ASSERT_OK(cuMemcpyDtoD(window + CHUNK + 5, window + 1, 777));
	EXPECT_EQ(0, differences(self->at[1] + 2 * CHUNK + 5, 777));
}

/* ---- system calls ---- */

/* read(2) and write(2) take device memory like any other memory. */
TEST_F(copy, read_and_write)
{
	unsigned char *host = host_pattern(CHUNK + 100), *back = calloc(1, CHUNK + 102);
	int fd = memfd_create("x", 0);
	size_t bytes = CHUNK + 100;

	ASSERT_EQ(bytes, pwrite(fd, host, bytes, 0));
	ASSERT_EQ(bytes, pread(fd, self->at[0] + CHUNK - 50, bytes, 0));
	EXPECT_EQ(0, differences(self->at[0] + CHUNK - 50, bytes));
	ASSERT_EQ(bytes, pwrite(fd, self->at[0] + CHUNK - 50, bytes, 1));
	ASSERT_EQ(bytes, pread(fd, back + 1, bytes, 1));
	EXPECT_EQ(0, differences(back + 1, bytes));
	/* into device memory that the program may only read */
	ASSERT_OK(allow(AT(0, 0), 3 * CHUNK, 0, READ));
	EXPECT_EQ(EFAULT, ERRNO_OF(pread(fd, self->at[0], 100, 0)));
	EXPECT_EQ(0, self->at[0][0]);
}

/* Debuggers read and write windows and replicas this way, whatever access the CPU has. */
TEST_F(copy, proc_self_mem)
{
	CUmemGenericAllocationHandle team = complete_team(2, CHUNK);
	volatile uint32_t *window = mapped(team, CHUNK, 0);
	unsigned char *host = host_pattern(100), back[102] = {};
	int fd = open("/proc/self/mem", O_RDWR);

	ASSERT_LE(0, fd);
	EXPECT_EQ(100, pwrite(fd, host, 100, AT(0, CHUNK - 50)));
	EXPECT_EQ(0, differences(self->at[0] + CHUNK - 50, 100));
	EXPECT_EQ(100, pread(fd, back + 1, 100, AT(0, CHUNK - 50)));
	EXPECT_EQ(0, differences(back + 1, 100));
	EXPECT_EQ(EIO, ERRNO_OF(pread(fd, back, 100, reserve(CHUNK))));
	EXPECT_EQ(EIO, ERRNO_OF(pread(fd, back, 100, ADDRESS(window))));
	ASSERT_OK(cuMulticastBindMem(team, 0, self->memory[0], 0, CHUNK, 0));
	ASSERT_OK(cuMulticastBindMem(team, 0, self->memory[1], 0, CHUNK, 0));
	EXPECT_EQ(50, pwrite(fd, host, 50, ADDRESS(window) + 8));
	EXPECT_EQ(0, memcmp(self->at[0] + 8, host, 50));
	EXPECT_EQ(0, memcmp(self->at[1] + 8, host, 50));
	EXPECT_EQ(50, pread(fd, back, 50, ADDRESS(window) + 8));
	EXPECT_EQ(0, memcmp(back, host, 50));
}

TEST_F(copy, process_vm_readv_fails)
{
	char back[8] = "before";
	struct iovec to = { back, 8 }, from = { self->at[0], 8 };

	self->at[0][0] = 1;
	EXPECT_EQ(EFAULT, ERRNO_OF(process_vm_readv(getpid(), &to, 1, &from, 1, 0)));
	EXPECT_STREQ("before", back);
}

TEST_HARNESS_MAIN
