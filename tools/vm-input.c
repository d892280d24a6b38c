// SPDX-License-Identifier: MIT
/* What is typed for the first program of a machine. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include "vm-door.h"

#define CTRL_C	3
#define TWICE	2.0	/* seconds between two of them that end the machine */

static volatile sig_atomic_t resized, ended;

static void on_signal(int number)
{
	if (number == SIGWINCH)
		resized = 1;
	else
		ended = 1;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void tell_size(const char *control)
{
	char size[32], line[48];
	int fd = open(control, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && terminal_size(size, sizeof(size)))
		(void)!write(fd, line, (size_t)snprintf(line, sizeof(line), "size %s\n", size));
	close(fd);
}

/*
 * RUNNER CONTROL: pass the terminal's keys to the standard output, and its size to the fifo
 * CONTROL. Ctrl-C goes to the program like any other key; two in a row end RUNNER.
 */
int input_pump(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal };
	static const int numbers[] = { SIGWINCH, SIGTERM, SIGHUP };
	double pressed = -TWICE, time;
	char keys[4096];
	ssize_t got;
	pid_t runner;

	if (argc != 3)
		return 2;
	runner = atoi(argv[1]);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != runner)
		return 0;
	terminal_raw();
	while (!ended) {
		got = read(0, keys, sizeof(keys));
		if (resized) {
			resized = 0;
			tell_size(argv[2]);
		}
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0 || write(1, keys, (size_t)got) != got)
			break;
		for (ssize_t i = 0; i < got; i++) {
			if (keys[i] != CTRL_C) {
				pressed = -TWICE;
				continue;
			}
			time = now();
			if (time - pressed < TWICE)
				kill(runner, SIGUSR1);
			pressed = time;
		}
	}
	return 0;
}
