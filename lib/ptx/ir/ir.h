/* SPDX-License-Identifier: MIT */
/*
 * Translation of PTX functions to LLVM's IR.
 *
 * Registers are allocas of the type that they are declared with; LLVM makes values of them. What
 * is rare or hard to do exactly is a call of a C function (lib/ptx/math).
 *
 *   function.c	a function: entry, labels, loops
 *   loops.c	the form of a kernel that loops over a block's threads
 *   part.c	the function of a kernel that is cut, which runs threads to their next cuts
 *   cut.c	cuts: places where threads meet, and what they keep there
 *   hoist.c	what a thread computes again behind each cut
 *   bounds.c	tests that rows of threads can do without
 *   statement.c	the table of instructions; guards; modifiers
 *   registers.c	which registers are values, and which need memory
 *   value.c	operands to values and back; constants
 *   address.c	addresses: spaces, variables
 *   align.c	checks that addresses are aligned
 *   checked.c	what MEMCAST_PTX_CHECK adds
 *   special.c	special registers
 *   integer.c, bits.c, compare.c, video.c, float.c, quotient.c, half.c, convert.c
 *   memory.c, atomic.c, multimem.c, async.c, bulk.c
 *   flow.c, call.c, collective.c, matrix.c
 *   lines.c	lines of the text, for faults, and of the source, for gdb
 *   variables.c	what gdb shows of a thread
 */
#ifndef MEMCAST_PTX_IR_H
#define MEMCAST_PTX_IR_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stdarg.h>

#include "ptx/jit/code.h"
#include "ptx/text/modifier.h"
#include "ptx/run/run.h"
#include "ptx/text/text.h"

struct translator {
	LLVMContextRef context;
	LLVMModuleRef module;
	LLVMBuilderRef builder, entry_builder;
	LLVMTypeRef i1, i8, i16, i32, i64, i128, f32, f64, pointer, nothing;
	struct ptx_code *code;
	struct root *root;
	/* the function */
	struct unit *unit;
	struct function *function;
	struct body body;
	LLVMValueRef value, thread, parameters, results, tid[3];
	LLVMBasicBlockRef start;
	LLVMBasicBlockRef before;	/* of a cut kernel: what is computed before all cuts */
	LLVMDIBuilderRef lines;
	LLVMMetadataRef file, lines_scope;
	struct source_file {
		struct unit *unit;
		uint32_t number;
		LLVMMetadataRef file;
	} files[16];			/* of .file, at the place of their numbers */
	LLVMValueRef shared_base, carry, misaligned;
	LLVMValueRef lane;		/* what a lane brings for operations of matrices */
	LLVMValueRef outer_locals;	/* of the callers, where the function has local memory */
	uint32_t epoch;			/* of straight code: labels and guards begin another */
	bool polls, ended;
	bool loops;			/* the root has a form that loops over threads */
	bool own_memory;		/* it has local memory, one for all turns of its loops */
	/* the innermost of its loops, as metadata: of each cut, and two more; their accesses */
	LLVMValueRef loop_names[PTX_CUTS_MOST + 2], parallel;
	/*
	 * of a kernel that is cut: where a thread begins, struct ptx_state, the thread's number,
	 * and whether it stops at each turn of a loop; of one that loops over threads without
	 * cuts: the way in which it runs, and how many threads of its row follow
	 */
	LLVMValueRef which, state, number, turns;
	struct ptx_cut about[PTX_CUTS_MOST + 1];
	LLVMBasicBlockRef cut[PTX_CUTS_MOST + 1], resume[PTX_CUTS_MOST + 1];
	uint32_t cuts;
	uint32_t slots;			/* registers that threads keep */
	uint32_t bounds;		/* tests of bounds that rows can do without */
	LLVMValueRef wraps;		/* does what they compare wrap around along the row? */
	/* before each statement: instructions that may wait, and calls of what may */
	struct waits { uint32_t own, calls; } *waits_before;
	uint32_t index;			/* of the statement */
	/* the instruction */
	struct statement *at;
	enum modifier modifiers[PTX_MODIFIERS_MOST];
	enum type types[PTX_MODIFIERS_MOST];
	uint32_t types_count, used;
	bool unsupported;
};

