// SPDX-License-Identifier: MIT
/*
 * Runs a command, and ends it when it makes no progress by the rules of progress.h:
 * selftests in their machine and on the host, and QEMU itself.
 */
#include <argp.h>
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
#include "counter.h"
#include "progress.h"

#define MAX_FILES	8
#define NO_ROOM		123
#define TIME_IS_UP	124	/* as timeout(1) says it */

struct watch {
	char **command;
	struct progress progress;
	const char *files[MAX_FILES];
	off_t sizes[MAX_FILES];
	int file_count;
	const char *clock, *remove, *room, *smi;
	const char *begun;	/* a file that grows when the command begins; NULL: it has begun */
	double timeout, begin;	/* seconds without a sign of life: after the begin, and before */
	pid_t parent, child;
	int status;		/* the child's, from waitpid() */
	int output;		/* a pipe with the command's output; -1: none is passed on */
	int clock_fd, room_fd;
	double told;		/* the time that tell_clock() told last */
};

static volatile sig_atomic_t ended_by;
static sigset_t usual_mask;
static void (*usual_pipe)(int);

static void on_signal(int number)
{
	if (number != SIGCHLD)
		ended_by = number;
}

/* Signals come only while ppoll() waits, so that none comes just before and is missed. */
static void set_signals(void)
{
	static const int numbers[] = { SIGCHLD, SIGTERM, SIGINT, SIGHUP };
	const struct sigaction action = { .sa_handler = on_signal };
	struct sigaction before;
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		/* A shell has background processes ignore signals that are meant for others. */
		if (!sigaction(numbers[i], NULL, &before) && before.sa_handler == SIG_IGN &&
		    numbers[i] != SIGCHLD)
			continue;
		sigaction(numbers[i], &action, NULL);
		sigaddset(&mask, numbers[i]);
	}
	sigprocmask(SIG_BLOCK, &mask, &usual_mask);
	usual_pipe = signal(SIGPIPE, SIG_IGN);
}

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "vm-watch: %s: %s\n", what, strerror(errno));
	exit(125);
}

static void start(struct watch *watch)
{
	pid_t own = getpid();
	int ends[2] = { -1, -1 };

	if (!watch->file_count && pipe2(ends, O_CLOEXEC))
		die("pipe");
	watch->child = fork();
	if (watch->child < 0)
		die("fork");
	if (!watch->child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != own)
			_exit(125);
		/* Ctrl-C must not reach QEMU: vm-watch or the program in the machine gets it. */
		setsid();
		if (ends[1] >= 0)
			dup2(ends[1], 1);
		sigprocmask(SIG_SETMASK, &usual_mask, NULL);
		signal(SIGPIPE, usual_pipe);
		execvp(watch->command[0], watch->command);
		fprintf(stderr, "vm-watch: %s: %s\n", watch->command[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	if (ends[1] >= 0)
		close(ends[1]);
	watch->output = ends[0];
}

/* Passes some output on. Return: false at its end */
static bool pass_output(struct watch *watch)
{
	char buffer[65536];
	ssize_t done, got = read(watch->output, buffer, sizeof(buffer));

	if (got < 0)
		return errno == EINTR || errno == EAGAIN;
	for (ssize_t sent = 0; sent < got; sent += done) {
		done = write(1, buffer + sent, (size_t)(got - sent));
		if (done < 0 && errno == EINTR)
			done = 0;
		else if (done < 0)
			return false;
	}
	watch->progress.output = true;
	return got > 0;
}

static void note_growth(struct watch *watch)
{
	struct stat stat_now;

	for (int i = 0; i < watch->file_count; i++) {
		if (stat(watch->files[i], &stat_now) || stat_now.st_size == watch->sizes[i])
			continue;
		watch->sizes[i] = stat_now.st_size;
		watch->progress.output = true;
	}
}

/* Before a command has begun, a shorter silence tells that it hangs. */
static void choose_timeout(struct watch *watch)
{
	struct stat stat_now;
	bool begins = watch->begun && (stat(watch->begun, &stat_now) || !stat_now.st_size);

	if (!begins)
		watch->begun = NULL;
	watch->progress.timeout = begins && watch->begin < watch->timeout ? watch->begin :
									    watch->timeout;
}

/* Opens a file without a name, with which is_full() tries whether there is room. */
static int open_room(const char *folder)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/room.XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		die(folder);
	unlink(path);
	return fd;
}

/*
 * On a full disk QEMU tries to write for ever. To see a full disk, write to it: a question how
 * much room there is would miss quotas.
 */
static bool is_full(const struct watch *watch)
{
	static const char text[65536];
	bool full;

	if (watch->room_fd < 0)
		return false;
	full = pwrite(watch->room_fd, text, sizeof(text), 0) != sizeof(text);
	if (ftruncate(watch->room_fd, 0))
		die(watch->room);
	return full;
}

/* Tells the machine the time, unless the pipe is full of times that it has not read yet. */
static void tell_clock(struct watch *watch)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%.1f\n", watch->progress.now);

	if (watch->clock_fd < 0)
		return;
	if (write(watch->clock_fd, text, (size_t)length) < 0 && errno != EAGAIN)
		die(watch->clock);
}

