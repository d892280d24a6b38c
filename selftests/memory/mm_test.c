// SPDX-License-Identifier: MIT
/* Operations of the kernel's memory management on a reservation that memcast does not start. */
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio_ext.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include "memcast_test.h"
#include "reason.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ	22
#define MADV_POPULATE_WRITE	23
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC	(1 << 15)
#endif

/* A memory of four chunks that is mapped, but not touched */
FIXTURE(mm)
{
	CUmemGenericAllocationHandle memory;
	volatile uint32_t *at;
};

FIXTURE_SETUP(mm)
{
	cuda_start(0);
	self->memory = new_memory(0, 4 * CHUNK);
	self->at = mapped(self->memory, 4 * CHUNK, 0);
}
NOTHING_LEFT(mm)

#define AT(chunk)	((void *)(self->at + (chunk) * (CHUNK / 4)))
#define WORD(chunk)	self->at[(chunk) * (CHUNK / 4)]

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

/* clear_refs write-protects page-table entries; the next store must not fault for ever. */
TEST_F(mm, clear_refs_is_no_livelock)
{
	long before;
	int round;

	for (round = 0; round < 4; round++) {
		(void)WORD(0);
		ASSERT_TRUE(write_file("/proc/self/clear_refs", "4"));
		before = stat_of("pmd_faults") + stat_of("pte_faults");
		WORD(0) = round;
		EXPECT_EQ(round, WORD(0));
		WORD(1 + round % 3) = round;
		EXPECT_GE(4, stat_of("pmd_faults") + stat_of("pte_faults") - before);
		ASSERT_TRUE(write_file("/proc/self/clear_refs", "1"));
		EXPECT_EQ(round, WORD(0));
	}
}

