// SPDX-License-Identifier: MIT
/* Starts hosts and ranks, and waits for them; when the first rank fails, all others are ended. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hosts.h"
#include "shared/now.h"

#define NOTICE	2.0	/* seconds after which a wait is explained */
#define PATIENCE 0.2	/* seconds in which another failure may turn out to be the first one */

struct host {
	struct watch watch;	/* the socket of the host's first process */
	pid_t pid;
	bool ready;
};

static struct {
	const struct settings *settings;
	int epoll;		/* 0: not yet */
	struct host hosts[HOSTS_MAX];
	unsigned int hosts_left, hosts_ready;
	struct running running;
	unsigned int last_id;
	int status;		/* the exit status of memcast-hosts */
	bool ending, killed;
	double deadline;	/* after which programs that are to end get SIGKILL; 0: none */
	double notice;
	int interrupts;
} state;

static double seconds(const struct timespec *time)
{
	return (double)time->tv_sec + (double)time->tv_nsec * 1e-9;
}

void watch_add(struct watch *watch)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = watch };

	if (!state.epoll)
		state.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_ctl(state.epoll, EPOLL_CTL_ADD, watch->fd, &event))
		die("epoll: %s", strerror(errno));
}

void watch_remove(struct watch *watch)
{
	close(watch->fd);
	watch->fd = -1;
}

static void tell(unsigned int host, enum message_kind kind, unsigned int id, int value)
{
	struct message message = { .kind = kind, .id = id, .value = value };

	if (state.hosts[host].watch.fd >= 0)
		message_send(state.hosts[host].watch.fd, &message, NULL, 0);
}

static void tell_all(enum message_kind kind, int value)
{
	for (unsigned int i = 0; i < state.settings->hosts; i++)
		tell(i, kind, 0, value);
}

static void kill_all(void)
{
	state.killed = true;
	state.deadline = 0;
	for (unsigned int i = 0; i < state.settings->hosts; i++)
		if (state.hosts[i].pid)
			kill(state.hosts[i].pid, SIGKILL);
}

void launch_end(int status)
{
	if (state.ending)
		return;
	state.ending = true;
	state.status = status;
	if (state.hosts_ready < state.settings->hosts)
		state.running.left = 0;		/* none has been started */
	state.deadline = now() + state.settings->grace;
	state.notice = now() + NOTICE;
	tell_all(MESSAGE_SIGNAL_ALL, SIGTERM);
}

static bool start_program(unsigned int host, struct message *message, const int *fds)
{
	message->kind = MESSAGE_START;
	return state.hosts[host].ready && state.hosts[host].watch.fd >= 0 &&
	       message_send(state.hosts[host].watch.fd, message, fds, MESSAGE_FDS);
}

unsigned int launch_start(unsigned int host, struct message *message, const int *fds)
{
	message->id = ++state.last_id;
	return start_program(host, message, fds) ? message->id : 0;
}

void launch_signal(unsigned int host, unsigned int id, int number)
{
	tell(host, MESSAGE_SIGNAL, id, number);
}

/* ---- ranks: the id of rank 0's program is 1, and so on */

/* Reports the first failure, when all messages have been read: only then the first one is known. */
static void name_first(void)
{
	const char *others = state.running.left ? "; ending the others" : "";
	char words[128];

	if (!running_has_failed(&state.running))
		return;
	state.running.first.named = true;
	/* A rank that ends by a signal of launch_end() is no failure to report. */
	if (state.ending)
		return;
	if (state.settings->way != ONCE && !state.interrupts) {
		running_failure(&state.running, words, sizeof(words));
		say("%s%s", words, others);
	}
	launch_end(running_status(&state.running));
}

static void start_rank(const struct settings *settings, unsigned int number, const char *folder)
{
	struct rank rank = ranks_find(settings, number);
	char **env = ranks_environment(settings, &rank);
	struct spec spec = { (char *)folder, settings->argv, env };
	struct message message = { .id = number + 1 };
	int fds[MESSAGE_FDS] = { spec_write(&spec), 0, 1, 2 };

	/* As with mpirun, one rank has the input: two would each get a part of it. */
	if (number)
		fds[1] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (settings->label) {
		fds[2] = output_open(1, number, state.running.count);
		fds[3] = output_open(2, number, state.running.count);
	}
	running_start(&state.running, number);
	if (!start_program(rank.host, &message, fds))
		die("host%u has gone before rank %u was started", rank.host, number);
	for (int i = 0; i < MESSAGE_FDS; i++)
		if (fds[i] > 2)
			close(fds[i]);
	for (char **word = env; *word; word++)
		free(*word);
	free(env);
}

static void start_ranks(const struct settings *settings)
{
	char *folder = get_current_dir_name();

	for (unsigned int i = 0; i < state.running.count; i++)
		start_rank(settings, i, folder ?: "/");
	free(folder);
}

/* ---- hosts */

static void host_gone(unsigned int index)
{
	struct host *host = &state.hosts[index];

	watch_remove(&host->watch);
	if (state.ending)
		return;
	/* If the host could not begin, its first process has said why. */
	if (host->ready)
		say("host%u has gone: its first process was killed", index);
	launch_end(STATUS_OURS);
}

