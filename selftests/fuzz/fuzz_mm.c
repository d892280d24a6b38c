// SPDX-License-Identifier: MIT
/* Acts of memory management, and of the kernel's own access to memory, on memcast's addresses. */
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/mempolicy.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fuzz.h"

struct range {
	uintptr_t at;
	size_t bytes;
};

/* Return: a range of the arena or of a heap's chunk, as acts must spare the C library's memory */
static struct range some_range(struct fuzz *f)
{
	static const enum fuzz_kind kinds[] = {
		RESERVATION, RESERVATION, MAPPING, BUFFER, BUFFER, PLAIN, BLOCK,
	};
	enum fuzz_kind kind = kinds[fuzz_any(f, 7)];
	struct fuzz_thing thing = fuzz_pick(f, kind);
	uintptr_t arena = f->things->arena;
	struct range r = { thing.value, thing.extra };

	if (fuzz_percent(f, 30)) {
		r.at += fuzz_any(f, 3) * (fuzz_percent(f, 50) ? PAGE : CHUNK);
		r.bytes = (1 + fuzz_any(f, 3)) * (fuzz_percent(f, 50) ? PAGE : CHUNK);
	}
	if (fuzz_percent(f, 5))
		r.bytes = fuzz_odd(f);
	if (r.at >= arena && r.at < arena + FUZZ_ARENA) {
		if (r.bytes > arena + FUZZ_ARENA - r.at)
			r.bytes = arena + FUZZ_ARENA - r.at;
	} else if (kind == BLOCK && r.at) {
		r.at &= -CHUNK;
		r.bytes = fuzz_percent(f, 70) ? CHUNK : PAGE * fuzz_any(f, 512);
	} else {
		r.at = arena + fuzz_any(f, FUZZ_ARENA / CHUNK) * CHUNK;
		r.bytes = CHUNK;
	}
	return r;
}

static uintptr_t some_place(struct fuzz *f, size_t bytes)
{
	uintptr_t by = fuzz_any(f, FUZZ_ARENA / CHUNK) * CHUNK;

	if (fuzz_percent(f, 25))
		by += fuzz_any(f, 512) * PAGE;
	/* the first two chunks of the arena are plain memory, to spare mostly */
	if (by < 2 * CHUNK && fuzz_percent(f, 80))
		by += 2 * CHUNK;
	return f->things->arena + (by + bytes <= FUZZ_ARENA ? by : FUZZ_ARENA - bytes);
}

/* ---- memory management */

static long act_mmap(struct fuzz *f)
{
	static const enum fuzz_kind kinds[] = { CLIENT, CLIENT, CLIENT, DMABUF, DMABUF, OTHER_FD };
	enum fuzz_kind kind = kinds[fuzz_any(f, 6)];
	struct fuzz_thing thing = kind == CLIENT ? (struct fuzz_thing){ fuzz_client(f), 0 } :
						   fuzz_pick(f, kind);
	struct fuzz_thing before;
	int prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_FIXED;
	size_t bytes = kind == CLIENT ? (1 + fuzz_any(f, 4)) * CHUNK : thing.extra;
	uintptr_t at;
	off_t from = 0;

	if (!bytes || bytes > 4 * CHUNK || fuzz_percent(f, 20))
		bytes = (1 + fuzz_any(f, 8)) * (fuzz_percent(f, 50) ? PAGE : CHUNK / 2);
	at = some_place(f, bytes);
	if (kind == CLIENT && fuzz_percent(f, 90))
		at &= -CHUNK;
	if (fuzz_percent(f, 20))
		prot = fuzz_any(f, 8);
	if (fuzz_percent(f, 15))
		flags = MAP_FIXED | ANY_OF(f, MAP_SHARED, MAP_PRIVATE, MAP_SHARED_VALIDATE,
					   MAP_SHARED | MAP_POPULATE, MAP_SHARED | MAP_LOCKED,
					   MAP_PRIVATE | MAP_POPULATE, MAP_SHARED | MAP_NORESERVE,
					   MAP_SHARED_VALIDATE | MAP_SYNC);
	/* only a reservation has to begin at offset 0 */
	if (fuzz_percent(f, kind == CLIENT ? 5 : 25))
		from = fuzz_percent(f, 80) ? fuzz_any(f, 600) * PAGE : fuzz_odd(f);
	/* a tail, mostly behind a reservation */
	if (kind == CLIENT && fuzz_percent(f, 15)) {
		before = fuzz_pick(f, RESERVATION);
		if (before.value + before.extra + bytes <= f->things->arena + FUZZ_ARENA &&
		    before.value >= f->things->arena && fuzz_percent(f, 90))
			at = before.value + before.extra;
		from += MEMCAST_MMAP_TAIL;
	}
	if (mmap((void *)at, bytes, prot, flags, thing.value, from) == MAP_FAILED)
		return -1;
	fuzz_keep(f, kind == CLIENT ? RESERVATION : BUFFER, at, bytes);
	return 0;
}

