// SPDX-License-Identifier: MIT
/* atom and red. All scopes are that of the system; a locked instruction has all orders. */
#include "instructions.h"
#include "ir.h"

static const enum modifier ignored[] = {
	MOD_relaxed, MOD_acquire, MOD_release, MOD_acq_rel, MOD_cta, MOD_cluster, MOD_gpu, MOD_sys,
	MOD_noftz, MOD_L2__cache_hint,
};

enum atomic_kind { OTHER, ADD, MIN, MAX, INC, DEC, AND, OR, XOR, EXCH, CAS };

static enum atomic_kind kind_of(struct translator *t)
{
	static const enum modifier kinds[] = {
		[ADD] = MOD_add, [MIN] = MOD_min, [MAX] = MOD_max, [INC] = MOD_inc, [DEC] = MOD_dec,
		[AND] = MOD_and, [OR] = MOD_or, [XOR] = MOD_xor, [EXCH] = MOD_exch, [CAS] = MOD_cas,
	};

	for (uint32_t i = ADD; i < ARRAY_SIZE(kinds); i++)
		if (has(t, kinds[i]))
			return i;
	return OTHER;
}

static LLVMAtomicRMWBinOp operation_of(enum atomic_kind kind, bool is_signed)
{
	switch (kind) {
	case ADD: return LLVMAtomicRMWBinOpAdd;
	case MIN: return is_signed ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin;
	case MAX: return is_signed ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax;
	case AND: return LLVMAtomicRMWBinOpAnd;
	case OR: return LLVMAtomicRMWBinOpOr;
	case XOR: return LLVMAtomicRMWBinOpXor;
	default: return LLVMAtomicRMWBinOpXchg;
	}
}

static LLVMValueRef half(struct translator *t, enum atomic_kind kind, enum type type,
			 LLVMValueRef pointer, LLVMValueRef value)
{
	uint32_t what = kind == ADD ? 0 : kind == MIN ? 4 : 8, bits = type_bits(type);

	if (kind != ADD && kind != MIN && kind != MAX)
		unsupported(t);
	what |= (type == TYPE_BF16 || type == TYPE_BF16X2) | (bits == 32 ? 2 : 0);
	value = resize(t, value, 32, false);
	return resize(t, call_math(t, "atomic_half", pointer, value, constant(t, 32, what)), bits,
		      false);
}

/*
 * Return: 1 if memory is not shared memory, else 0. Its sums have subnormals, and quiet NaNs; a generic
 * address may be there.
 */
static LLVMValueRef is_outside(struct translator *t, enum space space, LLVMValueRef pointer)
{
	if (space != SPACE_NONE)
		return constant(t, 32, space != SPACE_SHARED);
	return resize(t, BUILD(Not, is_in_space(t, as_int(t, pointer), SPACE_SHARED, true)), 32,
		      false);
}

/*
 * Others may wait for what has changed memory; an atom that has changed nothing is a look at it, as a
 * loop makes that waits for a lock. @old, @value, @other: as of one()
 */
static void note_change(struct translator *t, enum atomic_kind kind, enum type type,
			LLVMValueRef old, LLVMValueRef value, LLVMValueRef other)
{
	LLVMIntPredicate below = type_is(type, KIND_SIGNED) ? LLVMIntSLT : LLVMIntULT;
	LLVMValueRef before = old, after = value, stores;

	if (!t->polls)
		return;
	switch (kind) {
	case INC:			/* from 0 up to 0 alone changes nothing, and so down */
	case DEC:
		after = BUILD(Or, old, value);
		/* fall through */
	case ADD:
	case XOR:
		before = LLVMConstNull(LLVMTypeOf(value));
		break;
	case OR:
		after = BUILD(Or, old, value);
		break;
	case AND:
		after = BUILD(And, old, value);
		break;
	case MIN:
	case MAX:
		if (type_is(type, KIND_FLOAT))
			break;
		stores = kind == MIN ? LLVMBuildICmp(t->builder, below, value, old, "") :
				       LLVMBuildICmp(t->builder, below, old, value, "");
		after = choose(t, stores, value, old);
		break;
	case CAS:
		stores = LLVMBuildICmp(t->builder, LLVMIntEQ, old, value, "");
		after = choose(t, stores, other, old);
		break;
	default:
		break;
	}
	note_deed_if(t, LLVMBuildICmp(t->builder, LLVMIntNE, before, after, ""));
}

/* Return: the old value; of cas, @value is compared and @other stored */
static LLVMValueRef one(struct translator *t, enum atomic_kind kind, enum type type,
			LLVMValueRef pointer, LLVMValueRef value, LLVMValueRef other,
			enum space space)
{
	LLVMValueRef result;

