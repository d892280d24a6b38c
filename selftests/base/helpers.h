/* SPDX-License-Identifier: MIT */
/* helpers.c: what needs no harness. */
#ifndef MEMCAST_HELPERS_H
#define MEMCAST_HELPERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

/* -1 where there is none: not loaded, no debugfs, not root */
long device_bytes(unsigned int device, const char *attribute);
long stat_of(const char *name);

/*
 * As stat_of(), once that is @wanted, or after comes_true() has waited in vain. The address space
 * of a killed process, and the files that its mappings hold, may go a moment after waitpid(): if
 * another process reads its /proc/PID/stat just then, as vm-watch does every two seconds.
 */
long stat_settled(const char *name, long wanted);

/*
 * Does @condition hold, now or within 50 s? For what another process or the kernel has yet to do.
 * Only a test that fails waits so long; run.sh would end it after a minute without a sign of life.
 */
#define comes_true(condition)				\
({							\
	int tries_ = 5000;				\
							\
	while (!(condition) && tries_--)		\
		usleep(10000);				\
	tries_ >= 0;					\
})

/* "", or what still exists when everything should have gone, as comes_true() */
const char *left_over(void);

/* How often to do what is asked for @full times: MEMCAST_TEST_LOOPS percent */
unsigned int loops(unsigned int full);

/* 0, or the signal that the access raised */
int try_load(const volatile void *at, uint32_t *value);
int try_store(volatile void *at, uint32_t value);

/* Two that play against each other wait long where they share a processor. */
void run_on_cpu(unsigned int number);

/* Is the thread waiting in the kernel? Asked until it is, as long as comes_true() does. */
bool sleeps(pid_t pid, pid_t thread);

/* A file of the kernel's, in one write. Return: 0, or -1. */
int write_in(const char *folder, const char *file, const char *text);

double now(void);
double median(double *values, unsigned int count);

/*
 * Another process, tied by a socket: as fork(), and the link of both sides is in
 * @link. It dies with its parent. It sees the failure of an assertion as the test
 * does; the other side of its link then reads as ended.
 */
pid_t peer_fork(int *link);
void peer_close(int link);
/* A number and, unless it is -1, an fd. Return: 0, or -1 if the peer has gone. */
int peer_send(int link, long number, int fd);
int peer_receive(int link, long *number, int *fd);

#endif /* MEMCAST_HELPERS_H */