/* An instruction's name, and what makes IR of it */
struct opcode {
	const char *name;
	void (*translate)(struct translator *t);
	uint8_t least, most;		/* operands */
	uint8_t flags;
};

#define OPCODE_WAITS	1		/* for other threads */
#define OPCODE_ENDS	2		/* the thread, or the function */
#define OPCODE_TYPED	4
#define OPCODE_TYPED_TWICE	8	/* a type of the result, and one of what it is made of */

const struct opcode *opcode_find(const struct word *name);

/* ---- statement.c ---- */
bool has(struct translator *t, enum modifier modifier);
bool has_any(struct translator *t, const enum modifier *list, uint32_t count);
void unsupported(struct translator *t);
__attribute__((format(printf, 2, 3)))
void lacks(struct translator *t, const char *format, ...);
void unsupported_about(struct translator *t, const struct symbol *about);
void translate_statement(struct translator *t, struct statement *statement);
static inline enum type type_at(const struct translator *t, uint32_t index)
{
	return index < t->types_count ? t->types[index] : TYPE_NONE;
}

static inline struct operand *operand(struct translator *t, uint32_t index)
{
	static struct operand none;

	return index < t->at->operands_count ? &t->at->operands[index] : &none;
}

/* ---- value.c ---- */
LLVMTypeRef int_type(struct translator *t, uint32_t bits);
LLVMValueRef constant(struct translator *t, uint32_t bits, uint64_t value);
LLVMValueRef get(struct translator *t, const struct operand *operand, enum type type);
LLVMValueRef get_float(struct translator *t, const struct operand *operand, enum type type);
LLVMValueRef get_predicate(struct translator *t, const struct operand *operand);
void put(struct translator *t, const struct operand *operand, LLVMValueRef value, enum type type);
void put_predicate(struct translator *t, const struct operand *operand, LLVMValueRef value);
int vector_element(const struct word *part);
LLVMValueRef register_read(struct translator *t, struct symbol *symbol, int element);
LLVMValueRef register_place(struct translator *t, struct symbol *symbol, int element);
void register_write(struct translator *t, struct symbol *symbol, int element, LLVMValueRef value,
		    bool is_signed);
LLVMValueRef as_int(struct translator *t, LLVMValueRef value);
LLVMValueRef resize(struct translator *t, LLVMValueRef value, uint32_t bits, bool is_signed);
LLVMValueRef alloca_at_entry(struct translator *t, LLVMTypeRef type, uint64_t count,
			     uint32_t align);
LLVMValueRef intrinsic(struct translator *t, const char *name, LLVMTypeRef type,
		       uint32_t count, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);
LLVMValueRef call_run(struct translator *t, const char *name, const char *signature, ...);
LLVMValueRef call_math(struct translator *t, const char *name, ...);
LLVMValueRef math_function(struct translator *t, const char *name);
LLVMValueRef choose(struct translator *t, LLVMValueRef condition, LLVMValueRef yes,
		    LLVMValueRef no);
LLVMValueRef thread_field(struct translator *t, size_t offset, LLVMTypeRef type);
LLVMValueRef invariant(struct translator *t, LLVMValueRef load);
LLVMBasicBlockRef new_block(struct translator *t);
void go_on_at(struct translator *t, LLVMBasicBlockRef block);

void function_is_pure(struct translator *t, LLVMValueRef function);
void function_ends(struct translator *t, LLVMValueRef function);
void root_external(struct root *root, const char *name, void *address);

/* ---- registers.c ---- */
/* Registers that threads keep from a cut to the next; the caller frees at */
struct kept {
	struct symbol **at;
	uint32_t count;
};

bool registers_look(const struct body *body, struct kept *kept);

/* ---- hoist.c ---- */
void hoist(struct statement *at);
bool statement_is_pure(const struct statement *at);
bool statement_writes_once(const struct statement *at);