	if (type_is(type, KIND_FLOAT) && kind != EXCH && kind != CAS) {
		if (type == TYPE_F32 && kind == ADD)
			return as_int(t, call_math(t, "atomic_add_f32", pointer,
						   BUILD(BitCast, value, t->f32),
						   is_outside(t, space, pointer)));
		if (type == TYPE_F64 && kind == ADD)
			return as_int(t, call_math(t, "atomic_add_f64", pointer,
						   BUILD(BitCast, value, t->f64),
						   is_outside(t, space, pointer)));
		if (type_bits(type) > 32 || type == TYPE_F32)
			unsupported(t);
		return half(t, kind, type, pointer, value);
	}
	switch (kind) {
	case INC:
		return call_math(t, "atomic_inc", pointer, value);
	case DEC:
		return call_math(t, "atomic_dec", pointer, value);
	case CAS:
		result = LLVMBuildAtomicCmpXchg(t->builder, pointer, value, other,
						LLVMAtomicOrderingSequentiallyConsistent,
						LLVMAtomicOrderingSequentiallyConsistent, false);
		return LLVMBuildExtractValue(t->builder, result, 0, "");
	case OTHER:
		unsupported(t);
		return value;
	default:
		return LLVMBuildAtomicRMW(t->builder, operation_of(kind, type_is(type,
										 KIND_SIGNED)),
					  pointer, value, LLVMAtomicOrderingSequentiallyConsistent,
					  false);
	}
}

static LLVMValueRef in_memory(struct translator *t, LLVMValueRef value)
{
	LLVMValueRef place = alloca_at_entry(t, t->i128, 1, 16);

	if (value)
		LLVMBuildStore(t->builder, value, place);
	return place;
}

static void wide(struct translator *t, enum atomic_kind kind, LLVMValueRef pointer)
{
	LLVMValueRef place = in_memory(t, NULL), value = get(t, operand(t, 2), TYPE_B128), old;
	LLVMValueRef other = kind == CAS ? get(t, operand(t, 3), TYPE_B128) : NULL;

	if (kind == CAS)
		call_math(t, "compare_128", pointer, in_memory(t, value), in_memory(t, other),
			  place);
	else if (kind == EXCH)
		call_math(t, "exchange_128", pointer, in_memory(t, value), place);
	else
		unsupported(t);
	old = BUILD(Load2, t->i128, place);
	note_change(t, kind, TYPE_B128, old, value, other);
	put(t, operand(t, 0), old, TYPE_B128);
}

static void atomic(struct translator *t, bool with_result)
{
	static const struct operand sink = { .kind = OPERAND_SINK };
	enum space space = space_of_modifiers(t);
	enum type type = type_at(t, t->types_count ? t->types_count - 1 : 0);
	uint32_t at = with_result, bits = type_bits(type), count = 1, order = 0;
	enum atomic_kind kind = kind_of(t);
	const struct operand *to = with_result ? operand(t, 0) : &sink, *from = operand(t, at + 1);
	LLVMValueRef pointer, other = NULL, index, old, values[8];

	order |= has(t, MOD_acquire) || has(t, MOD_acq_rel) ? PTX_ORDER_ACQUIRE : 0;
	order |= has(t, MOD_release) || has(t, MOD_acq_rel) ? PTX_ORDER_RELEASE : 0;
	has_any(t, ignored, ARRAY_SIZE(ignored));
	count = has(t, MOD_v2) ? 2 : has(t, MOD_v4) ? 4 : has(t, MOD_v8) ? 8 : 1;
	if (!bits || (kind == CAS && count > 1)) {
		unsupported(t);
		return;
	}
	pointer = pointer_to(t, operand(t, at), space, count * bits / 8);
	checked_access(t, pointer, operand(t, at), space, constant(t, 32, count * bits / 8),
		       PTX_ACCESS_ATOMIC, NULL);
	if (with_result)
		note_looked_at(t, pointer, count * bits / 8);
	else
		note_deed(t);
	if (order)
		checked_order(t, constant(t, 32, order));
	if (bits == 128) {
		wide(t, kind, pointer);
		return;
	}
	if (kind == CAS)
		other = get(t, operand(t, 3), type);
	if (count == 1) {
		values[0] = get(t, from, type);
		old = one(t, kind, type, pointer, values[0], other, space);
		if (with_result)
			note_change(t, kind, type, old, values[0], other);
		put(t, to, old, type);
		if (has(t, MOD_async))
			complete_bytes(t, 2, bits / 8);
		return;
	}
	/* a register that gets a result may be an operand, too */
	for (uint32_t i = 0; i < count && i < from->count; i++)
		values[i] = get(t, &from->items[i], type);
	for (uint32_t i = 0; i < count && i < from->count; i++) {
		index = constant(t, 64, i * bits / 8);
		old = one(t, kind, type, LLVMBuildGEP2(t->builder, t->i8, pointer, &index, 1, ""),
			  values[i], NULL, space);
		if (with_result)
			note_change(t, kind, type, old, values[i], NULL);
		put(t, with_result && i < to->count ? &to->items[i] : &sink, old, type);
	}
}

TRANSLATE(atom, atomic(t, true))
TRANSLATE(red, atomic(t, false))
