// SPDX-License-Identifier: MIT
/* Products of matrices: fragments of lanes to matrices and back, and the kinds of arithmetic */
#include <math.h>
#include <stddef.h>

#include "matrix.h"
#include "ptx_math.h"

#define ROWS	32		/* most rows of A, and columns of B */
#define DEEPEST	256		/* most columns of A, and rows of B */
#define SPARSE_ROWS	16	/* of A, and */
#define SPARSE_COLUMNS	8	/* columns of B of mma.sp */
#define LANES	32

static struct matrix matrix_of(uint64_t bits)
{
	struct matrix matrix;

	memcpy(&matrix, &bits, sizeof(matrix));
	return matrix;
}

static enum matrix_type type_of(struct matrix matrix, enum matrix_part part)
{
	return part == MATRIX_A ? matrix.a : part == MATRIX_B ? matrix.b : matrix.c;
}

/* Columns of A that lanes have */
static uint32_t depth(struct matrix matrix)
{
	return matrix.sparse ? matrix.k / 2 : matrix.k;
}

uint32_t matrix_words(struct matrix matrix, enum matrix_part part)
{
	uint32_t elements = part == MATRIX_A ? matrix.m * depth(matrix) :
			    part == MATRIX_B ? matrix.n * matrix.k : matrix.m * matrix.n;

	if (matrix.quads)
		elements *= 4;
	return elements * matrix_bits(type_of(matrix, part)) / LANES / 32;
}

/* Elements of a register, or of two */
static uint32_t packed(enum matrix_type type)
{
	uint32_t bits = matrix_bits(type);

	return bits > 32 ? 1 : 32 / bits;
}

struct place {
	uint32_t row, column;
};

/* Where the first element of a lane's register stands: in A a row, in B a column goes on */
static struct place place_of(struct matrix matrix, enum matrix_part part, uint32_t lane,
			     uint32_t index)
{
	uint32_t rows = matrix.m < 16 ? 1 : 2, group = lane / 4, in_group = lane % 4;
	uint32_t each = packed(type_of(matrix, part)), across, tile, tiles = matrix.n / 8;
	struct place place;

	if (part == MATRIX_C) {
		/* an element of a tile of 16 by 8, or 8 by 8: two next to each other in a row */
		uint32_t words = rows * (each == 2 ? 1 : 2);

		tile = index / words;
		index %= words;
		place.row = group + 8 * rows * (tile / tiles) + 8 * (each == 2 ? index : index / 2);
		place.column = 2 * in_group + 8 * (tile % tiles) + (each == 2 ? 0 : index % 2);
		return place;
	}
	across = (part == MATRIX_A ? depth(matrix) : matrix.k) / (4 * each);
	if (part == MATRIX_A) {
		tile = index / (rows * across);
		index %= rows * across;
		place.row = group + 8 * (index % rows) + 8 * rows * tile;
		place.column = in_group * each + 4 * each * (index / rows);
	} else {
		place.row = in_group * each + 4 * each * (index % across);
		place.column = group + 8 * (index / across);
	}
	return place;
}

/* mma.m8n8k4 of f16: lanes i to i + 3 and i + 16 to i + 19 have a product of their own. */
static struct place quad_place(struct matrix matrix, enum matrix_part part, uint32_t lane,
			       uint32_t element)
{
	uint32_t far = lane / 16 * 4, own = lane % 4;

	if (part == MATRIX_A && !matrix.a_column)
		return (struct place) { own + far, element };
	if (part == MATRIX_A)
		return (struct place) { element + far, own };
	if (part == MATRIX_B && !matrix.b_column)
		return (struct place) { own, element + far };
	if (part == MATRIX_B)
		return (struct place) { element, own + far };
	if (type_of(matrix, part) == MATRIX_F16)
		return (struct place) { own + far, element };
	return (struct place) { (own & 1) + (element & 2) + far,
				(element & 4) + (own & 2) + (element & 1) };
}

