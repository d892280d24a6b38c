/* SPDX-License-Identifier: MIT */
/* The table of functions.def. This header does without cuda.h; functions.c says why. */
#ifndef MEMCAST_ENTRY_H
#define MEMCAST_ENTRY_H

#include <stdbool.h>
#include <stddef.h>

struct function {
	const char *symbol;
	int version;
	void (*entry)(void);
};

extern const struct function functions[];
extern const size_t functions_count;

/* entry.c */
bool function_has_name(const char *symbol, const char *name);
/* logs that an unsupported function was called from @caller, and returns its result */
int function_unsupported(const char *symbol, const char *lacking, const void *caller);

/* table.c */
void table_refused(const void *caller);

#endif /* MEMCAST_ENTRY_H */
