/* SPDX-License-Identifier: MIT */
/* A plain model of the bulk functions, one element after the other */
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

/* Must come before value_of() and reduce() of an f16. */
void fill_f16(void);

/* Return: the value of the float @bits; a double holds the values of all types. */
double value_of(enum memcast_element element, uint64_t bits);

/* All NaNs have the same bits here, as bulk functions have it. */
uint32_t bits_of_f32(float value);
uint64_t bits_of_f64(double value);

uint64_t element_at(const struct type *type, const unsigned char *at);

/* Return: the reduction of the elements at @at of all @places, in the order of the places */
uint64_t reduce(const struct type *type, enum memcast_op op,
		unsigned char *const *places, unsigned int count, size_t at);

uint64_t random_bits(uint64_t *state);

/*
 * Fills in a special float, a float of about the others' size, so that sums are rounded, or random
 * bits. @tame: only floats of about the same size, if the type is a float.
 */
void fill_element(const struct type *type, unsigned char *at, uint64_t *state, bool tame);

#endif /* BULK_PLAIN_H */
