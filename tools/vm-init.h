/* SPDX-License-Identifier: MIT */
/* What the files of memcast-vm's first process share. */
#ifndef VM_INIT_H
#define VM_INIT_H

#include <stdbool.h>
#include <sys/ioctl.h>

/* How the program is to run */
struct vm_program {
	const char *cwd;
	bool root, input_tty, error_tty;
	struct winsize window;		/* no columns: no terminal */
};

/* Tell the host what is wrong with the machine, and end it. */
void fail(const char *what) __attribute__((noreturn));

/* All strings of a file, with a NULL after the last */
char **strings(const char *path);

/* Return: what waitpid() says of the program */
int vm_run(const struct vm_program *program, int in_port, int out_port, int err_port);

#endif /* VM_INIT_H */
