// SPDX-License-Identifier: MIT
/*
 * Lanes that exchange by volatile shared memory without a barrier, as programs did before Volta: each
 * lane makes one access, and then each the next. PTX promises it no more, but GPUs do so where lanes
 * run the same code, and programs still count on it. Where a load follows a store, or a store a load,
 * the lanes of a warp that come there go on together, as behind activemask.
 */
#include <stdlib.h>

#include "code.h"
#include "ptx/ir/instructions.h"

enum kind { OTHER, LOAD, STORE };

/* Of vectors, only NCCL's LL128 has volatile ones there, and its lanes meet by themselves. */
static enum kind kind_of(const struct statement *at)
{
	bool store = word_is(&at->name, "st");

	if (at->kind == STATEMENT_LABEL || !(store || word_is(&at->name, "ld")) ||
	    !statement_has(at, ".volatile") || statement_has(at, ".v2") || statement_has(at, ".v4") ||
	    !(statement_has(at, ".shared") || statement_has(at, ".shared::cta")))
		return OTHER;
	return store ? STORE : LOAD;
}

static bool ends_block(const struct statement *at)
{
	return at->kind == STATEMENT_LABEL || word_is(&at->name, "bra") ||
	       word_is(&at->name, "brx") || word_is(&at->name, "call");
}

/* Do all lanes meet there, so that they are in step behind it? */
static bool is_meeting(const struct statement *at)
{
	static const char *const masked[] = { "vote", "shfl", "match", "redux", "elect" };
	const struct opcode *opcode = opcode_find(&at->name);
	const struct operand *mask;

	if (at->guard || !opcode || !(opcode->flags & OPCODE_WAITS) ||
	    word_is(&at->name, "nanosleep") || statement_has(at, ".arrive"))
		return false;
	if (!statement_has(at, ".warp") &&
	    !(word_is_one_of(&at->name, masked, ARRAY_SIZE(masked)) && statement_has(at, ".sync")))
		return true;
	mask = &at->operands[at->operands_count - 1];
	return mask->kind == OPERAND_NUMBER && (uint32_t)mask->number.integer == UINT32_MAX;
}

/* That have a statement */
struct loops {
	int32_t all, storing;
	bool end;			/* it is the branch back of one that stores */
};

/* Counts for each statement the branches back over it. @loops: zeros, one more than statements */
static void find_loops(const struct body *body, struct loops *loops, uint32_t *stores)
{
	uint32_t index = 0, before = 0;

	for (struct statement *at = body->first; at; at = at->next, index++) {
		stores[index] = before;
		before += kind_of(at) == STORE;
		if (at->kind == STATEMENT_LABEL) {
			at->label->count = index;
			at->label->used = true;		/* it has come */
		}
	}
	index = 0;
	for (const struct statement *at = body->first; at; at = at->next, index++) {
		const struct operand *to = at->operands;
		const struct symbol *label;
		bool storing;

		if (at->kind == STATEMENT_LABEL || !word_is(&at->name, "bra") ||
		    !at->operands_count || to->kind != OPERAND_NAME)
			continue;
		label = label_find(at->scope, &to->name);
		if (!label || !label->used || label->count > index)
			continue;
		storing = stores[label->count] != stores[index];
		loops[index].end = storing;
		loops[label->count].all++;
		loops[label->count].storing += storing;
		loops[index + 1].all--;
		loops[index + 1].storing -= storing;
	}
	for (index = 1; index < body->count; index++) {
		loops[index].all += loops[index - 1].all;
		loops[index].storing += loops[index - 1].storing;
	}
	for (struct statement *at = body->first; at; at = at->next)
		if (at->kind == STATEMENT_LABEL)
			at->label->used = false;
}

static bool insert(struct body *body, struct statement **link)
{
	static const struct word name = { .at = PTX_STEP, .length = sizeof(PTX_STEP) - 1 };
	struct statement *at = *link, *new = arena_take(&body->arena, sizeof(*new));

	if (!new)
		return false;
	*new = (struct statement) {
		.next = at, .line = at->line, .source_file = at->source_file,
		.source_line = at->source_line, .name = name, .text = at->text, .scope = at->scope,
	};
	*link = new;
	body->count++;
	return true;
}

/* A loop that only loads may be one that waits for other warps: its lanes need not be in step. */
static bool insert_all(struct body *body, const struct loops *loops, bool known)
{
	struct statement **link = &body->first;
	enum kind before = OTHER;

	for (uint32_t index = 0; *link; index++, link = &(*link)->next) {
		struct statement *at = *link;
		enum kind kind = kind_of(at);

		if (ends_block(at)) {
			/* none is to be a turn ahead: its site there may be an earlier one */
			if (loops[index].end && !known) {
				if (!insert(body, link))
					return false;
				link = &(*link)->next;
			}
			known = false;
		} else if (kind == OTHER) {
			if (is_meeting(at)) {
				before = OTHER;
				known = true;
			}
		} else {
			bool steps = known ? before != OTHER && before != kind :
				     !loops[index].all || loops[index].storing;

			known = true;
			before = kind;
			if (!steps)
				continue;
			if (!insert(body, link))
				return false;
			link = &(*link)->next;
		}
	}
	return true;
}

/* @kernel: all lanes begin together. Return: is there memory? */
static bool body_lockstep(struct body *body, bool kernel)
{
	uint32_t kinds[3] = {}, *stores;
	struct loops *loops;
	bool done = false;

	for (const struct statement *at = body->first; at; at = at->next)
		kinds[kind_of(at)]++;
	if (!kinds[LOAD] || !kinds[STORE])
		return true;
	loops = calloc(body->count + 2, sizeof(*loops));
	stores = calloc(body->count + 2, sizeof(*stores));
	if (loops && stores) {
		find_loops(body, loops, stores);
		done = insert_all(body, loops, kernel);
	}
	free(stores);
	free(loops);
	return done;
}

/* Reads a function's body as body_read() does, with the steps of its lanes. */
CUresult body_read_in_step(struct function *function, struct body *body,
			   struct complaint *complaint)
{
	CUresult result = body_read(function, body, complaint);

	return result == CUDA_SUCCESS && !body_lockstep(body, function->kernel) ?
	       CUDA_ERROR_OUT_OF_MEMORY : result;
}
