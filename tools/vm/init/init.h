/* SPDX-License-Identifier: MIT */
/* Shared by the files of memcast-vm's first process. */
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
	unsigned int uid, gid;		/* the user who runs it */
	unsigned int groups[64], groups_count;
	bool host;			/* with the host's files, whose owners do not change */
	bool input_tty;
	bool merged;			/* errors go where the output goes */
	struct winsize window;		/* no columns: no terminal */
	double timeout, limit;		/* of struct progress; 0: the host applies limits */
	pid_t others;			/* a process that does not count, nor its children; or 0 */
};

/* The program's end: what waitpid() says of it, or that time was up */
struct vm_result {
	int status;
	bool time_is_up;
	size_t out_bytes, err_bytes;	/* that it has written */
};

/*
 * The ports that lead to the host. Lines come on the last one: the seconds that have counted
 * so far, "signal NUMBER" for the program, "size ROWSxCOLUMNS" of its terminal.
 */
struct vm_ports {
	int status, out, err, in, control;
};

/* x86/end.c, arm64/end.c: ends QEMU */
void end_machine(void);

/* Tell the host something, in a line. */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Tell the host what is wrong with the machine, and end it. */
void fail(const char *what) __attribute__((noreturn));

/* All strings of a file, with a NULL after the last */
char **strings(const char *path);
/* Adds a string at the end of such a list, or of an empty one, NULL. Return: the new list */
char **append(char **list, char *word);

/*
 * Make the host's files the root folder, with the file systems of this machine mounted in it.
 * @writable: folders that the program writes to on the host, NULL behind the last
 */
void files_from_host(char *const *writable);

/* Sets what a setting of the first program's, or of a client's, means. */
void set_program(struct vm_program *program, const char *key, char *value);
struct vm_result vm_run(const struct vm_program *program, const struct vm_ports *ports);
/* Tell the host how the program ended. */
void report_result(const struct vm_result *result);

/* From now on report() of this process writes to @fd. */
void report_to(int fd);

/* control.c: read lines from that port, and obey them. @pid: the program, or 0 */
void vm_control(int port, pid_t pid, int terminal);

/* Programs that clients start beside, or instead of, the first one; serve.c */
struct vm_serve {
	int port;
	double idle;		/* seconds without a program that end the server; 0: never */
	const struct vm_program *like;	/* the first program: others begin with its settings */
};

/* Return: the server, a process that starts programs */
pid_t vm_serve(const struct vm_serve *serve);
/* Wait for the server's end, in a machine without a first program. */
void vm_serve_wait(pid_t server, int control);

/* session.c: the program of one client, whose frames come through @fd; never returns */
struct vm_running {
	unsigned int now, ever;		/* programs */
};

void vm_session(int fd, const struct vm_serve *serve, struct vm_running *running)
	__attribute__((noreturn));

#endif /* VM_INIT_H */
