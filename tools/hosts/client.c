// SPDX-License-Identifier: MIT
/*
 * Starts programs in hosts that run already. A client finds memcast-hosts by an abstract socket,
 * which belongs to a network namespace: outside of the hosts there is one of each memcast-hosts,
 * inside of a host only that of its own memcast-hosts. A socket ends with its process.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hosts.h"

#define NAME	"memcast-hosts."	/* and the pid */

socklen_t client_name(pid_t pid, struct sockaddr_un *name)
{
	*name = (struct sockaddr_un) { .sun_family = AF_UNIX };
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1,
					    NAME "%d", pid));
}

/* Lists the pids of memcast-hosts processes that a client here can reach. */
static unsigned int find_running(pid_t *pids, unsigned int room)
{
	FILE *file = fopen("/proc/self/net/unix", "re");
	unsigned int count = 0, i;
	char line[512], *at;

	while (file && fgets(line, sizeof(line), file)) {
		at = strstr(line, " @" NAME);
		if (!at || count == room)
			continue;
		pids[count] = (pid_t)atoi(at + strlen(" @" NAME));
		/* The file has a line for the listener, and one for each connection. */
		for (i = 0; pids[i] != pids[count]; i++)
			;
		count += i == count;
	}
	if (file)
		fclose(file);
	return count;
}

static int client_connect(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	const char *wanted = getenv("MEMCAST_HOSTS_PID");
	struct sockaddr_un name;
	pid_t pids[64];
	struct ucred user;
	unsigned int count;
	socklen_t length;

	count = find_running(pids, sizeof(pids) / sizeof(pids[0]));
	if (wanted) {
		pids[0] = (pid_t)atoi(wanted);
	} else if (!count) {
		die("no hosts run here: memcast-hosts starts them, with a program");
	} else if (count > 1) {
		say("several memcast-hosts run here: MEMCAST_HOSTS_PID has to say which");
		for (unsigned int i = 0; i < count; i++)
			say("  %d", pids[i]);
		exit(STATUS_OURS);
	}
	length = client_name(pids[0], &name);
	if (fd < 0 || connect(fd, (struct sockaddr *)&name, length))
		die("cannot reach memcast-hosts %d: %s", pids[0], strerror(errno));
	/* Any user can listen at such a name, and would get our input and environment. */
	length = sizeof(user);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &length) ||
	    (user.uid && user.uid != geteuid() && (geteuid() || !wanted)))
		die("memcast-hosts %d is another user's", pids[0]);
	return fd;
}

static int wait_for_end(int fd, int signals)
{
	struct pollfd polls[] = { { fd, POLLIN, 0 }, { signals, POLLIN, 0 } };
	struct message message = { .kind = MESSAGE_SIGNAL };
	struct signalfd_siginfo info;
	int fds[MESSAGE_FDS];

	for (;;) {
		if (poll(polls, 2, -1) < 0)
			continue;
		if (polls[1].revents && read(signals, &info, sizeof(info)) > 0) {
			message.kind = MESSAGE_SIGNAL;
			message.value = (int)info.ssi_signo;
			message_send(fd, &message, NULL, 0);
		}
		if (!polls[0].revents)
			continue;
		if (!message_receive(fd, &message, fds))
			die("the hosts have ended");
		if (message.kind == MESSAGE_REFUSED)
			die("%s", message.words);
		if (WIFSIGNALED(message.value))
			return 128 + WTERMSIG(message.value);
		return WEXITSTATUS(message.value);
	}
}

static int run_in(const char *host, char **argv)
{
	struct spec spec = { get_current_dir_name() ?: "/", argv, environ };
	struct message message = { .kind = MESSAGE_EXEC };
	int fds[MESSAGE_FDS] = { spec_write(&spec), 0, 1, 2 };
	int fd = client_connect(), signals;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (strlen(host) >= sizeof(message.words))
		die("there is no such host");
	strcpy(message.words, host);
	if (signals < 0 || !message_send(fd, &message, fds, MESSAGE_FDS))
		die("cannot reach the hosts: %s", strerror(errno));
	return wait_for_end(fd, signals);
}

int client_exec(int argc, char **argv)
{
	if (argc < 2)
		die("usage: memcast-hosts exec HOST [--] COMMAND [ARGUMENT...]");
	if (!strcmp(argv[1], "--") && argc > 2)
		return run_in(argv[0], argv + 2);
	return run_in(argv[0], argv + 1);
}

/* Takes the place of ssh, which gives a shell all words as one, with spaces between them. */
int client_agent(int argc, char **argv)
{
	char *shell[] = { "/bin/sh", "-c", NULL, NULL };
	size_t length = 0;
	FILE *file;

	if (argc < 2)
		die("usage: memcast-hosts agent HOST COMMAND...");
	file = open_memstream(&shell[2], &length);
	for (int i = 1; file && i < argc; i++)
		fprintf(file, "%s%s", i > 1 ? " " : "", argv[i]);
	if (!file || fclose(file))
		die("no memory");
	return run_in(argv[0], shell);
}
