/* SPDX-License-Identifier: MIT */
#ifndef VM_PLACE_H
#define VM_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * Where a thread that runs is: a line each, "function+0x1c (libx.so.1)", for the instruction and
 * for what is likely to have called it. The thread stops for a moment. It prints nothing if this
 * process may not trace it.
 */
void place_print(FILE *to, pid_t pid, pid_t tid);

/* ---- of the processor's kind: x86/registers.c, arm64/registers.c */

/* Reads a stopped thread's registers. */
bool registers_read(pid_t tid, uintptr_t *instruction, uintptr_t *stack);

/* Do the 8 bytes before an address end with a call? */
bool is_behind_call(const unsigned char before[8]);

#endif /* VM_PLACE_H */
