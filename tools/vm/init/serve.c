// SPDX-License-Identifier: MIT
/* The machine's end of the port through which the host starts programs. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "init.h"
#include "shared/now.h"
#include "vm/wire/relay.h"

#define ALIVE	20.0	/* seconds, as program.c has it */

struct server {
	const struct vm_serve *serve;
	struct vm_running *running;	/* shared with the sessions */
	bool stop;
};

static int start_session(struct relay *relay, const struct frame *frame)
{
	struct server *server = relay->owner;
	int ends[2];
	pid_t pid;

	if (frame->type == FRAME_STOP)
		server->stop = true;
	if (!frame->channel || (frame->type != FRAME_SETTING && frame->type != FRAME_PART) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -1;
	pid = fork();
	if (!pid) {
		/* The connections of other clients belong to the parent. */
		for (size_t i = 0; i < relay->count; i++)
			close(relay->peers[i].wire.from);
		close(relay->link.from);
		close(ends[0]);
		vm_session(ends[1], server->serve, server->running);
	}
	close(ends[1]);
	return ends[0];
}

static void __attribute__((noreturn)) serve(const struct vm_serve *with)
{
	struct server server = {
		.serve = with,
		.running = mmap(NULL, sizeof(*server.running), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0),
	};
	struct relay relay = {
		.link = wire_new(with->port, with->port),
		.owner = &server, .nobody = start_session,
	};
	double used = now();

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGPIPE, SIG_IGN);
	if (server.running == MAP_FAILED)
		fail("mmap");
	wire_put(&relay.link, 0, FRAME_READY, NULL, 0);
	while (relay_turn(&relay, NULL, 0, 1000)) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (relay.count)
			used = now();
		if (!relay.count && !bytes_left(&relay.link.out) &&
		    (server.stop || (with->idle > 0 && now() - used > with->idle)))
			break;
	}
	/* The host then lets no client in any more; later ones start another machine. */
	wire_put(&relay.link, 0, FRAME_STOP, NULL, 0);
	for (int tries = 0; tries < 100 && bytes_left(&relay.link.out) && wire_write(&relay.link);
	     tries++)
		usleep(10000);
	_exit(0);
}

pid_t vm_serve(const struct vm_serve *with)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (!pid)
		serve(with);
	close(with->port);
	return pid;
}

void vm_serve_wait(pid_t server, int control)
{
	double told = now();
	bool serves = true;
	pid_t pid;

	while (serves) {
		struct pollfd wait = { .fd = control, .events = POLLIN };

		if (poll(&wait, 1, 200) > 0)
			vm_control(control, 0, -1);
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			serves &= pid != server;
		/* The machine may be idle without being taken for one that hangs. */
		if (now() - told > ALIVE) {
			told = now();
			report("alive\n");
		}
	}
	kill(-1, SIGKILL);
	while (wait(NULL) > 0)
		;
}
