/* SPDX-License-Identifier: MIT */
/* What the files of memcast-vm's first process share. */
#ifndef VM_INIT_H
#define VM_INIT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>

/* How the program is to run */
struct vm_program {
	const char *cwd;
	unsigned int uid, gid;		/* who runs it */
	unsigned int groups[64], groups_count;
	bool host;			/* with the host's files, whose owners stay */
	bool input_tty, error_tty;
	struct winsize window;		/* no columns: no terminal */
	double timeout, limit;		/* of struct progress; 0: the host looks after it */
};

/* The program's end: what waitpid() says of it, or that time was up */
struct vm_result {
	int status;
	bool time_is_up;
	size_t out_bytes, err_bytes;	/* that it has written */
};

/* The ports that lead to the host */
struct vm_ports {
	int status, out, err, in, clock;
};

/* Tell the host something, in a line. */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Tell the host what is wrong with the machine, and end it. */
void fail(const char *what) __attribute__((noreturn));

/* All strings of a file, with a NULL after the last */
char **strings(const char *path);

/*
 * Make the host's files the root folder, as they are but for what is mounted from here
 * on; @writable: the folders that the program writes to on the host, NULL behind the last.
 */
void files_from_host(char *const *writable);

struct vm_result vm_run(const struct vm_program *program, const struct vm_ports *ports);

#endif /* VM_INIT_H */
