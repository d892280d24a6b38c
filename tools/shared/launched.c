// SPDX-License-Identifier: MIT
/* Ranks that a launcher has started, here or on other hosts: they all connect to rank 0. */
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ranks.h"

#define NOTICE_MS	5000	/* after which a wait is explained */
#define AGAIN_MS	50	/* between two attempts to reach rank 0 */
#define HELLO_S		60	/* after which a program that says nothing is no rank */

/* A rank's first bytes, by which rank 0 tells ranks from other programs that find the port */
struct hello {
	char magic[8];
	uint32_t index, count;
};

static const char magic[8] = "memcast1";

/* Return: the number in the first of some variables that is set; -1: none is set */
static int number_of(const char *const *names)
{
	for (; *names; names++) {
		const char *text = getenv(*names);
		char *end;
		long value;

		if (!text)
			continue;
		value = strtol(text, &end, 10);
		if (!*text || *end || value < 0 || value > RANKS_MAX)
			rank_die("%s=%s: ranks are 0 to %d", *names, text, RANKS_MAX - 1);
		return (int)value;
	}
	return -1;
}

unsigned int ranks_launched(void)
{
	static const char *const counts[] = { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", NULL };
	static const char *const indices[] = { "RANK", "OMPI_COMM_WORLD_RANK", NULL };
	int count = number_of(counts);

	/* If no variable names the address of rank 0, this program forks its ranks itself. */
	if (count < 2 || number_of(indices) < 0 || !getenv("MASTER_ADDR") || !getenv("MASTER_PORT"))
		return 0;
	return (unsigned int)count;
}

static struct addrinfo *address_of(const char *name, int flags)
{
	const struct addrinfo hints = {
		.ai_flags = flags, .ai_family = AF_INET, .ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *found;
	int error = getaddrinfo(name, getenv("MASTER_PORT"), &hints, &found);

	if (error)
		rank_die("MASTER_ADDR=%s, MASTER_PORT=%s: %s", getenv("MASTER_ADDR"),
			 getenv("MASTER_PORT"), gai_strerror(error));
	return found;
}

/* TCP sends small messages at once, instead of waiting for more data. */
static void send_at_once(int fd)
{
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
}

static int connect_to_first(void)
{
	struct addrinfo *at = address_of(getenv("MASTER_ADDR"), 0);

	for (int waited = 0;; waited += AGAIN_MS) {
		int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (fd < 0)
			rank_die("socket: %s", strerror(errno));
		if (!connect(fd, at->ai_addr, at->ai_addrlen)) {
			freeaddrinfo(at);
			return fd;
		}
		if (waited == NOTICE_MS)
			fprintf(stderr, "%s: waiting for rank 0 at %s:%s (%s)\n",
				program_invocation_short_name, getenv("MASTER_ADDR"),
				getenv("MASTER_PORT"), strerror(errno));
		close(fd);
		poll(NULL, 0, AGAIN_MS);
	}
}

static void tell_missing(const struct rank *rank)
{
	char words[128];
	int length = 0;

	for (unsigned int i = 1; i < rank->count && length < 100; i++)
		if (rank->link[i] < 0)
			length += sprintf(words + length, " %u", i);
	fprintf(stderr, "%s: rank 0 waits for others at %s:%s:%s%s\n",
		program_invocation_short_name, getenv("MASTER_ADDR"), getenv("MASTER_PORT"), words,
		length < 100 ? "" : " …");
}

static void welcome(struct rank *rank, int fd, unsigned int *missing)
{
	const struct timeval patience = { .tv_sec = HELLO_S };
	struct hello hello;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (recv(fd, &hello, sizeof(hello), MSG_WAITALL) != (ssize_t)sizeof(hello) ||
	    memcmp(hello.magic, magic, sizeof(magic))) {
		close(fd);	/* not a rank */
		return;
	}
	if (hello.count != rank->count || !hello.index || hello.index >= rank->count ||
	    rank->link[hello.index] >= 0)
		rank_die("there is a rank %u of %u, where rank 0 is one of %u", hello.index,
			 hello.count, rank->count);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){ 0 }, sizeof(patience));
	send_at_once(fd);
	rank->link[hello.index] = fd;
	--*missing;
}

static void gather_others(struct rank *rank)
{
	struct addrinfo *at = address_of(NULL, AI_PASSIVE);
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unsigned int missing = rank->count - 1;
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	struct rlimit files;
	int timeout = NOTICE_MS;

	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (fd < 0 || bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, RANKS_MAX))
		rank_die("cannot listen at port %s: %s", getenv("MASTER_PORT"), strerror(errno));
	freeaddrinfo(at);
	while (missing) {
		int ready = poll(&wait, 1, timeout);

		if (ready > 0) {
			int other = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

			if (other >= 0)
				welcome(rank, other, &missing);
		} else if (!ready) {
			tell_missing(rank);
			timeout = -1;
		}
	}
	close(fd);
}

int ranks_join(int (*body)(struct rank *rank, void *arg), void *arg)
{
	static const char *const indices[] = { "RANK", "OMPI_COMM_WORLD_RANK", NULL };
	static const char *const locals[] = { "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", NULL };
	struct rank rank = { .launched = true, .count = ranks_launched() };
	struct hello hello;
	int local = number_of(locals);

	rank.index = (unsigned int)number_of(indices);
	rank.device = local < 0 ? rank.index : (unsigned int)local;
	if (rank.index >= rank.count)
		rank_die("rank %u: there are %u", rank.index, rank.count);
	rank_name(rank.index);
	memset(rank.link, 0xff, sizeof(rank.link));
	if (!rank.index) {
		gather_others(&rank);
	} else {
		memcpy(hello.magic, magic, sizeof(magic));
		hello.index = rank.index;
		hello.count = rank.count;
		rank.link[0] = connect_to_first();
		send_at_once(rank.link[0]);
		if (send(rank.link[0], &hello, sizeof(hello), MSG_NOSIGNAL) !=
		    (ssize_t)sizeof(hello))
			rank_die("rank 0 has gone: %s", strerror(errno));
	}
	return body(&rank, arg);
}
