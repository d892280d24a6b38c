// SPDX-License-Identifier: MIT
/*
 * mma and wmma: lanes leave their registers in memory, the last one multiplies, loads or stores for
 * all of them.
 * ldmatrix, stmatrix, movmatrix: lanes tell each other their addresses, or registers.
 */
#include <stdio.h>
#include <string.h>

#include "instructions.h"
#include "ir.h"
#include "ptx/math/matrix.h"
#include "ptx/math/ptx_math.h"

/* What a lane brings: one piece of memory serves all such instructions of a function. */
static LLVMValueRef lane_place(struct translator *t)
{
	if (!t->lane)
		t->lane = alloca_at_entry(t, t->i8, sizeof(struct matrix_lane), 16);
	return t->lane;
}

/* .m16n8k16 */
static bool shape_of(struct translator *t, struct matrix *matrix)
{
	for (uint32_t i = 0; i < t->at->modifiers_count; i++) {
		const struct word *word = &t->at->modifiers[i];
		unsigned int m, n, k;
		char text[16] = "";

		if (word->length >= sizeof(text))
			continue;
		memcpy(text, word->at, word->length);
		if (sscanf(text, ".m%un%uk%u", &m, &n, &k) != 3)
			continue;
		t->used |= 1U << i;
		matrix->m = m;
		matrix->n = n;
		matrix->k = k;
		return m <= 32 && n <= 32 && k <= 256;
	}
	return false;
}

static bool type_of(enum type type, enum matrix_type *found)
{
	static const struct { enum type type; enum matrix_type matrix; } types[] = {
		{ TYPE_F16, MATRIX_F16 }, { TYPE_BF16, MATRIX_BF16 }, { TYPE_TF32, MATRIX_TF32 },
		{ TYPE_E4M3, MATRIX_E4M3 }, { TYPE_E5M2, MATRIX_E5M2 }, { TYPE_F64, MATRIX_F64 },
		{ TYPE_S8, MATRIX_S8 }, { TYPE_U8, MATRIX_U8 }, { TYPE_S4, MATRIX_S4 },
		{ TYPE_U4, MATRIX_U4 }, { TYPE_B1, MATRIX_B1 }, { TYPE_F32, MATRIX_F32 },
		{ TYPE_S32, MATRIX_S32 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].type == type) {
			*found = types[i].matrix;
			return true;
		}
	return false;
}

static enum matrix_type take_type(struct translator *t, uint32_t index)
{
	enum matrix_type type = MATRIX_F16;

	if (!type_of(type_at(t, index), &type))
		unsupported(t);
	return type;
}

/* The modifiers .row and .col, in the order in which they stand */
static void layouts(struct translator *t, bool *first, bool *second)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < t->at->modifiers_count; i++) {
		if (t->modifiers[i] != MOD_row && t->modifiers[i] != MOD_col)
			continue;
		t->used |= 1U << i;
		if (count++)
			*second = t->modifiers[i] == MOD_col;
		else
			*first = t->modifiers[i] == MOD_col;
	}
}

static uint64_t bits_of(struct matrix matrix)
{
	uint64_t bits;

	memcpy(&bits, &matrix, sizeof(bits));
	return bits;
}

/* Registers of an operand; a register by itself is a list of one. */
static uint32_t count_of(const struct operand *operand)
{
	return operand->kind == OPERAND_VECTOR ? operand->count : 1;
}

static const struct operand *item(const struct operand *operand, uint32_t index)
{
	return operand->kind == OPERAND_VECTOR ? &operand->items[index] : operand;
}

/* Has PTX the shape, for A's type? Of a row of A, lanes mostly bring 128 or 256 bits. */
static bool has_shape(struct matrix matrix, bool wmma)
{
	uint32_t each = matrix_bits(matrix.a), bits = (matrix.k >> matrix.sparse) * each;

	if (matrix.m == 8 && matrix.n == 8)
		return matrix.a == MATRIX_F64 ? bits == 256 :
		       matrix.quads || (matrix.a > MATRIX_F64 && bits == 128);
	if (wmma && matrix.a == MATRIX_TF32)
		return matrix.m == 16 && matrix.n == 16 && matrix.k == 8;
	if (wmma)
		return matrix.m * matrix.n == 256 && matrix.k == 16 &&
		       (each == 16 || matrix.a == MATRIX_S8 || matrix.a == MATRIX_U8);
	return matrix.m == 16 && matrix.n == 8 &&
	       (bits == 256 || (each == 64 ? bits == 512 || bits == 1024 : bits == 128));
}

