/* SPDX-License-Identifier: MIT */
/* Kills a rank in the middle of a collective, and tells whether those that aborted are at rest. */
#ifndef NCCL_KILL_H
#define NCCL_KILL_H

#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Kills a child so many milliseconds after @ready, or as soon as it is @inside of a collective
 * then: both are memory that it writes. Stopped, it cannot leave the collective before it is killed.
 *
 * Return: false: a child ended before that.
 */
static bool kill_inside(pid_t pid, const bool *ready, const bool *inside, int milliseconds)
{
	siginfo_t state = { };

	while (!__atomic_load_n(ready, __ATOMIC_ACQUIRE)) {
		if (waitid(P_ALL, 0, &state, WEXITED | WNOHANG | WNOWAIT) || state.si_pid)
			return false;
		usleep(1000);
	}
	usleep(milliseconds * 1000);
	for (;;) {
		kill(pid, SIGSTOP);
		if (waitid(P_PID, pid, &state, WSTOPPED | WEXITED | WNOWAIT) ||
		    state.si_code != CLD_STOPPED)
			return false;
		if (__atomic_load_n(inside, __ATOMIC_ACQUIRE))
			return !kill(pid, SIGKILL);
		kill(pid, SIGCONT);
		usleep(1000);
	}
}

/* Return: did this process's threads use less than a twentieth of a processor for a second? */
static bool is_idle(void)
{
	struct timespec before, after;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	sleep(1);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	return (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec <
	       1000000000 / 20;
}

#endif /* NCCL_KILL_H */
