// SPDX-License-Identifier: MIT
/*
 * cp.async.bulk, cp.reduce.async.bulk and their multimem forms. A copy is done at once; then its
 * mbarrier gets the bytes. Groups of copies have nothing left to wait for.
 */
#include "instructions.h"
#include "ir.h"
#include "ptx/math/ptx_math.h"

/* .shared::cluster.global: the space of the destination, and that of the source */
static void spaces(struct translator *t, enum space *to, enum space *from)
{
	enum space found[2] = { SPACE_NONE, SPACE_NONE };
	uint32_t count = 0;

	for (uint32_t i = 0; i < t->at->modifiers_count; i++) {
		enum modifier modifier = t->modifiers[i];
		bool shared = modifier == MOD_shared || modifier == MOD_shared__cta ||
			      modifier == MOD_shared__cluster;

		if ((!shared && modifier != MOD_global) || count == 2)
			continue;
		t->used |= 1U << i;
		found[count++] = shared ? SPACE_SHARED : SPACE_GLOBAL;
	}
	*to = found[0];
	*from = found[1];
}

static uint32_t element_of(enum type type)
{
	switch (type) {
	case TYPE_U32:
	case TYPE_B32:
		return BULK_U32;
	case TYPE_S32:
		return BULK_S32;
	case TYPE_U64:
	case TYPE_B64:
		return BULK_U64;
	case TYPE_S64:
		return BULK_S64;
	case TYPE_F16:
		return BULK_F16;
	case TYPE_BF16:
		return BULK_BF16;
	case TYPE_F32:
		return BULK_F32;
	case TYPE_F64:
		return BULK_F64;
	default:
		return BULK_ELEMENTS;
	}
}

/* Return: operation and element, as ptx_math_bulk_reduce() takes them */
static LLVMValueRef kind_of(struct translator *t)
{
	static const enum modifier names[] = {
		[BULK_ADD] = MOD_add, [BULK_MIN] = MOD_min, [BULK_MAX] = MOD_max,
		[BULK_INC] = MOD_inc, [BULK_DEC] = MOD_dec, [BULK_AND] = MOD_and,
		[BULK_OR] = MOD_or, [BULK_XOR] = MOD_xor,
	};
	uint32_t operation = 0, element = element_of(type_at(t, 0));
	bool whole = element == BULK_F32 || element == BULK_F64;

	has(t, MOD_noftz);
	while (operation < ARRAY_SIZE(names) && !has(t, names[operation]))
		operation++;
	if (operation == ARRAY_SIZE(names) || element == BULK_ELEMENTS ||
	    (whole && operation != BULK_ADD))
		unsupported(t);
	return constant(t, 32, element << 8 | operation);
}

/* What both kinds, and their multimem forms, have in common */
struct bulk {
	enum space to_space, from_space;
	LLVMValueRef to, from, bytes, mask;
	uint32_t next;			/* operand behind those */
	bool counts, multicast;		/* an mbarrier gets the bytes; several blocks get them */
};

static void check(struct translator *t, const struct bulk *bulk)
{
	bool reduces = has(t, MOD_reduce);
	LLVMValueRef bytes = bulk->bytes, own;

	checked_access(t, bulk->from, operand(t, 1), bulk->from_space, bytes, PTX_ACCESS_LOAD,
		       NULL);
	/* a window's replicas, and its bounds, are looked for elsewhere */
	if (word_is(&t->at->name, "multimem"))
		return;
	if (bulk->multicast) {		/* of the blocks in the mask, only this one is checked */
		own = thread_field(t, offsetof(struct ptx_thread, cluster_ctarank), t->i32);
		own = BUILD(LShr, resize(t, get(t, operand(t, 4), TYPE_U16), 32, false), own);
		bytes = choose(t, BUILD(Trunc, own, t->i1), bytes, constant(t, 32, 0));
	}
	checked_access(t, bulk->to, operand(t, 0), bulk->to_space, bytes, reduces ?
		       PTX_ACCESS_ATOMIC : PTX_ACCESS_STORE,
		       NULL);
	if (bulk->counts && !bulk->multicast)
		use_mbarrier(t, pointer_to(t, operand(t, 3), SPACE_SHARED, 8), operand(t, 3),
			     SPACE_SHARED);
}

