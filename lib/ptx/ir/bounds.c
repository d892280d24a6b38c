// SPDX-License-Identifier: MIT
/*
 * Bounds tests: most kernels begin with tests that end threads beyond the data. The loop over a row
 * of threads needs none of them if the first and the last thread of the row pass all, and if what
 * they compare changes by a fixed step from thread to thread, without wrapping around. LLVM then
 * makes vectors without masks. Threads are tested at the ends of a row (loops.c), so a body has two
 * more ways to run:
 *
 *   ROW_LOOKS	it returns ROW_PASSES if the thread passes all tests, and if nothing that is
 *		compared wraps around in as many more threads as its argument t->number says
 *   ROW_PASSES	it runs without the tests
 *
 * Tests stand before all else but computations from indices and parameters. Each computed register
 * has a course: how its value changes along a row.
 */
#include <stdlib.h>

#include "instructions.h"
#include "ir.h"

#define STEP_MOST	(1 << 16)	/* times threads of a row: has 31 bits at most */

static const struct course unknown = { COURSE_UNKNOWN };
static const struct course same = { COURSE_SAME, .trues = true, .falses = true };

static enum type type_of(const struct statement *at, uint32_t index)
{
	for (uint32_t i = 0; i < at->modifiers_count; i++) {
		enum type type = type_of_word(&at->modifiers[i]);

		if (type && !index--)
			return type;
	}
	return TYPE_NONE;
}

static bool is_integer(enum type type)
{
	return !type_is(type, KIND_FLOAT) && type_facts[type].packed == 1 &&
	       (type_bits(type) == 32 || type_bits(type) == 64);
}

static struct course step_of(int64_t step)
{
	if (!step)
		return same;
	if (step > STEP_MOST || step < -STEP_MOST)
		return unknown;
	return (struct course) { COURSE_STEPS, .step = step };
}

static struct course special_course(const struct operand *operand)
{
	static const char *const others[] = { "%ntid", "%ctaid", "%nctaid" };

	if (operand->part.length != 2)
		return unknown;
	if (word_is(&operand->name, "%tid"))
		return word_is(&operand->part, ".x") ? step_of(1) : same;
	return word_is_one_of(&operand->name, others, ARRAY_SIZE(others)) ? same : unknown;
}

static struct course course_of(const struct operand *operand)
{
	struct course course;

	switch (operand->kind) {
	case OPERAND_NUMBER:
		return same;
	case OPERAND_SPECIAL:
		return special_course(operand);
	case OPERAND_ADDRESS:
		return operand->symbol && operand->symbol->parameter ? same : unknown;
	case OPERAND_REGISTER:
		if (operand->part.length || operand->second)
			return unknown;
		course = operand->symbol->flow.course;
		if (operand->negated) {
			course.trues = operand->symbol->flow.course.falses;
			course.falses = operand->symbol->flow.course.trues;
		}
		return course;
	default:
		return unknown;
	}
}

static struct course sum(struct course a, struct course b, int sign)
{
	if (a.kind < COURSE_SAME || a.kind > COURSE_STEPS || b.kind < COURSE_SAME ||
	    b.kind > COURSE_STEPS)
		return unknown;
	return step_of((int64_t)a.step + sign * (int64_t)b.step);
}

static struct course product(const struct operand *a, const struct operand *b)
{
	struct course x = course_of(a), y = course_of(b);
	int64_t factor;

	if (x.kind == COURSE_SAME && y.kind == COURSE_SAME)
		return same;
	if (a->kind == OPERAND_NUMBER)
		return product(b, a);
	factor = b->number.integer;
	if (x.kind != COURSE_STEPS || b->kind != OPERAND_NUMBER || factor > STEP_MOST ||
	    factor < -STEP_MOST)
		return unknown;
	return step_of(x.step * factor);
}

static struct course shifted(const struct operand *a, const struct operand *by)
{
	struct course x = course_of(a);

	if (x.kind != COURSE_STEPS || by->kind != OPERAND_NUMBER ||
	    by->number.integer > __builtin_ctz(STEP_MOST))
		return unknown;
	return step_of((int64_t)x.step * (1 << by->number.integer));
}

/* Where both are true, or (@any) where one is */
static struct course together(struct course a, struct course b, bool any)
{
	bool trues, falses;

	if (a.kind == COURSE_UNKNOWN || b.kind == COURSE_UNKNOWN)
		return unknown;
	if (a.kind == COURSE_SAME && b.kind == COURSE_SAME)
		return same;
	/* a part of a row that has no gaps, and another one: what they share has none, either */
	trues = a.trues && b.trues && (!any || a.kind == COURSE_SAME || b.kind == COURSE_SAME);
	falses = a.falses && b.falses && (any || a.kind == COURSE_SAME || b.kind == COURSE_SAME);
	return (struct course) { COURSE_TRUTH, .trues = trues, .falses = falses };
}

