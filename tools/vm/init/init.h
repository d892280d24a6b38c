/* SPDX-License-Identifier: MIT */
/* What the files of memcast-vm's first process share. */
#ifndef VM_INIT_H
#define VM_INIT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/types.h>

/* How the program is to run */
struct vm_program {
	char **argv, **env;
	const char *cwd;
	unsigned int uid, gid;		/* who runs it */
	unsigned int groups[64], groups_count;
	bool host;			/* with the host's files, whose owners stay */
	bool input_tty, error_tty;
	struct winsize window;		/* no columns: no terminal */
	double timeout, limit;		/* of struct progress; 0: the host looks after it */
	pid_t others;			/* whose processes are no part of it, or 0 */
};

/* The program's end: what waitpid() says of it, or that time was up */
struct vm_result {
	int status;
	bool time_is_up;
	size_t out_bytes, err_bytes;	/* that it has written */
};

/*
 * The ports that lead to the host. On the last come lines: the seconds that have counted
 * so far, "signal NUMBER" for the program, "size ROWSxCOLUMNS" of its terminal.
 */
struct vm_ports {
	int status, out, err, in, control;
};

/* Tell the host something, in a line. */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Tell the host what is wrong with the machine, and end it. */
void fail(const char *what) __attribute__((noreturn));

/* All strings of a file, with a NULL after the last */
char **strings(const char *path);
/* A list of them with one more at its end; NULL: an empty one. Return: where it is now */
char **append(char **list, char *word);

/*
 * Make the host's files the root folder, as they are but for what is mounted from here
 * on; @writable: the folders that the program writes to on the host, NULL behind the last.
 */
void files_from_host(char *const *writable);

struct vm_result vm_run(const struct vm_program *program, const struct vm_ports *ports);
/* Tell the host how it ended. */
void report_result(const struct vm_result *result);

/* From now on report() of this process writes there. */
void report_to(int fd);

/* control.c: read what there is on that port, and do it. @pid: the program, or 0 */
void vm_control(int port, pid_t pid, int terminal);

/* Programs that the host starts beside, or instead of, the first one; serve.c */
struct vm_serve {
	int port;
	double idle;		/* seconds without a program after which it ends, or 0: never */
	const struct vm_program *like;	/* a program is to run as this one does */
};

/* Return: the process that starts them */
pid_t vm_serve(const struct vm_serve *serve);
/* Wait for its end, where there is no other program. */
void vm_serve_wait(pid_t server, int control);

/* session.c: the program of one client, whose frames come through @fd; never returns */
struct vm_running {
	unsigned int now, ever;		/* programs */
};

void vm_session(int fd, const struct vm_serve *serve, struct vm_running *running)
	__attribute__((noreturn));

#endif /* VM_INIT_H */
