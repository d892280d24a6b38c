/* SPDX-License-Identifier: MIT */
/* Shared by the files of vm-door, the host's side of programs in running machines. */
#ifndef VM_DOOR_H
#define VM_DOOR_H

#include <stdbool.h>
#include <stddef.h>

/* names.c: the folder with a socket for each machine, named like it, for one user alone */
const char *names_folder(void);
bool names_valid(const char *name);
/* Return: an fd, or -1 if there is no such machine (any more) */
int names_connect(const char *name);
/* Return: an fd, or -1 if a machine has the name. The socket of a killed machine is replaced. */
int names_listen(const char *name);
void names_remove(const char *name);

/* Each function is a command of vm-door: see door.c. */
int door_serve(int argc, char **argv);
int client_run(int argc, char **argv);
int input_pump(int argc, char **argv);
int machines_list(int argc, char **argv);

/* list.c. Return: false, too, if there is no such machine */
bool machine_is_reused(const char *name);

void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...);

/* terminal.c: the terminal of this process's input and output */
bool terminal_is_ours(void);		/* this process is in its foreground, so it may read */
void terminal_raw(void);		/* until this process ends */
void terminal_restore(void);
bool terminal_size(char *words, size_t size);	/* "ROWSxCOLUMNS" */

#endif /* VM_DOOR_H */