static void begin(struct translator *t, struct bulk *bulk)
{
	uint32_t last = t->at->operands_count - 1;

	has(t, MOD_L2__cache_hint);
	spaces(t, &bulk->to_space, &bulk->from_space);
	bulk->counts = has(t, MOD_mbarrier__complete_tx__bytes);
	bulk->multicast = has(t, MOD_multicast__cluster);
	if (bulk->counts == has(t, MOD_bulk_group) || bulk->from_space == SPACE_NONE ||
	    (bulk->multicast && !bulk->counts) || last < 2U + bulk->counts + bulk->multicast)
		unsupported(t);
	bulk->to = pointer_to(t, operand(t, 0), bulk->to_space, 1);
	bulk->from = pointer_to(t, operand(t, 1), bulk->from_space, 1);
	bulk->bytes = get(t, operand(t, 2), TYPE_U32);
	bulk->next = 3;
	bulk->mask = constant(t, 32, 0xffff);
	if (has(t, MOD_cp_mask))
		bulk->mask = get(t, operand(t, last), TYPE_U16);
	bulk->mask = resize(t, bulk->mask, 32, false);
	call_run(t, "bulk_check", "v:ppi", bulk->to, bulk->from, bulk->bytes);
	if (t->root->kernel.checked)
		check(t, bulk);
	checked_order(t, constant(t, 32, PTX_ORDER_RELEASE));
}

static void complete(struct translator *t, const struct bulk *bulk)
{
	if (bulk->counts)
		call_math(t, "mbarrier_transactions",
			  pointer_to(t, operand(t, bulk->next), SPACE_SHARED, 8), bulk->bytes,
			  constant(t, 32, 1));
}

static void multicast(struct translator *t, const struct bulk *bulk)
{
	LLVMValueRef cluster = thread_field(t, offsetof(struct ptx_thread, cluster_shared),
					    t->pointer);
	LLVMValueRef barrier = pointer_to(t, operand(t, bulk->next), SPACE_SHARED, 8), blocks;

	blocks = resize(t, get(t, operand(t, bulk->next + 1), TYPE_U16), 32, false);
	call_math(t, "bulk_multicast", cluster, as_int(t, bulk->to), bulk->from, bulk->bytes,
		  as_int(t, barrier), blocks);
}

/* cp.async.bulk…, behind which only prefetches, groups and waits have no copy */
void translate_bulk(struct translator *t, bool reduces)
{
	struct bulk bulk;

	if (has(t, MOD_commit_group) || has(t, MOD_wait_group) || has(t, MOD_prefetch)) {
		has(t, MOD_read);
		has(t, MOD_L2);
		has(t, MOD_global);
		has(t, MOD_L2__cache_hint);
		return;
	}
	begin(t, &bulk);
	if (reduces)
		call_math(t, "bulk_reduce", bulk.to, bulk.from, bulk.bytes, kind_of(t));
	else if (bulk.multicast)
		multicast(t, &bulk);
	else
		call_math(t, "bulk_copy", bulk.to, bulk.from, bulk.bytes, bulk.mask);
	if (!bulk.multicast)
		complete(t, &bulk);
}

/* multimem.cp.async.bulk, multimem.cp.reduce.async.bulk: to each replica of a window */
void translate_multimem_bulk(struct translator *t)
{
	bool reduces = has(t, MOD_reduce);
	LLVMValueRef view, offset;
	struct bulk bulk;

	has(t, MOD_cp);
	has(t, MOD_async);
	has(t, MOD_bulk);
	begin(t, &bulk);
	if (bulk.counts || bulk.to_space != SPACE_GLOBAL || bulk.from_space != SPACE_SHARED)
		unsupported(t);
	view = multimem_view(t, as_int(t, bulk.to), &offset);
	call_run(t, "view_holds", "v:plli", view, offset, as_int(t, bulk.to), bulk.bytes);
	if (reduces)
		call_math(t, "bulk_multimem_reduce", view, offset, bulk.from, bulk.bytes,
			  kind_of(t));
	else
		call_math(t, "bulk_multimem_copy", view, offset, bulk.from, bulk.bytes, bulk.mask);
}