/* Element @index of a list of words */
static uint64_t element_at(const uint32_t *words, uint32_t index, uint32_t bits)
{
	uint64_t value;

	if (bits == 64) {
		memcpy(&value, words + 2 * index, sizeof(value));
		return value;
	}
	value = words[index * bits / 32] >> (index * bits % 32);
	return bits == 32 ? value : value & ((1ULL << bits) - 1);
}

/* All elements of the fragments of all lanes: A, C and D by rows, B by columns */
struct product {
	struct matrix matrix;
	uint64_t a[ROWS * DEEPEST], b[ROWS * DEEPEST], c[ROWS * ROWS], d[ROWS * ROWS];
	uint32_t metadata[LANES];
};

static uint64_t *cell(struct product *product, enum matrix_part part, struct place place)
{
	return part == MATRIX_A ? &product->a[place.row * product->matrix.k + place.column] :
	       part == MATRIX_B ? &product->b[place.column * product->matrix.k + place.row] :
	       &product->c[place.row * product->matrix.n + place.column];
}

static void take(struct product *product, enum matrix_part part, const uint32_t *words,
		 uint32_t lane)
{
	enum matrix_type type = type_of(product->matrix, part);
	uint32_t bits = matrix_bits(type), each = packed(type), at;
	uint32_t count = matrix_words(product->matrix, part) * 32 / bits;
	struct place place;

	for (uint32_t i = 0; i < count; i++) {
		if (product->matrix.quads) {
			place = quad_place(product->matrix, part, lane, i);
		} else {
			at = part == MATRIX_B ? 0 : i % each;
			place = place_of(product->matrix, part, lane, i / each);
			place.column += at;
			place.row += part == MATRIX_B ? i % each : 0;
		}
		*cell(product, part, place) = element_at(words, i, bits);
	}
}

static void give(const struct product *product, uint32_t *words, uint32_t lane)
{
	struct matrix matrix = product->matrix;
	uint32_t bits, each, count;

	matrix.c = matrix.d;		/* D has the layout of a C of its type */
	bits = matrix_bits(matrix.d);
	each = packed(matrix.d);
	count = matrix_words(matrix, MATRIX_C) * 32 / bits;
	memset(words, 0, count * bits / 8);
	for (uint32_t i = 0; i < count; i++) {
		struct place place = matrix.quads ? quad_place(matrix, MATRIX_C, lane, i) :
				     place_of(matrix, MATRIX_C, lane, i / each);
		uint64_t value;

		if (!matrix.quads)
			place.column += i % each;
		value = product->d[place.row * matrix.n + place.column];
		if (bits == 64)
			memcpy(words + 2 * i, &value, sizeof(value));
		else
			words[i * bits / 32] |= value << (i * bits % 32);
	}
}

static int64_t integer_of(uint64_t bits, enum matrix_type type)
{
	switch (type) {
	case MATRIX_S8:
		return (int8_t)bits;
	case MATRIX_S4:
		return (int64_t)(bits << 60) >> 60;
	default:
		return bits;
	}
}

static uint64_t integers(const struct product *product, uint32_t row, uint32_t column)
{
	struct matrix matrix = product->matrix;
	int64_t sum = (int32_t)product->c[row * matrix.n + column];
	const uint64_t *a = product->a + row * matrix.k, *b = product->b + column * matrix.k;

	for (uint32_t i = 0; i < matrix.k; i++)
		sum += matrix.operation == MATRIX_XOR ? (int64_t)(a[i] ^ b[i]) :
		       matrix.operation == MATRIX_AND ? (int64_t)(a[i] & b[i]) :
		       integer_of(a[i], matrix.a) * integer_of(b[i], matrix.b);
	if (matrix.saturate)
		sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
	return (uint32_t)sum;
}