static bool all_same(const struct statement *at)
{
	for (uint32_t i = 1; i < at->operands_count; i++)
		if (course_of(&at->operands[i]).kind != COURSE_SAME)
			return false;
	return true;
}

/* Is it a register of the type's size? cvt takes a part of a wider one, or fills it. */
static bool is_whole(const struct operand *operand, enum type type)
{
	return operand->kind == OPERAND_REGISTER &&
	       type_bits(operand->symbol->type) == type_bits(type);
}

/* a < b and the like are true up to one end of a row: of a value with steps that does not wrap */
static struct course compared(struct statement *at)
{
	static const char *const orders[] = { ".lt", ".le", ".gt", ".ge" };
	static const char *const without_sign[] = { ".lo", ".ls", ".hi", ".hs" };
	struct course a = course_of(&at->operands[1]), b = course_of(&at->operands[2]), result;
	const struct operand *steps = &at->operands[a.kind == COURSE_STEPS ? 1 : 2];
	bool has_order = false, has_sign = type_is(type_of(at, 0), KIND_SIGNED), any;

	if (at->operands[0].second || statement_has(at, ".xor") || statement_has(at, ".ftz"))
		return all_same(at) && !at->operands[0].second ? same : unknown;
	for (uint32_t i = 0; i < at->modifiers_count; i++) {
		has_order |= word_is_one_of(&at->modifiers[i], orders, ARRAY_SIZE(orders));
		if (word_is_one_of(&at->modifiers[i], without_sign, ARRAY_SIZE(without_sign))) {
			has_order = true;
			has_sign = false;
		}
	}
	if (a.kind == COURSE_SAME && b.kind == COURSE_SAME) {
		result = same;
	} else if (has_order && is_integer(type_of(at, 0)) && is_whole(steps, type_of(at, 0)) &&
		   ((a.kind == COURSE_STEPS && b.kind == COURSE_SAME) ||
		    (a.kind == COURSE_SAME && b.kind == COURSE_STEPS))) {
		at->steps = steps - at->operands;
		at->steps_signed = has_sign;
		result = (struct course) { COURSE_TRUTH, .trues = true, .falses = true };
	} else {
		return unknown;
	}
	any = statement_has(at, ".or");
	if (any || statement_has(at, ".and"))
		result = together(result, course_of(&at->operands[3]), any);
	return result;
}

static struct course converted(struct statement *at)
{
	enum type to = type_of(at, 0), from = type_of(at, 1);
	struct course course = course_of(&at->operands[1]);

	if (all_same(at))
		return same;
	if (course.kind != COURSE_STEPS || at->operands_count != 2 || at->modifiers_count != 2 ||
	    !is_integer(to) || !is_integer(from) || !is_whole(&at->operands[0], to) ||
	    !is_whole(&at->operands[1], from))
		return unknown;
	if (type_bits(to) > type_bits(from)) {
		at->steps = 1;
		at->steps_signed = type_is(from, KIND_SIGNED);
	}
	return course;
}

static struct course result_course(struct statement *at)
{
	const struct operand *operands = at->operands;
	bool predicate = type_is(type_of(at, 0), KIND_PREDICATE);
	bool low = is_integer(type_of(at, 0)) && statement_has(at, ".lo");

	if (word_is(&at->name, "setp"))
		return compared(at);
	if (word_is(&at->name, "cvt"))
		return converted(at);
	if (predicate && (word_is(&at->name, "and") || word_is(&at->name, "or")))
		return together(course_of(&operands[1]), course_of(&operands[2]),
				word_is(&at->name, "or"));
	if (predicate && word_is(&at->name, "not")) {
		struct course course = course_of(&operands[1]);

		return (struct course) { course.kind, .trues = course.falses,
					 .falses = course.trues };
	}
	if (all_same(at))
		return same;
	if (word_is(&at->name, "mov") && is_integer(type_of(at, 0)))
		return course_of(&operands[1]);
	if (at->modifiers_count == 1 && is_integer(type_of(at, 0))) {
		if (word_is(&at->name, "add"))
			return sum(course_of(&operands[1]), course_of(&operands[2]), 1);
		if (word_is(&at->name, "sub"))
			return sum(course_of(&operands[1]), course_of(&operands[2]), -1);
		if (word_is(&at->name, "shl"))
			return shifted(&operands[1], &operands[2]);
	}
	if (low && word_is(&at->name, "mul"))
		return product(&operands[1], &operands[2]);
	if (low && word_is(&at->name, "mad"))
		return sum(product(&operands[1], &operands[2]), course_of(&operands[3]), 1);
	return unknown;
}

