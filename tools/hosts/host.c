// SPDX-License-Identifier: MIT
/*
 * The first process of a host's PID namespace: when it dies, all processes of the host die. It
 * dies with the memcast-hosts that started it.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hosts.h"

/* Programs that run on this host, or whose ends memcast-hosts has not been told */
struct program {
	struct program *next;
	pid_t pid;		/* 0: it has ended */
	struct message end;	/* and the program's id */
};

static struct program *programs;
static unsigned int untold;

/* Closes all fds but the socket and the standard ones: some lead to other hosts. */
static int keep_only(int socket)
{
	dup3(socket, 3, O_CLOEXEC);
	syscall(SYS_close_range, 4, ~0U, 0);
	return 3;
}

static void __attribute__((noreturn)) exec_program(const struct settings *settings,
						   const struct message *message, const int *fds)
{
	struct spec spec;
	int error;

	setsid();
	for (int i = 0; i < 3; i++)
		dup2(fds[1 + i], i);
	sigprocmask(SIG_SETMASK, &settings->mask, NULL);
	setrlimit(RLIMIT_NOFILE, &settings->files);
	signal(SIGPIPE, SIG_DFL);
	if (!spec_read(fds[0], &spec))
		die("a program's words cannot be read");
	if (message->as_user && (setgroups(message->groups_count, message->groups) ||
				 setgid(message->gid) || setuid(message->uid)))
		die("cannot become user %u: %s", message->uid, strerror(errno));
	if (chdir(spec.folder))
		say("cannot enter %s: %s", spec.folder, strerror(errno));
	environ = spec.env;
	execvp(spec.argv[0], spec.argv);
	error = errno;
	say("cannot run %s: %s", spec.argv[0], strerror(error));
	_exit(error == ENOENT ? 127 : 126);
}

static void note_end(struct program *program, int status)
{
	program->pid = 0;
	program->end.value = status;
	clock_gettime(CLOCK_MONOTONIC, &program->end.when);
	untold++;
}

/*
 * Tells the ends for which the socket has room: memcast-hosts may be waiting for this process to
 * read, and must not find it waiting, too.
 */
static void tell_ends(int socket)
{
	struct pollfd room = { .fd = socket, .events = POLLOUT };

	for (struct program **at = &programs, *program; (program = *at);) {
		if (program->pid) {
			at = &program->next;
			continue;
		}
		if (poll(&room, 1, 0) != 1)
			return;
		message_send(socket, &program->end, NULL, 0);
		*at = program->next;
		free(program);
		untold--;
	}
}

static void start(const struct settings *settings, const struct message *message, const int *fds)
{
	struct program *program = calloc(1, sizeof(*program));

	if (!program)
		die("no memory");
	program->end.kind = MESSAGE_ENDED;
	program->end.id = message->id;
	program->pid = fork();
	if (!program->pid)
		exec_program(settings, message, fds);
	if (program->pid < 0) {
		say("cannot start a process: %s", strerror(errno));
		note_end(program, W_EXITCODE(STATUS_OURS, 0));
	}
	program->next = programs;
	programs = program;
}

static void pass_signal(unsigned int id, int number)
{
	for (struct program *program = programs; program; program = program->next)
		/* A program that has just started has no group of its own yet. */
		if (program->pid && program->end.id == id && kill(-program->pid, number))
			kill(program->pid, number);
}

static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (struct program *program = programs; program; program = program->next)
			if (program->pid == pid)
				note_end(program, status);
}

static void obey(const struct settings *settings, unsigned int host, int socket)
{
	struct message message, answer = { .kind = MESSAGE_READY };
	int fds[MESSAGE_FDS], listener;

	if (!message_receive(socket, &message, fds))
		_exit(0);	/* and so do all processes here */
	switch (message.kind) {
	case MESSAGE_NETWORK:
		network_start_link(host);
		listener = serve_listen((pid_t)message.value);
		message_send(socket, &answer, &listener, 1);
		close(listener);
		break;
	case MESSAGE_START:
		start(settings, &message, fds);
		break;
	case MESSAGE_SIGNAL:
		pass_signal(message.id, message.value);
		break;
	case MESSAGE_SIGNAL_ALL:
		kill(-1, message.value);
		break;
	default:
		break;
	}
	for (int i = 0; i < MESSAGE_FDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

void host_main(const struct settings *settings, unsigned int host, int socket)
{
	const struct message furnished = { .kind = MESSAGE_FURNISHED };
	struct pollfd polls[2];
	sigset_t children;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	socket = keep_only(socket);
	namespace_furnish(settings, host);
	network_start_loopback();
	message_send(socket, &furnished, NULL, 0);
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	polls[0].fd = socket;
	polls[1] = (struct pollfd) {
		.fd = signalfd(-1, &children, SFD_CLOEXEC), .events = POLLIN,
	};
	if (polls[1].fd < 0)
		die("signalfd: %s", strerror(errno));
	for (;;) {
		polls[0].events = untold ? POLLIN | POLLOUT : POLLIN;
		if (poll(polls, 2, -1) < 0)
			continue;
		if (polls[1].revents) {
			struct signalfd_siginfo info;

			if (read(polls[1].fd, &info, sizeof(info)) > 0)
				reap();
		}
		tell_ends(socket);
		if (polls[0].revents & ~POLLOUT)
			obey(settings, host, socket);
	}
}