/* A reservation cannot be private, executable, or of another size or offset: mmap() refuses it. */
TEST_F(mm, mmap_of_other_kinds)
{
	int fd = open("/dev/memcast", O_RDWR);
	char *room = mmap(NULL, 4 * CHUNK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *at = (char *)(((uintptr_t)room + CHUNK - 1) & -CHUNK);
	const struct {
		char *at;
		int prot, flags;
		off_t offset;
	} bad[] = {
		{ at, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0 },
		{ at, PROT_READ, MAP_PRIVATE, 0 },
		{ at, PROT_READ, MAP_SHARED, 0 },
		{ at, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, 0 },
		{ at, PROT_READ | PROT_WRITE, MAP_SHARED, PAGE },
		/* beyond the last protection key */
		{ at, PROT_READ | PROT_WRITE, MAP_SHARED, 16L * CHUNK },
		{ at + PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(EINVAL, ERRNO_OF(mmap(bad[i].at, CHUNK, bad[i].prot,
						bad[i].flags | MAP_FIXED, fd,
						bad[i].offset)));
	ASSERT_EQ(at, mmap(at, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0));
	EXPECT_EQ(EACCES, ERRNO_OF(mprotect(at, CHUNK, PROT_READ | PROT_EXEC)));
}

/* The kernel never splits, grows or moves a reservation. */
TEST_F(mm, parts_are_refused)
{
	CUmemLocation location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 };
	long mappings = stat_of("mappings");
	unsigned long long flags;
	size_t all = 4 * CHUNK;

	WORD(0) = WORD(1) = 5;
	EXPECT_EQ(EINVAL, ERRNO_OF(munmap(AT(0), CHUNK)));
	EXPECT_EQ(EINVAL, ERRNO_OF(munmap(AT(3), CHUNK)));
	EXPECT_EQ(EINVAL, ERRNO_OF(munmap(AT(1), CHUNK)));
	EXPECT_EQ(EINVAL, ERRNO_OF(mprotect(AT(1), CHUNK, PROT_READ)));
	EXPECT_EQ(EINVAL, ERRNO_OF(mprotect(AT(0), PAGE, PROT_NONE)));
	EXPECT_EQ(EINVAL, ERRNO_OF(madvise(AT(1), CHUNK, MADV_RANDOM)));
	EXPECT_NE(0, ERRNO_OF(mremap(AT(0), all, 2 * all, MREMAP_MAYMOVE)));
	EXPECT_NE(0, ERRNO_OF(mremap(AT(0), all, CHUNK, 0)));
	EXPECT_NE(0, ERRNO_OF(mremap(AT(0), all, all, MREMAP_MAYMOVE | MREMAP_FIXED,
				     reserve(8 * CHUNK))));
	EXPECT_EQ(MAP_FAILED, mmap(AT(1), CHUNK, PROT_READ, MAP_FIXED | MAP_PRIVATE |
				   MAP_ANONYMOUS, -1, 0));
	EXPECT_EQ(5, WORD(0));
	EXPECT_EQ(5, WORD(1));
	/* mremap() closed the copy of the VMA that it had made, and only that */
	EXPECT_EQ(mappings, stat_of("mappings"));
	EXPECT_OK(cuMemGetAccess(&flags, &location, ADDRESS(AT(0))));
}

/*
 * A zap by another thread would miss a PMD entry that mremap() is just moving: so the entries go
 * before mremap() can move them, although it is refused.
 */
TEST_F(mm, refused_mremap_moves_no_entry)
{
	char *room = mmap(NULL, 5 * CHUNK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long faults;

	ASSERT_NE(MAP_FAILED, (void *)room);
	WORD(0) = 5;
	faults = stat_of(CHUNK_FAULTS);
	EXPECT_EQ(5, WORD(0));
	EXPECT_EQ(faults, stat_of(CHUNK_FAULTS));
	EXPECT_EQ(EINVAL, ERRNO_OF(mremap(AT(0), 4 * CHUNK, 4 * CHUNK,
					  MREMAP_MAYMOVE | MREMAP_FIXED,
					  (void *)chunks_for((uintptr_t)room))));
	EXPECT_EQ(5, WORD(0));
	EXPECT_EQ(faults + 1, stat_of(CHUNK_FAULTS));
}

/* munmap() of a whole reservation takes its mappings along. */
TEST_F(mm, whole_munmap)
{
	WORD(3) = 1;
	ASSERT_OK(cuMemRelease(self->memory));
	EXPECT_EQ(0, munmap(AT(0), 4 * CHUNK));
	EXPECT_EQ(device_bytes(0, "pool_bytes"), device_bytes(0, "free_bytes"));
	EXPECT_EQ(0, stat_of("mappings"));
	EXPECT_REASON(cuMemUnmap(ADDRESS(self->at), 4 * CHUNK), "# is not in a reservation");
	EXPECT_EQ(SIGSEGV, try_load(AT(3), NULL));
}

/* mprotect() back and forth over a whole reservation loses nothing. */
TEST_F(mm, whole_mprotect)
{
	long before;

	WORD(0) = 5;
	before = stat_of(CHUNK_FAULTS);
	ASSERT_EQ(0, mprotect(AT(0), 4 * CHUNK, PROT_READ));
	EXPECT_EQ(5, WORD(0));
	EXPECT_EQ(before, stat_of(CHUNK_FAULTS));
	EXPECT_EQ(SIGSEGV, try_store(AT(0), 1));
	ASSERT_EQ(0, mprotect(AT(0), 4 * CHUNK, PROT_READ | PROT_WRITE));
	EXPECT_EQ(0, try_store(AT(0), 6));
	EXPECT_EQ(6, WORD(0));
	ASSERT_EQ(0, mprotect(AT(0), 4 * CHUNK, PROT_NONE));
	EXPECT_EQ(SIGSEGV, try_load(AT(0), NULL));
}

/* mprotect() to all access gives no more than cuMemSetAccess() gave. */
TEST_F(mm, mprotect_gives_no_access)
{
	ASSERT_OK(allow(ADDRESS(AT(0)), 4 * CHUNK, 0, READ));
	EXPECT_EQ(0, try_load(AT(0), NULL));
	ASSERT_EQ(0, mprotect(AT(0), 4 * CHUNK, PROT_NONE));
	ASSERT_EQ(0, mprotect(AT(0), 4 * CHUNK, PROT_READ | PROT_WRITE));
	EXPECT_EQ(0, try_load(AT(0), NULL));
	EXPECT_EQ(SIGSEGV, try_store(AT(0), 1));
	EXPECT_EQ(SIGSEGV, try_store(AT(1), 1));
	EXPECT_EQ(0, WORD(0));
}

/* A child has no mapping, whatever its parent advised. */
TEST_F(mm, child_has_no_mapping)
{
	pid_t child;

	WORD(0) = 5;
	EXPECT_EQ(EINVAL, ERRNO_OF(madvise(AT(0), 4 * CHUNK, MADV_DOFORK)));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		EXPECT_EQ(SIGSEGV, try_load(AT(0), NULL));
		EXPECT_EQ(SIGSEGV, try_store(AT(0), 6));
		_exit(0);
	}
	EXPECT_EQ(0, reap_child(child));
	EXPECT_EQ(5, WORD(0));
}

/* Expects one fault per chunk, also where huge pages are switched off. */
static void touch_all(struct __test_metadata *_metadata, volatile uint32_t *at)
{
	long pmd = stat_of(CHUNK_FAULTS), pte = stat_of(OTHER_FAULTS);
	size_t i;

	for (i = 0; i < 4 * CHUNK / 4; i += 1024)
		at[i] = i;
	EXPECT_EQ(4, stat_of(CHUNK_FAULTS) - pmd);
	EXPECT_EQ(0, stat_of(OTHER_FAULTS) - pte);
	for (i = 0; i < 4 * CHUNK / 4; i += 1024)
		ASSERT_EQ(i, at[i]);
}

TEST_F(mm, one_fault_per_chunk)
{
	touch_all(_metadata, self->at);
}

/* A load comes first: the entry that it makes is good for stores as well. */
TEST_F(mm, load_then_store)
{
	long before = stat_of(CHUNK_FAULTS);

	EXPECT_EQ(0, WORD(0));
	WORD(0) = 1;
	EXPECT_EQ(1, stat_of(CHUNK_FAULTS) - before);
}

TEST_F(mm, nohugepage)
{
	ASSERT_EQ(0, madvise(AT(0), 4 * CHUNK, MADV_NOHUGEPAGE));
	touch_all(_metadata, self->at);
}

TEST_F(mm, thp_disabled)
{
	ASSERT_EQ(0, prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0));
	touch_all(_metadata, self->at);
}

/* MADV_POPULATE and other advice change nothing. */
TEST_F(mm, populate_and_advice)
{
	EXPECT_EQ(EINVAL, ERRNO_OF(madvise(AT(0), CHUNK, MADV_POPULATE_READ)));
	EXPECT_EQ(EINVAL, ERRNO_OF(madvise(AT(0), CHUNK, MADV_POPULATE_WRITE)));
	EXPECT_EQ(EINVAL, ERRNO_OF(madvise(AT(0), 4 * CHUNK, MADV_DONTNEED)));
	EXPECT_NE(0, madvise(AT(0), 4 * CHUNK, MADV_REMOVE));
	WORD(0) = 5;
	madvise(AT(0), 4 * CHUNK, MADV_COLD);
	madvise(AT(0), 4 * CHUNK, MADV_PAGEOUT);
	EXPECT_EQ(5, WORD(0));
}

TEST_F(mm, mlock_and_msync)
{
	WORD(0) = 5;
	EXPECT_EQ(0, mlock(AT(0), 4 * CHUNK));
	EXPECT_EQ(0, munlock(AT(0), 4 * CHUNK));
	EXPECT_EQ(0, msync(AT(0), 4 * CHUNK, MS_ASYNC));
	EXPECT_EQ(EINVAL, ERRNO_OF(msync(AT(0), 4 * CHUNK, MS_SYNC)));	/* no file */
	EXPECT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE));
	EXPECT_EQ(0, *mapped(new_memory(0, CHUNK), CHUNK, 0));
	EXPECT_EQ(0, munlockall());
	EXPECT_EQ(5, WORD(0));
}

