/* SPDX-License-Identifier: MIT */
/* Test data that differ per rank and seed, and a check of their sum. */
#ifndef MEMCAST_TOOLS_PATTERN_H
#define MEMCAST_TOOLS_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "shared/team.h"

/* Writes the @count elements of @rank; f32 are in [-1, 1). */
void pattern_fill(const struct element *element, void *to, size_t count,
		  unsigned int rank, uint32_t seed);

/*
 * Counts the elements of @from, @count of them from number @start on, that are not the sum of
 * pattern_fill()'s elements of @ranks ranks from @first on. Integers must be equal, modulo their
 * size. f32 may be off by (ranks - 1) * 2^-24 * (sum of absolute values): the largest error of
 * adding them one by one, with each sum rounded to nearest.
 */
uint64_t pattern_check(const struct element *element, const void *from, size_t start,
		       size_t count, unsigned int first, unsigned int ranks, uint32_t seed);

#endif /* MEMCAST_TOOLS_PATTERN_H */
