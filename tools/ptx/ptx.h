/* SPDX-License-Identifier: MIT */
/* Device code of programs and libraries, and what compiles it */
#ifndef MEMCAST_TOOLS_PTX_H
#define MEMCAST_TOOLS_PTX_H

#include <stdbool.h>
#include <stdint.h>

#include "image/image.h"

/* ---- file.c */

/* A program or library in memory, as a loader puts it there */
struct file {
	const char *path;
	char *memory;			/* where address 0 of the file's is */
	void *mapped;
	uint64_t bytes;
	const struct wrapper *wrappers;	/* what nvcc has put there for the runtime */
	uint32_t count;
};

/* Return: NULL, or what is wrong. A file without device code has no wrappers. */
const char *file_load(struct file *file, const char *path);
void file_unload(struct file *file);

/* ---- compile.c */

struct compiling {
	const struct ptx_object *object;
	uint32_t jobs;
	double until;			/* when to stop, in seconds of CLOCK_MONOTONIC; 0: never */
	bool quiet;
	uint32_t compiled, lacking;	/* functions so far */
	bool stopped;			/* by @until */
};

double now(void);
void compile_image(struct compiling *all, const char *path, const struct image *image);

#endif /* MEMCAST_TOOLS_PTX_H */