static int futex(volatile void *at, int what, uint32_t value)
{
	return ERRNO_OF(syscall(SYS_futex, at, what, value, NULL, NULL, 0));
}

TEST_F(mm, futexes)
{
	WORD(0) = 5;
	EXPECT_EQ(EFAULT, futex(AT(0), FUTEX_WAKE, 1));
	EXPECT_EQ(0, futex(AT(0), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1));
	EXPECT_EQ(EAGAIN, futex(AT(0), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 4));
}

/*
 * If the kernel can pin a page (6.1), the pipe keeps showing the former owner's data; the next
 * owner gets another chunk.
 */
TEST_F(mm, vmsplice_does_not_reach_the_next_owner)
{
	size_t full = device_bytes(0, "pool_bytes"), i;
	struct iovec part = { AT(0), 4096 };
	volatile uint32_t *next;
	uint32_t words[1024];
	int pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	WORD(0) = 5;
	if (vmsplice(pipes[1], &part, 1, 0) < 0) {
		EXPECT_EQ(EFAULT, errno);
		part.iov_base = NULL;
	}
	ASSERT_OK(cuMemUnmap(ADDRESS(self->at), 4 * CHUNK));
	ASSERT_OK(cuMemRelease(self->memory));
	EXPECT_EQ(full, device_bytes(0, "free_bytes"));

	/* all of the pool, so that the pinned chunk would be among it */
	next = mapped(new_memory(0, full), full, 0);
	for (i = 0; i < full / 4; i += 1024) {
		ASSERT_EQ(0, next[i]);
		next[i] = 0xdeadbeef;
	}
	if (part.iov_base) {
		ASSERT_EQ(4096, read(pipes[0], words, 4096));
		EXPECT_EQ(5, words[0]);
	}
}

