/* SPDX-License-Identifier: MIT */
/* The table of functions.def; apart from cuda.h, see functions.c. */
#ifndef MEMCAST_FUNCTIONS_H
#define MEMCAST_FUNCTIONS_H

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
/* what a function that is not supported does */
int function_unsupported(const char *symbol, const char *lacking);

#endif /* MEMCAST_FUNCTIONS_H */
