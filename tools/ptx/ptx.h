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
	bool windows;			/* it names functions of multicast objects */
	char *memory;			/* where address 0 of the file's is */
	void *mapped;
	uint64_t bytes;
	struct wrapper *wrappers;	/* what nvcc has put there for the runtime */
	uint32_t count;
	const char *relocatable;	/* fatbins of relocatable device code, which programs link */
	uint64_t relocatable_bytes;
	const void **parts;		/* of them: all, as a program collects them when it starts */
};

/* Return: NULL, or what is wrong. A file without device code has no wrappers. */
const char *file_load(struct file *file, const char *path);
void file_unload(struct file *file);
/* Is it to be compiled with others, not by itself? */
bool file_is_part(const struct file *file, const struct wrapper *wrapper);

/* ---- compile.c */

struct compiling {
	const struct ptx_object *object;
	uint32_t jobs;
	double until;			/* when to stop, in seconds of CLOCK_MONOTONIC; 0: never */
	bool shows;			/* how far it is */
	bool windows;			/* kernels may store to multicast objects' windows */
	uint32_t compiled, lacking;	/* functions so far */
	bool stopped;			/* by @until */
	bool incomplete;		/* a process that compiles ended before its time */
	bool wrong;			/* an image's PTX cannot be read or linked */
};

uint64_t variable_at(void *data, const char *name, uint32_t text, size_t bytes, size_t align);
void compile_image(struct compiling *all, const char *path, const struct image *image);

/* ---- show.c */

struct showing {
	const struct ptx_object *object;
	const char *kernel;		/* NULL: all */
	uint32_t count;			/* functions of that name so far */
	bool failed;
};

void show_image(struct showing *showing, const char *path, const struct image *image);

#endif /* MEMCAST_TOOLS_PTX_H */
