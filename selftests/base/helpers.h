/* SPDX-License-Identifier: MIT */
/* helpers.c: functions that need no harness */
#ifndef MEMCAST_HELPERS_H
#define MEMCAST_HELPERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

/* A page of this machine: 4 KiB on x86-64, 4, 16 or 64 KiB on arm64; and the largest one, for arrays */
#define PAGE		((unsigned long)getpagesize())
#define PAGE_MOST	65536UL

/*
 * Counters of faults, for stat_of(). One fault shows a whole chunk: by a PMD entry, if that is as long
 * as a chunk, else by PTEs. The other counter then stands still.
 */
#define CHUNK_FAULTS	(PAGE == 4096 ? "pmd_faults" : "pte_faults")
#define OTHER_FAULTS	(PAGE == 4096 ? "pte_faults" : "pmd_faults")

/*
 * An attribute of a device in sysfs; a counter in debugfs. -1: the module is not loaded, debugfs is
 * not mounted, or the caller is not root.
 */
long device_bytes(unsigned int device, const char *attribute);
long stat_of(const char *name);

/*
 * Waits, as comes_true() does, for stat_of() to be @wanted. Return: the last value. The address
 * space of a killed process, and the files that its mappings hold, may go a moment after
 * waitpid(): if another process reads its /proc/PID/stat just then, as vm-watch does every two
 * seconds.
 */
long stat_settled(const char *name, long wanted);

/*
 * Does @condition hold, now or within 50 s? For changes that another process or the kernel makes.
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

/*
 * Waits, as comes_true() does, for the module to hold nothing of any test. Return: "", or a text
 * that says what is left.
 */
const char *left_over(void);

/* Return: MEMCAST_TEST_LOOPS percent of @full, at least 1: how often a loop runs */
unsigned int loops(unsigned int full);

/*
 * Return: does a test of random rounds, which has done @done of them, go on? It does loops(@full)
 * of them, and more as long as the program runs for less than MEMCAST_TEST_SECONDS.
 */
bool another_round(unsigned int done, unsigned int full);

/* Return: 0, or the signal that the access raised */
int try_load(const volatile void *at, uint32_t *value);
int try_store(volatile void *at, uint32_t value);

/*
 * Does the calling thread leave signals of other processes to other threads, and none that an
 * instruction raises? So do threads of the library that call functions of the program.
 */
bool signals_are_own(void);

/*
 * Keeps the calling thread to the processor @number. Threads that wait for each other in turn are
 * slow where they share a processor.
 */
void run_on_cpu(unsigned int number);

/* Return: the letter that the kernel has for what a thread does (R, S, Z ...); 0: there is no such thread */
char thread_state(pid_t pid, pid_t thread);

/* Waits, as long as comes_true() does, for the thread to sleep in the kernel. Return: does it? */
bool sleeps(pid_t pid, pid_t thread);

/* Writes @text to a file of sysfs or the like, in one write(). Return: 0, or -1. */
int write_in(const char *folder, const char *file, const char *text);

double now(void);
double median(double *values, unsigned int count);

/*
 * Forks a peer that is tied to this process by a socket: each side has its end in @link. The peer
 * dies with its parent. An assertion that fails ends the peer as it ends a test; its parent then
 * reads the end of the link.
 */
pid_t peer_fork(int *link);
void peer_close(int link);
/* Send or receive a number and, unless @fd is -1, an fd. Return: 0, or -1 if the peer has ended. */
int peer_send(int link, long number, int fd);
int peer_receive(int link, long *number, int *fd);

/* client_list.c: the key of the client that a process's fd is of; 0: the caller may not know it */
uint64_t client_key(pid_t pid, int fd);
/* Return: an fd, to read what the client with a key holds; or a negative errno. @device: any client */
int client_list(int device, uint64_t key);

#endif /* MEMCAST_HELPERS_H */