static uint64_t doubles(const struct product *product, uint32_t row, uint32_t column)
{
	struct matrix matrix = product->matrix;
	double sum = double_of_bits(product->c[row * matrix.n + column]);

	for (uint32_t i = 0; i < matrix.k; i++)
		sum = ptx_math_fma_f64(double_of_bits(product->a[row * matrix.k + i]),
				       double_of_bits(product->b[column * matrix.k + i]), sum,
				       matrix.mode);
	return isnan(sum) ? 0x7fffffffffffffff : bits_of_double(sum);
}

static float float_of(uint32_t bits, enum matrix_type type)
{
	return type == MATRIX_F16 ? ptx_math_f32_of_f16(bits) : float_of_bits(bits);
}

/*
 * Numbers of 8 bits: the hardware makes f16 of them, adds up two products of half the elements,
 * of each four the first two and then the others, and adds C at last.
 */
static uint64_t bytes_sum(struct matrix matrix, const struct tensor_number *a,
			  const struct tensor_number *b, uint32_t c)
{
	uint32_t fraction = tensor_fraction(matrix.a) + tensor_fraction(matrix.b), bits = 0;
	struct tensor_number part[2][TENSOR_K], sum = {};
	uint32_t count = matrix.k / 2;
	float all;

	for (uint32_t half = 0; half < 2; half++) {
		for (uint32_t i = 0; i < count; i++) {
			part[0][i] = a[i / 2 * 4 + (i & 1) + 2 * half];
			part[1][i] = b[i / 2 * 4 + (i & 1) + 2 * half];
		}
		bits = tensor_sum(sum, matrix.d, part[0], part[1], count, fraction, matrix.d);
		sum = tensor_number(bits, matrix.d);
	}
	all = float_of(c, matrix.c) + float_of(bits, matrix.d);
	if (matrix.d == MATRIX_F16)
		return narrow_double(all, &narrow_f16, ROUND_RN, false);
	return isnan(all) ? 0x7fffffff : bits_of_float(all);
}

/* mma.m8n8k4 to f32 is one multiplication and addition of f32 after the other on an H100. */
static uint64_t quad_sum(const struct product *product, uint32_t row, uint32_t column)
{
	struct matrix matrix = product->matrix;
	float sum = 0;

	for (uint32_t i = 0; i < matrix.k; i++)
		sum = fmaf(float_of(product->a[row * matrix.k + i], MATRIX_F16),
			   float_of(product->b[column * matrix.k + i], MATRIX_F16), sum);
	sum += float_of(product->c[row * matrix.n + column], matrix.c);
	return isnan(sum) ? 0x7fffffff : bits_of_float(sum);
}

static void floats(struct product *product)
{
	struct matrix matrix = product->matrix;
	uint32_t fraction = tensor_fraction(matrix.a) + tensor_fraction(matrix.b);
	bool bytes = matrix_bits(matrix.a) == 8;
	struct tensor_number a[ROWS][TENSOR_K], b[ROWS][TENSOR_K];

	for (uint32_t i = 0; i < matrix.k; i++) {
		for (uint32_t row = 0; row < matrix.m; row++)
			a[row][i] = tensor_number(product->a[row * matrix.k + i], matrix.a);
		for (uint32_t column = 0; column < matrix.n; column++)
			b[column][i] = tensor_number(product->b[column * matrix.k + i], matrix.b);
	}
	for (uint32_t i = 0; i < matrix.m * matrix.n; i++)
		product->d[i] = bytes ?
			bytes_sum(matrix, a[i / matrix.n], b[i % matrix.n], product->c[i]) :
			tensor_sum(tensor_number(product->c[i], matrix.c), matrix.c,
				   a[i / matrix.n], b[i % matrix.n], matrix.k, fraction, matrix.d);
}

