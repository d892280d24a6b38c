/* SPDX-License-Identifier: MIT */
/* From an address in translated code to the line of its text */
#ifndef MEMCAST_PTX_LINE_TABLE_H
#define MEMCAST_PTX_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_table;

struct ptx_code;

struct line_table *line_table_add(const void *bytes, size_t size, const char *name,
				  uintptr_t address, const struct ptx_code *of);
void line_table_remove(struct line_table *table);
void line_table_find(uintptr_t address, char *text, size_t size);
bool line_table_says(uintptr_t address, const char *word);

#endif /* MEMCAST_PTX_LINE_TABLE_H */