/* ---- bounds.c ---- */
/* Ways in which a body runs; ROW_PASSES is also what it returns after it has looked */
enum row { ROW_TESTS, ROW_LOOKS, ROW_PASSES = 0x100 };

uint32_t bounds_find(const struct body *body);
LLVMValueRef bounds_tested(struct translator *t, LLVMValueRef guard);
void bounds_after(struct translator *t, const struct statement *at);

/* ---- cut.c ---- */
void cut_here(struct translator *t, LLVMBasicBlockRef block, uint32_t number);
/* What a thread brings to an operation of a block or a warp; others than @value may be NULL. */
struct brought {
	LLVMValueRef value, mask, b, c;
};

LLVMValueRef cut_meet(struct translator *t, enum ptx_cut_kind kind, uint32_t operation,
		      const struct brought *brought);
LLVMValueRef cut_agreed(struct translator *t);
void cuts_end(struct translator *t, const struct kept *kept);

/* ---- address.c ---- */
LLVMValueRef symbol_address(struct translator *t, struct symbol *symbol);
LLVMValueRef pointer_to(struct translator *t, const struct operand *operand, enum space space,
			uint32_t align);
LLVMValueRef address_value(struct translator *t, const struct operand *operand);
enum space space_of_modifiers(struct translator *t);
LLVMValueRef own_shared(struct translator *t, LLVMValueRef offset);
LLVMValueRef shared_window(struct translator *t);

/* ---- call.c ---- */
LLVMValueRef at_offset(struct translator *t, LLVMValueRef block, uint64_t offset);
void name_thread(struct translator *t);

/* ---- align.c ---- */
void check_alignment(struct translator *t, LLVMValueRef pointer, LLVMValueRef low, uint32_t align);
void align_forget(struct symbol *symbol);
void align_note_sum(struct translator *t);
void align_check(struct translator *t, LLVMValueRef pointer, LLVMValueRef low, uint32_t align,
		 struct symbol *base, uint64_t added);

/* ---- memory.c ---- */
struct operand vector_part(struct translator *t, const struct operand *operand, uint32_t index);
void note_deed(struct translator *t);
void note_deed_if(struct translator *t, LLVMValueRef done);
uint32_t promised_align(const struct translator *t, uint32_t align);
void note_looked_at(struct translator *t, LLVMValueRef pointer, uint32_t bytes);
void check_room(struct translator *t, LLVMValueRef bytes, uint32_t align);

/* ---- checked.c ---- */
void checked_access(struct translator *t, LLVMValueRef pointer, const struct operand *operand,
		    enum space space, LLVMValueRef bytes, uint32_t kind, LLVMValueRef value);
void checked_order(struct translator *t, LLVMValueRef kind);
void checked_begin(struct translator *t);
void checked_end(struct translator *t);

/* ---- special.c ---- */
LLVMValueRef special_read(struct translator *t, const struct operand *operand, uint32_t bits);

/* ---- multimem.c, async.c, bulk.c ---- */
/* Makes a plain store to a pointer */
typedef void plain_store(struct translator *t, const void *data, LLVMValueRef pointer);
void store_to_window(struct translator *t, LLVMValueRef pointer, plain_store *store,
		     const void *data);
LLVMValueRef multimem_view(struct translator *t, LLVMValueRef address, LLVMValueRef *offset);
void use_mbarrier(struct translator *t, LLVMValueRef barrier, const struct operand *operand,
		  enum space space);
void complete_bytes(struct translator *t, uint32_t index, uint32_t bytes);
void translate_bulk(struct translator *t, bool reduces);
void translate_multimem_bulk(struct translator *t);

/* ---- lines.c ---- */
void lines_begin(struct translator *t);
void lines_function(struct translator *t, uint32_t line, const char *name);
void lines_at(struct translator *t, uint32_t line);
void lines_statement(struct translator *t, const struct statement *at);
void lines_end(struct translator *t);

/* ---- variables.c ---- */
void variables_begin(struct translator *t);
void variables_register(struct translator *t, const struct symbol *symbol, int element,
			LLVMValueRef place);