static void host_ready(struct watch *watch)
{
	struct host *host = (struct host *)watch;
	unsigned int index = (unsigned int)(host - state.hosts);
	struct message message;
	int fds[MESSAGE_FDS];

	if (!message_receive(watch->fd, &message, fds)) {
		host_gone(index);
		return;
	}
	if (message.kind == MESSAGE_FURNISHED && !state.ending) {
		network_connect(index, host->pid);
		tell(index, MESSAGE_NETWORK, 0, (int)getpid());
	} else if (message.kind == MESSAGE_READY) {
		host->ready = true;
		serve(state.settings, fds[0], true);
		if (++state.hosts_ready == state.settings->hosts && !state.ending)
			start_ranks(state.settings);
	} else if (message.kind == MESSAGE_ENDED && message.id <= state.running.count) {
		running_end(&state.running, &message);
	} else if (message.kind == MESSAGE_ENDED) {
		serve_ended(message.id, message.value);
	}
}

static void start_host(const struct settings *settings, unsigned int index)
{
	struct host *host = &state.hosts[index];
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		die("socketpair: %s", strerror(errno));
	fflush(NULL);
	host->pid = namespace_fork();
	if (host->pid < 0)
		die("cannot start host%u: %s%s", index, strerror(errno), errno == ENOSPC ?
		    "; sysctl user.max_net_namespaces and the like are the limit" : "");
	if (!host->pid)
		host_main(settings, index, pair[1]);
	close(pair[1]);
	host->watch = (struct watch) { pair[0], host_ready };
	watch_add(&host->watch);
	state.hosts_left++;
}

static void hosts_reap(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		for (unsigned int i = 0; i < state.settings->hosts; i++) {
			if (state.hosts[i].pid != pid)
				continue;
			state.hosts[i].pid = 0;
			state.hosts_left--;
		}
	}
}

/* ---- signals to memcast-hosts, and time */

static void signal_ready(struct watch *watch)
{
	struct signalfd_siginfo info;

	if (read(watch->fd, &info, sizeof(info)) != sizeof(info))
		return;
	switch (info.ssi_signo) {
	case SIGCHLD:
		hosts_reap();
		return;
	case SIGTERM:
	case SIGHUP:
		state.interrupts++;
		launch_end(128 + (int)info.ssi_signo);
		return;
	case SIGINT:
		/* The second SIGINT kills programs that the first one did not end. */
		if (state.interrupts++) {
			launch_end(128 + SIGINT);
			kill_all();
			return;
		}
		if (state.hosts_ready < state.settings->hosts)
			launch_end(128 + SIGINT);
		break;
	default:
		break;
	}
	for (unsigned int i = 0; i < state.running.count; i++)
		if (state.running.rank[i])
			launch_signal(ranks_find(state.settings, i).host, i + 1,
				      (int)info.ssi_signo);
}

static void meet_deadlines(void)
{
	char words[256];

	if (!state.ending)
		return;
	if (state.notice && now() >= state.notice) {
		state.notice = 0;
		running_words(&state.running, words, sizeof(words));
		if (state.killed)
			say("waiting for %s, which the kernel cannot end yet", words);
		else
			say("waiting for %s to end after SIGTERM; SIGKILL in %.0f s", words,
			    state.deadline - now());
	}
	if (state.deadline && now() >= state.deadline) {
		kill_all();
		state.notice = now() + NOTICE;
	}
}

static int milliseconds_left(void)
{
	double until = 0;

	if (state.ending && state.deadline)
		until = state.deadline;
	if (state.ending && state.notice && (!until || state.notice < until))
		until = state.notice;
	if (!until)
		return -1;
	until = (until - now()) * 1e3;
	return until < 0 ? 0 : (int)until + 1;
}

static void handle(int timeout)
{
	struct epoll_event events[64];
	int count = epoll_wait(state.epoll, events, 64, timeout);

	for (int i = 0; i < count; i++) {
		struct watch *watch = events[i].data.ptr;

		watch->ready(watch);
	}
	/* Other ranks may print all the time. */
	if (count <= 0 || now() - seconds(&state.running.first.when) > PATIENCE)
		name_first();
}

/* memcast-hosts has both ends of pipes and sockets open: more files than the usual limit allows. */
static void raise_limit(struct rlimit files)
{
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

int launch(const struct settings *settings)
{
	static const int passed[] = { SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
	static struct watch signals = { .ready = signal_ready };
	sigset_t set;

	state.settings = settings;
	running_init(&state.running, settings);
	state.last_id = state.running.count;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		sigaddset(&set, passed[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals.fd = signalfd(-1, &set, SFD_CLOEXEC);
	watch_add(&signals);
	raise_limit(settings->files);
	network_make_switch();
	for (unsigned int i = 0; i < settings->hosts; i++)
		start_host(settings, i);
	while (state.running.left && !(state.ending && !state.hosts_left)) {
		handle(running_has_failed(&state.running) ? 0 : milliseconds_left());
		meet_deadlines();
	}
	name_first();
	/* Programs that are left in the hosts end with the hosts. */
	launch_end(state.status);
	kill_all();
	while (state.hosts_left) {
		handle(milliseconds_left());
		meet_deadlines();
	}
	output_finish();
	return state.status;
}
