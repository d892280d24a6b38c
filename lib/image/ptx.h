/* SPDX-License-Identifier: MIT */
/* Reading PTX text: words, then statements. */
#ifndef MEMCAST_PTX_H
#define MEMCAST_PTX_H

#include <string.h>

#include "image.h"

enum word_kind {
	WORD_END,
	WORD_NAME,		/* a name, or an instruction's first part */
	WORD_DIRECTIVE,		/* .name */
	WORD_NUMBER,
	WORD_STRING,
	WORD_MARK,		/* one character */
	WORD_BAD,		/* a number that is none, or what is not ASCII */
};

enum number_kind {
	NUMBER_INTEGER,
	NUMBER_DECIMAL,		/* 1.5e3; the value is the bits of a double */
	NUMBER_BITS32,		/* 0f and the bits of a float */
	NUMBER_BITS64,		/* 0d and the bits of a double */
};

struct word {
	enum word_kind kind;
	enum number_kind number;
	const char *at;
	size_t length;
	uint64_t value;		/* of a number; for a floating-point number, its bits */
};

struct reader {
	const char *begin, *at, *end;
	unsigned int line;
	struct word word;	/* the current word */
	struct image *image;
	bool is_private;		/* the statement's names are the text's own */
	bool is_weak;			/* they give way to those of other texts */
	struct complaint *complaint;
};

/* ptx_word.c */
void ptx_next(struct reader *reader);
void ptx_skip_line(struct reader *reader);
bool ptx_is(const struct reader *reader, const char *word);
bool ptx_take(struct reader *reader, const char *word);
void ptx_numbers(struct reader *reader, uint32_t to[3]);
bool ptx_skip_attribute(struct reader *reader, const char *word);
CUresult ptx_need(struct reader *reader, const char *word);
CUresult ptx_wrong(struct reader *reader, const char *what);

/* ptx_number.c */
size_t ptx_number(const char *at, const char *end, enum number_kind *kind, uint64_t *value);
double ptx_number_double(enum number_kind kind, uint64_t value);

/* ptx_value.c: what an initial value or an immediate operand is */
struct constant {
	enum constant_kind { CONSTANT_INTEGER, CONSTANT_FLOAT, CONSTANT_ADDRESS } kind;
	bool bits32;		/* written as the bits of a float */
	bool is_unsigned;	/* an integer of .u64, not .s64 */
	bool generic;		/* generic(name) */
	uint64_t integer;	/* two's complement; of an address, what is added to it */
	uint64_t mask;		/* of an address: 0xff00(name) takes one of its bytes; 0: all */
	double real;
	uint32_t real_bits;	/* with bits32: exactly these, even if they are a NaN */
	struct word name;	/* of an address */
};

CUresult ptx_constant(struct reader *reader, struct constant *constant);
void ptx_constant_store(const struct constant *constant, bool is_float, void *to, uint32_t bytes);

/* ptx_body.c: memory that a function's body declares */
struct body_memory {
	uint32_t shared, local;
};

CUresult ptx_body(struct reader *reader, struct body_memory *body);

/* ptx.c */
struct declared {
	struct word name;
	uint32_t element, align;	/* bytes; of a vector, element is one of its parts */
	uint32_t whole;			/* bytes of the vector, or of the element */
	bool is_float, is_managed;
	uint32_t dimensions[8], dimensions_count;
	size_t bytes;
};

CUresult ptx_declaration(struct reader *reader, struct declared *declared);
CUresult ptx_declared_name(struct reader *reader, struct declared *declared);
CUresult ptx_outermost(struct reader *reader);

/* Is it the name of a function of NVIDIA's library of device functions? lib/ptx/math/libdevice.c */
static inline bool is_libdevice(const char *name, size_t length)
{
	return length > 5 && !memcmp(name, "__nv_", 5);
}

#endif /* MEMCAST_PTX_H */
