// SPDX-License-Identifier: MIT
/* Acts of the rest of the kernel on memcast's fds; fuzz_mm.c has those on addresses. */
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"
#include "kmod/memcast_exporter.h"
#include "kmod/memcast_importer.h"
#include "peers.h"

int fuzz_fd(struct fuzz *f)
{
	static const enum fuzz_kind kinds[] = { CLIENT, DMABUF, DMABUF, HEAP_FD, OTHER_FD };

	return fuzz_pick(f, kinds[fuzz_any(f, 5)]).value;
}

int fuzz_keep_fd(struct fuzz *f, enum fuzz_kind kind, int fd, uint64_t bytes)
{
	if (fd > 2)
		fuzz_keep(f, kind, fd, bytes);
	return fd;
}

static long act_file(struct fuzz *f)
{
	static __thread char page[ROOM];
	struct pollfd polled = { fuzz_fd(f), fuzz_any(f, 0x400), 0 };
	int fd = polled.fd;

	switch (fuzz_any(f, 14)) {
	case 0:
		return read(fd, fuzz_any(f, 2) ? page : fuzz_somewhere(f), ROOM);
	case 1:
		return write(fd, fuzz_any(f, 2) ? page : fuzz_somewhere(f), ROOM);
	case 2:
		return lseek(fd, fuzz_odd(f), fuzz_any(f, 6));
	case 3:
		return fallocate(fd, fuzz_any(f, 8), 0, PAGE);
	case 4:
		return ftruncate(fd, PAGE * fuzz_any(f, 4));
	case 5:
		return fsync(fd);
	case 6:
		return poll(&polled, 1, 0);
	case 7:
		return fcntl(fd, F_SETFL, fuzz_any(f, 2) ? O_NONBLOCK : O_NONBLOCK | O_ASYNC);
	case 8:
		return fcntl(fd, ANY_OF(f, F_GETFL, F_GETFD, F_GET_SEALS, F_GETOWN, F_GETSIG), 0);
	case 9:
		return posix_fadvise(fd, 0, CHUNK, fuzz_any(f, 6));
	case 10:
		return fuzz_keep_fd(f, OTHER_FD, dup(fd), 0);
	case 11:
		return fuzz_percent(f, 30) ? close(fd) : 0;
	case 12:
		return fuzz_keep_fd(f, CLIENT, open("/dev/memcast", fuzz_percent(f, 90) ? O_RDWR :
					       (int)fuzz_any(f, 4)), 0);
	default:
		return ioctl(fd, fuzz_any(f, 2) ? fuzz_odd(f) : _IO(MEMCAST_IOC_MAGIC,
			     fuzz_any(f, 256)), fuzz_somewhere(f));
	}
}

static long act_pass(struct fuzz *f)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .header = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	/* the message says the fd's kind, as all fds look alike */
	enum fuzz_kind kind = ANY_OF(f, CLIENT, DMABUF, DMABUF, HEAP_FD, OTHER_FD);
	struct fuzz_thing thing = fuzz_pick(f, kind);
	struct { uint64_t kind, extra; } word = { kind, thing.extra };
	struct iovec part = { &word, sizeof(word) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
				  .msg_controllen = sizeof(control.space) };
	int fd = thing.value;

	if (fuzz_percent(f, 50)) {
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		return sendmsg(f->things->socket[0], &message, MSG_NOSIGNAL);
	}
	if (recvmsg(f->things->socket[1], &message, 0) < 0 || !CMSG_FIRSTHDR(&message))
		return -1;
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fuzz_keep_fd(f, word.kind % KINDS >= CLIENT ? word.kind % KINDS : OTHER_FD, fd,
			    word.extra);
}

