// SPDX-License-Identifier: MIT
/* Operations of blocks, warps and clusters: calls of the runtime. */
#include <string.h>

#include "instructions.h"
#include "ir.h"

static LLVMValueRef number(struct translator *t, uint64_t value)
{
	return constant(t, 32, value);
}

static LLVMValueRef predicate_at(struct translator *t, uint32_t index)
{
	return resize(t, get_predicate(t, operand(t, index)), 32, false);
}

static LLVMValueRef is_set(struct translator *t, LLVMValueRef value)
{
	return LLVMBuildICmp(t->builder, LLVMIntNE, value, number(t, 0), "");
}

#define LOOK_AHEAD	400		/* statements */

static const struct statement *target_of(struct translator *t, const struct statement *branch)
{
	const struct operand *to = &branch->operands[0];
	const struct symbol *label = branch->operands_count && to->kind == OPERAND_NAME ?
				     label_find(branch->scope, &to->name) : NULL;

	for (const struct statement *at = t->body.first; at && label; at = at->next)
		if (at->kind == STATEMENT_LABEL && at->label == label)
			return at;
	return NULL;
}

static bool is_branch(const struct statement *statement)
{
	return statement->kind != STATEMENT_LABEL && word_is(&statement->name, "bra");
}

/* Return: do lanes only load from here until they meet again? */
static bool only_loads(struct translator *t, const struct statement *from)
{
	bool loads = false;

	for (uint32_t i = 0; from && i < LOOK_AHEAD; i++) {
		const struct statement *at = from;

		from = at->next;
		if (at->kind == STATEMENT_LABEL)
			continue;
		if (word_is(&at->name, "st") || word_is(&at->name, "red") ||
		    word_is(&at->name, "atom"))
			return false;
		loads |= word_is(&at->name, "ld");
		if (at->opcode && at->opcode->flags & OPCODE_WAITS)
			break;
		if (at->guard)		/* some go on behind it */
			continue;
		if (is_branch(at))
			from = target_of(t, at);
		else if (at->opcode && at->opcode->flags & OPCODE_ENDS)
			break;
	}
	return loads;
}

/*
 * In which order lanes go on: NCCL's LL128 takes lanes' loads for one access of the warp, data
 * with the flag behind it in the last lane. If lanes only load until they meet again, the last
 * one goes first: then all others see what was stored before its flag. If a branch by what they
 * have voted follows, they load where it loops, and may store where it does not.
 */
static LLVMValueRef order_after(struct translator *t)
{
	const struct operand *to = operand(t, 0);
	bool on = only_loads(t, t->at->next), there;

	for (const struct statement *at = t->at->next; at; at = at->next) {
		if (at->kind == STATEMENT_LABEL || !word_is(&t->at->name, "vote") ||
		    (at->opcode && at->opcode->flags & OPCODE_WAITS))
			break;
		if (!is_branch(at) || !at->guard)
			continue;
		if (to->kind != OPERAND_REGISTER || at->guard != to->symbol)
			break;
		there = only_loads(t, target_of(t, at));
		if (there != on)
			return number(t, there != at->guard_negated ? PTX_LANES_DOWN_IF_TRUE :
				      PTX_LANES_DOWN_IF_FALSE);
		break;
	}
	return number(t, on ? PTX_LANES_DOWN : PTX_LANES_UP);
}

/* Do threads meet at the statement as parts of loops over threads? */
static bool at_cut(const struct translator *t)
{
	return t->cuts && t->at->cut;
}

/* bar.red.popc.u32 d, a {, b}, {!}c */
static void bar_red(struct translator *t)
{
	bool popc = has(t, MOD_popc), and = has(t, MOD_and), or = has(t, MOD_or);
	uint32_t last = t->at->operands_count - 1;
	uint32_t operation = popc ? PTX_RED_POPC : and ? PTX_RED_AND : PTX_RED_OR;
	LLVMValueRef result;

	if (last < 2 || popc + and + or != 1) {
		unsupported(t);
		return;
	}
	if (at_cut(t))
		result = cut_meet(t, PTX_CUT_BARRIER_RED, operation,
				  &(struct brought) { .value = predicate_at(t, last) });
	else
		result = call_run(t, "bar_red", "i:iiii", get(t, operand(t, 1), TYPE_U32),
				  last == 3 ? get(t, operand(t, 2), TYPE_U32) : number(t, 0),
				  number(t, operation), predicate_at(t, last));
	if (popc)
		put(t, operand(t, 0), result, TYPE_U32);
	else
		put_predicate(t, operand(t, 0), is_set(t, result));
}

