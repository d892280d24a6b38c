/* SPDX-License-Identifier: MIT */
/*
 * memcast-hosts: emulated hosts, each with namespaces, an address and devices of its own, and
 * programs that are started on them.
 *
 *   memcast-hosts.c  reads the command line
 *   ranks.c          how many ranks there are, on which hosts, and their environment
 *   launch.c         starts hosts and ranks, waits for them, passes signals on
 *   running.c        which ranks run, and which one failed first
 *   serve.c          programs that clients start in hosts that run
 *   client.c         these clients: exec and agent
 *   output.c         lines with the rank in front
 *   host.c           a host's first process: it starts programs and reports their ends
 *   namespace.c      a host's own files, processes and devices
 *   network.c        addresses and links
 *   wire.c           messages between all these processes
 */
#ifndef MEMCAST_TOOLS_HOSTS_H
#define MEMCAST_TOOLS_HOSTS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>
#include <uapi/memcast.h>

#define HOSTS_MAX	MEMCAST_MAX_DEVICES
#define STATUS_OURS	125	/* the exit status when memcast-hosts itself has failed */

enum way {
	EACH,		/* a rank per device */
	PER_HOST,	/* a rank per host */
	ONCE,		/* one program, on the first host, which starts the others itself */
};

struct settings {
	enum way way;
	unsigned int hosts;
	unsigned int devices[HOSTS_MAX];	/* of each host */
	unsigned int ranks_each;	/* on each host; 0: one per device */
	const char *folder;		/* of the hosts' device files, or NULL: they have none */
	unsigned int port;		/* MASTER_PORT */
	double grace;			/* seconds between SIGTERM and SIGKILL */
	bool label;
	bool own_users;			/* without root: in a user namespace */
	char **argv;
	char *self;			/* the path of memcast-hosts */
	sigset_t mask;			/* the signal mask for the programs */
	struct rlimit files;		/* and how many files they may have open */
};

/* Prints "memcast-hosts: WORDS" to stderr, in one write. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the same, and ends the process with STATUS_OURS. */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* ---- ranks.c */

struct rank {
	unsigned int rank, host, local, local_count;
};

/* The number of ranks on all hosts */
unsigned int ranks_count(const struct settings *settings);
struct rank ranks_find(const struct settings *settings, unsigned int number);
/* The environment of a rank: that of this process, and what launchers set */
char **ranks_environment(const struct settings *settings, const struct rank *rank);

/* ---- wire.c */

enum message_kind {
	/* to a host's first process */
	MESSAGE_NETWORK,	/* value: memcast-hosts' pid; the link exists; answer: READY */
	MESSAGE_START,		/* a program, and MESSAGE_FDS fds; answered by MESSAGE_ENDED */
	MESSAGE_SIGNAL,		/* value: the signal for the program and its process group */
	MESSAGE_SIGNAL_ALL,	/* value: the signal for all processes of the host */
	/* from a host's first process */
	MESSAGE_FURNISHED,	/* the namespaces are made; the link can come */
	MESSAGE_READY,		/* with one fd: a listening socket for programs of the host */
	MESSAGE_ENDED,		/* value: the program's status, as waitpid() gave it */
	/* from memcast-hosts exec; answered by MESSAGE_ENDED or MESSAGE_REFUSED */
	MESSAGE_EXEC,		/* words: the host; MESSAGE_FDS fds */
	/* to memcast-hosts exec */
	MESSAGE_REFUSED,	/* words: the reason */
};

/* The fds of a program: that of spec_write(), input, output, errors */
#define MESSAGE_FDS	4

struct message {
	enum message_kind kind;
	unsigned int id;	/* of the program, chosen by launch.c */
	int value;
	struct timespec when;	/* the time of the program's end */
	bool as_user;		/* START: with the ids below, else with memcast-hosts' own */
	uid_t uid;
	gid_t gid;
	unsigned int groups_count;
	gid_t groups[64];
	char words[64];
};

/* Sends a message with @count fds. Return: false if the other side has gone */
bool message_send(int socket, const struct message *message, const int *fds, unsigned int count);
/*
 * Receives a message; of fds[0] to fds[MESSAGE_FDS - 1] those that did not come are -1. Return:
 * false if the other side has gone
 */
