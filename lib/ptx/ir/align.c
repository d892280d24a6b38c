// SPDX-License-Identifier: MIT
/*
 * Addresses must be multiples of what is accessed. A check ends a block of LLVM's, and unrolled
 * loops have thousands of them, so what a check has found is kept until the next label: it is true
 * of the register and of the sums of it and numbers.
 */
#include "ir.h"

/* A register as a sum: of another one, if it is known to be one, and a number */
struct sum {
	struct symbol *of;
	uint64_t added;
};

static struct sum sum_of(const struct translator *t, struct symbol *symbol)
{
	const struct alignment *about = &symbol->alignment;

	if (about->of && about->sum_epoch == t->epoch &&
	    about->of_version == about->of->alignment.version)
		return (struct sum) { about->of, about->added };
	return (struct sum) { symbol, 0 };
}

/* A register gets another value. */
void align_forget(struct symbol *symbol)
{
	symbol->alignment.version++;
	symbol->alignment.of = NULL;
	symbol->alignment.checked = 0;
}

/* Notes d = a + number, of 64 bits, which has just been translated. A guard has its own epoch. */
void align_note_sum(struct translator *t)
{
	const struct operand *to = operand(t, 0), *a = operand(t, 1), *b = operand(t, 2);
	struct sum sum;

	if (!word_is(&t->at->name, "add") || type_bits(type_at(t, 0)) != 64 ||
	    type_is(type_at(t, 0), KIND_FLOAT) || to->kind != OPERAND_REGISTER ||
	    a->kind != OPERAND_REGISTER || b->kind != OPERAND_NUMBER ||
	    to->symbol->vector > 1 || a->symbol->vector > 1 ||
	    type_bits(a->symbol->type) != 64 || type_bits(to->symbol->type) != 64 ||
	    a->symbol == to->symbol)
		return;
	sum = sum_of(t, a->symbol);
	if (sum.of == to->symbol)
		return;
	to->symbol->alignment.of = sum.of;
	to->symbol->alignment.of_version = sum.of->alignment.version;
	to->symbol->alignment.added = sum.added + b->number.integer;
	to->symbol->alignment.sum_epoch = t->epoch;
}

/* Ends the launch if the address, of which @low has the low bits, is no multiple of @align. */
void check_alignment(struct translator *t, LLVMValueRef pointer, LLVMValueRef low, uint32_t align)
{
	LLVMBasicBlockRef bad, good;
	LLVMValueRef wrong;

	wrong = BUILD(And, low, constant(t, 32, align - 1));
	if (t->loops) {
		/* a branch would keep LLVM from making vectors: the block's end looks at it */
		wrong = BUILD(Or, wrong, BUILD(Load2, t->i32, t->misaligned));
		LLVMBuildStore(t->builder, wrong, t->misaligned);
		return;
	}
	bad = new_block(t);
	good = new_block(t);
	LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntNE, wrong,
						  constant(t, 32, 0), ""), bad, good);
	LLVMPositionBuilderAtEnd(t->builder, bad);
	call_run(t, "misaligned", "v:l", BUILD(PtrToInt, pointer, t->i64));
	LLVMBuildUnreachable(t->builder);
	LLVMPositionBuilderAtEnd(t->builder, good);
}

/*
 * Does so if it is not known that the address is one. @base: the register that it is a sum
 * of, with @added; NULL: none
 */
void align_check(struct translator *t, LLVMValueRef pointer, LLVMValueRef low, uint32_t align,
		 struct symbol *base, uint64_t added)
{
	struct alignment *about;
	struct sum sum;

	if (!base || base->vector > 1 || type_bits(base->type) != 64) {
		check_alignment(t, pointer, low, align);
		return;
	}
	sum = sum_of(t, base);
	about = &sum.of->alignment;
	added += sum.added;
	if (about->checked >= align && about->checked_epoch == t->epoch &&
	    !((about->checked_at - added) & (align - 1)))
		return;
	check_alignment(t, pointer, low, align);
	about->checked = align;
	about->checked_at = added;
	about->checked_epoch = t->epoch;
}