/* bar, barrier: .cta, .warp and .cluster */
void translate_bar(struct translator *t)
{
	LLVMValueRef id, count, mask;

	has(t, MOD_cta);
	has(t, MOD_aligned);
	if (has(t, MOD_warp)) {
		has(t, MOD_sync);
		mask = get(t, operand(t, 0), TYPE_U32);
		if (at_cut(t))
			cut_meet(t, PTX_CUT_SYNC, 0, &(struct brought) { .mask = mask });
		else
			call_run(t, "bar_warp_sync", "v:ii", mask, order_after(t));
		return;
	}
	if (has(t, MOD_cluster)) {
		has(t, MOD_acquire);
		has(t, MOD_release);
		has(t, MOD_relaxed);
		if (has(t, MOD_arrive))
			call_run(t, "cluster_arrive", "v:");
		else if (has(t, MOD_wait))
			call_run(t, "cluster_wait", "v:");
		else
			unsupported(t);
		return;
	}
	if (has(t, MOD_red)) {
		bar_red(t);
		return;
	}
	if (at_cut(t)) {
		has(t, MOD_sync);
		cut_meet(t, PTX_CUT_BARRIER, 0, &(struct brought) {});
		return;
	}
	id = get(t, operand(t, 0), TYPE_U32);
	count = t->at->operands_count > 1 ? get(t, operand(t, 1), TYPE_U32) : number(t, 0);
	if (has(t, MOD_sync))
		call_run(t, "bar_sync", "v:ii", id, count);
	else if (has(t, MOD_arrive))
		call_run(t, "bar_arrive", "v:ii", id, count);
	else
		unsupported(t);
}

static LLVMValueRef active_lanes(struct translator *t)
{
	uint64_t site = (uint64_t)t->unit->number << 40 | (t->at->text.at - t->unit->text);

	return call_run(t, "activemask", "i:l", constant(t, 64, site));
}

/* Which lanes meet: those of an operand; in old texts, without .sync, those that are active */
static LLVMValueRef meeting_lanes(struct translator *t, uint32_t index)
{
	return has(t, MOD_sync) ? get(t, operand(t, index), TYPE_U32) : active_lanes(t);
}

void translate_vote(struct translator *t)
{
	uint32_t operation = has(t, MOD_all) ? PTX_VOTE_ALL : has(t, MOD_any) ? PTX_VOTE_ANY :
			     has(t, MOD_uni) ? PTX_VOTE_UNI : PTX_VOTE_BALLOT;
	struct brought brought;
	LLVMValueRef result;

	if (operation == PTX_VOTE_BALLOT && !has(t, MOD_ballot)) {
		unsupported(t);
		return;
	}
	brought = (struct brought) { .value = predicate_at(t, 1), .mask = meeting_lanes(t, 2) };
	if (at_cut(t))
		result = cut_meet(t, PTX_CUT_VOTE, operation, &brought);
	else
		result = call_run(t, "vote", "i:iiii", brought.mask, number(t, operation),
				  brought.value, order_after(t));
	if (operation == PTX_VOTE_BALLOT)
		put(t, operand(t, 0), result, TYPE_B32);
	else
		put_predicate(t, operand(t, 0), is_set(t, result));
}

/* Where an operation leaves its predicate, d|p; a null pointer if the text has none */
static LLVMValueRef predicate_place(struct translator *t)
{
	return operand(t, 0)->second ? alloca_at_entry(t, t->i32, 1, 4) :
				       LLVMConstNull(t->pointer);
}

/* @agreed: the predicate, if the text has a place for it */
static void put_both(struct translator *t, LLVMValueRef result, LLVMValueRef agreed)
{
	struct operand *to = operand(t, 0);

	if (to->second)
		put_predicate(t, to->second, is_set(t, agreed));
	put(t, to, result, TYPE_B32);
}

static void put_called(struct translator *t, LLVMValueRef result, LLVMValueRef place)
{
	put_both(t, result, operand(t, 0)->second ? BUILD(Load2, t->i32, place) : NULL);
}