static void multiply_dense(struct product *product)
{
	struct matrix matrix = product->matrix;

	uint64_t (*one)(const struct product *product, uint32_t row, uint32_t column) = integers;

	if (matrix.quads && matrix.d == MATRIX_F32) {
		one = quad_sum;
	} else if (matrix.a < MATRIX_F64) {
		floats(product);
		return;
	} else if (matrix.a == MATRIX_F64) {
		one = doubles;
	}
	for (uint32_t i = 0; i < matrix.m * matrix.n; i++)
		product->d[i] = one(product, i / matrix.n, i % matrix.n);
}

/*
 * mma.sp: of four elements of a row of A next to each other two are not 0; lanes bring those two,
 * and metadata with two bits for the place of each. Of tf32, whose elements have the size of two of
 * f16, it is one of two; of 4 bits, two pairs of four. In the group of four lanes that has the rows
 * r and r + 8 of A, a lane's metadata are 16 bits of each, or, for elements of 8 or 4 bits, 32 bits
 * of one of them.
 *
 * Return: where in its row the element is that lanes have at @index
 */
static uint32_t place_in_row(const struct product *product, uint32_t row, uint32_t index)
{
	struct matrix matrix = product->matrix;
	uint32_t bits = matrix_bits(matrix.a), lanes = matrix_metadata_lanes(matrix);
	uint32_t lane = row % 8 * 4 + matrix.selector * lanes, bit, place;

	/* the first bit for this element, or for the two that have one place */
	bit = bits == 32 ? 4 * index : bits == 4 ? index / 2 * 2 : 2 * index;
	if (bits >= 16)
		place = product->metadata[lane + bit / 16] >> (bit % 16 + row / 8 * 16) & 3;
	else
		place = product->metadata[lane + row / 8 + bit / 32 * 2] >> bit % 32 & 3;
	if (bits == 32)
		return 2 * index + place / 2;
	if (bits == 4)
		return index / 4 * 8 + 2 * place + index % 2;
	return index / 2 * 4 + place;
}

/* Multiplies row by row, each with what its own elements of A meet in B. */
static void multiply_sparse(struct product *product)
{
	uint64_t a[SPARSE_ROWS * DEEPEST], b[SPARSE_COLUMNS * DEEPEST], c[SPARSE_ROWS * ROWS];
	uint64_t d[SPARSE_ROWS * ROWS];
	const struct matrix matrix = product->matrix;
	uint32_t count = depth(matrix);

	memcpy(a, product->a, matrix.m * matrix.k * sizeof(*a));
	memcpy(b, product->b, matrix.n * matrix.k * sizeof(*b));
	memcpy(c, product->c, matrix.m * matrix.n * sizeof(*c));
	for (uint32_t row = 0; row < matrix.m; row++) {
		for (uint32_t i = 0; i < count; i++) {
			uint32_t place = place_in_row(product, row, i);

			product->a[i] = a[row * matrix.k + i];
			for (uint32_t column = 0; column < matrix.n; column++)
				product->b[column * count + i] = b[column * matrix.k + place];
		}
		memcpy(product->c, c + row * matrix.n, matrix.n * sizeof(*c));
		product->matrix.m = 1;
		product->matrix.k = count;
		multiply_dense(product);
		product->matrix = matrix;
		memcpy(d + row * matrix.n, product->d, matrix.n * sizeof(*d));
	}
	memcpy(product->d, d, matrix.m * matrix.n * sizeof(*d));
}

static void multiply(struct product *product)
{
	if (product->matrix.sparse)
		multiply_sparse(product);
	else
		multiply_dense(product);
}

static void take_all(struct product *product, const struct matrix_lane *lane, uint32_t number)
{
	const uint32_t *words = lane->words;

	for (enum matrix_part part = MATRIX_A; part <= MATRIX_C; part++) {
		take(product, part, words, number);
		words += matrix_words(product->matrix, part);
	}
	if (product->matrix.sparse)
		product->metadata[number] = *words;
}

