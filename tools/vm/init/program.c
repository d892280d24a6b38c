// SPDX-License-Identifier: MIT
/* Runs a program in memcast-vm's virtual machine, and passes its input and output on. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "init.h"
#include "vm/watch/progress.h"

#define SMI	"/memcast-vm/memcast-smi"
#define ALIVE	20.0	/* seconds between signs of life to the host, which waits for longer */

void set_program(struct vm_program *program, const char *key, char *value)
{
	if (!strcmp(key, "cwd") && (program->host || !access(value, X_OK)))
		program->cwd = value;
	else if (!strcmp(key, "root"))
		program->uid = program->gid = program->groups_count = 0;
	else if (!strcmp(key, "input_tty"))
		program->input_tty = true;
	else if (!strcmp(key, "merged"))
		program->merged = true;
	else if (!strcmp(key, "tty"))
		sscanf(value, "%hux%hu", &program->window.ws_row, &program->window.ws_col);
	else if (!strcmp(key, "timeout"))
		program->timeout = atof(value);
	else if (!strcmp(key, "limit"))
		program->limit = atof(value);
}

static void __attribute__((noreturn)) run_program(const struct vm_program *program,
						  int in, int out, int err)
{
	setsid();
	if (isatty(out))
		ioctl(out, TIOCSCTTY, 0);
	dup2(in, 0);
	dup2(out, 1);
	dup2(err, 2);
	if (program->uid && (setgroups(program->groups_count, program->groups) ||
			     setgid(program->gid) || setuid(program->uid)))
		_exit(126);
	if (chdir(program->cwd))
		dprintf(2, "memcast-vm: cannot enter %s: %s\n",
			program->cwd, strerror(errno));
	environ = program->env;
	execvp(program->argv[0], program->argv);
	dprintf(2, "memcast-vm: cannot run %s: %s\n", program->argv[0], strerror(errno));
	_exit(127);
}

/* Data on the way from the program to the host, or back */
struct flow {
	int from, to;
	size_t bytes;		/* that were read from @from */
};

static bool pump(struct flow *flow)
{
	char buffer[65536];
	ssize_t done, got = read(flow->from, buffer, sizeof(buffer));

	if (got < 0 && errno == EINTR)
		return true;
	if (got > 0)
		flow->bytes += (size_t)got;
	for (ssize_t sent = 0; got > 0 && sent < got; sent += done) {
		done = write(flow->to, buffer + sent, got - sent);
		if (done < 0)
			return false;
	}
	return got > 0;
}

static void time_is_up(const struct progress *progress, enum verdict verdict, int err_port,
		       char **env)
{
	char words[160];

	progress_words(progress, verdict, words, sizeof(words));
	dprintf(err_port, "memcast-vm: %sthe program %s\n",
		verdict == SPINS ? "" : "time is up: ", words);
	/* memcast-smi finds its libraries by the program's environment. */
	environ = env;
	explain(err_port, "memcast-vm: ", SMI);
	if (verdict == SPINS)
		return;
	report("timeout the program %s\n", words);
	if (!progress_kill())
		dprintf(err_port, "memcast-vm: some of these processes cannot be killed\n");
}

/* Kills all processes that the program left: for the machine's first process, all but itself. */
static void kill_rest(void)
{
	if (getpid() == 1)
		kill(-1, SIGKILL);
	else
		progress_kill();
}

/*
 * Passes the program's output on until it has ended and all of it is passed on.
 * Processes that it left running are killed, as at the end of a container.
 */
static struct vm_result forward(pid_t program, struct flow *out, struct flow *err, int control,
				char **env, struct progress *progress)
{
	struct vm_result result = { 0 };
	double told = 0;
	pid_t pid;
	int status;

	while (program || out->from >= 0 || err->from >= 0) {
		enum verdict verdict = GOES_ON;
		struct pollfd polls[] = {
			{ .fd = out->from, .events = POLLIN },
			{ .fd = err->from, .events = POLLIN },
			{ .fd = control, .events = POLLIN },
		};

		poll(polls, 3, 50);
		progress->output |= polls[0].revents || polls[1].revents;
		if (polls[0].revents && !pump(out))
			out->from = -1;
		if (polls[1].revents && !pump(err))
			err->from = -1;
		if (polls[2].revents)
			vm_control(control, program, out->from);
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			if (pid != program)
				continue;
			result.status = status;
			program = 0;
			kill_rest();
		}
		if (progress->timeout)
			verdict = progress_check(progress);
		if (verdict != GOES_ON) {
			time_is_up(progress, verdict, err->to, env);
			result.time_is_up = verdict != SPINS;
			if (result.time_is_up)
				return result;
		}
		if (progress->sign - told > ALIVE) {
			told = progress->sign;
			report("alive\n");
		}
	}
	while (wait(NULL) > 0)
		;
	result.out_bytes = out->bytes;
	result.err_bytes = err->bytes;
	return result;
}

static void make_pty(int pair[2], const struct winsize *window)
{
	struct termios settings;

	if (openpty(&pair[0], &pair[1], NULL, NULL, window))
		fail("openpty");
	fcntl(pair[0], F_SETFD, FD_CLOEXEC);
	fcntl(pair[1], F_SETFD, FD_CLOEXEC);
	/* The host's terminal turns line ends into CR LF already. */
	tcgetattr(pair[1], &settings);
	settings.c_oflag &= ~OPOST;
	tcsetattr(pair[1], TCSANOW, &settings);
}

struct vm_result vm_run(const struct vm_program *program, const struct vm_ports *ports)
{
	struct progress progress = {
		.timeout = program->timeout, .limit = program->limit, .others = program->others,
	};
	int in[2], out[2], err[2];
	uid_t uid = program->uid, gid = program->gid;
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		fail("pipe");
	if (program->window.ws_col)
		make_pty(out, &program->window);
	/* The program may write in its folder, and a script may open /dev/stderr. */
	if ((!program->host && getpid() == 1 && chown(program->cwd, uid, gid)) ||
	    fchown(in[0], uid, gid) || fchown(out[1], uid, gid) || fchown(err[1], uid, gid))
		fail("fchown");

	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid)
		run_program(program, program->input_tty ? out[1] : in[0], out[1],
			    program->merged ? out[1] : err[1]);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	/* Another process writes the input: a program that does not read must not block output. */
	if (!fork()) {
		struct flow input = { ports->in, program->input_tty ? out[0] : in[1], 0 };

		while (pump(&input))
			;
		_exit(0);
	}
	close(in[1]);
	progress_start(&progress);
	return forward(pid, &(struct flow){ out[0], ports->out, 0 },
		       &(struct flow){ err[0], ports->err, 0 }, ports->control, program->env,
		       &progress);
}

void report_result(const struct vm_result *result)
{
	/* If time was up, the host knows already. */
	if (result->time_is_up)
		return;
	if (WIFSIGNALED(result->status))
		report("signal %d\n", WTERMSIG(result->status));
	else
		report("exit %d\n", WEXITSTATUS(result->status));
	report("bytes %zu %zu\n", result->out_bytes, result->err_bytes);
}
