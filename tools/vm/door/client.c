// SPDX-License-Identifier: MIT
/*
 * Runs a program in a running machine, with this process's input, output, errors and status:
 *
 *	vm-door run NAME SETTINGS BEGAN [ARGUMENT…]
 *
 * SETTINGS is a file with "KEY=VALUE" strings, a NUL behind each, of session.c's keys: it
 * has the environment, which other users must not read, while they can read a process's
 * arguments. BEGAN is a file that is made when the program starts, or "". With BEGAN this
 * process ends with its parent.
 *
 * Input is read once the program runs: if the machine ends before, no input is lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "door.h"
#include "vm/wire/wire.h"

/* Output that has come and is not written yet */
struct sink {
	int fd;
	enum frame_type type;
	struct bytes bytes;
	int broken;		/* errno */
};

struct client {
	struct wire wire;
	struct sink output, errors;
	size_t window;		/* bytes of input that may be sent */
	bool reads, terminal, started, ended;
	const char *began;
	pid_t parent;		/* 0: this process outlives its parent */
	struct bytes lines;	/* of the status: the part that is no whole line yet */
	int status;		/* -1: the machine has not said it */
	bool sent[NSIG];
	bool left;		/* the program left objects in the module */
};

static volatile sig_atomic_t signals[NSIG], resized;
static sigset_t usual_mask;

static void on_signal(int number)
{
	if (number == SIGWINCH)
		resized = 1;
	else
		signals[number]++;
}

static void set_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH };
	const struct sigaction action = { .sa_handler = on_signal };
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sigaction(numbers[i], &action, NULL);
		sigaddset(&mask, numbers[i]);
	}
	/* Signals come only while ppoll() waits, so that none comes just before and is missed. */
	sigprocmask(SIG_BLOCK, &mask, &usual_mask);
	signal(SIGPIPE, SIG_IGN);
}

static void setting_word(struct client *client, const char *word)
{
	size_t length = strlen(word);

	for (; length > WIRE_MOST; word += WIRE_MOST, length -= WIRE_MOST)
		wire_put(&client->wire, 0, FRAME_PART, word, WIRE_MOST);
	wire_put(&client->wire, 0, FRAME_SETTING, word, length);
}

static void setting(struct client *client, const char *key, const char *value)
{
	char *word;

	if (asprintf(&word, "%s=%s", key, value) < 0)
		abort();
	setting_word(client, word);
	free(word);
}

static void control(struct client *client, const char *format, const char *word, int number)
{
	char line[64];
	int length = snprintf(line, sizeof(line), format, word, number);

	wire_put(&client->wire, 0, FRAME_CONTROL, line, (size_t)length);
}

static bool is_orphan(const struct client *client)
{
	return client->parent && getppid() != client->parent;
}

/* Removes a killed parent's folder, which has the one file @began. */
static void remove_folder(const char *began)
{
	char *folder = strdup(began), *slash = folder ? strrchr(folder, '/') : NULL;

	unlink(began);
	if (slash) {
		*slash = '\0';
		rmdir(folder);
	}
	free(folder);
}

/*
 * The first signal goes to the program; the second ends the program and this process. If the
 * program has not started, or this process's parent was killed, the first one does that.
 */
static void pass_signals(struct client *client)
{
	bool alone = !client->started || is_orphan(client);
	char size[32];

	for (int number = 1; number < NSIG; number++) {
		if (signals[number] > 1 || (signals[number] && alone)) {
			terminal_restore();
			if (is_orphan(client))
				remove_folder(client->began);
			_exit(128 + number);
		}
		if (signals[number] && !client->sent[number])
			control(client, "%s %d\n", "signal", number);
		client->sent[number] = signals[number];
	}
	if (resized && terminal_size(size, sizeof(size)))
		control(client, "size %s\n", size, 0);
	resized = 0;
}

