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
	       word_is(&at->name, "brx");
}

/* Do lanes meet there, so that they are in step behind it? */
static bool is_meeting(const struct statement *at)
{
	const struct opcode *opcode = opcode_find(&at->name);

	return opcode && opcode->flags & OPCODE_WAITS;
}

static bool block_stores(const struct statement *at)
{
	for (; at && !ends_block(at); at = at->next)
		if (kind_of(at) == STORE)
			return true;
	return false;
}

/* Counts for each statement the branches back over it. @loops: zeros, one more than statements */
static void find_loops(const struct body *body, int32_t *loops)
{
	uint32_t index = 0;

	for (struct statement *at = body->first; at; at = at->next, index++)
		if (at->kind == STATEMENT_LABEL) {
			at->label->count = index;
			at->label->used = true;		/* it has come */
		}
	index = 0;
	for (const struct statement *at = body->first; at; at = at->next, index++) {
		const struct operand *to = at->operands;
		const struct symbol *label;

		if (at->kind == STATEMENT_LABEL || !word_is(&at->name, "bra") ||
		    !at->operands_count || to->kind != OPERAND_NAME)
			continue;
		label = label_find(at->scope, &to->name);
		if (!label || !label->used || label->count > index)
			continue;
		loops[label->count]++;
		loops[index + 1]--;
	}
	for (index = 1; index < body->count; index++)
		loops[index] += loops[index - 1];
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
static bool insert_all(struct body *body, const int32_t *loops)
{
	struct statement **link = &body->first;
	enum kind before = OTHER;
	bool known = true;		/* all lanes begin together */

	for (uint32_t index = 0; *link; index++, link = &(*link)->next) {
		struct statement *at = *link;
		enum kind kind = kind_of(at);

		if (ends_block(at)) {
			known = false;
		} else if (kind == OTHER) {
			if (is_meeting(at)) {
				before = OTHER;
				known = true;
			}
		} else {
			bool steps = known ? before != OTHER && before != kind :
				     !loops[index] || block_stores(at);

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

/* Return: is there memory? */
bool body_lockstep(struct body *body)
{
	uint32_t kinds[3] = {};
	int32_t *loops;
	bool done;

	for (const struct statement *at = body->first; at; at = at->next)
		kinds[kind_of(at)]++;
	if (!kinds[LOAD] || !kinds[STORE])
		return true;
	loops = calloc(body->count + 2, sizeof(*loops));
	if (!loops)
		return false;
	find_loops(body, loops);
	done = insert_all(body, loops);
	free(loops);
	return done;
}