static long act_dmabuf(struct fuzz *f)
{
	int fd = fuzz_pick(f, fuzz_percent(f, 95) ? DMABUF : OTHER_FD).value;
	int other = fuzz_pick(f, OTHER_FD).value;
	struct sync_merge_data merge = { .name = "fuzz", .fd2 = other };
	struct sync_file_info info = { .num_fences = fuzz_any(f, 2) };

	switch (fuzz_any(f, 8)) {
	case 0:
	case 1:
		return dma_buf_sync(fd, fuzz_percent(f, 90) ? fuzz_any(f, 8) : fuzz_odd(f));
	case 2:
		return ioctl(fd, DMA_BUF_SET_NAME_B, fuzz_percent(f, 50) ? "some name" :
			     fuzz_somewhere(f));
	case 3:
	case 4:
		return fuzz_keep_fd(f, OTHER_FD, sync_file_of(fd, fuzz_any(f, 4)), 0);
	case 5:
		return sync_file_to(fd, other, fuzz_any(f, 4));
	case 6:
		return ioctl(other, SYNC_IOC_FILE_INFO, &info);
	default:
		return ioctl(fuzz_pick(f, OTHER_FD).value, SYNC_IOC_MERGE, &merge) ? -1 :
		       fuzz_keep_fd(f, OTHER_FD, merge.fence, 0);
	}
}

/* ---- other drivers */

static long act_foreign(struct fuzz *f)
{
	struct memcast_exporter vicious = {
		.vice = fuzz_any(f, MEMCAST_EXPORTER_VICES), .pages = 1 + fuzz_any(f, 600),
	};
	size_t bytes = (1 + fuzz_any(f, 3)) * (fuzz_any(f, 2) ? PAGE : CHUNK);
	int card = f->things->vgem;

	switch (fuzz_any(f, 4)) {
	case 0:
		return fuzz_keep_fd(f, DMABUF, heap_buffer(bytes), bytes);
	case 1:
		return fuzz_keep_fd(f, DMABUF, udmabuf_buffer(bytes), bytes);
	case 2:
		return card < 0 ? -1 :
		       fuzz_keep_fd(f, DMABUF, vgem_export(card, vgem_dumb(card, bytes)), bytes);
	default:
		return ioctl(f->things->exporter, MEMCAST_EXPORTER_CREATE, &vicious) ? -1 :
		       fuzz_keep_fd(f, DMABUF, vicious.out_fd, vicious.pages * PAGE);
	}
}

/*
 * Return: a new fd of a dma-buf of memcast's, or -1. Dma-bufs between other drivers are no
 * subject of this test: the kernel warns of some combinations.
 */
static int one_of_ours(struct fuzz *f)
{
	char name[64], text[512] = "";
	int fd = dup(fuzz_pick(f, DMABUF).value), info;

	if (fd < 0)
		return -1;
	snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", fd);
	info = open(name, O_RDONLY | O_CLOEXEC);
	if (info >= 0) {
		if (read(info, text, sizeof(text) - 1) < 0)
			text[0] = '\0';
		close(info);
	}
	/* small ones only: the kernel's dma-buf core warns if vmap() finds no memory */
	if ((strstr(text, "exp_name:\tmemcast\n") || strstr(text, "exp_name:\tmemcast-team")) &&
	    lseek(fd, 0, SEEK_END) <= (off_t)(16 * CHUNK))
		return fd;
	close(fd);
	return -1;
}

static long act_vgem(struct fuzz *f)
{
	int card = f->things->vgem, fd, again;
	uint32_t handle, fence;

	fd = card < 0 ? -1 : one_of_ours(f);
	if (fd < 0)
		return -1;
	handle = vgem_import(card, fd);
	if (!handle) {
		close(fd);
		return -1;
	}
	if (fuzz_percent(f, 30)) {
		fence = vgem_fence(card, handle, fuzz_any(f, 2));
		/* the fence that other threads now wait for is signalled here */
		fuzz_keep_fd(f, OTHER_FD, sync_file_of(fd, DMA_BUF_SYNC_RW), 0);
		if (fence)
			vgem_signal(card, fence);
	}
	again = vgem_export(card, handle);
	close(fd);
	if (fuzz_percent(f, 80))
		vgem_close(card, handle);
	return fuzz_keep_fd(f, DMABUF, again, fuzz_pick(f, DMABUF).extra);
}

