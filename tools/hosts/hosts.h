/* SPDX-License-Identifier: MIT */
/*
 * memcast-hosts: emulated hosts, each with namespaces, an address and devices of its own, and
 * programs that are started on them.
 *
 *   memcast-hosts.c  what is asked for on the command line
 *   ranks.c          how many ranks there are, where, and what launchers tell them
 *   launch.c         starts hosts and ranks, waits for them, passes signals on
 *   running.c        which ranks run, and which one failed first
 *   serve.c          programs that others start in hosts that run
 *   client.c         those others: exec and agent
 *   output.c         lines with the rank in front
 *   host.c           a host's first process: it starts programs and says how they end
 *   namespace.c      what a host sees: its files, processes, devices
 *   network.c        addresses and links
 *   wire.c           messages between all these processes
 */
#ifndef MEMCAST_TOOLS_HOSTS_H
#define MEMCAST_TOOLS_HOSTS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>
#include <uapi/memcast.h>

#define HOSTS_MAX	MEMCAST_MAX_DEVICES
#define STATUS_OURS	125	/* the exit status when not the program has failed */

enum way {
	EACH,		/* a rank per device */
	PER_HOST,	/* a rank per host */
	ONCE,		/* one program, on the first host: it starts others by itself */
};

struct settings {
	enum way way;
	unsigned int hosts;
	unsigned int devices[HOSTS_MAX];	/* of each */
	unsigned int ranks_each;	/* on each host; 0: one per device */
	const char *folder;		/* of the hosts' device files, or NULL: they have none */
	unsigned int port;		/* MASTER_PORT */
	double grace;			/* seconds between SIGTERM and SIGKILL */
	bool label;
	bool own_users;			/* without root: in a user namespace */
	char **argv;
	char *self;			/* the path of memcast-hosts */
	sigset_t mask;			/* of signals, as the programs are to have it */
};

/* Prints "memcast-hosts: WORDS" to stderr, in one write. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* and ends the process with STATUS_OURS */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* ---- ranks.c */

struct rank {
	unsigned int rank, host, local, local_count;
};

/* How many there are in all */
unsigned int ranks_count(const struct settings *settings);
struct rank ranks_find(const struct settings *settings, unsigned int number);
/* The environment of a rank: that of this process, and what launchers set */
char **ranks_environment(const struct settings *settings, const struct rank *rank);

/* ---- wire.c */

enum message_kind {
	/* to a host's first process */
	MESSAGE_NETWORK,	/* its link is there; value: our pid; answered by MESSAGE_READY */
	MESSAGE_START,		/* a program, and MESSAGE_FDS fds; answered by MESSAGE_ENDED */
	MESSAGE_SIGNAL,		/* value: for the program and its process group */
	MESSAGE_SIGNAL_ALL,	/* value: for all processes of the host */
	/* from it */
	MESSAGE_FURNISHED,	/* now it wants its link */
	MESSAGE_READY,		/* with one fd: where its programs reach us */
	MESSAGE_ENDED,		/* value: as waitpid() gave it */
	/* from memcast-hosts exec; answered by MESSAGE_ENDED or MESSAGE_REFUSED */
	MESSAGE_EXEC,		/* words: the host; the same fds */
	/* to it */
	MESSAGE_REFUSED,	/* words: why */
};

/* Those of a program: its words as spec_write() makes them, input, output, errors */
#define MESSAGE_FDS	4

struct message {
	enum message_kind kind;
	unsigned int id;	/* of the program, the starter's choice */
	int value;
	struct timespec when;	/* it ended */
	bool as_user;		/* START: with these ids, else with ours */
	uid_t uid;
	gid_t gid;
	unsigned int groups_count;
	gid_t groups[64];
	char words[64];
};

/* Sends it with @count fds. Return: false if nobody is there any more */
bool message_send(int socket, const struct message *message, const int *fds, unsigned int count);
/*
 * Receives one; fds[0] to fds[MESSAGE_FDS - 1] are -1 where none came. Return: false if the
 * other side has gone
 */
