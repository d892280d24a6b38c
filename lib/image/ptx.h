/* SPDX-License-Identifier: MIT */
/* Reading PTX text: words, then statements. */
#ifndef MEMCAST_PTX_H
#define MEMCAST_PTX_H

#include "image.h"

enum word_kind {
	WORD_END,
	WORD_NAME,		/* a name, or an instruction's first part */
	WORD_DIRECTIVE,		/* .name */
	WORD_NUMBER,
	WORD_STRING,
	WORD_MARK,		/* one character */
};

struct word {
	enum word_kind kind;
	const char *at;
	size_t length;
	uint64_t value;		/* of a number; for a floating-point number, its bits */
};

struct reader {
	const char *at, *end;
	unsigned int line;
	struct word word;	/* the current word */
	struct image *image;
	struct complaint *complaint;
	struct functions {
		struct function_seen {
			struct word name;
			bool defined, called;
			unsigned int line;
		} *at;
		uint32_t count, room;
	} functions;
};

/* ptx_word.c */
void ptx_next(struct reader *reader);
void ptx_skip_line(struct reader *reader);
bool ptx_is(const struct reader *reader, const char *word);
bool ptx_take(struct reader *reader, const char *word);
CUresult ptx_need(struct reader *reader, const char *word);
CUresult ptx_wrong(struct reader *reader, const char *what);

/* ptx_body.c: memory that a function's body declares */
struct body {
	uint32_t shared, local;
};

CUresult ptx_body(struct reader *reader, struct body *body);

/* ptx.c */
struct declared {
	struct word name;
	uint32_t element, align;
	uint32_t dimensions[8], dimensions_count;
	size_t bytes;
};

CUresult ptx_declaration(struct reader *reader, struct declared *declared);
CUresult ptx_outermost(struct reader *reader);

/* ptx_calls.c */
CUresult ptx_function(struct reader *reader, const struct word *name, bool defined, bool called);
CUresult ptx_called(struct reader *reader, const struct word *name);
CUresult ptx_functions_check(struct reader *reader);

#endif /* MEMCAST_PTX_H */
