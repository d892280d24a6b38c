/* SPDX-License-Identifier: MIT */
/*
 * Products of matrices that a warp has in its lanes' registers, its *fragments*.
 *
 * All shapes have one layout, that of mma.sync: a register of 32 bits has a few elements of a row
 * of A, or of a column of B; four lanes have what is next to each other, eight groups of four lanes
 * the rows. What more there is follows in further registers: rows 8 to 15, columns, then tiles.
 */
#ifndef MEMCAST_PTX_MATRIX_H
#define MEMCAST_PTX_MATRIX_H

#include <stdint.h>

enum matrix_type {
	MATRIX_F16, MATRIX_BF16, MATRIX_TF32, MATRIX_E4M3, MATRIX_E5M2, MATRIX_F64, MATRIX_S8,
	MATRIX_U8, MATRIX_S4, MATRIX_U4, MATRIX_B1, MATRIX_F32, MATRIX_S32, MATRIX_TYPES,
};

enum matrix_operation { MATRIX_MULTIPLY, MATRIX_XOR, MATRIX_AND };
enum matrix_part { MATRIX_A, MATRIX_B, MATRIX_C };

/* An instruction, as a number that generated code passes */
struct matrix {
	uint64_t m : 6, n : 6, k : 9, a : 4, b : 4, c : 4, d : 4, operation : 2, saturate : 1,
		 quads : 1,		/* mma.m8n8k4 of f16: a product for each eight lanes */
		 a_column : 1, b_column : 1,	/* of those, and of matrices in memory */
		 sparse : 1,		/* mma.sp: lanes bring half of A, and its places in rows */
		 selector : 2,		/* which lanes of four bring the latter */
		 part : 2,		/* of wmma.load and wmma.store */
		 mode : 2;		/* enum round_mode, of f64 */
};

#define MATRIX_WORDS	64	/* most registers of 32 bits that a lane brings */

static inline uint32_t matrix_bits(enum matrix_type type)
{
	static const uint8_t bits[] = { 16, 16, 32, 8, 8, 64, 8, 8, 4, 4, 1, 32, 32 };

	return bits[type];
}

/* Of mma.sp: how many lanes of four bring metadata; of each of the 16 rows one bit for a column */
static inline uint32_t matrix_metadata_lanes(struct matrix matrix)
{
	uint32_t bits = matrix_bits(matrix.a);

	/* tf32 has two for a column, and elements of 4 bits half a bit */
	return (bits == 32 ? 2 * matrix.k : bits == 4 ? matrix.k / 2 : matrix.k) / 16;
}

/* Registers of a lane, without those that wmma has twice; f64 takes two */
uint32_t matrix_words(struct matrix matrix, enum matrix_part part);

/*
 * What lanes bring for an mma: the instruction, and the registers of A, B and C, of mma.sp that of
 * the metadata as well; D is put at their beginning. For wmma.load and wmma.store: the registers, and
 * where the matrix is
 */
struct matrix_lane {
	struct matrix matrix;
	uint32_t words[MATRIX_WORDS];
	void *memory;
	uint32_t stride;		/* in elements */
};

/* tensor.c: d = a b + c of floats */
#define TENSOR_K	32

/* significand * 2^(exponent - fraction), or a NaN or an infinity */
struct tensor_number {
	int32_t significand;
	int16_t exponent;
	int8_t infinity;		/* its sign */
	uint8_t nan;
};

struct tensor_number tensor_number(uint32_t bits, enum matrix_type type);
uint32_t tensor_sum(struct tensor_number c, enum matrix_type c_type,
		    const struct tensor_number *a, const struct tensor_number *b, uint32_t count,
		    uint32_t fraction, enum matrix_type d_type);
uint32_t tensor_fraction(enum matrix_type type);

#endif /* MEMCAST_PTX_MATRIX_H */
