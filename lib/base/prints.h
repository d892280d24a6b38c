/* SPDX-License-Identifier: MIT */
/*
 * What kernels have printed. As on hardware it waits in a buffer, and comes out when the program
 * waits for a stream, an event or a context, ends a context, copies, launches a kernel or loads a
 * module, and before a stream's callback.
 */
#ifndef MEMCAST_PRINTS_H
#define MEMCAST_PRINTS_H

#include <stddef.h>

/* Adds a text; the oldest ones go while all together have more than @limit bytes. */
void prints_add(const char *text, size_t bytes, size_t limit);
void prints_flush(void);

#endif /* MEMCAST_PRINTS_H */