static long act_importer(struct fuzz *f)
{
	static __thread char page[ROOM];
	struct memcast_importer arg = {
		.fd = -1, .id = fuzz_any(f, 8),
		.slot = fuzz_percent(f, 75) ? 0 : fuzz_percent(f, 80) ? MEMCAST_IMPORTER_VMAP : 1,
		.direction = fuzz_any(f, 3), .offset = fuzz_any(f, 4) * PAGE,
		.bytes = 1 + fuzz_any(f, ROOM), .data = (uintptr_t)page,
	};

	unsigned long command = ANY_OF(f, MEMCAST_IMPORTER_ATTACH, MEMCAST_IMPORTER_ATTACH,
				    MEMCAST_IMPORTER_DETACH, MEMCAST_IMPORTER_MAP,
				    MEMCAST_IMPORTER_MAP, MEMCAST_IMPORTER_UNMAP,
				    MEMCAST_IMPORTER_WRITE, MEMCAST_IMPORTER_READ);
	long ret;

	if (arg.slot == MEMCAST_IMPORTER_VMAP)
		fuzz_fail_none(f);
	if (command == MEMCAST_IMPORTER_ATTACH)
		arg.fd = one_of_ours(f);
	ret = ioctl(f->things->importer, command, &arg);
	if (arg.fd >= 0)
		close(arg.fd);
	return ret;
}

/* ---- processes */

static long act_fork(struct fuzz *f)
{
	unsigned int steps = fuzz_any(f, 40), end = fuzz_any(f, 4);
	struct fuzz child = *f;
	pid_t pid;

	if (f->depth)
		return -1;
	child.depth = 1;
	child.random ^= fuzz_any(f, -1);
	pid = fork();
	if (pid > 0 && f->things->nobody_waits) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		return 0;
	}
	if (pid)
		return pid > 0 && waitpid(pid, NULL, 0) == pid ? 0 : -1;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fuzz_percent(&child, 80))
		fuzz_open_client(&child);
	fuzz_steps(&child, steps);
	if (end == 0)
		kill(getpid(), SIGKILL);
	if (end == 1)
		execl("/bin/true", "true", NULL);
	_exit(0);
}

/* Makes one call while a limit forbids the process new fds, or new addresses, even for stacks. */
static long act_limit(struct fuzz *f)
{
	int which = fuzz_any(f, 2) || f->things->nobody_waits ? RLIMIT_NOFILE : RLIMIT_AS;
	struct rlimit before, none = { 1, 1 };

	if (getrlimit(which, &before))
		return -1;
	none.rlim_max = before.rlim_max;
	if (setrlimit(which, &none))
		return -1;
	fuzz_call(f);
	return setrlimit(which, &before);
}

static const struct fuzz_act fd_acts[] = {
	FUZZ_ACT(file, 8), FUZZ_ACT(pass, 5), FUZZ_ACT(dmabuf, 10),
	FUZZ_ACT(foreign, 6), FUZZ_ACT(vgem, 3), FUZZ_ACT(importer, 10),
	FUZZ_ACT(fork, 2, .faults = true), FUZZ_ACT(limit, 2), { .name = NULL },
};

/* Return: an act, NULL after the last */
static const struct fuzz_act *act_number(unsigned int number)
{
	const struct fuzz_act *act;

	for (act = fuzz_mm_acts; act->act; act++)
		if (!number--)
			return act;
	for (act = fd_acts; act->act; act++)
		if (!number--)
			return act;
	return NULL;
}

const char *fuzz_act_name(unsigned int number)
{
	const struct fuzz_act *act = act_number(number);

	return act ? act->name : NULL;
}

void fuzz_act(struct fuzz *f)
{
	unsigned int i, all = 0, which;
	const struct fuzz_act *act;
	bool fail = false;
	long ret;

	for (i = 0; (act = act_number(i)); i++)
		all += act->weight;
	which = fuzz_any(f, all);
	for (i = 0; which >= act_number(i)->weight; i++)
		which -= act_number(i)->weight;
	act = act_number(i);
	__atomic_fetch_add(&f->counts->acts[i], 1, __ATOMIC_RELAXED);
	if (f->trace)
		dprintf(2, "# %d: %s\n", gettid(), act->name);
	if (!act->faults)
		fail = fuzz_fail_some(f);
	ret = act->act(f);
	if (fail)
		fuzz_fail_none(f);
	if (ret >= 0)
		__atomic_fetch_add(&f->counts->good_acts[i], 1, __ATOMIC_RELAXED);
}
