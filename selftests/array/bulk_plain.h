/* SPDX-License-Identifier: MIT */
/* What bulk functions do, one element after the other, as plainly as can be. */
#ifndef BULK_PLAIN_H
#define BULK_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cuda.h>
#include <memcast/bulk.h>

struct type {
	const char *name;
	enum memcast_element element;
	size_t width;
	bool is_float;
};

extern const struct type types[8];
extern const char *const op_names[6];

/* Before the value of an f16 is asked for */
void fill_f16(void);

/* The value of a float in @bits; all of them are doubles, too. */
double value_of(enum memcast_element element, uint64_t bits);

/* Every NaN gives the same. */
uint32_t bits_of_f32(float value);
uint64_t bits_of_f64(double value);

uint64_t element_at(const struct type *type, const unsigned char *at);

/* The elements at @at of all @places, in their order */
uint64_t reduce(const struct type *type, enum memcast_op op,
		unsigned char *const *places, unsigned int count, size_t at);

uint64_t random_bits(uint64_t *state);

/*
 * Bits of all kinds: special floats, floats near each other, so that sums have
 * something to round, and anything. @tame: of floats, only those near each other.
 */
void fill_element(const struct type *type, unsigned char *at, uint64_t *state, bool tame);

#endif /* BULK_PLAIN_H */
