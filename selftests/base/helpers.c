// SPDX-License-Identifier: MIT
/* Functions that memcast's selftests share and that need no harness */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "helpers.h"

/*
 * Return: the machine's number of this host's device 0. sysfs numbers the devices of the machine,
 * and /dev/memcast may be the file of one of several hosts.
 */
static unsigned int first_device(void)
{
	unsigned int first = 0;
	struct stat device;
	char path[80];
	FILE *file;

	if (stat("/dev/memcast", &device))
		return 0;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/first_device", major(device.st_rdev),
		 minor(device.st_rdev));
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%u", &first) != 1)
		first = 0;
	fclose(file);
	return first;
}

long device_bytes(unsigned int device, const char *attribute)
{
	char path[80];
	long bytes = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/memcast/memcast%u/%s",
		 first_device() + device, attribute);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%ld", &bytes) != 1)
		bytes = -1;
	fclose(file);
	return bytes;
}

long stat_of(const char *name)
{
	FILE *file = fopen("/sys/kernel/debug/memcast/stats", "re");
	long value, found = -1;
	char word[32];

	while (file && fscanf(file, "%31s %ld", word, &value) == 2)
		if (!strcmp(word, name))
			found = value;
	if (file)
		fclose(file);
	return found;
}

long stat_settled(const char *name, long wanted)
{
	return comes_true(stat_of(name) == wanted) ? wanted : stat_of(name);
}

static bool look_what_is_left(char *what, size_t size)
{
	static const char * const counters[] = {
		"clients", "memories", "teams", "bindings", "reservations", "mappings",
		"blocks", "staging_pages", "charged_bytes",
	};
	unsigned int i;
	long bytes;

	for (i = 0; (bytes = device_bytes(i, "pool_bytes")) >= 0; i++) {
		long available = device_bytes(i, "free_bytes");
		long taken = device_bytes(i, "taken_bytes");

		/* with all chunks free, a lazy pool holds no memory of the machine, others all */
		if (available == bytes && taken && taken != bytes) {
			snprintf(what, size, "device %u has taken %ld bytes, and all are free", i,
				 taken);
			return true;
		}
		if (available == bytes)
			continue;
		snprintf(what, size, "device %u: %ld of %ld bytes are free", i,
			 available, bytes);
		return true;
	}
	for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		long count = stat_of(counters[i]);

		if (count <= 0)
			continue;
		snprintf(what, size, "%ld %s", count, counters[i]);
		return true;
	}
	return false;
}

const char *left_over(void)
{
	static char what[128];

	/* The kernel drops a file a moment after another process has closed it last. */
	return comes_true(!look_what_is_left(what, sizeof(what))) ? "" : what;
}

unsigned int loops(unsigned int full)
{
	const char *percent = getenv("MEMCAST_TEST_LOOPS");
	unsigned long count = full;

	if (percent)
		count = count * strtoul(percent, NULL, 10) / 100;
	return count ? count : 1;
}

bool another_round(unsigned int done, unsigned int full)
{
	const char *seconds = getenv("MEMCAST_TEST_SECONDS");
	static struct timespec start;
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	if (!start.tv_sec)
		start = time;
	return done < loops(full) ||
	       (seconds && time.tv_sec - start.tv_sec < strtol(seconds, NULL, 10));
}

static __thread sigjmp_buf way_out;

static void on_fault(int number)
{
	siglongjmp(way_out, number);
}

static int trying(void (*access)(volatile void *at, uint32_t *value),
		  volatile void *at, uint32_t *value)
{
	const int signals[] = { SIGSEGV, SIGBUS };
	struct sigaction action = { .sa_handler = on_fault };
	struct sigaction before[2];
	int i, number;

	for (i = 0; i < 2; i++)
		sigaction(signals[i], &action, &before[i]);
	number = sigsetjmp(way_out, 1);
	if (!number)
		access(at, value);
	for (i = 0; i < 2; i++)
		sigaction(signals[i], &before[i], NULL);
	return number;
}

static void load(volatile void *at, uint32_t *value)
{
	*value = *(volatile uint32_t *)at;
}

static void store(volatile void *at, uint32_t *value)
{
	*(volatile uint32_t *)at = *value;
}

int try_load(const volatile void *at, uint32_t *value)
{
	uint32_t unused;

	return trying(load, (volatile void *)at, value ? value : &unused);
}

int try_store(volatile void *at, uint32_t value)
{
	return trying(store, at, &value);
}

bool signals_are_own(void)
{
	static const int raised[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
	static const int sent[] = { SIGTERM, SIGINT, SIGUSR1, SIGCHLD };
	sigset_t blocked;
	bool own = true;
	unsigned int i;

	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	for (i = 0; i < sizeof(raised) / sizeof(raised[0]); i++)
		own &= !sigismember(&blocked, raised[i]);
	for (i = 0; i < sizeof(sent) / sizeof(sent[0]); i++)
		own &= sigismember(&blocked, sent[i]) == 1;
	return own;
}

void run_on_cpu(unsigned int number)
{
	cpu_set_t allowed, one;
	int cpu;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	number %= CPU_COUNT(&allowed);
	for (cpu = 0; !CPU_ISSET(cpu, &allowed) || number--; cpu++)
		;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

char thread_state(pid_t pid, pid_t thread)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, thread);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state;
}

bool sleeps(pid_t pid, pid_t thread)
{
	int tries, count = 0;
	char state;

	for (tries = 0; tries < 25000 && count < 5; tries++) {
		state = thread_state(pid, thread);
		if (!state)
			return false;
		count = state == 'S' ? count + 1 : 0;
		usleep(2000);
	}
	return count == 5;
}

int write_in(const char *folder, const char *file, const char *text)
{
	char path[PATH_MAX];
	ssize_t done;
	int out;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	out = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	done = out < 0 ? -1 : write(out, text, strlen(text));
	close(out);
	return done == (ssize_t)strlen(text) ? 0 : -1;
}

double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double median(double *values, unsigned int count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

/* This process's ends of all links: a new peer closes its copies, or no link would ever end. */
static int links[64];
static unsigned int link_count;

pid_t peer_fork(int *link)
{
	pid_t pid, parent = getpid();
	int pair[2];

	if (link_count == sizeof(links) / sizeof(links[0]) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -1;
	fflush(NULL);
	pid = fork();
	if (pid) {
		close(pair[1]);
		*link = pair[0];
		links[link_count++] = pair[0];
		return pid;
	}

	close(pair[0]);
	while (link_count)
		close(links[--link_count]);
	*link = pair[1];
	/* 0: the parent is outside of this PID namespace */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || (getppid() && getppid() != parent))
		_exit(1);
	return 0;
}

void peer_close(int link)
{
	unsigned int i;

	for (i = 0; i < link_count && links[i] != link; i++)
		;
	if (i < link_count)
		links[i] = links[--link_count];
	close(link);
}

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(int))];
};

int peer_send(int link, long number, int fd)
{
	union control control = { .header = {
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	} };
	struct iovec part = { &number, sizeof(number) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.space);
	}
	return sendmsg(link, &message, MSG_NOSIGNAL) == sizeof(number) ? 0 : -1;
}

int peer_receive(int link, long *number, int *fd)
{
	long unused;
	struct iovec part = { number ? number : &unused, sizeof(*number) };
	union control control;
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control.space),
	};
	struct cmsghdr *header;
	ssize_t got;

	do {
		got = recvmsg(link, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got != sizeof(*number))
		return -1;
	header = CMSG_FIRSTHDR(&message);
	if (fd && header && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return 0;
}