bool message_receive(int socket, struct message *message, int *fds);

/* A program's folder, arguments and environment, which a file sent with a message has */
struct spec {
	char *folder, **argv, **env;
};

int spec_write(const struct spec *spec);
/* Return: false if the file cannot be read. The strings stay until the process ends. */
bool spec_read(int fd, struct spec *spec);

/* ---- running.c: ranks, whose programs have the ids 1 (rank 0's) to @count */

struct running {
	const struct settings *settings;
	unsigned int count, left;
	bool *rank;		/* does the rank run now? */
	struct {
		bool there, named;
		unsigned int rank;
		int status;
		struct timespec when;
	} first;		/* the rank that failed first */
};

void running_init(struct running *running, const struct settings *settings);
void running_start(struct running *running, unsigned int rank);
void running_end(struct running *running, const struct message *message);
/* Is there a failure that is not reported yet? */
bool running_has_failed(const struct running *running);
/* For the first failure: the exit status of memcast-hosts, and a text of what happened */
int running_status(const struct running *running);
void running_failure(const struct running *running, char *words, size_t size);
/* Lists the ranks that still run, as a text. */
void running_words(const struct running *running, char *words, size_t size);

/* ---- network.c */

/* The address of a host, as text */
void network_address(unsigned int host, char text[16]);
/* Makes the bridge that connects the hosts, in memcast-hosts' own namespace. */
void network_make_switch(void);
/* Links that bridge with the host whose first process is @pid. */
void network_connect(unsigned int host, pid_t pid);
/* For a host's own namespace: starts loopback; and later, when the link exists, the link. */
void network_start_loopback(void);
void network_start_link(unsigned int host);

/* ---- namespace.c */

/* Enters a new network namespace, for the bridge; without root also a new user namespace. */
void namespace_enter(struct settings *settings);
/* Starts a process in new namespaces, as fork() does */
pid_t namespace_fork(void);
/* Sets the host's name, files and devices, in such a process, before programs start. */
void namespace_furnish(const struct settings *settings, unsigned int host);

/* ---- host.c: a host's first process; @socket leads to launch.c */
void host_main(const struct settings *settings, unsigned int host, int socket)
	__attribute__((noreturn));

/* ---- launch.c */

/* An fd that launch.c waits for; it calls @ready when there is data to read, or the end of it. */
struct watch {
	int fd;
	void (*ready)(struct watch *watch);
};

void watch_add(struct watch *watch);
/* Also closes the fd. */
void watch_remove(struct watch *watch);

/* Starts hosts and ranks and waits for all. Return: exit status */
int launch(const struct settings *settings);
/* Starts a client's program on a host. Return: its id; 0 if the host has gone or is not ready */
unsigned int launch_start(unsigned int host, struct message *message, const int *fds);
void launch_signal(unsigned int host, unsigned int id, int number);
/* Begins to end all programs; memcast-hosts then ends with @status. */
void launch_end(int status);

/* ---- serve.c */

/* Makes the socket where clients of this network namespace reach memcast-hosts, process @pid. */
int serve_listen(pid_t pid);
/* Serves clients that connect to @listener: those @inside of a host, or those of the same user. */
void serve(const struct settings *settings, int listener, bool inside);
/* Tells a client that its program @id has ended. */
void serve_ended(unsigned int id, int status);

/* ---- client.c */

/* The address at which memcast-hosts @pid listens in each network namespace. Return: its length */
socklen_t client_name(pid_t pid, struct sockaddr_un *name);
/* memcast-hosts exec HOST COMMAND…; agent, with words as mpirun gives ssh. Return: exit status */
int client_exec(int argc, char **argv);
int client_agent(int argc, char **argv);

/* ---- output.c */

/* Makes a pipe whose lines come out at @to with the rank in front. Return: the end to write to */
int output_open(int to, unsigned int rank, unsigned int ranks);
/* Writes all that is left in the pipes, when all programs have ended. */
void output_finish(void);

#endif /* MEMCAST_TOOLS_HOSTS_H */
