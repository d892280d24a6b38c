// SPDX-License-Identifier: MIT
/* Passes keys from the terminal to the first program of a machine. */
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
#include "door.h"
#include "shared/now.h"

#define CTRL_C	3
#define TWICE	2.0	/* seconds, at most, between two Ctrl-C that end the machine */

static volatile sig_atomic_t resized, ended;

static void on_signal(int number)
{
	if (number == SIGWINCH)
		resized = 1;
	else
		ended = 1;
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
 * Wait for keys, or for a signal. Handled signals are blocked except in here, where @others
 * is the mask, so that no signal comes just before the wait and is missed.
 *
 * Return: what poll() found at the terminal; 0: no key for this process
 */
static short wait_for_keys(const sigset_t *others)
{
	static const struct timespec a_while = { .tv_nsec = 100000000 };
	struct pollfd terminal = { .fd = 0, .events = POLLIN };

	if (ppoll(&terminal, 1, NULL, others) <= 0)
		return 0;
	if (!(terminal.revents & POLLIN) || terminal_is_ours())
		return terminal.revents;
	/* While this process is in the background, keys belong to the one in the foreground. */
	ppoll(NULL, 0, &a_while, others);
	return 0;
}

/*
 * vm-door input RUNNER CONTROL: pass the terminal's keys to the standard output, and the
 * terminal's size to the fifo CONTROL. Ctrl-C goes to the program like any other key; two in a
 * row end RUNNER.
 */
int input_pump(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal };
	static const int numbers[] = { SIGWINCH, SIGTERM, SIGHUP };
	double pressed = -TWICE, time;
	sigset_t mine, others;
	char keys[4096];
	ssize_t got;
	pid_t runner;

	if (argc != 3)
		return 2;
	runner = atoi(argv[1]);
	sigemptyset(&mine);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sigaction(numbers[i], &action, NULL);
		sigaddset(&mine, numbers[i]);
	}
	sigprocmask(SIG_BLOCK, &mine, &others);
	/* A read in the background must fail, not stop this process, which ends with its runner. */
	signal(SIGTTIN, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != runner)
		return 0;
	terminal_raw();
	while (!ended) {
		short found = wait_for_keys(&others);

		if (resized) {
			resized = 0;
			tell_size(argv[2]);
		}
		if (!found)
			continue;
		got = found & POLLIN ? read(0, keys, sizeof(keys)) : 0;
		/* This process has just been put into the background. */
		if (got < 0 && errno == EIO)
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