/* Return: does smaps list this flag for the VMA at @at? */
static bool has_flag(volatile void *at, const char *flag)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	char line[256], start[32];
	bool here = false, found = false;

	snprintf(start, sizeof(start), "%lx-", (unsigned long)(uintptr_t)at);
	while (file && fgets(line, sizeof(line), file)) {
		if (strstr(line, "-") && strspn(line, "0123456789abcdef") > 6)
			here = !strncmp(line, start, strlen(start));
		if (here && !strncmp(line, "VmFlags:", 8))
			found = strstr(line, flag);
	}
	if (file)
		fclose(file);
	return found;
}

TEST_F(mm, flags)
{
	EXPECT_TRUE(has_flag(self->at, " pf"));		/* no struct pages */
	EXPECT_TRUE(has_flag(self->at, " dd"));		/* not in core dumps */
	EXPECT_TRUE(has_flag(self->at, " de"));		/* does not grow */
	EXPECT_TRUE(has_flag(self->at, " dc"));		/* not copied by fork */
	EXPECT_FALSE(has_flag(self->at, " me"));	/* never executable */
}

/* setarch -X: the kernel makes executable all that a program can read, but not this. */
TEST_F(mm, read_implies_exec)
{
	int before = personality(0xffffffff);
	volatile uint32_t *at;
	CUdeviceptr plain;

	ASSERT_LE(0, personality(before | READ_IMPLIES_EXEC));
	at = mapped(new_memory(1, CHUNK), CHUNK, 0);
	ASSERT_OK(cuMemAlloc(&plain, CHUNK));
	ASSERT_LE(0, personality(before));
	*at = 7;
	EXPECT_EQ(7, *at);
	EXPECT_FALSE(has_flag(at, " ex"));
	EXPECT_FALSE(has_flag(at, " me"));
	EXPECT_FALSE(has_flag((void *)plain, " ex"));
	EXPECT_OK(cuMemFree(plain));
}

/* The memory belongs to the pool and does not count as the process's. */
TEST_F(mm, counts_as_nobodys_memory)
{
	long before, after;
	FILE *file = fopen("/proc/self/statm", "re");

	ASSERT_NE(NULL, file);
	ASSERT_EQ(1, fscanf(file, "%*d %ld", &before));
	touch_all(_metadata, self->at);
	rewind(file);
	__fpurge(file);
	ASSERT_EQ(1, fscanf(file, "%*d %ld", &after));
	EXPECT_GT(2 * (long)(CHUNK / PAGE), after - before);
	EXPECT_LE(1, after);
}

/*
 * A page-table entry with a marker of userfaultfd would be in the way of the module's, and each load
 * would fault for ever: Linux registers no mapping of devices.
 */
TEST_F(mm, userfaultfd_is_refused)
{
	static const uint64_t modes[] = {
		UFFDIO_REGISTER_MODE_MISSING, UFFDIO_REGISTER_MODE_WP,
		UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_WP_ASYNC };
	int file = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (file < 0)
		SKIP(return, "needs root, and a kernel with userfaultfd");
	if (ioctl(file, UFFDIO_API, &api)) {
		/* only later kernels have the feature that lets them register other mappings */
		close(file);
		file = syscall(SYS_userfaultfd, O_CLOEXEC);
		api = (struct uffdio_api) { .api = UFFD_API };
		ASSERT_EQ(0, ioctl(file, UFFDIO_API, &api));
	}
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		struct uffdio_register all = {
			.range = { ADDRESS(self->at), 4 * CHUNK }, .mode = modes[i],
		};

		EXPECT_EQ(EINVAL, ERRNO_OF(ioctl(file, UFFDIO_REGISTER, &all)));
	}
	WORD(0) = 3;
	EXPECT_EQ(3, WORD(0));
	close(file);
}

/* Unmapping in one reservation affects no other. */
TEST_F(mm, two_reservations_two_clients)
{
	volatile uint32_t *other = mapped(new_memory(1, CHUNK), CHUNK, 0);
	long before;

	*other = 7;
	WORD(0) = 5;
	before = stat_of(CHUNK_FAULTS);
	ASSERT_OK(cuMemUnmap(ADDRESS(self->at), 4 * CHUNK));
	EXPECT_EQ(7, *other);
	EXPECT_EQ(before, stat_of(CHUNK_FAULTS));
	EXPECT_EQ(SIGSEGV, try_load(self->at, NULL));
}

TEST_HARNESS_MAIN