bool message_receive(int socket, struct message *message, int *fds);

/* What a program is: folder, arguments, environment, in an fd that goes with a message */
struct spec {
	char *folder, **argv, **env;
};

int spec_write(const struct spec *spec);
/* Return: false if it cannot be read. The strings stay as long as the process does. */
bool spec_read(int fd, struct spec *spec);

/* ---- running.c: ranks, whose programs have the ids 1 (rank 0's) to @count */

struct running {
	const struct settings *settings;
	unsigned int count, left;
	bool *rank;		/* those that run now */
	struct {
		bool there, named;
		unsigned int rank;
		int status;
		struct timespec when;
	} first;		/* to fail */
};

void running_init(struct running *running, const struct settings *settings);
void running_start(struct running *running, unsigned int rank);
void running_end(struct running *running, const struct message *message);
/* Is there a failure that is not named yet? */
bool running_has_failed(const struct running *running);
/* Of the first that failed: our own exit status, and what happened, in words */
int running_status(const struct running *running);
void running_failure(const struct running *running, char *words, size_t size);
/* Which run still, in words */
void running_words(const struct running *running, char *words, size_t size);

/* ---- network.c */

/* The address of a host, as text */
void network_address(unsigned int host, char text[16]);
/* In the namespace of what connects the hosts */
void network_make_switch(void);
/* A link from there to the host whose first process has that pid */
void network_connect(unsigned int host, pid_t pid);
/* In the host's namespace: loopback; and later, when the link is there, the address */
void network_start_loopback(void);
void network_start_link(unsigned int host);

/* ---- namespace.c */

/* Ours: with a network for what connects the hosts, with users where that takes no root */
void namespace_enter(struct settings *settings);
/* Starts a process in new namespaces, as fork() does */
pid_t namespace_fork(void);
/* In such a process, before there are programs: the host's name, files and devices */
void namespace_furnish(const struct settings *settings, unsigned int host);

/* ---- host.c: a host's first process; @socket leads to launch.c */
void host_main(const struct settings *settings, unsigned int host, int socket)
	__attribute__((noreturn));

/* ---- launch.c */

/* What is waited for; @ready is called when there is something to read, or the end of it */
struct watch {
	int fd;
	void (*ready)(struct watch *watch);
};

void watch_add(struct watch *watch);
/* and closes the fd */
void watch_remove(struct watch *watch);

/* Starts all and waits for all. Return: exit status */
int launch(const struct settings *settings);
/* Starts a program of others' on a host. Return: its id, 0 if the host is not there (yet) */
unsigned int launch_start(unsigned int host, struct message *message, const int *fds);
void launch_signal(unsigned int host, unsigned int id, int number);
/* Everything is to end, with that exit status. */
void launch_end(int status);

/* ---- serve.c */

/* Where clients of this network namespace reach us: a socket that listens */
int serve_listen(pid_t pid);
/* Wait for clients there, which may be anybody if they are @inside, else the same user. */
void serve(const struct settings *settings, int listener, bool inside);
/* The program of one has ended. */
void serve_ended(unsigned int id, int status);

/* ---- client.c */

/* The address at which the memcast-hosts of that pid listens, in each namespace; its length */
socklen_t client_name(pid_t pid, struct sockaddr_un *name);
/* memcast-hosts exec HOST COMMAND…; agent: as ssh gives them to a shell. Return: exit status */
int client_exec(int argc, char **argv);
int client_agent(int argc, char **argv);

/* ---- output.c */

/* A pipe whose lines come out at @to with the rank in front; the end to write to */
int output_open(int to, unsigned int rank, unsigned int ranks);
/* When nobody writes any more: all that is in pipes */
void output_finish(void);

#endif /* MEMCAST_TOOLS_HOSTS_H */
