// SPDX-License-Identifier: MIT
/*
 * Asynchronous copies and mbarriers. A copy is done at once, which programs cannot tell from one
 * that is quick.
 */
#include "instructions.h"
#include "ir.h"
#include "ptx/math/ptx_math.h"

/* cp.async.ca.shared.global [to], [from], bytes {, bytes that are read}: zeros fill the rest */
static void copy(struct translator *t)
{
	uint64_t bytes = operand(t, 2)->number.integer;
	uint32_t align = promised_align(t, bytes);
	LLVMValueRef to, from, size = constant(t, 64, bytes);

	if (bytes != 4 && bytes != 8 && bytes != 16) {
		unsupported(t);
		return;
	}
	to = pointer_to(t, operand(t, 0), SPACE_SHARED, bytes);
	from = pointer_to(t, operand(t, 1), SPACE_GLOBAL, bytes);
	checked_access(t, to, operand(t, 0), SPACE_SHARED, constant(t, 32, bytes),
		       PTX_ACCESS_STORE, NULL);
	if (operand(t, 3)->kind == OPERAND_REGISTER && operand(t, 3)->symbol->type == TYPE_PRED) {
		LLVMValueRef ignore = get_predicate(t, operand(t, 3));

		LLVMBuildMemSet(t->builder, to, constant(t, 8, 0), size, align);
		size = choose(t, ignore, constant(t, 64, 0), size);
	} else if (t->at->operands_count > 3U + has(t, MOD_L2__cache_hint)) {
		LLVMBuildMemSet(t->builder, to, constant(t, 8, 0), size, align);
		size = resize(t, get(t, operand(t, 3), TYPE_U32), 64, false);
		/* more is not defined: it is no store beyond the destination */
		size = intrinsic(t, "llvm.umin", t->i64, 2, size, constant(t, 64, bytes), NULL);
	} else {
		LLVMValueRef value;

		checked_access(t, from, operand(t, 1), SPACE_GLOBAL, constant(t, 32, bytes),
			       PTX_ACCESS_LOAD, NULL);
		value = BUILD(Load2, int_type(t, 8 * bytes), from);
		LLVMSetAlignment(value, align);
		LLVMSetAlignment(LLVMBuildStore(t->builder, value, to), align);
		return;
	}
	checked_access(t, from, operand(t, 1), SPACE_GLOBAL, resize(t, size, 32, false),
		       PTX_ACCESS_LOAD, NULL);
	LLVMBuildMemCpy(t->builder, to, 1, from, 1, size);
}

void use_mbarrier(struct translator *t, LLVMValueRef barrier, const struct operand *operand,
		  enum space space)
{
	checked_access(t, barrier, operand, space, constant(t, 32, 8),
		       PTX_ACCESS_ATOMIC, NULL);
}

/*
 * cp.async.mbarrier.arrive: the copies have been made. Without .noinc the arrival is one that the
 * phase did not expect: both together change nothing.
 */
static void arrive_after_copies(struct translator *t)
{
	enum space space = space_of_modifiers(t);
	LLVMValueRef barrier = pointer_to(t, operand(t, 0), space, 8);

	use_mbarrier(t, barrier, operand(t, 0), space);
	checked_order(t, constant(t, 32, PTX_ORDER_RELEASE));
	if (!has(t, MOD_arrive))
		unsupported(t);
	note_deed(t);
	if (has(t, MOD_noinc))
		call_math(t, "mbarrier_arrive", barrier, constant(t, 32, 1), constant(t, 32, 0));
}

/* st.async and red.async: the mbarrier [b] gets the bytes that have been written. */
void complete_bytes(struct translator *t, uint32_t index, uint32_t bytes)
{
	LLVMValueRef barrier;

	if (!has(t, MOD_mbarrier__complete_tx__bytes)) {
		unsupported(t);
		return;
	}
	barrier = pointer_to(t, operand(t, index), SPACE_SHARED, 8);
	use_mbarrier(t, barrier, operand(t, index), SPACE_SHARED);
	checked_order(t, constant(t, 32, PTX_ORDER_RELEASE));
	call_math(t, "mbarrier_transactions", barrier, constant(t, 32, bytes), constant(t, 32, 1));
}

void translate_cp(struct translator *t)
{
	static const enum modifier hints[] = {
		MOD_ca, MOD_cg, MOD_L2__128B, MOD_L2__256B, MOD_L2__64B, MOD_L2__cache_hint,
		MOD_global, MOD_shared, MOD_shared__cta,
	};

	bool reduces = has(t, MOD_reduce);

	if (!has(t, MOD_async) || has(t, MOD_tensor)) {
		unsupported(t);
		return;
	}
	if (has(t, MOD_bulk)) {
		translate_bulk(t, reduces);
		return;
	}
	if (has(t, MOD_mbarrier)) {
		arrive_after_copies(t);
		return;
	}
	if (has(t, MOD_commit_group) || has(t, MOD_wait_group) || has(t, MOD_wait_all))
		return;
	has_any(t, hints, ARRAY_SIZE(hints));
	copy(t);
}

