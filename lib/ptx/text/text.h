/* SPDX-License-Identifier: MIT */
/*
 * PTX text, as statements. Words, numbers and errors are those of lib/image.
 *
 * A unit is one text: its declarations are read at once. Bodies of functions are read when they
 * are checked, and again when they are translated, so that memory is that of the largest one.
 *
 *   arena.c	memory that is freed at once
 *   names.c	scopes: names and what they stand for
 *   types.c	types and modifiers
 *   declare.c	declarations of variables, parameters and registers
 *   initial.c	initial values
 *   unit.c	the outermost level
 *   function.c	heads of functions
 *   body.c	bodies: directives, labels, instructions
 *   operand.c	operands
 */
#ifndef MEMCAST_PTX_TEXT_H
#define MEMCAST_PTX_TEXT_H

#include <string.h>

#include "image/ptx.h"

/* ---- arena.c ---- */

struct arena {
	struct arena_piece *pieces;
	bool empty;			/* an allocation has failed; the text is refused then */
};

void *arena_take(struct arena *arena, size_t bytes);
void *arena_more(struct arena *arena, void *list, uint32_t count, size_t each);
char *arena_text(struct arena *arena, const char *text, size_t length);
void arena_free(struct arena *arena);

/* ---- types.c ---- */

enum type_kind { KIND_BITS, KIND_UNSIGNED, KIND_SIGNED, KIND_FLOAT, KIND_PREDICATE, KIND_OPAQUE };

/* identifier, text, bits, kind, elements that are packed into it */
#define PTX_TYPES(T)								\
	T(B8, "b8", 8, BITS, 1) T(B16, "b16", 16, BITS, 1) T(B32, "b32", 32, BITS, 1) \
	T(B64, "b64", 64, BITS, 1) T(B128, "b128", 128, BITS, 1)		\
	T(U8, "u8", 8, UNSIGNED, 1) T(U16, "u16", 16, UNSIGNED, 1)		\
	T(U32, "u32", 32, UNSIGNED, 1) T(U64, "u64", 64, UNSIGNED, 1)		\
	T(S8, "s8", 8, SIGNED, 1) T(S16, "s16", 16, SIGNED, 1)			\
	T(S32, "s32", 32, SIGNED, 1) T(S64, "s64", 64, SIGNED, 1)		\
	T(F16, "f16", 16, FLOAT, 1) T(F32, "f32", 32, FLOAT, 1) T(F64, "f64", 64, FLOAT, 1) \
	T(BF16, "bf16", 16, FLOAT, 1) T(TF32, "tf32", 32, FLOAT, 1)		\
	T(F16X2, "f16x2", 32, FLOAT, 2) T(BF16X2, "bf16x2", 32, FLOAT, 2)	\
	T(F32X2, "f32x2", 64, FLOAT, 2)						\
	T(U16X2, "u16x2", 32, UNSIGNED, 2) T(S16X2, "s16x2", 32, SIGNED, 2)	\
	T(E4M3, "e4m3", 8, FLOAT, 1) T(E5M2, "e5m2", 8, FLOAT, 1)		\
	T(E4M3X2, "e4m3x2", 16, FLOAT, 2) T(E5M2X2, "e5m2x2", 16, FLOAT, 2)	\
	T(E4M3X4, "e4m3x4", 32, FLOAT, 4) T(E5M2X4, "e5m2x4", 32, FLOAT, 4)	\
	T(E3M2X2, "e3m2x2", 16, FLOAT, 2) T(E2M3X2, "e2m3x2", 16, FLOAT, 2)	\
	T(E2M1X2, "e2m1x2", 8, FLOAT, 2) T(UE8M0X2, "ue8m0x2", 16, FLOAT, 2)	\
	T(U4, "u4", 4, UNSIGNED, 1) T(S4, "s4", 4, SIGNED, 1)			\
	T(U2, "u2", 2, UNSIGNED, 1) T(S2, "s2", 2, SIGNED, 1) T(B1, "b1", 1, BITS, 1) \
	T(PRED, "pred", 1, PREDICATE, 1)					\
	T(TEXREF, "texref", 64, OPAQUE, 1) T(SAMPLERREF, "samplerref", 64, OPAQUE, 1) \
	T(SURFREF, "surfref", 64, OPAQUE, 1)

enum type {
	TYPE_NONE,
#define T(name, text, bits, kind, packed) TYPE_##name,
	PTX_TYPES(T)
#undef T
	TYPES
};

struct type_facts {
	const char *name;
	uint8_t bits, packed;
	enum type_kind kind;
};

extern const struct type_facts type_facts[TYPES];
enum type type_of_word(const struct word *word);	/* ".u32"; TYPE_NONE: it is no type */

static inline unsigned int type_bits(enum type type)
{
	return type_facts[type].bits;
}

static inline bool type_is(enum type type, enum type_kind kind)
{
	return type_facts[type].kind == kind;
}