/*
 * Does an operand have the registers of a fragment? wmma has some fragments twice: then the second
 * half is left out.
 */
static bool fits(struct translator *t, const struct operand *operand, struct matrix matrix,
		 enum matrix_part part)
{
	uint32_t words = matrix_words(matrix, part), each;
	enum matrix_type type = part == MATRIX_A ? matrix.a : part == MATRIX_B ? matrix.b :
				matrix.c;

	each = type == MATRIX_F64 ? 2 : 1;
	if (words && count_of(operand) * each % words == 0)
		return true;
	unsupported(t);
	return false;
}

static LLVMValueRef put_words(struct translator *t, LLVMValueRef place,
			      const struct operand *operand, uint32_t words, bool wide)
{
	for (uint32_t i = 0; i < words / (wide ? 2 : 1); i++)
		LLVMBuildStore(t->builder, get(t, item(operand, i), wide ? TYPE_B64 : TYPE_B32),
			       at_offset(t, place, i * (wide ? 8 : 4)));
	return at_offset(t, place, 4 * words);
}

static void get_words(struct translator *t, LLVMValueRef place, const struct operand *operand,
		      uint32_t words, bool wide)
{
	uint32_t each = wide ? 8 : 4, count = 4 * words / each;

	for (uint32_t i = 0; i < count_of(operand); i++)
		put(t, item(operand, i),
		    BUILD(Load2, wide ? t->i64 : t->i32, at_offset(t, place, i % count * each)),
		    wide ? TYPE_B64 : TYPE_B32);
}

static void multiply(struct translator *t, struct matrix matrix)
{
	LLVMValueRef place = lane_place(t), at = at_offset(t, place, sizeof(matrix));
	bool wide = matrix.a == MATRIX_F64;
	struct matrix result = matrix;

	result.c = matrix.d;
	if (!fits(t, operand(t, 0), result, MATRIX_C) || !fits(t, operand(t, 1), matrix, MATRIX_A) ||
	    !fits(t, operand(t, 2), matrix, MATRIX_B) || !fits(t, operand(t, 3), matrix, MATRIX_C))
		return;
	LLVMBuildStore(t->builder, constant(t, 64, bits_of(matrix)), place);
	for (enum matrix_part part = MATRIX_A; part <= MATRIX_C; part++)
		at = put_words(t, at, operand(t, 1 + part), matrix_words(matrix, part), wide);
	if (matrix.sparse)
		put_words(t, at, operand(t, 4), 1, false);
	call_run(t, "together", "v:ipp", constant(t, 32, UINT32_MAX), place,
		 math_function(t, "matrix_multiply"));
	get_words(t, at_offset(t, place, sizeof(matrix)), operand(t, 0),
		  matrix_words(result, MATRIX_C), wide);
}

/* .xor.popc, .and.popc, .satfinite; of f64 .rz */
static void how(struct translator *t, struct matrix *matrix)
{
	if (matrix->a == MATRIX_F64)
		matrix->mode = rounding(t);
	matrix->saturate = has(t, MOD_satfinite);
	matrix->operation = has(t, MOD_xor) ? MATRIX_XOR : has(t, MOD_and) ? MATRIX_AND :
			    MATRIX_MULTIPLY;
	if (has(t, MOD_popc) != (matrix->operation != MATRIX_MULTIPLY) ||
	    (matrix->operation != MATRIX_MULTIPLY) != (matrix->a == MATRIX_B1))
		unsupported(t);
}

/* Products of floats are floats; others are numbers of one kind. */
static bool kinds_fit(struct matrix matrix)
{
	if (matrix_bits(matrix.a) != matrix_bits(matrix.b) || matrix.a > MATRIX_B1)
		return false;
	if (matrix.a >= MATRIX_F64)
		return matrix.b >= MATRIX_F64 && matrix.c == matrix.d &&
		       matrix.c == (matrix.a == MATRIX_F64 ? MATRIX_F64 : MATRIX_S32);
	return matrix.b < MATRIX_F64 && (matrix.c == MATRIX_F32 || matrix.c == MATRIX_F16) &&
	       (matrix.d == MATRIX_F32 || matrix.d == MATRIX_F16);
}

/*
 * mma.sp: the shapes whose metadata fill the lanes of a group of four that the selector, the last
 * operand, allows
 */