static void put_met(struct translator *t, LLVMValueRef result)
{
	put_both(t, result, operand(t, 0)->second ? cut_agreed(t) : NULL);
}

void translate_shfl(struct translator *t)
{
	uint32_t mode = has(t, MOD_up) ? PTX_SHFL_UP : has(t, MOD_down) ? PTX_SHFL_DOWN :
			has(t, MOD_bfly) ? PTX_SHFL_BFLY : PTX_SHFL_IDX;
	struct brought brought;
	LLVMValueRef place;

	has(t, MOD_idx);
	brought = (struct brought) {
		.value = get(t, operand(t, 1), TYPE_B32), .mask = meeting_lanes(t, 4),
		.b = get(t, operand(t, 2), TYPE_U32), .c = get(t, operand(t, 3), TYPE_U32),
	};
	if (at_cut(t)) {
		put_met(t, cut_meet(t, PTX_CUT_SHFL, mode, &brought));
		return;
	}
	place = predicate_place(t);
	put_called(t, call_run(t, "shfl", "i:iiiiip", brought.mask, number(t, mode), brought.value,
			       brought.b, brought.c, place), place);
}

void translate_match(struct translator *t)
{
	enum type type = type_at(t, 0);
	LLVMValueRef mask = get(t, operand(t, 2), TYPE_U32), value, place;
	struct brought brought;
	bool any = has(t, MOD_any);

	has(t, MOD_sync);
	has(t, MOD_all);
	value = resize(t, get(t, operand(t, 1), type ? type : TYPE_B32), 64, false);
	brought = (struct brought) { .value = value, .mask = mask };
	if (at_cut(t)) {
		put_met(t, cut_meet(t, any ? PTX_CUT_MATCH_ANY : PTX_CUT_MATCH_ALL, 0, &brought));
		return;
	}
	if (any) {
		put(t, operand(t, 0), call_run(t, "match_any", "i:il", mask, value), TYPE_B32);
		return;
	}
	place = predicate_place(t);
	put_called(t, call_run(t, "match_all", "i:ilp", mask, value, place), place);
}

void translate_redux(struct translator *t)
{
	bool is_signed = type_is(type_at(t, 0), KIND_SIGNED);
	uint32_t operation = has(t, MOD_add) ? PTX_REDUX_ADD :
		has(t, MOD_min) ? is_signed ? PTX_REDUX_MIN_S : PTX_REDUX_MIN_U :
		has(t, MOD_max) ? is_signed ? PTX_REDUX_MAX_S : PTX_REDUX_MAX_U :
		has(t, MOD_and) ? PTX_REDUX_AND : has(t, MOD_or) ? PTX_REDUX_OR : PTX_REDUX_XOR;

	struct brought brought;
	LLVMValueRef result;

	has(t, MOD_xor);
	has(t, MOD_sync);
	if (type_bits(type_at(t, 0)) != 32 || type_is(type_at(t, 0), KIND_FLOAT)) {
		unsupported(t);
		return;
	}
	brought = (struct brought) { .value = get(t, operand(t, 1), TYPE_B32),
				     .mask = get(t, operand(t, 2), TYPE_U32) };
	if (at_cut(t))
		result = cut_meet(t, PTX_CUT_REDUX, operation, &brought);
	else
		result = call_run(t, "redux", "i:iii", brought.mask, number(t, operation),
				  brought.value);
	put(t, operand(t, 0), result, TYPE_B32);
}

/* Return: the lanes that come there together */
static LLVMValueRef meet_at_site(struct translator *t)
{
	return at_cut(t) ? cut_meet(t, PTX_CUT_SITE, 0, &(struct brought) {}) : active_lanes(t);
}

TRANSLATE(activemask, put(t, operand(t, 0), meet_at_site(t), TYPE_B32))

TRANSLATE(step, meet_at_site(t))

void translate_elect(struct translator *t)
{
	LLVMValueRef mask = get(t, operand(t, 1), TYPE_U32), place;

	has(t, MOD_sync);
	if (at_cut(t)) {
		put_met(t, cut_meet(t, PTX_CUT_ELECT, 0, &(struct brought) { .mask = mask }));
		return;
	}
	place = predicate_place(t);
	put_called(t, call_run(t, "elect", "i:ip", mask, place), place);
}