static const enum modifier scopes[] = {
	MOD_cta, MOD_cluster, MOD_relaxed, MOD_acquire, MOD_release, MOD_noComplete,
};

/* test_wait and try_wait: {d}, [barrier], state or, with .parity, a parity {, time} */
static void test(struct translator *t, enum space space)
{
	bool parity = has(t, MOD_parity);
	LLVMValueRef barrier = pointer_to(t, operand(t, 1), space, 8), token, done;

	token = parity ? resize(t, get(t, operand(t, 2), TYPE_U32), 64, false) :
			 get(t, operand(t, 2), TYPE_B64);
	use_mbarrier(t, barrier, operand(t, 1), space);
	note_looked_at(t, barrier, 8);
	done = call_math(t, "mbarrier_test", barrier, token, constant(t, 32, parity));
	done = LLVMBuildICmp(t->builder, LLVMIntNE, done, constant(t, 32, 0), "");
	checked_order(t, choose(t, done, constant(t, 32, PTX_ORDER_ACQUIRE), constant(t, 32, 0)));
	put_predicate(t, operand(t, 0), done);
}

void translate_mbarrier(struct translator *t)
{
	enum space space = space_of_modifiers(t);
	bool expect = has(t, MOD_expect_tx), complete = has(t, MOD_complete_tx);
	bool arrive = has(t, MOD_arrive), drop = has(t, MOD_arrive_drop);
	uint32_t at = arrive || drop;
	LLVMValueRef barrier, count;

	has_any(t, scopes, ARRAY_SIZE(scopes));
	if (has(t, MOD_test_wait) | has(t, MOD_try_wait)) {
		test(t, space);
		return;
	}
	if (has(t, MOD_pending_count)) {
		put(t, operand(t, 0), call_math(t, "mbarrier_pending", get(t, operand(t, 1),
									   TYPE_B64)),
		    TYPE_U32);
		return;
	}
	if (has(t, MOD_inval)) {
		checked_access(t, pointer_to(t, operand(t, 0), space, 8), operand(t, 0), space,
			       constant(t, 32, 8), PTX_ACCESS_STORE, NULL);
		return;
	}
	if (at && operand(t, 0)->kind == OPERAND_ADDRESS)	/* no state is asked for */
		at = 0;
	barrier = pointer_to(t, operand(t, at), space, 8);
	if (has(t, MOD_init)) {
		checked_access(t, barrier, operand(t, at), space, constant(t, 32, 8),
			       PTX_ACCESS_STORE, NULL);
	} else {
		use_mbarrier(t, barrier, operand(t, at), space);
		checked_order(t, constant(t, 32, PTX_ORDER_RELEASE));
	}
	count = t->at->operands_count > at + 1 ? get(t, operand(t, at + 1), TYPE_U32) :
						 constant(t, 32, 1);
	if (has(t, MOD_init)) {
		call_math(t, "mbarrier_init", barrier, count);
	} else if (arrive || drop) {
		note_deed(t);
		count = call_math(t, "mbarrier_arrive", barrier, count,
				  constant(t, 32, (expect ? ARRIVE_EXPECTS : 0) |
					   (drop ? ARRIVE_DROPS : 0)));
		if (at)
			put(t, operand(t, 0), count, TYPE_B64);
	} else if (expect || complete) {
		call_math(t, "mbarrier_transactions", barrier, count, constant(t, 32, complete));
	} else {
		unsupported(t);
	}
}

/* mapa: the same address in another block of the cluster; shared addresses have its rank */
void translate_mapa(struct translator *t)
{
	enum space space = space_of_modifiers(t);
	enum type type = type_at(t, 0);
	uint32_t bits = type_bits(type);
	LLVMValueRef a, rank = get(t, operand(t, 2), TYPE_U32), base;

	if (space == SPACE_SHARED) {
		a = resize(t, get(t, operand(t, 1), operand(t, 1)->kind == OPERAND_SYMBOL ?
				  TYPE_B32 : type), 32, false);
		a = BUILD(And, a, constant(t, 32, 0xffffff));
		a = BUILD(Or, a, BUILD(Shl, rank, constant(t, 32, 24)));
		put(t, operand(t, 0), resize(t, a, bits, false), type);
		return;
	}
	base = as_int(t, shared_window(t));
	a = BUILD(And, BUILD(Sub, get(t, operand(t, 1), TYPE_B64), base), constant(t, 64,
										   0xffffff));
	rank = BUILD(Shl, resize(t, rank, 64, false), constant(t, 64, 24));
	put(t, operand(t, 0), BUILD(Add, BUILD(Add, a, rank), base), type);
}

void translate_getctarank(struct translator *t)
{
	enum space space = space_of_modifiers(t);
	LLVMValueRef a = get(t, operand(t, 1), type_at(t, 0));

	if (space != SPACE_SHARED)
		a = BUILD(Sub, a, resize(t, as_int(t, shared_window(t)), type_bits(type_at(t, 0)),
					 false));
	a = resize(t, a, 64, false);
	put(t, operand(t, 0), resize(t, BUILD(LShr, a, constant(t, 64, 24)), 32, false), TYPE_U32);
}
