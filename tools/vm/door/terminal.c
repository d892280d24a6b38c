// SPDX-License-Identifier: MIT
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include "door.h"

static struct termios before;
static bool changed;

bool terminal_is_ours(void)
{
	return isatty(0) && tcgetpgrp(0) == getpgrp();
}

void terminal_restore(void)
{
	/* After a runner was killed this process is in the background, where SIGTTOU stops it. */
	signal(SIGTTOU, SIG_IGN);
	if (changed)
		tcsetattr(0, TCSADRAIN, &before);
	changed = false;
}

/* Keys go to the program as they are; its own terminal makes signals of them. */
void terminal_raw(void)
{
	struct termios raw;

	if (tcgetattr(0, &before))
		return;
	raw = before;
	cfmakeraw(&raw);
	raw.c_oflag = before.c_oflag;
	raw.c_cflag = before.c_cflag;
	if (tcsetattr(0, TCSADRAIN, &raw))
		return;
	changed = true;
	atexit(terminal_restore);
}

bool terminal_size(char *words, size_t size)
{
	struct winsize window;

	if (ioctl(1, TIOCGWINSZ, &window) || !window.ws_row || !window.ws_col)
		return false;
	snprintf(words, size, "%hux%hu", window.ws_row, window.ws_col);
	return true;
}