/* ---- names.c ---- */

enum space {
	SPACE_NONE, SPACE_REG, SPACE_GLOBAL, SPACE_CONST, SPACE_SHARED, SPACE_LOCAL, SPACE_PARAM,
};

enum symbol_kind {
	SYMBOL_REGISTER, SYMBOL_REGISTERS, SYMBOL_VARIABLE, SYMBOL_FUNCTION, SYMBOL_LABEL,
	SYMBOL_TARGETS, SYMBOL_PROTOTYPE,
};

enum linkage { LINK_PRIVATE, LINK_VISIBLE, LINK_EXTERN, LINK_WEAK, LINK_COMMON };

/* How a register's value changes from a thread to the next one of a row; lib/ptx/ir/bounds.c */
struct course {
	enum { COURSE_UNKNOWN, COURSE_SAME, COURSE_STEPS, COURSE_TRUTH } kind;
	int32_t step;
	/* of a predicate: are the threads where it is true, or false, one run without gaps? */
	bool trues, falses;
};

/* What is known of a register's value as an address; lib/ptx/ir/align.c */
struct alignment {
	struct symbol *of;		/* NULL, or the register is the sum of it, */
	uint64_t added;			/* and this, */
	uint32_t of_version, sum_epoch;	/* in this epoch, if it still has this version */
	uint32_t version;		/* counts values that the register got */
	uint32_t checked_epoch;
	uint32_t checked;		/* alignment that the register + checked_at has; 0: unknown */
	uint64_t checked_at;
};

struct symbol {
	struct symbol *next;		/* in the scope's bucket */
	struct scope *scope;
	const char *name;
	size_t length;
	uint32_t line;
	enum symbol_kind kind;
	enum space space;
	enum linkage linkage;
	enum type type;
	uint8_t vector;			/* of a register: elements; 1 if it is none */
	bool unsized;			/* an array without a size: dynamic shared memory */
	bool parameter;			/* of a function; offset is in its block */
	bool has_values;		/* a variable that another module has used */
	uint32_t align;
	uint64_t bytes;
	uint64_t address;		/* of a .global or .const variable */
	uint32_t offset;		/* in a block of parameters or in shared memory */
	union {
		uint32_t count;			/* SYMBOL_REGISTERS: %r<count> */
		struct function *function;
		struct initial *initial;	/* of a variable; NULL: zeros */
		struct targets *targets;	/* labels or functions of a table */
		struct parameters *prototype;
		/* of a register: how a body uses it; lib/ptx/ir/registers.c */
		struct {
			uint32_t seen;		/* 1 + the last block that writes it */
			uint32_t exposed;	/* 1 + its bit in sets */
			uint8_t written;	/* places that write it; 2: or more, or unsure ones */
			bool known;		/* the rest is true of the body */
			bool zeroed;		/* it may be read before it is written */
			bool hoisted;		/* computed before all cuts; lib/ptx/ir/hoist.c */
			bool stays;		/* as it is, from the first cut on */
			bool depends;		/* on what others write; lib/ptx/jit/wait.c */
			uint8_t place;		/* of a thread in the grid; lib/ptx/jit/join.c */
			struct course course;
		} flow;
	};
	/* what translation makes of it: values of LLVM, or NULL */
	void *value, *values[8];
	bool used;
	/* of a register that has a product of two floats, which a sum may take in */
	void *factors[2];
	int factors_element;		/* of a vector of registers */
	uint32_t factors_epoch;
	struct alignment alignment;
};

struct scope {
	struct scope *outer, *ranges;	/* ranges: names of registers as %r<100> */
	struct arena *arena;
	struct symbol **buckets;
	uint32_t room, count, depth;
};

bool scope_has(const struct scope *scope, const char *name, size_t length);
struct scope *scope_new(struct arena *arena, struct scope *outer);
struct symbol *scope_find_here(const struct scope *scope, const char *name, size_t length);
struct symbol *scope_find(struct scope *scope, const char *name, size_t length);
struct symbol *label_find(struct scope *scope, const struct word *name);
struct symbol *scope_add(struct scope *scope, const struct word *name);

/* ---- initial.c ---- */

/* An address within an initial value */
struct relocation {
	struct relocation *next;
	struct symbol *symbol;		/* NULL until the unit has been read */
	struct word name;
	uint64_t at, added, mask;
	uint32_t bytes, line;
};

struct initial {
	unsigned char *bytes;
	uint64_t size;
	struct relocation *relocations;
};

struct declared_array {
	uint64_t dimensions[8];
	uint32_t count;
};

/* ---- unit.c, function.c ---- */

struct parameters {
	struct symbol **at;
	uint32_t count, bytes;		/* bytes: of the block that holds them */
};