static void remove_folder(const char *folder)
{
	pid_t pid = fork();

	if (!pid) {
		execlp("rm", "rm", "-rf", "--", folder, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

/* Says what is wrong, and where each thread is. */
static int time_is_up(struct watch *watch, enum verdict verdict)
{
	char words[160];

	progress_words(&watch->progress, verdict, words, sizeof(words));
	if (watch->parent) {
		fprintf(stderr, "%s %s\n", watch->command[0], words);
	} else {
		dprintf(1, "# %s %s\n", watch->command[0], words);
		explain(1, "# ", watch->smi);
	}
	return TIME_IS_UP;
}

/* Processes that the command leaves become children of this process: reap them, too. */
static bool has_ended(struct watch *watch)
{
	bool ended = false;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != watch->child)
			continue;
		watch->status = status;
		ended = true;
	}
	return ended;
}

static int run(struct watch *watch)
{
	const struct timespec second = { .tv_sec = 1 };
	enum verdict verdict;

	while (!has_ended(watch)) {
		struct pollfd wait = { .fd = watch->output, .events = POLLIN };

		if (ended_by)
			return 128 + ended_by;
		if (ppoll(&wait, 1, &second, &usual_mask) > 0 && !pass_output(watch)) {
			close(watch->output);
			watch->output = -1;
		}
		note_growth(watch);
		choose_timeout(watch);
		verdict = progress_check(&watch->progress);
		if (verdict == SPINS)
			time_is_up(watch, verdict);
		else if (verdict != GOES_ON)
			return time_is_up(watch, verdict);
		if (watch->told == watch->progress.now)
			continue;
		watch->told = watch->progress.now;
		tell_clock(watch);
		if (is_full(watch)) {
			fprintf(stderr, "no room is left in %s\n", watch->room);
			return NO_ROOM;
		}
	}
	return WIFSIGNALED(watch->status) ? 128 + WTERMSIG(watch->status) :
					    WEXITSTATUS(watch->status);
}

static const struct argp_option argp_options[] = {
	{ "timeout", 't', "SECONDS", 0, "end it after so long without a sign of life (60)", 0 },
	{ "begun", 'b', "FILE", 0, "the command has begun when something is in this file", 0 },
	{ "begin", 'B', "SECONDS", 0, "the --timeout until it has begun, if that is less (180)", 0 },
	{ "silence", 'q', "SECONDS", 0, "end it after so long without output, even if it works", 0 },
	{ "limit", 'l', "SECONDS", 0, "end it after so long, whatever it does", 0 },
	{ "file", 'f', "FILE", 0, "that this file grows is a sign of life, use of a processor "
	  "is none; may be repeated. The command's own output is not looked at", 0 },
	{ "clock", 'c', "FIFO", 0, "write there how many seconds have counted so far", 0 },
	{ "room", 'm', "FOLDER", 0, "end it when no room is left there", 0 },
	{ "smi", 's', "PROGRAM", 0, "memcast-smi, to show what a stuck command waits for", 0 },
	{ "parent", 'p', "PID", 0, "end with this parent, even if it is killed", 0 },
	{ "remove", 'r', "FOLDER", 0, "and remove this folder then", 0 },
	{ "counter-rate", 'C', NULL, 0, "print how fast the processor's time stamp counter runs, "
	  "in kHz, and end", 0 },
	{ 0 }
};

static double seconds(struct argp_state *state, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value > 0))
		argp_error(state, "'%s' is no number of seconds", text);
	return value;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct watch *watch = state->input;

	switch (key) {
	case 't':
		watch->timeout = seconds(state, arg);
		break;
	case 'b':
		watch->begun = arg;
		break;
	case 'B':
		watch->begin = seconds(state, arg);
		break;
	case 'q':
		watch->progress.silence = seconds(state, arg);
		break;
	case 'l':
		watch->progress.limit = seconds(state, arg);
		break;
	case 'f':
		if (watch->file_count == MAX_FILES)
			argp_error(state, "%d files at most", MAX_FILES);
		watch->files[watch->file_count++] = arg;
		watch->progress.output_only = true;
		break;
	case 'c':
		watch->clock = arg;
		break;
	case 'm':
		watch->room = arg;
		break;
	case 's':
		watch->smi = arg;
		break;
	case 'p':
		watch->parent = atoi(arg);
		break;
	case 'r':
		watch->remove = arg;
		break;
	case 'C':
		printf("%.0f\n", counter_rate());
		exit(0);
	case ARGP_KEY_ARGS:
		watch->command = state->argv + state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse,
		.args_doc = "COMMAND [ARGUMENT…]",
		.doc = "Runs COMMAND until it ends or does not get on any more. A sign of life "
		       "is output, or at least a twentieth of a processor used; time does not "
		       "count in which COMMAND wanted a processor and others had it."
		       "\vExit status: COMMAND's, 128+N if signal N ended it, 124 if time was "
		       "up, 123 if no room was left. What COMMAND left running gets "
		       "SIGTERM, and SIGKILL two seconds later; with --parent, SIGKILL at once.",
	};
	struct watch watch = {
		.timeout = 60, .begin = 180,
		.clock_fd = -1, .room_fd = -1,
	};
	int result;

	argp_err_exit_status = 125;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &watch);
	set_signals();
	if (watch.parent) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != watch.parent)
			ended_by = SIGTERM;
	}
	if (watch.clock) {
		/* Opened for reading, too, as there may be no reader yet. */
		watch.clock_fd = open(watch.clock, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		if (watch.clock_fd < 0)
			die(watch.clock);
	}
	if (watch.room)
		watch.room_fd = open_room(watch.room);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	start(&watch);
	progress_start(&watch.progress);
	result = run(&watch);
	/* With a parent the command is QEMU, which need not tidy up, and would print a message. */
	if (watch.parent ? progress_kill() : progress_end())
		while (watch.output >= 0 && pass_output(&watch))
			;
	else
		fprintf(stderr, "vm-watch: processes of %s are still there, and cannot be killed\n",
			watch.command[0]);
	if (watch.parent && getppid() != watch.parent && watch.remove)
		remove_folder(watch.remove);
	return result;
}
