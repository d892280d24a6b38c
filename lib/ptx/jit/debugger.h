/* SPDX-License-Identifier: MIT */
/* What gdb and perf know of compiled code: both are told if the user asks for it. */
#ifndef MEMCAST_PTX_DEBUGGER_H
#define MEMCAST_PTX_DEBUGGER_H

#include <stddef.h>
#include <stdint.h>

struct ptx_code;
struct gdb_entry;

/*
 * Tells gdb of an object whose code lies at @text: MEMCAST_PTX_GDB. Return: for gdb_remove(),
 * before the code is gone; NULL: there is no memory
 */
struct gdb_entry *gdb_add(const void *object, size_t size, uintptr_t text);
void gdb_remove(struct gdb_entry *entry);

/* Tells perf the names of an object's functions: MEMCAST_PTX_PERF. */
void perf_add(const struct ptx_code *code, const void *object, size_t size, uintptr_t text);

#endif /* MEMCAST_PTX_DEBUGGER_H */