static bool sparse_fits(struct translator *t, struct matrix *matrix)
{
	uint32_t lanes = matrix_metadata_lanes(*matrix);
	const struct operand *last = operand(t, 5);

	if (matrix->m != 16 || matrix->a == MATRIX_F64 ||
	    matrix->a == MATRIX_B1 || (lanes != 1 && lanes != 2 && lanes != 4) ||
	    last->kind != OPERAND_NUMBER || last->number.integer >= 4 / lanes)
		return false;
	matrix->selector = last->number.integer;
	return true;
}

/* mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c; mma.sp d, a, b, c, metadata, 0 */
void translate_mma(struct translator *t)
{
	struct matrix matrix = {};
	bool a = false, b = false;

	has(t, MOD_sync);
	has(t, MOD_aligned);
	matrix.sparse = has(t, MOD_sp) || has(t, MOD_sp__ordered_metadata);
	if (!shape_of(t, &matrix) || t->types_count != 4 ||
	    t->at->operands_count != (matrix.sparse ? 6 : 4)) {
		unsupported(t);
		return;
	}
	layouts(t, &a, &b);
	matrix.d = take_type(t, 0);
	matrix.a = take_type(t, 1);
	matrix.b = take_type(t, 2);
	matrix.c = take_type(t, 3);
	matrix.quads = matrix.m == 8 && matrix.k == 4 && matrix.a == MATRIX_F16;
	matrix.a_column = a;
	matrix.b_column = b;
	how(t, &matrix);
	if (!kinds_fit(matrix) || !has_shape(matrix, false) || (!matrix.quads && (a || !b)) ||
	    (matrix.sparse && !sparse_fits(t, &matrix))) {
		unsupported(t);
		return;
	}
	multiply(t, matrix);
}

/* Lanes have the same address, and elements of their own. */
static void check_elements(struct translator *t, LLVMValueRef pointer, const struct operand *operand,
			   enum space space, struct matrix matrix, LLVMValueRef distance,
			   uint32_t kind)
{
	uint32_t bits = matrix_bits(matrix.a), bytes = bits < 8 ? 4 : bits / 8;
	uint32_t count = matrix_words(matrix, matrix.part) * 4 / bytes;
	LLVMValueRef places, at;

	if (!t->root->kernel.checked)
		return;
	places = alloca_at_entry(t, t->i64, count, 8);
	call_math(t, "matrix_places", places, distance,
		  thread_field(t, offsetof(struct ptx_thread, laneid), t->i32),
		  constant(t, 64, bits_of(matrix)));
	for (uint32_t i = 0; i < count; i++) {
		at = BUILD(Load2, t->i64, at_offset(t, places, 8 * i));
		checked_access(t, LLVMBuildGEP2(t->builder, t->i8, pointer, &at, 1, ""), operand,
			       space, constant(t, 32, bytes), kind, NULL);
	}
}

/* wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 r, [p] {, stride}; wmma.store.d */
static void move_matrix(struct translator *t, bool load)
{
	const struct operand *list = operand(t, load ? 0 : 1), *stride = operand(t, 2);
	enum space space = space_of_modifiers(t);
	LLVMValueRef place = lane_place(t), pointer, distance;
	LLVMValueRef registers = at_offset(t, place, offsetof(struct matrix_lane, words));
	struct matrix matrix = {};
	bool column = false, second;
	uint32_t words, bits;

	matrix.part = has(t, MOD_a) ? MATRIX_A : has(t, MOD_b) ? MATRIX_B : MATRIX_C;
	if (matrix.part == MATRIX_C && !has(t, load ? MOD_c : MOD_d))
		unsupported(t);
	layouts(t, &column, &second);
	matrix.a_column = matrix.b_column = column;
	matrix.a = matrix.b = matrix.c = take_type(t, 0);
	if (!shape_of(t, &matrix) || !fits(t, list, matrix, matrix.part) ||
	    (matrix.part != MATRIX_C && !has_shape(matrix, true))) {
		unsupported(t);
		return;
	}
	words = matrix_words(matrix, matrix.part);
	bits = matrix_bits(matrix.a);
	/* pieces of bytes lie behind each other only where lanes have them so */
	if (bits < 8 && (matrix.part == MATRIX_C || column != (matrix.part == MATRIX_B)))
		unsupported(t);
	pointer = pointer_to(t, operand(t, load ? 1 : 0), space, bits < 32 ? 4 : bits / 8);
	if (t->at->operands_count > 2)
		distance = get(t, stride, TYPE_U32);
	else
		distance = constant(t, 32, matrix.part == MATRIX_A ? column ? matrix.m : matrix.k :
				    matrix.part == MATRIX_B ? column ? matrix.k : matrix.n :
				    column ? matrix.m : matrix.n);
	check_elements(t, pointer, operand(t, load ? 1 : 0), space, matrix, distance,
		       load ? PTX_ACCESS_LOAD : PTX_ACCESS_STORE);
	LLVMBuildStore(t->builder, constant(t, 64, bits_of(matrix)), place);
	LLVMBuildStore(t->builder, pointer, at_offset(t, place, offsetof(struct matrix_lane, memory)));
	LLVMBuildStore(t->builder, distance, at_offset(t, place, offsetof(struct matrix_lane, stride)));
	if (!load)
		put_words(t, registers, list, words, bits == 64);
	/* the warp's loads or stores, at once: before them all lanes wait, which orders no memory */
	call_run(t, "together", "v:ipp", constant(t, 32, UINT32_MAX), place,
		 math_function(t, load ? "matrix_load" : "matrix_store"));
	if (load)
		get_words(t, registers, list, words, bits == 64);
}

/* wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 d, a, b, c: f16 has no types of A and B */
static void wmma_multiply(struct translator *t)
{
	struct matrix matrix = { .a = MATRIX_F16, .b = MATRIX_F16 };
	bool a, b, typed = t->types_count == 4;

	has(t, MOD_mma);
	if (!shape_of(t, &matrix) || (t->types_count != 2 && !typed) ||
	    t->at->operands_count != 4) {
		unsupported(t);
		return;
	}
	layouts(t, &a, &b);	/* fragments are the same ones */
	matrix.d = take_type(t, 0);
	matrix.c = take_type(t, typed ? 3 : 1);
	if (typed) {
		matrix.a = take_type(t, 1);
		matrix.b = take_type(t, 2);
	}
	how(t, &matrix);
	if (!kinds_fit(matrix) || !has_shape(matrix, true)) {
		unsupported(t);
		return;
	}
	multiply(t, matrix);
}

void translate_wmma(struct translator *t)
{
	has(t, MOD_sync);
	has(t, MOD_aligned);
	if (has(t, MOD_load))
		move_matrix(t, true);
	else if (has(t, MOD_store))
		move_matrix(t, false);
	else
		wmma_multiply(t);
}

/* Return: where the addresses, or what else has so many bytes, of all lanes are */
static LLVMValueRef gather(struct translator *t, LLVMValueRef own, uint32_t bytes)
{
	LLVMValueRef place = lane_place(t), all = at_offset(t, place, 8);

	LLVMBuildStore(t->builder, own, place);
	call_run(t, "gather", "v:ippi", constant(t, 32, UINT32_MAX), place, all,
		 constant(t, 32, bytes));
	return all;
}

static LLVMValueRef index_of(struct translator *t, LLVMValueRef place, LLVMTypeRef type,
			     LLVMValueRef index)
{
	index = resize(t, index, 64, false);
	return LLVMBuildGEP2(t->builder, type, place, &index, 1, "");
}

/* Rows of 8 by 8 matrices: lane 8 i + r has the address of row r of matrix i. */
struct rows {
	LLVMValueRef all, lane;
	uint32_t count;			/* of matrices */
	bool transposed;
};

static bool rows_of(struct translator *t, struct rows *rows, uint32_t address)
{
	enum space space = space_of_modifiers(t);

	rows->count = has(t, MOD_x4) ? 4 : has(t, MOD_x2) ? 2 : has(t, MOD_x1) ? 1 : 0;
	rows->transposed = has(t, MOD_trans);
	has(t, MOD_sync);
	has(t, MOD_aligned);
	if (!has(t, MOD_m8n8) || !rows->count || type_at(t, 0) != TYPE_B16 ||
	    count_of(operand(t, !address)) != rows->count) {
		unsupported(t);
		return false;
	}
	rows->all = gather(t, as_int(t, pointer_to(t, operand(t, address), space, 1)), 8);
	rows->lane = thread_field(t, offsetof(struct ptx_thread, laneid), t->i32);
	return true;
}

