// SPDX-License-Identifier: MIT
/* Obeys lines from the host: the time of its clock, signals, and its terminal's size */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "init.h"
#include "vm/watch/progress.h"

/* The first process writes the host's time to a file, for the processes that watch programs. */
static void keep_clock(double seconds)
{
	static int to = -1;

	if (to < 0)
		to = open(PROGRESS_CLOCK, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	/* All lines have the same length, as the file is never truncated. */
	dprintf(to, "%20.1f\n", seconds);
	lseek(to, 0, SEEK_SET);
}

static void obey(char *line, pid_t pid, int terminal)
{
	struct winsize window = { 0 };
	int number;

	if (sscanf(line, "signal %d", &number) == 1) {
		/* The program leads a session, and so a process group. */
		if (pid)
			kill(-pid, number);
	} else if (sscanf(line, "size %hux%hu", &window.ws_row, &window.ws_col) == 2) {
		ioctl(terminal, TIOCSWINSZ, &window);
	} else if (*line) {
		keep_clock(atof(line));
	}
}

void vm_control(int port, pid_t pid, int terminal)
{
	static char text[256];
	static size_t length;
	char *line = text, *end;
	ssize_t got;

	got = read(port, text + length, sizeof(text) - 1 - length);
	if (got <= 0)
		return;
	length += (size_t)got;
	text[length] = '\0';
	for (; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		obey(line, pid, terminal);
	}
	length = strlen(line);
	if (length == sizeof(text) - 1)
		length = 0;
	memmove(text, line, length);
}
