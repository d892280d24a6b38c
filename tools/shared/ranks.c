// SPDX-License-Identifier: MIT
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ranks.h"

/* The number of this process's rank; -1: it is none. */
static int own_index = -1;

void rank_name(unsigned int index)
{
	own_index = (int)index;
}

/* A single write, as several ranks may print a message at the same moment. */
void rank_die(const char *format, ...)
{
	char text[512], rank[24] = "";
	va_list args;

	fflush(stdout);
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (own_index >= 0)
		snprintf(rank, sizeof(rank), "rank %d: ", own_index);
	fprintf(stderr, "%s: %s%s\n", program_invocation_short_name, rank, text);
	exit(1);
}

static void link_send(int fd, const void *data, size_t bytes, int passed)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .header = {
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	} };
	struct iovec part = { .iov_base = (void *)data, .iov_len = bytes };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (passed >= 0) {
		memcpy(CMSG_DATA(&control.header), &passed, sizeof(int));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.space);
	}
	/* A link to another host may take only a part at once. */
	while (part.iov_len) {
		ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			rank_die("sending to another rank: %s", strerror(errno));
		part.iov_base = (char *)part.iov_base + sent;
		part.iov_len -= (size_t)sent;
	}
}

/* Returns the fd that came along, or -1. */
static int link_receive(int fd, void *data, size_t bytes)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { .iov_base = data, .iov_len = bytes };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control.space),
	};
	struct cmsghdr *header;
	int passed = -1;
	ssize_t got;

	/* A signal may leave the rest for later. */
	for (size_t done = 0; done < bytes; done += (size_t)got) {
		part = (struct iovec) { (char *)data + done, bytes - done };
		got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
		if (got < 0)
			rank_die("receiving from another rank: %s", strerror(errno));
		if (!got)
			rank_die("another rank has gone");
	}
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(&passed, CMSG_DATA(header), sizeof(int));
	return passed;
}

void rank_share(struct rank *rank, void *data, size_t bytes)
{
	if (rank->index)
		link_receive(rank->link[0], data, bytes);
	for (unsigned int i = 1; i < rank->count && !rank->index; i++)
		link_send(rank->link[i], data, bytes, -1);
}

int rank_share_fd(struct rank *rank, int fd)
{
	char byte = 0;
	unsigned int i;

	if (rank->index) {
		fd = link_receive(rank->link[0], &byte, sizeof(byte));
		if (fd < 0)
			rank_die("rank 0 sent no fd");
		return fd;
	}
	for (i = 1; i < rank->count; i++)
		link_send(rank->link[i], &byte, sizeof(byte), fd);
	return fd;
}

void rank_gather(struct rank *rank, const void *mine, size_t bytes, void *all)
{
	char byte = 0;
	unsigned int i;

	if (rank->index) {
		link_send(rank->link[0], mine, bytes, -1);
		link_receive(rank->link[0], &byte, sizeof(byte));
		return;
	}
	memcpy(all, mine, bytes);
	for (i = 1; i < rank->count; i++)
		link_receive(rank->link[i], (char *)all + i * bytes, bytes);
	for (i = 1; i < rank->count; i++)
		link_send(rank->link[i], &byte, sizeof(byte), -1);
}

void rank_turn_begin(struct rank *rank)
{
	char byte;

	if (rank->index)
		link_receive(rank->link[0], &byte, sizeof(byte));
}

void rank_turn_end(struct rank *rank)
{
	char byte = 0;

	if (rank->index)
		link_send(rank->link[0], &byte, sizeof(byte), -1);
	for (unsigned int i = 1; i < rank->count && !rank->index; i++) {
		link_send(rank->link[i], &byte, sizeof(byte), -1);
		link_receive(rank->link[i], &byte, sizeof(byte));
	}
}

/* The child keeps its own ends of links only, so that the death of a rank reads as end of file. */
static int rank_main(unsigned int index, unsigned int count, int (*link)[2],
		     int (*body)(struct rank *rank, void *arg), void *arg,
		     pid_t parent)
{
	struct rank rank = { .index = index, .count = count, .device = index };
	unsigned int i;

	rank_name(index);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		rank_die("the parent has gone");
	for (i = 1; i < count; i++) {
		if (index == 0)
			rank.link[i] = link[i][0];
		else
			close(link[i][0]);
		if (index == i)
			rank.link[0] = link[i][1];
		else
			close(link[i][1]);
	}
	return body(&rank, arg);
}

/* Exit status 1 needs no message: the rank has printed why it failed. */
static void report_end(unsigned int index, int status)
{
	if (WIFSIGNALED(status))
		fprintf(stderr, "%s: rank %u was ended by signal %d (%s); ending the others\n",
			program_invocation_short_name, index, WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 1)
		fprintf(stderr, "%s: rank %u failed with exit status %d; ending the others\n",
			program_invocation_short_name, index, WEXITSTATUS(status));
}

/* Waits for all ranks; when the first one fails, all others are ended. */
static int ranks_wait(pid_t *child, unsigned int count)
{
	unsigned int left = count, i, k;
	int status, result = 0;

	while (left) {
		pid_t pid = wait(&status);

		if (pid < 0) {
			if (errno == EINTR)
				continue;
			rank_die("wait: %s", strerror(errno));
		}
		for (i = 0; i < count && child[i] != pid; i++)
			;
		if (i == count)
			continue;
		child[i] = 0;
		left--;
		if (!status || result)
			continue;
		result = 1;
		report_end(i, status);
		for (k = 0; k < count; k++)
			if (child[k])
				kill(child[k], SIGKILL);
	}
	return result;
}

int ranks_run(unsigned int count, int (*body)(struct rank *rank, void *arg),
	      void *arg)
{
	int link[RANKS_MAX][2];
	pid_t child[RANKS_MAX];
	pid_t parent = getpid();
	struct rlimit files;
	unsigned int i;

	/* Both ends of each link are open for a while; the usual limit is 1024 files. */
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	for (i = 1; i < count; i++)
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
			       link[i]))
			rank_die("socketpair: %s", strerror(errno));
	fflush(NULL);
	for (i = 0; i < count; i++) {
		child[i] = fork();
		if (child[i] < 0)	/* the other children die with this process */
			rank_die("fork: %s", strerror(errno));
		if (!child[i])
			exit(rank_main(i, count, link, body, arg, parent));
	}
	for (i = 1; i < count; i++) {
		close(link[i][0]);
		close(link[i][1]);
	}
	return ranks_wait(child, count);
}

void rank_pin(unsigned int index)
{
	cpu_set_t all, one;
	unsigned int cpu;

	sched_getaffinity(0, sizeof(all), &all);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && !index--)
			break;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}
