/* SPDX-License-Identifier: MIT */
/* Compiled code on disk, for the next process that needs the same */
#ifndef MEMCAST_PTX_CACHE_H
#define MEMCAST_PTX_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "digest.h"

/* What a file holds: an object, and what it needs */
struct cached {
	uint32_t frame;			/* of the deepest stack; 0: unknown */
	char *names;			/* of functions and variables, each with a 0 behind it */
	uint32_t names_bytes;
	void *object;
	size_t object_bytes;
	void *memory;			/* of both, for free() */
};

/* Identifies this build of memcast-ptx.so. Return: false: nothing does */
bool cache_build(struct digest *digest);

/* Return: is there such a file, whole and only writable by this user? */
bool cache_load(const struct digest *key, struct cached *cached);

#define CACHE_NONE	-1
#define CACHE_TAKEN	-2		/* by another process, or thread, that makes the same */

/*
 * Return: for cache_store(), which writes the file, but with CACHE_NONE, and for cache_unlock()
 */
int cache_lock(const struct digest *key);
void cache_store(int lock, const struct digest *key, const struct cached *cached);
void cache_unlock(int lock);

#endif /* MEMCAST_PTX_CACHE_H */