/* Return: where row @row of matrix @matrix, and in it element @column, is */
static LLVMValueRef element(struct translator *t, const struct rows *rows, uint32_t matrix,
			    LLVMValueRef row, LLVMValueRef column)
{
	LLVMValueRef at = BUILD(Add, row, constant(t, 32, 8 * matrix)), pointer;

	pointer = BUILD(Load2, t->pointer, index_of(t, rows->all, t->i64, at));
	check_alignment(t, pointer, resize(t, as_int(t, pointer), 32, false), 16);
	pointer = index_of(t, pointer, t->i16, column);
	checked_access(t, pointer, NULL, SPACE_SHARED, constant(t, 32, 2),
		       word_is(&t->at->name, "stmatrix") ? PTX_ACCESS_STORE : PTX_ACCESS_LOAD,
		       NULL);
	return pointer;
}

/* The two elements that a lane has of a matrix, one after the other */
static LLVMValueRef half(struct translator *t, const struct rows *rows, uint32_t matrix,
			 uint32_t which)
{
	LLVMValueRef row = BUILD(LShr, rows->lane, constant(t, 32, 2));
	LLVMValueRef column = BUILD(Shl, BUILD(And, rows->lane, constant(t, 32, 3)),
				    constant(t, 32, 1));

	column = BUILD(Add, column, constant(t, 32, which));
	return rows->transposed ? element(t, rows, matrix, column, row) :
				  element(t, rows, matrix, row, column);
}

/*
 * Lanes wait for each other, so that none stores where another one is yet to load, or loads what
 * another one is yet to store. It orders no memory, as bar.warp.sync does.
 */
static void all_lanes(struct translator *t)
{
	call_run(t, "vote", "i:iiii", constant(t, 32, UINT32_MAX), constant(t, 32, PTX_VOTE_ANY),
		 constant(t, 32, 0), constant(t, 32, PTX_LANES_UP));
}

void translate_ldmatrix(struct translator *t)
{
	struct rows rows;

	if (!rows_of(t, &rows, 1))
		return;
	for (uint32_t i = 0; i < rows.count; i++) {
		LLVMValueRef low = BUILD(Load2, t->i16, half(t, &rows, i, 0));
		LLVMValueRef high = BUILD(Load2, t->i16, half(t, &rows, i, 1));

		high = BUILD(Shl, resize(t, high, 32, false), constant(t, 32, 16));
		put(t, item(operand(t, 0), i), BUILD(Or, high, resize(t, low, 32, false)),
		    TYPE_B32);
	}
	all_lanes(t);
}

void translate_stmatrix(struct translator *t)
{
	struct rows rows;

	if (!rows_of(t, &rows, 0))
		return;
	for (uint32_t i = 0; i < rows.count; i++) {
		LLVMValueRef both = get(t, item(operand(t, 1), i), TYPE_B32);

		LLVMBuildStore(t->builder, resize(t, both, 16, false), half(t, &rows, i, 0));
		both = BUILD(LShr, both, constant(t, 32, 16));
		LLVMBuildStore(t->builder, resize(t, both, 16, false), half(t, &rows, i, 1));
	}
	all_lanes(t);
}

/* Element (i, j) of the result is (j, i) of what lanes bring. */
void translate_movmatrix(struct translator *t)
{
	LLVMValueRef lane = thread_field(t, offsetof(struct ptx_thread, laneid), t->i32), all, sum;
	LLVMValueRef column = BUILD(LShr, lane, constant(t, 32, 2)), row, value, shift;

	has(t, MOD_sync);
	has(t, MOD_aligned);
	if (!has(t, MOD_m8n8) || !has(t, MOD_trans) || type_at(t, 0) != TYPE_B16) {
		unsupported(t);
		return;
	}
	all = gather(t, get(t, operand(t, 1), TYPE_B32), 4);
	sum = constant(t, 32, 0);
	for (uint32_t i = 0; i < 2; i++) {
		row = BUILD(And, BUILD(Shl, lane, constant(t, 32, 1)), constant(t, 32, 6));
		row = BUILD(Add, row, constant(t, 32, i));
		row = BUILD(Shl, row, constant(t, 32, 2));
		row = BUILD(Add, row, BUILD(LShr, column, constant(t, 32, 1)));
		value = BUILD(Load2, t->i32, index_of(t, all, t->i32, row));
		shift = BUILD(Shl, BUILD(And, column, constant(t, 32, 1)), constant(t, 32, 4));
		value = BUILD(And, BUILD(LShr, value, shift), constant(t, 32, 0xffff));
		sum = BUILD(Or, sum, BUILD(Shl, value, constant(t, 32, 16 * i)));
	}
	put(t, operand(t, 0), sum, TYPE_B32);
}
