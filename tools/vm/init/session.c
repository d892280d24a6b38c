// SPDX-License-Identifier: MIT
/*
 * The program of one client. Its settings, each a frame "KEY=VALUE":
 *
 *   arg            an argument of the program
 *   env            a variable of its environment
 *   host_env       a variable of the client's environment, which replaces that of the machine's
 *                  first program if the machine has the host's files, and else is ignored
 *   shell          run this shell, in place of arg; without the host's files /bin/sh
 *   cwd, root, input_tty, merged, tty, timeout, limit
 *                  as program.c has them
 *   fresh          forget the cached contents of the host's files
 *   clean          if the program ran alone, check that it left no objects in the module
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "init.h"
#include "vm/watch/progress.h"
#include "vm/wire/wire.h"

#define STATS	"/sys/kernel/debug/memcast/stats"

struct stream {
	enum frame_type type;
	int fd;				/* -1: at its end */
	size_t window;			/* bytes that the client still takes */
};

struct session {
	struct wire wire;
	struct vm_program program;
	bool fresh, clean, own_env;
	struct stream output, errors, status;
	int in, control;
	bool in_ends;
	struct bytes input;
	pid_t runner;
};

/* Adds NAME=VALUE to a list, in place of a variable with that name. */
static char **append_variable(char **list, char *word)
{
	size_t length = strcspn(word, "=") + 1;

	for (char **at = list; at && *at; at++) {
		if (!strncmp(*at, word, length)) {
			*at = word;
			return list;
		}
	}
	return append(list, word);
}

/* The first variable replaces the environment of the program that booted the machine. */
static void set_host_env(struct session *session, char *word)
{
	struct vm_program *program = &session->program;

	if (!program->host)
		return;
	if (!session->own_env)
		program->env = NULL;
	session->own_env = true;
	program->env = append_variable(program->env, word);
}

static void set(struct session *session, const char *data, size_t length)
{
	struct vm_program *program = &session->program;
	char *key = strndup(data, length), *value = key ? strchr(key, '=') : NULL;

	if (!value)
		return;
	*value++ = '\0';
	if (!strcmp(key, "arg"))
		program->argv = append(program->argv, value);
	else if (!strcmp(key, "host_env"))
		set_host_env(session, value);
	else if (!strcmp(key, "env"))
		program->env = append_variable(program->env, value);
	else if (!strcmp(key, "shell"))
		program->argv = append(NULL, program->host ? value : strdup("/bin/sh"));
	else if (!strcmp(key, "fresh"))
		session->fresh = true;
	else if (!strcmp(key, "clean"))
		session->clean = true;
	else
		set_program(program, key, value);
}

/* Drops caches, so that changes on the host are seen; files in use keep their cached contents. */
static void forget_files(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	/* Once for files of the overlay, which hold the host's files, and once for the latter. */
	for (int i = 0; i < 2 && fd >= 0; i++)
		write(fd, "3", 1);
	close(fd);
}

static void run(struct session *session)
{
	int in[2], out[2], err[2], status[2], control[2];
	struct vm_ports ports;

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) ||
	    pipe2(status, O_CLOEXEC) || pipe2(control, O_CLOEXEC))
		abort();
	session->runner = fork();
	if (session->runner < 0)
		abort();
	if (!session->runner) {
		struct vm_result result;

		prctl(PR_SET_CHILD_SUBREAPER, 1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGPIPE, SIG_DFL);
		ports = (struct vm_ports){ status[1], out[1], err[1], in[0], control[0] };
		close(in[1]);
		close(session->wire.from);
		report_to(status[1]);
		report("start\n");
		result = vm_run(&session->program, &ports);
		report_result(&result);
		/* The process of the input has the output open, for whose end the session waits. */
		progress_kill();
		_exit(0);
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	close(status[1]);
	close(control[0]);
	fcntl(in[1], F_SETFL, O_NONBLOCK);
	session->in = in[1];
	session->control = control[1];
	session->output = (struct stream){ FRAME_OUTPUT, out[0], WIRE_WINDOW };
	session->errors = (struct stream){ FRAME_ERRORS, err[0], WIRE_WINDOW };
	session->status = (struct stream){ FRAME_STATUS, status[0], WIRE_WINDOW };
}

static void taken(struct session *session, const char *data)
{
	struct taken taken;

	memcpy(&taken, data, sizeof(taken));
	(taken.stream == FRAME_OUTPUT ? &session->output : &session->errors)->window += taken.bytes;
}

static void from_client(struct session *session)
{
	struct frame frame;
	const char *data;

	while (wire_next(&session->wire, &frame, &data)) {
		if (frame.type == FRAME_INPUT && frame.length)
			bytes_add(&session->input, data, frame.length);
		else if (frame.type == FRAME_INPUT)
			session->in_ends = true;
		else if (frame.type == FRAME_CONTROL)
			write(session->control, data, frame.length);
		else if (frame.type == FRAME_TAKEN && frame.length == sizeof(struct taken))
			taken(session, data);
	}
}

static void pass(struct session *session, struct stream *stream)
{
	static char buffer[WIRE_MOST];
	size_t most = stream->window < sizeof(buffer) ? stream->window : sizeof(buffer);
	ssize_t got = read(stream->fd, buffer, most);

	if (got < 0 && errno == EINTR)
		return;
	if (got <= 0) {
		close(stream->fd);
		stream->fd = -1;
		return;
	}
	wire_put(&session->wire, 0, stream->type, buffer, (size_t)got);
	/* The client itself takes the few lines of the status, so they have no window. */
	if (stream->type != FRAME_STATUS)
		stream->window -= (size_t)got;
}

