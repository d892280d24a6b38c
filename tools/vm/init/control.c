// SPDX-License-Identifier: MIT
/* Lines from the host: what its clock says, and what happens at its terminal */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "init.h"
#include "progress.h"

/* Programs of other clients are told the time by the first process. */
static void keep_clock(double seconds)
{
	static int to = -1;

	if (to < 0)
		to = open(PROGRESS_CLOCK, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	/* Of one length, as there is no moment at which the file is cut. */
	dprintf(to, "%20.1f\n", seconds);
	lseek(to, 0, SEEK_SET);
}

static void obey(char *line, pid_t pid, int terminal)
{
	struct winsize window = { 0 };
	int number;

	if (sscanf(line, "signal %d", &number) == 1) {
		/* the program began a session, and a group with it */
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