struct function {
	struct function *next;
	struct unit *unit;
	struct symbol *symbol;
	bool kernel, defined, noreturn, checked;
	bool unified;			/* .attribute(.unified(…)), with these numbers: */
	uint64_t uuid[2];
	struct parameters parameters, results;
	struct scope *scope;		/* its parameters */
	const char *body;		/* behind the opening brace */
	uint32_t body_line, line;
	uint32_t max_threads, required[3], cluster[3];
	/* found by the check of the body */
	uint32_t statements, local;
	void *translated;		/* what the translator knows of it */
};

struct unit {
	struct arena arena;
	const char *text, *end;
	struct scope *scope;
	struct function *functions, **functions_last;
	struct symbol **variables;
	uint32_t variables_count;
	int version, target;
	uint32_t number;		/* of the text, in its image */
	bool own_features;		/* its target is sm_90a or sm_100f */
	bool clusters;			/* the text has instructions of clusters */
	struct complaint *complaint;
};

CUresult unit_read(struct unit *unit, const char *text, size_t bytes,
		   struct complaint *complaint);
void unit_free(struct unit *unit);
CUresult function_read(struct reader *reader, struct unit *unit, enum linkage linkage);
CUresult parameters_read(struct reader *reader, struct scope *scope,
			 struct parameters *parameters);

/* A reader with what belongs to it, for the functions below */
struct source {
	struct reader reader;		/* first: a pointer to it is one to the source */
	struct unit *unit;
	struct arena *arena;
};

static inline struct source *source_of(struct reader *reader)
{
	return (struct source *)reader;
}

/* ---- declare.c ---- */

/* [.align n] [.v2] .type name…: @each is called for each name with its declaration */
struct declaration {
	enum space space;
	enum linkage linkage;
	enum type type;
	uint32_t align;
	uint8_t vector;
};

CUresult declaration_read(struct reader *reader, struct declaration *declaration);
CUresult declare_name(struct reader *reader, struct scope *scope,
		      const struct declaration *declaration, struct symbol **symbol);
CUresult initial_read(struct reader *reader, struct symbol *symbol,
		      const struct declared_array *array);

/* ---- body.c, operand.c ---- */

#define PTX_MODIFIERS_MOST	20
#define PTX_OPERANDS_MOST	16

enum operand_kind {
	OPERAND_NONE, OPERAND_REGISTER, OPERAND_NUMBER, OPERAND_SYMBOL, OPERAND_SPECIAL,
	OPERAND_ADDRESS, OPERAND_VECTOR, OPERAND_SINK, OPERAND_NAME,
};

struct operand {
	enum operand_kind kind;
	bool negated;			/* !p, or -a of a video instruction */
	struct symbol *symbol;		/* of a register, variable, function; base of an address */
	struct word name;		/* of a label, special register, selector behind a point */
	struct word part;		/* .x, .b0, .h10 behind a register; length 0: none */
	struct constant number;		/* an immediate; of an address, what is added */
	struct operand *items;		/* of a vector or a parenthesis */
	uint32_t count;
	struct operand *second;		/* of a|b */
};

struct statement {
	struct statement *next;
	enum statement_kind { STATEMENT_INSTRUCTION, STATEMENT_LABEL } kind;
	uint32_t line, source_file, source_line;
	struct symbol *label;
	bool hoisted;			/* computed before all cuts */
	uint32_t cut;			/* number of the place, from 1 on; lib/ptx/jit/cut.c */
	uint32_t bound;			/* number of a test, from 1 on; lib/ptx/ir/bounds.c */
	uint8_t steps;			/* operand that must not wrap around along a row; 0: none */
	bool steps_signed;
	/* an instruction: @guard name.modifiers operands */
	struct symbol *guard;
	bool guard_negated;
	struct word name, text;
	const struct opcode *opcode;
	struct word *modifiers;		/* PTX_MODIFIERS_MOST at most */
	uint32_t modifiers_count;
	struct operand *operands;
	uint32_t operands_count;
	struct scope *scope;		/* for labels, which may follow */
};

/* A table of labels (.branchtargets) or functions (.calltargets) */
struct targets {
	struct word *names;
	uint32_t count;
	struct scope *scope;
};

struct body {
	struct arena arena;
	struct statement *first, **last;
	struct symbol **memory;		/* .local, .shared and .param variables */
	uint32_t memory_count;
	uint32_t count;
	struct scope *scope;
};

CUresult body_read(struct function *function, struct body *body, struct complaint *complaint);
void body_free(struct body *body);
CUresult operands_read(struct reader *reader, struct scope *scope, struct statement *statement);

static inline bool word_is(const struct word *word, const char *text)
{
	return word->length == strlen(text) && !memcmp(word->at, text, word->length);
}

static inline bool word_is_one_of(const struct word *word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (word_is(word, list[i]))
			return true;
	return false;
}

static inline bool statement_has(const struct statement *statement, const char *modifier)
{
	for (uint32_t i = 0; i < statement->modifiers_count; i++)
		if (word_is(&statement->modifiers[i], modifier))
			return true;
	return false;
}

#endif /* MEMCAST_PTX_TEXT_H */