static void pass_input(struct session *session)
{
	ssize_t done = bytes_write(&session->input, session->in, WIRE_MOST);
	struct taken taken = { FRAME_INPUT, (uint32_t)done };

	if (done < 0) {
		/* The program does not read any more: throw its input away. */
		taken.bytes = (uint32_t)bytes_left(&session->input);
		session->input.start = session->input.end;
	}
	wire_put(&session->wire, 0, FRAME_TAKEN, &taken, sizeof(taken));
}

/* Return: false if the client has gone before the program ended */
static bool forward(struct session *session)
{
	struct stream *streams[] = { &session->output, &session->errors, &session->status };

	/* Frames may have come with the settings. */
	from_client(session);
	while (session->output.fd >= 0 || session->errors.fd >= 0 || session->status.fd >= 0) {
		struct pollfd polls[6] = {
			{ session->wire.from, POLLIN, 0 },
			{ bytes_left(&session->wire.out) ? session->wire.to : -1, POLLOUT, 0 },
			{ bytes_left(&session->input) ? session->in : -1, POLLOUT, 0 },
		};

		for (int i = 0; i < 3; i++)
			polls[3 + i] = (struct pollfd){ streams[i]->window ? streams[i]->fd : -1,
							POLLIN, 0 };
		if (poll(polls, 6, -1) < 0)
			continue;
		if (polls[0].revents) {
			if (!wire_read(&session->wire))
				return false;
			from_client(session);
		}
		for (int i = 0; i < 3; i++)
			if (polls[3 + i].revents)
				pass(session, streams[i]);
		if (polls[2].revents)
			pass_input(session);
		if (session->in_ends && !bytes_left(&session->input) && session->in >= 0) {
			close(session->in);
			session->in = -1;
		}
		if (!wire_write(&session->wire))
			return false;
	}
	return true;
}

/* Return: false if the client has gone, or named no program */
static bool read_settings(struct session *session)
{
	struct pollfd wait = { session->wire.from, POLLIN, 0 };
	struct bytes whole = { 0 };
	struct frame frame;
	const char *data;

	for (;;) {
		while (wire_next(&session->wire, &frame, &data)) {
			if (frame.type == FRAME_PART || frame.type == FRAME_SETTING)
				bytes_add(&whole, data, frame.length);
			if (frame.type == FRAME_SETTING) {
				set(session, whole.data, bytes_left(&whole));
				whole.end = 0;
			} else if (frame.type == FRAME_START)
				return session->program.argv;
		}
		poll(&wait, 1, -1);
		if (!wire_read(&session->wire))
			return false;
	}
}

/* Names a count in the module's statistics that is not 0. Return: false if all are */
static bool find_left_object(char *words, size_t size)
{
	char name[64];
	bool left = false;
	FILE *file = fopen(STATS, "re");
	long count;

	while (file && !left && fscanf(file, "%63s %ld", name, &count) == 2) {
		/* These count events, not objects. */
		if (strlen(name) > 7 && !strcmp(name + strlen(name) - 7, "_faults"))
			continue;
		left = count;
		snprintf(words, size, "%s %ld", name, count);
	}
	if (file)
		fclose(file);
	return left;
}

/*
 * References to the module's objects go within moments after a program's end, or never. Return:
 * false if another program has started meanwhile, whose objects these may be
 */
static bool check_clean(const struct vm_running *running, unsigned int ever, char *words,
			size_t size)
{
	for (int tries = 0; tries < 1000; tries++) {
		bool left = find_left_object(words, size);

		if (__atomic_load_n(&running->ever, __ATOMIC_SEQ_CST) != ever)
			return false;
		if (!left) {
			snprintf(words, size, "nothing");
			return true;
		}
		usleep(10000);
	}
	return true;
}

void vm_session(int fd, const struct vm_serve *serve, struct vm_running *running)
{
	struct session session = { .wire = wire_new(fd, fd), .program = *serve->like };
	unsigned int ever, beside;
	char words[128], line[160];
	bool whole;

	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	session.program.argv = NULL;
	session.program.others = 0;
	session.program.window.ws_col = 0;
	session.program.input_tty = session.program.merged = false;
	/* Copy the list, as it may grow. */
	session.program.env = NULL;
	for (char **word = serve->like->env; *word; word++)
		session.program.env = append(session.program.env, *word);
	if (!read_settings(&session))
		_exit(0);
	beside = __atomic_fetch_add(&running->now, 1, __ATOMIC_SEQ_CST);
	ever = __atomic_add_fetch(&running->ever, 1, __ATOMIC_SEQ_CST);
	if (session.fresh)
		forget_files();
	run(&session);
	whole = forward(&session);
	/* The runner has killed what the program left. If the client has gone, end the runner. */
	progress_kill();
	if (session.clean && !beside && check_clean(running, ever, words, sizeof(words)))
		wire_put(&session.wire, 0, FRAME_STATUS, line,
			 (size_t)snprintf(line, sizeof(line), "left %s\n", words));
	__atomic_fetch_sub(&running->now, 1, __ATOMIC_SEQ_CST);
	wire_put(&session.wire, 0, FRAME_STATUS, "end\n", 4);
	while (whole && bytes_left(&session.wire.out)) {
		struct pollfd wait = { session.wire.to, POLLOUT, 0 };

		poll(&wait, 1, -1);
		if (!wire_write(&session.wire))
			break;
	}
	_exit(0);
}