/* @lanes: a struct matrix_lane for each, NULL for those that are not there: they have zeros */
void ptx_math_matrix_multiply(void *const *lanes)
{
	uint32_t present = 0, quads;
	struct product product;

	for (uint32_t i = 0; i < LANES; i++) {
		if (!lanes[i])
			continue;
		present++;
		product.matrix = ((struct matrix_lane *)lanes[i])->matrix;
	}
	if (present < LANES)
		memset(product.a, 0, sizeof(product) - offsetof(struct product, a));
	quads = product.matrix.quads ? 4 : 1;
	for (uint32_t quad = 0; quad < quads; quad++) {
		for (uint32_t i = 0; i < LANES; i++)
			if (lanes[i] && (quads == 1 || i / 4 % 4 == quad))
				take_all(&product, lanes[i], i);
		multiply(&product);
		for (uint32_t i = 0; i < LANES; i++)
			if (lanes[i] && (quads == 1 || i / 4 % 4 == quad))
				give(&product, ((struct matrix_lane *)lanes[i])->words, i);
	}
}

/* Return: how far an element is from the matrix's beginning, in bits. @stride: in elements */
static uint64_t distance(struct matrix matrix, struct place place, uint32_t stride, uint32_t bits)
{
	bool column = matrix.part == MATRIX_B ? matrix.b_column : matrix.a_column;

	return bits * (column ? (uint64_t)place.column * stride + place.row :
				(uint64_t)place.row * stride + place.column);
}

/* Return: how many bytes behind the matrix's beginning element @i of a lane is */
static uint64_t bytes_to(struct matrix matrix, uint32_t stride, uint32_t lane, uint32_t i)
{
	enum matrix_type type = type_of(matrix, matrix.part);
	uint32_t each = packed(type);
	struct place place = place_of(matrix, matrix.part, lane, i / each);

	if (matrix.part == MATRIX_B)
		place.row += i % each;
	else
		place.column += i % each;
	return distance(matrix, place, stride, matrix_bits(type)) / 8;
}

/* Writes the distances of a lane's elements, for checks of their addresses. */
void ptx_math_matrix_places(void *places, uint32_t stride, uint32_t lane, uint64_t bits_of_matrix)
{
	struct matrix matrix = matrix_of(bits_of_matrix);
	uint32_t bits = matrix_bits(type_of(matrix, matrix.part));
	uint32_t together = bits < 8 ? 32 / bits : 1;
	uint32_t count = matrix_words(matrix, matrix.part) * 32 / bits / together;

	for (uint32_t i = 0; i < count; i++)
		((uint64_t *)places)[i] = bytes_to(matrix, stride, lane, i * together);
}

/* Calls @copy for each element, or what is smaller than a byte and lies in a row, of a lane. */
static void each_element(struct matrix_lane *own, uint32_t lane,
			 void (*copy)(char *memory, char *element, size_t bytes))
{
	struct matrix matrix = own->matrix;
	enum matrix_type type = type_of(matrix, matrix.part);
	uint32_t bits = matrix_bits(type), together = bits < 8 ? 32 / bits : 1;
	uint32_t count = matrix_words(matrix, matrix.part) * 32 / bits;

	for (uint32_t i = 0; i < count; i += together)
		copy((char *)own->memory + bytes_to(matrix, own->stride, lane, i),
		     (char *)own->words + i * bits / 8, together * bits / 8);
}

static void copy_in(char *memory, char *element, size_t bytes)
{
	memcpy(element, memory, bytes);
}

static void copy_out(char *memory, char *element, size_t bytes)
{
	memcpy(memory, element, bytes);
}

void ptx_math_matrix_load(void *const *lanes)
{
	for (uint32_t i = 0; i < LANES; i++)
		if (lanes[i])
			each_element(lanes[i], i, copy_in);
}

void ptx_math_matrix_store(void *const *lanes)
{
	for (uint32_t i = 0; i < LANES; i++)
		if (lanes[i])
			each_element(lanes[i], i, copy_out);
}
