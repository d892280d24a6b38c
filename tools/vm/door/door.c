// SPDX-License-Identifier: MIT
/*
 * The host's side of programs in running machines, for memcast-vm:
 *
 *   vm-door serve NAME RUNNER FOLDER KERNEL MODE WORD…
 *	serves clients at the socket of that name as long as the process RUNNER lives.
 *	While its machine boots, only clients that ask for the list are answered.
 *	FOLDER/door.in and door.out lead to the machine; MODE and WORDs are for the list
 *   vm-door run NAME …	runs a program; client.c
 *   vm-door list [--json]	lists machines and programs; list.c
 *   vm-door stop|alive|reused NAME, vm-door folder
 *   vm-door input RUNNER FIFO	input.c
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "door.h"
#include "shared/name.h"
#include "vm/wire/relay.h"

struct program {
	uint32_t channel;
	bool cut;			/* the last argument continues, but not in the list */
	struct json_object *json;	/* its entry in the list */
};

struct door {
	const char *name;
	pid_t runner;
	int listener;		/* -1: no client is let in any more */
	struct pollfd *waiting;	/* clients while the machine boots; .events 0: has sent a frame */
	size_t waiting_count;
	uint32_t channels;
	struct program *programs;
	size_t count;
	struct json_object *machine;
	bool ready;
};

void die(const char *format, ...)
{
	va_list args;

	fputs("memcast-vm: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(125);
}

static void close_name(struct door *door)
{
	if (door->listener < 0)
		return;
	close(door->listener);
	door->listener = -1;
	names_remove(door->name);
}

static void send_list(struct door *door, struct relay_peer *peer)
{
	struct json_object *all = json_object_new_array();
	const char *text;
	size_t length;

	for (size_t i = 0; i < door->count; i++)
		if (json_object_array_length(json_object_object_get(door->programs[i].json,
								    "command")))
			json_object_array_add(all, json_object_get(door->programs[i].json));
	json_object_object_add(door->machine, "programs", all);
	json_object_object_add(door->machine, "starting", json_object_new_boolean(!door->ready));
	text = json_object_to_json_string_length(door->machine, JSON_C_TO_STRING_PLAIN, &length);
	for (size_t at = 0; at < length; at += WIRE_MOST)
		wire_put(&peer->wire, 0, FRAME_LIST, text + at,
			 length - at < WIRE_MOST ? length - at : WIRE_MOST);
	peer->leaves = true;
}

static struct program *program_of(struct door *door, uint32_t channel)
{
	for (size_t i = 0; i < door->count; i++)
		if (door->programs[i].channel == channel)
			return &door->programs[i];
	return NULL;
}

static bool is_reused(const struct door *door)
{
	return json_object_get_boolean(json_object_object_get(door->machine, "reused"));
}

/* Adds an argument, or a shell, to the list; of a very long one its beginning */
static void remember_word(struct program *program, const struct frame *frame, const char *data)
{
	size_t length = frame->length, skip = 0;
	bool cut = program->cut;
	char *word;

	program->cut = frame->type == FRAME_PART;
	if (length >= 4 && !memcmp(data, "arg=", 4))
		skip = 4;
	else if (length >= 6 && !memcmp(data, "shell=", 6))
		skip = 6;
	if (cut || !skip)
		return;
	if (asprintf(&word, "%.*s%s", (int)(length - skip), data + skip,
		     program->cut ? "…" : "") < 0)
		abort();
	json_object_array_add(json_object_object_get(program->json, "command"), name_new(word));
	free(word);
}

static bool from_client(struct relay *relay, struct relay_peer *peer, const struct frame *frame,
			const char *data)
{
	struct door *door = relay->owner;
	struct program *program = program_of(door, peer->channel);

	switch (frame->type) {
	case FRAME_LIST:
		send_list(door, peer);
		return false;
	case FRAME_STOP:
		/* This client expects no other frame, and is no program. */
		peer->leaves = true;
		/* A machine of --reuse ends by itself, any other with its runner. */
		if (is_reused(door)) {
			wire_put(&relay->link, 0, FRAME_STOP, NULL, 0);
		} else {
			kill(door->runner, SIGTERM);
			kill(door->runner, SIGCONT);
		}
		close_name(door);
		return false;
	case FRAME_PART:
	case FRAME_SETTING:
		if (program)
			remember_word(program, frame, data);
		return true;
	default:
		return true;
	}
}

static int from_machine(struct relay *relay, const struct frame *frame)
{
	struct door *door = relay->owner;

	if (frame->type == FRAME_READY)
		door->ready = true;
	else if (frame->type == FRAME_STOP)
		close_name(door);
	return -1;
}

static void forget(struct relay *relay, uint32_t channel)
{
	struct door *door = relay->owner;
	struct program *program = program_of(door, channel);

	json_object_put(program->json);
	*program = door->programs[--door->count];
}

static void add_client(struct relay *relay, int fd)
{
	struct door *door = relay->owner;
	struct program *program;

	door->programs = reallocarray(door->programs, door->count + 1, sizeof(*door->programs));
	if (!door->programs)
		abort();
	program = &door->programs[door->count++];
	program->channel = ++door->channels;
	program->cut = false;
	program->json = json_object_new_object();
	json_object_object_add(program->json, "since", json_object_new_int64(time(NULL)));
	json_object_object_add(program->json, "command", json_object_new_array());
	relay_add(relay, fd, program->channel);
}

/* The folder's mode keeps other users out; this check does, too, if that mode is ever wrong. */
static void let_in(struct relay *relay)
{
	struct door *door = relay->owner;
	struct ucred who = { .uid = (uid_t)-1 };
	socklen_t size = sizeof(who);
	int fd = accept4(door->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) ||
	    (who.uid != geteuid() && who.uid)) {
		close(fd);
		return;
	}
	if (door->ready) {
		add_client(relay, fd);
		return;
	}
	door->waiting = reallocarray(door->waiting, door->waiting_count + 1,
				     sizeof(*door->waiting));
	if (!door->waiting)
		abort();
	door->waiting[door->waiting_count++] = (struct pollfd){ fd, POLLIN, 0 };
}