static long act_munmap(struct fuzz *f)
{
	struct range r = some_range(f);

	return munmap((void *)r.at, r.bytes);
}

static long act_mprotect(struct fuzz *f)
{
	struct range r = some_range(f);
	int prot = fuzz_percent(f, 60) ? PROT_READ | PROT_WRITE : fuzz_any(f, 8);

	if (fuzz_percent(f, 5))
		return syscall(SYS_pkey_mprotect, r.at, r.bytes, prot, (int)fuzz_any(f, 3) - 1);
	return mprotect((void *)r.at, r.bytes, prot);
}

static long act_mremap(struct fuzz *f)
{
	struct range r = some_range(f);
	size_t bytes = fuzz_percent(f, 60) ? r.bytes : (1 + fuzz_any(f, 4)) * CHUNK / 2;
	int flags = ANY_OF(f, 0, MREMAP_MAYMOVE | MREMAP_FIXED,
			   MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP);
	uintptr_t to = some_place(f, bytes);

	if (bytes > FUZZ_ARENA / 2 || (!flags && bytes > r.bytes))
		return -1;
	/* a size of 0 makes a second mapping of the same pages */
	if (mremap((void *)r.at, fuzz_percent(f, 10) ? 0 : r.bytes, bytes, flags, to) ==
	    MAP_FAILED)
		return -1;
	fuzz_keep(f, BUFFER, flags ? to : r.at, bytes);
	return 0;
}

static long act_madvise(struct fuzz *f)
{
	struct range r = some_range(f);

	/* no advice of 100 or 101, which poisons the machine's memory */
	return madvise((void *)r.at, r.bytes, fuzz_any(f, 27));
}

static long act_lock(struct fuzz *f)
{
	struct range r = some_range(f);
	unsigned char present[64];

	switch (fuzz_any(f, 6)) {
	case 0:
		return mlock((void *)r.at, r.bytes);
	case 1:
		return mlock2((void *)r.at, r.bytes, MLOCK_ONFAULT);
	case 2:
		return munlock((void *)r.at, r.bytes);
	case 3:
		return mincore((void *)r.at, 64 * PAGE, present);
	case 4:
		return msync((void *)r.at, r.bytes, fuzz_any(f, 8));
	default:
		return syscall(SYS_remap_file_pages, r.at, r.bytes, 0, fuzz_any(f, 600), 0);
	}
}

static long act_policy(struct fuzz *f)
{
	struct range r = some_range(f);
	void *pages[2] = { (void *)r.at, (void *)(r.at + r.bytes / 2) };
	int nodes[2] = { 0, 0 }, status[2];
	unsigned long mask = 1;

	switch (fuzz_any(f, 4)) {
	case 0:
		return syscall(SYS_mbind, r.at, r.bytes, fuzz_any(f, 6), &mask, 64, fuzz_any(f, 8));
	case 1:
		return syscall(SYS_move_pages, 0, 2, pages, nodes, status, MPOL_MF_MOVE);
	case 2:
		return syscall(SYS_get_mempolicy, &nodes[0], &mask, 64, r.at, MPOL_F_ADDR);
	default:
		return prctl(PR_SET_THP_DISABLE, fuzz_any(f, 2), 0, 0, 0);
	}
}

/* With UFFD_FEATURE_SIGBUS, a fault is a signal: no thread here would resolve the fault. */
static long act_userfault(struct fuzz *f)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_SIGBUS };
	struct range r = some_range(f);
	struct uffdio_register reg = {
		.range = { r.at, r.bytes }, .mode = 1 + fuzz_any(f, 7),
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -1;
	if (ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg)) {
		close(fd);
		return -1;
	}
	return fuzz_keep_fd(f, OTHER_FD, fd, 0);
}

static long act_access(struct fuzz *f)
{
	static __thread char page[ROOM];
	static const enum fuzz_kind kinds[] = { MAPPING, BUFFER, BUFFER, BLOCK, PLAIN };
	struct fuzz_thing thing = fuzz_pick(f, kinds[fuzz_any(f, 5)]);
	char *at = (char *)thing.value;
	size_t bytes = fuzz_percent(f, 70) ? 8 : ROOM;

	if (thing.extra > bytes)
		at += fuzz_any(f, thing.extra - bytes);
	if (fuzz_percent(f, 50))
		return fuzz_copy(page, at, bytes) ? 0 : -1;
	memset(page, 0xa5, sizeof(page));
	return fuzz_copy(at, page, bytes) ? 0 : -1;
}

