// SPDX-License-Identifier: MIT
/* The program in memcast-vm's virtual machine: it runs, and its output is passed on. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "vm-init.h"

static void __attribute__((noreturn)) run_program(const struct vm_program *program,
						  int in, int out, int err)
{
	char **argv = strings("/memcast-vm/argv"), **env = strings("/memcast-vm/env");

	setsid();
	if (isatty(out))
		ioctl(out, TIOCSCTTY, 0);
	dup2(in, 0);
	dup2(out, 1);
	dup2(err, 2);
	if (!program->root && (setgroups(0, NULL) || setgid(1000) || setuid(1000)))
		_exit(126);
	if (chdir(program->cwd))
		dprintf(2, "memcast-vm: cannot enter %s: %s\n",
			program->cwd, strerror(errno));
	environ = env;
	execvp(argv[0], argv);
	dprintf(2, "memcast-vm: cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* One way from the program to the host, or back */
struct flow {
	int from, to;
};

static bool pump(struct flow *flow)
{
	char buffer[65536];
	ssize_t done, got = read(flow->from, buffer, sizeof(buffer));

	if (got < 0 && errno == EINTR)
		return true;
	for (ssize_t sent = 0; got > 0 && sent < got; sent += done) {
		done = write(flow->to, buffer + sent, got - sent);
		if (done < 0)
			return false;
	}
	return got > 0;
}

/*
 * Pass on what the program writes until it has ended and all is passed on.
 * Whatever it left running is killed, as a container's end does.
 */
static int forward(pid_t program, struct flow *out, struct flow *err)
{
	int status, result = 0;
	pid_t pid;

	while (out->from >= 0 || err->from >= 0) {
		struct pollfd polls[] = {
			{ .fd = out->from, .events = POLLIN },
			{ .fd = err->from, .events = POLLIN },
		};

		poll(polls, 2, 50);
		if (polls[0].revents && !pump(out))
			out->from = -1;
		if (polls[1].revents && !pump(err))
			err->from = -1;
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			if (pid != program)
				continue;
			result = status;
			program = 0;
			kill(-1, SIGKILL);
		}
	}
	/* It may have closed its outputs and gone on. */
	if (program) {
		waitpid(program, &result, 0);
		kill(-1, SIGKILL);
	}
	while (wait(NULL) > 0)
		;
	return result;
}

static void make_pty(int pair[2], const struct winsize *window)
{
	struct termios settings;

	if (openpty(&pair[0], &pair[1], NULL, NULL, window))
		fail("openpty");
	fcntl(pair[0], F_SETFD, FD_CLOEXEC);
	fcntl(pair[1], F_SETFD, FD_CLOEXEC);
	/* The host's terminal turns line ends into CR LF already. */
	tcgetattr(pair[1], &settings);
	settings.c_oflag &= ~OPOST;
	tcsetattr(pair[1], TCSANOW, &settings);
}

int vm_run(const struct vm_program *program, int in_port, int out_port, int err_port)
{
	int in[2], out[2], err[2];
	uid_t uid = program->root ? 0 : 1000;
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		fail("pipe");
	if (program->window.ws_col)
		make_pty(out, &program->window);
	/* It may write where it starts; and a script may open /dev/stderr. */
	if (chown(program->cwd, uid, uid) ||
	    fchown(in[0], uid, uid) || fchown(out[1], uid, uid) || fchown(err[1], uid, uid))
		fail("fchown");

	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid)
		run_program(program, program->input_tty ? out[1] : in[0], out[1],
			    program->error_tty ? out[1] : err[1]);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	/* A process of its own: a program that reads nothing must not block its output. */
	if (!fork()) {
		struct flow input = { in_port, program->input_tty ? out[0] : in[1] };

		while (pump(&input))
			;
		_exit(0);
	}
	close(in[1]);
	return forward(pid, &(struct flow){ out[0], out_port }, &(struct flow){ err[0], err_port });
}