/*
 * While the machine boots, clients that ask for the list are let in, and clients with a program
 * wait. A client that ends a machine of --reuse waits, too: the programs before it run first.
 */
static void admit_waiting(struct relay *relay)
{
	struct door *door = relay->owner;
	size_t stay = 0;

	for (size_t i = 0; i < door->waiting_count; i++) {
		struct pollfd *client = &door->waiting[i];
		struct frame frame = { 0 };
		ssize_t got = recv(client->fd, &frame, sizeof(frame), MSG_PEEK | MSG_DONTWAIT);
		bool whole = got == sizeof(frame);

		if (door->ready || (whole && (frame.type == FRAME_LIST ||
					      (frame.type == FRAME_STOP && !is_reused(door))))) {
			add_client(relay, client->fd);
		} else if (!got || client->revents & (POLLHUP | POLLERR)) {
			close(client->fd);
		} else {
			if (whole)
				client->events = 0;
			door->waiting[stay++] = *client;
		}
	}
	door->waiting_count = stay;
}

/* Wait for clients or the machine, and serve them. Return: false when the machine has gone */
static bool serve_turn(struct relay *relay)
{
	struct door *door = relay->owner;
	size_t count = 1 + door->waiting_count;
	struct pollfd *polls = calloc(count, sizeof(*polls));
	bool goes_on;

	if (!polls)
		abort();
	polls[0] = (struct pollfd){ door->listener, POLLIN, 0 };
	memcpy(polls + 1, door->waiting, door->waiting_count * sizeof(*polls));
	/* A signal may come just before the wait, so wait for a second at most. */
	goes_on = relay_turn(relay, polls, count, 1000) && getppid() == door->runner;
	memcpy(door->waiting, polls + 1, door->waiting_count * sizeof(*polls));
	admit_waiting(relay);
	if (polls[0].revents & POLLIN)
		let_in(relay);
	free(polls);
	return goes_on;
}

static int open_fifo(const char *folder, const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	return fd;
}

static volatile sig_atomic_t ended;

static void on_signal(int number)
{
	(void)number;
	ended = 1;
}

int door_serve(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal };
	struct json_object *command = json_object_new_array();
	struct door door = { 0 };
	struct relay relay = {
		.owner = &door, .from_peer = from_client, .nobody = from_machine, .gone = forget,
	};

	if (argc < 6)
		return 2;
	door.name = argv[1];
	door.runner = atoi(argv[2]);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* A runner that is stopped by its terminal has clients that are not. */
	signal(SIGTSTP, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != door.runner)
		return 0;
	door.listener = names_listen(door.name);
	if (door.listener < 0)
		die("a machine named %s runs already; memcast-vm ps", door.name);
	door.machine = json_object_new_object();
	json_object_object_add(door.machine, "name", json_object_new_string(door.name));
	json_object_object_add(door.machine, "pid", json_object_new_int(door.runner));
	json_object_object_add(door.machine, "since", json_object_new_int64(time(NULL)));
	json_object_object_add(door.machine, "kernel", json_object_new_string(argv[4]));
	json_object_object_add(door.machine, "reused",
			       json_object_new_boolean(!strcmp(argv[5], "reused")));
	for (int i = 6; i < argc; i++)
		json_object_array_add(command, name_new(argv[i]));
	json_object_object_add(door.machine, "command", command);
	relay.link = wire_new(open_fifo(argv[3], "door.out"), open_fifo(argv[3], "door.in"));
	/* The runner waits for this line. */
	puts("listens");
	fflush(stdout);
	while (!ended && serve_turn(&relay))
		;
	close_name(&door);
	return 0;
}

static int stop(const char *name)
{
	struct wire wire;
	int fd = names_connect(name);

	if (fd < 0)
		die("no machine named %s runs; memcast-vm ps shows those that do", name);
	wire = wire_new(fd, fd);
	wire_put(&wire, 0, FRAME_STOP, NULL, 0);
	wire_write(&wire);
	/* Wait until the machine has gone, or lets no client in. */
	for (;;) {
		struct pollfd wait = { fd, POLLIN, 0 };
		int other;

		if (poll(&wait, 1, 100) > 0 && !wire_read(&wire))
			return 0;
		other = names_connect(name);
		if (other < 0)
			return 0;
		close(other);
	}
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";
	int fd;

	if (argc > 2 && strcmp(command, "input") && strcmp(command, "list") &&
	    !names_valid(argv[2]))
		die("'%s' is no name: up to 63 letters, digits and . _ -, a letter or digit first",
		    argv[2]);
	if (!strcmp(command, "serve"))
		return door_serve(argc - 1, argv + 1);
	if (!strcmp(command, "run") && argc > 2)
		return client_run(argc - 1, argv + 1);
	if (!strcmp(command, "input"))
		return input_pump(argc - 1, argv + 1);
	if (!strcmp(command, "list"))
		return machines_list(argc - 1, argv + 1);
	if (!strcmp(command, "stop") && argc == 3)
		return stop(argv[2]);
	if (!strcmp(command, "reused") && argc == 3)
		return !machine_is_reused(argv[2]);
	if (!strcmp(command, "alive") && argc == 3) {
		fd = names_connect(argv[2]);
		return fd < 0;
	}
	if (!strcmp(command, "folder"))
		return puts(names_folder()) < 0;
	fputs("vm-door: memcast-vm uses this; its source says how\n", stderr);
	return 2;
}