/* Seals a range for good; a heap cannot unmap its memory there. */
static long act_seal(struct fuzz *f)
{
	struct range r = some_range(f);

	return fuzz_percent(f, 90) ? 0 : syscall(462, r.at, r.bytes, 0);
}

/* ---- the kernel's own access to memory */

static long act_pipe(struct fuzz *f)
{
	struct iovec part = { fuzz_somewhere(f), 1 + fuzz_any(f, 2 * PAGE) };
	int fd = fuzz_fd(f), *ends = f->things->pipe;
	static __thread char page[2 * ROOM];
	loff_t from = fuzz_any(f, 3) * PAGE;

	switch (fuzz_any(f, 9)) {
	case 0:
		return vmsplice(ends[1], &part, 1, fuzz_any(f, 16) | SPLICE_F_NONBLOCK);
	case 1:
		return vmsplice(ends[0], &part, 1, SPLICE_F_NONBLOCK);
	case 2:
		return writev(ends[1], &part, 1);
	case 3:
		return readv(ends[0], &part, 1);
	case 4:
		return splice(fd, NULL, ends[1], NULL, PAGE, SPLICE_F_NONBLOCK);
	case 5:
		return splice(ends[0], NULL, fd, NULL, PAGE, SPLICE_F_NONBLOCK);
	case 6:
		return sendfile(ends[1], fd, fuzz_any(f, 2) ? &from : NULL, PAGE);
	case 7:
		return sendfile(fd, fuzz_pick(f, OTHER_FD).value, &from, PAGE);
	default:
		return read(ends[0], page, sizeof(page));
	}
}

static long act_debugger(struct fuzz *f)
{
	static __thread char page[2 * ROOM];
	struct iovec here = { page, 1 + fuzz_any(f, sizeof(page)) };
	struct iovec there = { fuzz_somewhere(f), here.iov_len };
	unsigned int how = fuzz_any(f, 5);
	long ret = -1;
	int fd;

	if (how == 0)
		return process_vm_readv(getpid(), &here, 1, &there, 1, 0);
	if (how == 1)
		return process_vm_writev(getpid(), &there, 1, &here, 1, 0);
	if (how == 2)
		return syscall(SYS_futex, there.iov_base, fuzz_any(f, 2) ? FUTEX_WAKE :
			       FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		ret = how == 3 ? pread(fd, page, here.iov_len, (off_t)there.iov_base) :
				 pwrite(fd, page, here.iov_len, (off_t)there.iov_base);
		close(fd);
	}
	return ret;
}

static long act_proc(struct fuzz *f)
{
	static __thread char text[16 * ROOM];
	const char *path = ANY_OF(f, "/proc/self/maps", "/proc/self/smaps", "/proc/self/numa_maps",
				  "/proc/self/smaps_rollup", "/proc/self/pagemap",
				  "/proc/self/clear_refs", "/proc/self/fdinfo/",
				  "/sys/kernel/debug/dma_buf/bufinfo",
				  "/sys/kernel/debug/memcast/stats", "/proc/self/status");
	off_t from = 0;
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "%s", path);
	if (strstr(path, "fdinfo"))
		snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", fuzz_fd(f));
	if (strstr(path, "pagemap"))
		from = (some_range(f).at / PAGE) * 8;
	fd = open(name, (strstr(path, "clear_refs") ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (strstr(path, "clear_refs")) {
		text[0] = '1' + fuzz_any(f, 5);
		if (write(fd, text, 1) < 0)
			from = -1;
	} else {
		while (pread(fd, text, sizeof(text), from) == sizeof(text) && from < 1 << 18 &&
		       !strstr(path, "pagemap"))
			from += sizeof(text);
	}
	close(fd);
	return 0;
}

const struct fuzz_act fuzz_mm_acts[] = {
	FUZZ_ACT(mmap, 30), FUZZ_ACT(munmap, 3), FUZZ_ACT(mprotect, 4),
	FUZZ_ACT(mremap, 4), FUZZ_ACT(madvise, 5), FUZZ_ACT(lock, 5),
	FUZZ_ACT(policy, 3), FUZZ_ACT(userfault, 2), FUZZ_ACT(seal, 1),
	FUZZ_ACT(access, 25, .faults = true), FUZZ_ACT(pipe, 6),
	FUZZ_ACT(debugger, 6), FUZZ_ACT(proc, 3), { .name = NULL },
};