static void status_line(struct client *client, const char *line)
{
	int number;

	if (!strcmp(line, "start")) {
		client->started = true;
		if (client->terminal)
			terminal_raw();
		if (client->began)
			close(open(client->began, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	} else if (sscanf(line, "exit %d", &number) == 1) {
		client->status = number;
	} else if (sscanf(line, "signal %d", &number) == 1) {
		fprintf(stderr, "memcast-vm: signal %d ended the program (%s)\n", number,
			sigabbrev_np(number) ?: "?");
		client->status = 128 + number;
	} else if (!strncmp(line, "timeout ", 8)) {
		fprintf(stderr, "memcast-vm: time was up: %s; --timeout and --limit give more\n",
			line + 8);
		client->status = 124;
	} else if (!strncmp(line, "error ", 6)) {
		fprintf(stderr, "memcast-vm: %s\n", line + 6);
		client->status = 125;
	} else if (!strncmp(line, "left ", 5) && strcmp(line + 5, "nothing")) {
		fprintf(stderr, "memcast-vm: what the program had of memcast is not all free "
			"again: %s\n", line + 5);
		client->left = true;
	} else if (!strcmp(line, "end")) {
		client->ended = true;
	}
}

static void status_lines(struct client *client, const char *data, size_t length)
{
	char *end;

	bytes_add(&client->lines, data, length);
	while ((end = memchr(client->lines.data + client->lines.start, '\n',
			     bytes_left(&client->lines)))) {
		*end = '\0';
		status_line(client, client->lines.data + client->lines.start);
		client->lines.start = (size_t)(end + 1 - client->lines.data);
	}
}

static void from_machine(struct client *client)
{
	struct taken taken;
	struct frame frame;
	const char *data;

	while (wire_next(&client->wire, &frame, &data)) {
		switch (frame.type) {
		case FRAME_OUTPUT:
			bytes_add(&client->output.bytes, data, frame.length);
			break;
		case FRAME_ERRORS:
			bytes_add(&client->errors.bytes, data, frame.length);
			break;
		case FRAME_STATUS:
			status_lines(client, data, frame.length);
			break;
		case FRAME_TAKEN:
			memcpy(&taken, data, sizeof(taken));
			client->window += taken.bytes;
			break;
		}
	}
}

static void write_out(struct client *client, struct sink *sink)
{
	ssize_t done = bytes_write(&sink->bytes, sink->fd, PIPE_BUF);
	struct taken taken = { sink->type, (uint32_t)done };

	if (done < 0) {
		sink->broken = errno;
		return;
	}
	wire_put(&client->wire, 0, FRAME_TAKEN, &taken, sizeof(taken));
}

static void read_in(struct client *client)
{
	static char buffer[WIRE_MOST];
	size_t most = client->window < sizeof(buffer) ? client->window : sizeof(buffer);
	ssize_t got = read(0, buffer, most);

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0)
		client->reads = false;
	wire_put(&client->wire, 0, FRAME_INPUT, buffer, got > 0 ? (size_t)got : 0);
	client->window -= got > 0 ? (size_t)got : 0;
}

static int wait_for(struct client *client)
{
	struct sink *sinks[] = { &client->output, &client->errors };
	bool goes_on = true;

	while (goes_on || bytes_left(&client->output.bytes) || bytes_left(&client->errors.bytes)) {
		struct pollfd polls[5] = {
			{ goes_on ? client->wire.from : -1, POLLIN, 0 },
			{ bytes_left(&client->wire.out) ? client->wire.to : -1, POLLOUT, 0 },
			{ client->started && client->reads && client->window ? 0 : -1, POLLIN, 0 },
			{ bytes_left(&client->output.bytes) ? 1 : -1, POLLOUT, 0 },
			{ bytes_left(&client->errors.bytes) ? 2 : -1, POLLOUT, 0 },
		};

		ppoll(polls, 5, NULL, &usual_mask);
		pass_signals(client);
		if (polls[0].revents) {
			goes_on = wire_read(&client->wire);
			from_machine(client);
		}
		if (polls[2].revents)
			read_in(client);
		for (int i = 0; i < 2; i++) {
			if (polls[3 + i].revents)
				write_out(client, sinks[i]);
			if (sinks[i]->broken == EPIPE) {
				fputs("memcast-vm: nobody reads the output any more; stopped\n",
				      stderr);
				return 141;
			}
			if (sinks[i]->broken)
				die("the output could not be written: %s",
				    strerror(sinks[i]->broken));
		}
		/* If it fails, the other side has closed; what it wrote before is still to be read. */
		wire_write(&client->wire);
		if (client->ended && !bytes_left(&client->output.bytes) &&
		    !bytes_left(&client->errors.bytes)) {
			if (client->status < 0)
				die("the machine does not say how the program ended");
			return client->left ? 126 : client->status;
		}
	}
	fprintf(stderr, "memcast-vm: the machine has ended%s\n",
		client->started ? ", and the program with it" : " before the program could start");
	return 125;
}

static void settings(struct client *client, int argc, char **argv)
{
	FILE *file = fopen(argv[0], "re");
	char size[32], *word = NULL;
	struct stat output, errors;
	size_t room = 0;

	if (!file)
		die("%s: %s", argv[0], strerror(errno));
	while (getdelim(&word, &room, 0, file) > 0)
		setting_word(client, word);
	free(word);
	fclose(file);
	client->began = *argv[1] ? argv[1] : NULL;
	for (int i = 2; i < argc; i++)
		setting(client, "arg", argv[i]);
	if (isatty(1))
		setting(client, "tty", terminal_size(size, sizeof(size)) ? size : "24x80");
	if (!fstat(1, &output) && !fstat(2, &errors) && output.st_dev == errors.st_dev &&
	    output.st_ino == errors.st_ino)
		setting(client, "merged", "");
	/* Only a process group in the foreground of a terminal may read from it. */
	client->reads = !isatty(0);
	if (terminal_is_ours() && isatty(1)) {
		setting(client, "input_tty", "");
		client->reads = client->terminal = true;
	}
	wire_put(&client->wire, 0, FRAME_START, NULL, 0);
	if (!client->reads)
		wire_put(&client->wire, 0, FRAME_INPUT, NULL, 0);
}

int client_run(int argc, char **argv)
{
	struct client client = {
		.output = { .fd = 1, .type = FRAME_OUTPUT },
		.errors = { .fd = 2, .type = FRAME_ERRORS },
		.window = WIRE_WINDOW,
		.status = -1,
	};
	int fd;

	if (argc < 4)
		return 2;
	fd = names_connect(argv[1]);
	if (fd < 0)
		die("no machine named %s runs; memcast-vm ps shows those that do", argv[1]);
	client.wire = wire_new(fd, fd);
	settings(&client, argc - 2, argv + 2);
	set_signals();
	if (client.began) {
		client.parent = getppid();
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	}
	return wait_for(&client);
}
