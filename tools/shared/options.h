/* SPDX-License-Identifier: MIT */
/* Numbers on the command line; a wrong one ends the program with its usage. */
#ifndef MEMCAST_TOOLS_OPTIONS_H
#define MEMCAST_TOOLS_OPTIONS_H

#include <argp.h>
#include <stddef.h>

#define TOOLS_VERSION(program)	program " (memcast) " MEMCAST_VERSION

/* Bytes, with K, M or G for powers of 1024. */
size_t size_option(struct argp_state *state, const char *text, size_t min);

/* A plain number; count_option(): up to 2^31 - 1 */
size_t range_option(struct argp_state *state, const char *text, size_t min, size_t max);
size_t count_option(struct argp_state *state, const char *text, size_t min);

#endif /* MEMCAST_TOOLS_OPTIONS_H */