/* ---- function.c ---- */
bool translate_root(struct ptx_code *code, struct root *root, LLVMContextRef context,
		    LLVMModuleRef module);
LLVMValueRef function_value(struct translator *t, struct function *function);
LLVMTypeRef function_type(struct translator *t, bool kernel);
const char *form_name(struct translator *t, const char *kind, char *name, size_t size);
void attribute(struct translator *t, LLVMValueRef function, uint32_t at, const char *name);
void function_common(struct translator *t, LLVMValueRef function);
void call_is_rare(struct translator *t, LLVMValueRef call);
void is_there(struct translator *t, LLVMValueRef function, uint32_t argument, uint64_t bytes);
LLVMBasicBlockRef label_block(struct translator *t, struct symbol *label);
void edge(struct translator *t, struct symbol *label);

/* ---- loops.c ---- */
struct loop {
	LLVMBasicBlockRef head;
	LLVMValueRef index;
};

void loops_name(struct translator *t);
void loop_is_short(struct translator *t, LLVMValueRef branch);
void loop_begin(struct translator *t, struct loop *loop, LLVMValueRef first);
void loop_end(struct translator *t, struct loop *loop, LLVMValueRef end, LLVMValueRef name);
void no_order(struct translator *t, LLVMValueRef access);
LLVMValueRef variable_begin(struct translator *t, LLVMValueRef value);
LLVMValueRef variable_get(struct translator *t, LLVMValueRef place);
LLVMValueRef row_threads(struct translator *t);
LLVMValueRef form_begin(struct translator *t, const char *kind, LLVMTypeRef type);
void form_end(struct translator *t);
void block_form(struct translator *t, LLVMValueRef body);

/* ---- part.c ---- */
LLVMValueRef part_form(struct translator *t, LLVMValueRef body);
LLVMValueRef run_parts(struct translator *t, LLVMValueRef part);

/* ---- float.c, quotient.c, half.c ---- */
/* Modifiers of an operation on f32 or f64, and its operands */
struct operation {
	enum type type;
	uint32_t mode, count;
	bool ftz, sat, divides;
	LLVMValueRef values[3];
	/* with .ftz, of what can be inexact below normal numbers: twice the result; else NULL */
	LLVMValueRef twice;
};

static inline bool is_float(enum type type)
{
	return type_is(type, KIND_FLOAT);
}

static inline bool is_half(enum type type)
{
	return type != TYPE_F32 && type != TYPE_F64;
}

static inline bool is_bf16(enum type type)
{
	return type == TYPE_BF16 || type == TYPE_BF16X2;
}

static inline const char *name_of(const char *f32, const char *f64, enum type type)
{
	return type == TYPE_F64 ? f64 : f32;
}

void float_operands(struct translator *t, struct operation *operation, uint32_t count);
void float_result(struct translator *t, struct operation *operation, LLVMValueRef value);
LLVMValueRef canonical(struct translator *t, LLVMValueRef value, enum type type);
LLVMValueRef flush(struct translator *t, LLVMValueRef value, enum type type);
LLVMValueRef flush_rounded(struct translator *t, LLVMValueRef value, LLVMValueRef twice);
LLVMValueRef saturate(struct translator *t, LLVMValueRef value, enum type type);
LLVMValueRef is_nan(struct translator *t, LLVMValueRef value);
LLVMValueRef widen(struct translator *t, LLVMValueRef bits, enum type type);
LLVMValueRef narrow(struct translator *t, LLVMValueRef value, enum type type);
uint32_t rounding(struct translator *t);
void half_binary(struct translator *t, char operation);
void half_fma(struct translator *t);
void half_sign(struct translator *t, bool negate);
LLVMValueRef minimum(struct translator *t, LLVMValueRef a, LLVMValueRef b, enum type type,
		     bool max, bool nan);

#define BUILD(kind, ...) LLVMBuild##kind(t->builder, __VA_ARGS__, "")

#endif /* MEMCAST_PTX_IR_H */