/* Does a thread end at a statement, without having done anything more? */
static bool is_end(const struct statement *at)
{
	while (at && at->kind == STATEMENT_LABEL)
		at = at->next;
	return !at || (word_is(&at->name, "ret") && !at->guard);
}

/* Is a branch a test of bounds, which rows can do without if both of their ends pass it? */
static bool is_test(const struct body *body, const struct statement *at)
{
	const struct course *course = &at->guard->flow.course;
	const struct statement *to = body->first;
	const struct symbol *label;

	if (word_is(&at->name, "bra")) {
		label = at->operands[0].kind == OPERAND_NAME ?
			label_find(at->scope, &at->operands[0].name) : NULL;
		while (to && to->label != label)
			to = to->next;
		if (!label || !to || !is_end(to))
			return false;
	} else if (!word_is(&at->name, "ret")) {
		return false;
	}
	return at->guard_negated ? course->trues : course->falses;
}

/* Labels that debuggers use are no end of what stands before all else. */
static bool is_branched_to(const struct body *body, const struct symbol *label)
{
	for (const struct statement *at = body->first; at; at = at->next) {
		if (at->kind == STATEMENT_LABEL)
			continue;
		if (word_is(&at->name, "brx"))
			return true;
		if (word_is(&at->name, "bra") && at->operands[0].kind == OPERAND_NAME &&
		    label_find(at->scope, &at->operands[0].name) == label)
			return true;
	}
	return false;
}

/* Numbers the tests of bounds of a body, whose registers are known. Return: how many there are */
uint32_t bounds_find(const struct body *body)
{
	uint32_t count = 0;

	for (struct statement *at = body->first; at; at = at->next) {
		if (at->kind == STATEMENT_LABEL) {
			if (is_branched_to(body, at->label))
				break;
		} else if (at->guard) {
			if (!is_test(body, at))
				break;
			at->bound = ++count;
		} else if (!statement_is_pure(at)) {
			break;
		} else if (statement_writes_once(at)) {
			at->operands[0].symbol->flow.course = result_course(at);
		}
	}
	return count;
}

/* Of a test's guard: is it true, and the way of this run one that has tests? */
LLVMValueRef bounds_tested(struct translator *t, LLVMValueRef guard)
{
	return BUILD(And, guard, LLVMBuildICmp(t->builder, LLVMIntNE, t->which,
					       constant(t, 32, ROW_PASSES), ""));
}

/* Notes whether what has steps along the row wraps around before its end. */
static void note_wrap(struct translator *t, const struct statement *at)
{
	const struct operand *operand = &at->operands[at->steps];
	LLVMValueRef value = as_int(t, register_read(t, operand->symbol, 0)), distance, room;
	uint32_t bits = LLVMGetIntTypeWidth(LLVMTypeOf(value));
	int32_t step = operand->symbol->flow.course.step;
	uint64_t most = at->steps_signed ? (1ULL << (bits - 1)) - 1 : UINT64_MAX;
	uint64_t least = at->steps_signed ? 1ULL << (bits - 1) : 0;

	distance = BUILD(Mul, resize(t, t->number, bits, false), constant(t, bits, (int64_t)step));
	room = BUILD(Sub, constant(t, bits, step > 0 ? most : least), distance);
	value = LLVMBuildICmp(t->builder, step > 0 ?
			      (at->steps_signed ? LLVMIntSGT : LLVMIntUGT) :
			      (at->steps_signed ? LLVMIntSLT : LLVMIntULT), value, room, "");
	LLVMBuildStore(t->builder, BUILD(Or, value, BUILD(Load2, t->i1, t->wraps)), t->wraps);
}

/* What a statement needs that has been translated */
void bounds_after(struct translator *t, const struct statement *at)
{
	LLVMBasicBlockRef looks, runs;
	LLVMValueRef result;

	if (at->steps)
		note_wrap(t, at);
	if (!at->bound || at->bound != t->bounds)
		return;
	looks = new_block(t);
	runs = new_block(t);
	LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntEQ, t->which,
						  constant(t, 32, ROW_LOOKS), ""), looks, runs);
	LLVMPositionBuilderAtEnd(t->builder, looks);
	result = choose(t, BUILD(Load2, t->i1, t->wraps), constant(t, 32, 0),
			constant(t, 32, ROW_PASSES));
	LLVMBuildRet(t->builder, result);
	LLVMPositionBuilderAtEnd(t->builder, runs);
}
