/* SPDX-License-Identifier: MIT */
/*
 * A number of 128 bits for bytes, which tells texts apart. It is no cryptographic hash: whoever may
 * write to the cache may run code as its user anyway.
 */
#ifndef MEMCAST_PTX_DIGEST_H
#define MEMCAST_PTX_DIGEST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct digest {
	uint64_t part[2];
};

static inline uint64_t digest_mix(uint64_t value, uint64_t word, uint64_t factor)
{
	value = (value ^ word) * factor;
	return value ^ value >> 29;
}

/* Adds bytes and their number. */
static inline void digest_add(struct digest *digest, const void *bytes, size_t size)
{
	const char *at = bytes;

	for (size_t left = size, take; left; left -= take, at += take) {
		uint64_t word = 0;

		take = left < sizeof(word) ? left : sizeof(word);
		memcpy(&word, at, take);
		digest->part[0] = digest_mix(digest->part[0], word, 0x9e3779b97f4a7c15);
		digest->part[1] = digest_mix(digest->part[1] + digest->part[0], word,
					     0xc2b2ae3d27d4eb4f);
	}
	digest->part[0] = digest_mix(digest->part[0], size, 0xff51afd7ed558ccd);
	digest->part[1] = digest_mix(digest->part[1] + digest->part[0], size, 0xc4ceb9fe1a85ec53);
}

#endif /* MEMCAST_PTX_DIGEST_H */
