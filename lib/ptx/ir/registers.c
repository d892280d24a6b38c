// SPDX-License-Identifier: MIT
/*
 * Which registers are always written before they are read, and which are written in one place
 * only. The first need no zero to begin with, and the second no memory: they are values of LLVM.
 * For functions with tens of thousands of registers, LLVM would take minutes to find that out.
 *
 * A block is a run of statements from a label, or behind a branch, to the next one. A bit of a
 * set stands for a register that some block reads before it writes it: few registers are.
 */
#include <stdlib.h>
#include <string.h>

#include "ir.h"

#define SET_BITS_MOST	(1UL << 30)	/* of all sets; beyond that, registers begin as zeros */

struct flow {
	struct statement **at;		/* all statements */
	uint32_t *block_of;		/* of each statement */
	uint32_t *first;		/* statement of each block, and an end */
	uint32_t blocks, statements;
	uint32_t exposed;		/* registers with a bit */
	size_t words;			/* of a set */
	struct symbol **kept;		/* registers with a bit, by its number */
	uint64_t *before, *set;		/* before: what is written before each block, on all ways */
};

/* What an instruction does with its first operand: PTX writes to no other one. */
enum role { READS, WRITES, BOTH };

static enum role role_of_first(const struct statement *statement)
{
	static const char *const reading[] = { "st", "red", "bra", "brx", "nanosleep",
					       "stackrestore" };
	/* by their forms they do the one or the other */
	static const char *const either[] = { "call", "cp", "mbarrier" };

	if (word_is_one_of(&statement->name, reading, ARRAY_SIZE(reading)))
		return READS;
	if (word_is(&statement->name, "multimem"))
		return statement->modifiers_count && word_is(&statement->modifiers[0],
							     ".ld_reduce") ? WRITES : READS;
	if ((word_is(&statement->name, "bar") || word_is(&statement->name, "barrier")) &&
	    !statement_has(statement, ".red"))
		return READS;
	/* where a guard is false, a register keeps what it has */
	if (statement->guard || word_is_one_of(&statement->name, either, ARRAY_SIZE(either)))
		return BOTH;
	return WRITES;
}

typedef void visit(struct flow *flow, struct symbol *symbol, uint32_t block, bool sure);

static void visit_register(struct flow *flow, struct symbol *symbol, uint32_t block, bool sure,
			   visit *function)
{
	if (symbol && symbol->kind == SYMBOL_REGISTER && symbol->vector == 1 && !symbol->parameter)
		function(flow, symbol, block, sure);
}

/* @direct: also registers that are not within an address */
static void visit_operand(struct flow *flow, const struct operand *operand, bool direct,
			  uint32_t block, bool sure, visit *function)
{
	if (operand->kind == OPERAND_ADDRESS || (operand->kind == OPERAND_REGISTER && direct))
		visit_register(flow, operand->symbol, block, sure, function);
	for (uint32_t i = 0; i < operand->count; i++)
		visit_operand(flow, &operand->items[i], direct, block, sure, function);
	if (operand->second)
		visit_operand(flow, operand->second, direct, block, sure, function);
}

static void visit_written(struct flow *flow, const struct operand *operand, uint32_t block,
			  bool sure, visit *function)
{
	sure &= !operand->part.length;
	if (operand->kind == OPERAND_REGISTER)
		visit_register(flow, operand->symbol, block, sure, function);
	for (uint32_t i = 0; operand->kind == OPERAND_VECTOR && i < operand->count; i++)
		visit_written(flow, &operand->items[i], block, sure, function);
	if (operand->second)
		visit_written(flow, operand->second, block, sure, function);
}

/* Visits what each statement reads, and then what it writes. */
static void visit_all(struct flow *flow, visit *read, visit *write)
{
	for (uint32_t i = 0; i < flow->statements; i++) {
		const struct statement *statement = flow->at[i];
		uint32_t block = flow->block_of[i];
		enum role role = role_of_first(statement);

		if (i == flow->first[block] && flow->before)
			memcpy(flow->set, flow->before + block * flow->words,
			       flow->words * sizeof(*flow->set));
		if (statement->kind == STATEMENT_LABEL)
			continue;
		if (statement->guard)
			visit_register(flow, statement->guard, block, true, read);
		for (uint32_t j = 0; j < statement->operands_count; j++)
			visit_operand(flow, &statement->operands[j], j || role != WRITES, block,
				      true, read);
		if (role != READS && statement->operands_count)
			visit_written(flow, statement->operands, block, role == WRITES, write);
	}
}

/* A register that stands before its write in the text may still come behind it. */
static void count_read(struct flow *flow, struct symbol *symbol, uint32_t block, bool sure)
{
	(void)flow;
	(void)sure;
	if (!symbol->flow.written)
		symbol->flow.written = 2;
	if (symbol->flow.seen != block + 1 && !symbol->flow.exposed)
		symbol->flow.exposed = ++flow->exposed;
}

static void count_write(struct flow *flow, struct symbol *symbol, uint32_t block, bool sure)
{
	(void)flow;
	symbol->flow.known = true;
	symbol->flow.written = sure && !symbol->flow.written ? 1 : 2;
	if (sure)
		symbol->flow.seen = block + 1;
}

static uint64_t *word_of(uint64_t *set, const struct symbol *symbol)
{
	return &set[(symbol->flow.exposed - 1) / 64];
}

static uint64_t bit_of(const struct symbol *symbol)
{
	return 1ULL << (symbol->flow.exposed - 1) % 64;
}

static void nothing(struct flow *flow, struct symbol *symbol, uint32_t block, bool sure)
{
	(void)flow;
	(void)symbol;
	(void)block;
	(void)sure;
}

/* Until the sets are known, flow->set holds what each block writes. */
static void add_to_block(struct flow *flow, struct symbol *symbol, uint32_t block, bool sure)
{
	if (sure && symbol->flow.exposed)
		*word_of(flow->set + block * flow->words, symbol) |= bit_of(symbol);
}

static void check_read(struct flow *flow, struct symbol *symbol, uint32_t block, bool sure)
{
	(void)block;
	(void)sure;
	if (symbol->flow.exposed && !(*word_of(flow->set, symbol) & bit_of(symbol)))
		symbol->flow.zeroed = true;
}

static void check_write(struct flow *flow, struct symbol *symbol, uint32_t block, bool sure)
{
	(void)block;
	if (sure && symbol->flow.exposed)
		*word_of(flow->set, symbol) |= bit_of(symbol);
}

static void zero_exposed(struct flow *flow, struct symbol *symbol, uint32_t block, bool sure)
{
	(void)flow;
	(void)block;
	(void)sure;
	symbol->flow.zeroed |= symbol->flow.exposed > 0;
}

static bool ends_block(const struct statement *statement)
{
	static const char *const ends[] = { "bra", "brx", "ret", "exit", "trap" };

	return statement->kind != STATEMENT_LABEL && word_is_one_of(&statement->name, ends,
							       ARRAY_SIZE(ends));
}

/* Takes out of the set before a block what is not in @have. Return: has it changed? */
static bool meet(struct flow *flow, uint32_t block, const uint64_t *have)
{
	uint64_t *before = flow->before + block * flow->words, changed = 0;

	for (size_t i = 0; i < flow->words; i++) {
		changed |= before[i] & ~have[i];
		before[i] &= have[i];
	}
	return changed;
}

static bool meet_label(struct flow *flow, const struct word *name, struct scope *scope,
		       const uint64_t *have)
{
	const struct symbol *label = label_find(scope, name);

	if (!label || label->count >= flow->statements)
		return false;
	return meet(flow, flow->block_of[label->count], have);
}

/* Where a block goes on. Return: has the set before one of them changed? */
static bool meet_next(struct flow *flow, uint32_t block, const uint64_t *have)
{
	const struct statement *last = flow->at[flow->first[block + 1] - 1];
	bool changed = false, falls = !ends_block(last) || last->guard;

	for (uint32_t i = 0; ends_block(last) && i < last->operands_count; i++) {
		const struct operand *operand = &last->operands[i];

		if (operand->kind == OPERAND_NAME)
			changed |= meet_label(flow, &operand->name, last->scope, have);
		if (operand->kind != OPERAND_SYMBOL || operand->symbol->kind != SYMBOL_TARGETS)
			continue;
		for (uint32_t j = 0; j < operand->symbol->targets->count; j++)
			changed |= meet_label(flow, &operand->symbol->targets->names[j],
					      operand->symbol->targets->scope, have);
	}
	if (falls && block + 1 < flow->blocks)
		changed |= meet(flow, block + 1, have);
	return changed;
}

/* Finds what is written before each block, whichever way leads there. */
static bool solve(struct flow *flow)
{
	uint64_t *made, *have = calloc(flow->words, sizeof(*have));
	bool changed = true;

	flow->set = made = calloc(flow->blocks * flow->words, sizeof(*made));
	if (!have || !made) {
		free(have);
		return false;
	}
	visit_all(flow, nothing, add_to_block);
	flow->before = malloc(flow->blocks * flow->words * sizeof(*made));
	if (!flow->before) {
		free(have);
		return false;
	}
	memset(flow->before, 0xff, flow->blocks * flow->words * sizeof(*made));
	memset(flow->before, 0, flow->words * sizeof(*made));
	while (changed) {
		changed = false;
		for (uint32_t block = 0; block < flow->blocks; block++) {
			for (size_t i = 0; i < flow->words; i++)
				have[i] = flow->before[block * flow->words + i] |
					  made[block * flow->words + i];
			changed |= meet_next(flow, block, have);
		}
	}
	free(have);
	return true;
}

static bool find_blocks(struct flow *flow, const struct body *body)
{
	bool begins = true;
	uint32_t i = 0;

	flow->at = calloc(body->count + 1, sizeof(*flow->at));
	flow->block_of = calloc(body->count + 1, sizeof(*flow->block_of));
	flow->first = calloc(body->count + 2, sizeof(*flow->first));
	if (!flow->at || !flow->block_of || !flow->first)
		return false;
	for (struct statement *statement = body->first; statement; statement = statement->next) {
		if (begins || statement->kind == STATEMENT_LABEL)
			flow->first[flow->blocks++] = i;
		flow->at[i] = statement;
		flow->block_of[i++] = flow->blocks - 1;
		begins = ends_block(statement) || statement->cut;
	}
	flow->statements = flow->first[flow->blocks] = i;
	return true;
}

static void collect(struct flow *flow, struct symbol *symbol, uint32_t block, bool sure)
{
	(void)block;
	(void)sure;
	if (symbol->flow.exposed)
		flow->kept[symbol->flow.exposed - 1] = symbol;
}

/* May a thread that has been at a label come to what is before it again? */
static bool is_in_loop(const struct flow *flow, uint32_t index)
{
	for (uint32_t i = index + 1; i < flow->statements; i++) {
		const struct statement *at = flow->at[i];
		const struct symbol *label;

		if (at->kind == STATEMENT_LABEL)
			continue;
		if (word_is(&at->name, "brx"))
			return true;
		if (!word_is(&at->name, "bra") || at->operands[0].kind != OPERAND_NAME)
			continue;
		label = label_find(at->scope, &at->operands[0].name);
		if (!label || label->count < index)
			return true;
	}
	return false;
}

/*
 * A register that some block reads before it writes it may be one that a thread has at a cut: it is
 * kept there, and so is in memory. One that is written in one place, before the block of a label
 * that is the only cut and in no outer loop, does not change from then on. Return: false: no memory.
 */
static bool find_kept(struct flow *flow, struct kept *kept)
{
	uint32_t before = UINT32_MAX, cuts = 0;

	flow->kept = kept->at = calloc(flow->exposed + 1, sizeof(*kept->at));
	if (!flow->kept)
		return false;
	visit_all(flow, collect, collect);
	for (uint32_t i = 0; i < flow->statements; i++)
		hoist(flow->at[i]);
	for (uint32_t i = 0; i < flow->exposed; i++)
		if (kept->at[i] && !kept->at[i]->flow.hoisted)
			kept->at[kept->count++] = kept->at[i];
	for (uint32_t i = 0; i < flow->statements; i++) {
		cuts += flow->at[i]->cut > 0;
		if (flow->at[i]->kind == STATEMENT_LABEL && flow->at[i]->cut && !is_in_loop(flow, i))
			before = flow->block_of[i];
	}
	for (uint32_t i = 0; i < kept->count; i++) {
		struct symbol *symbol = kept->at[i];

		symbol->flow.stays = before != UINT32_MAX && cuts == 1 &&
				     (!symbol->flow.known ||
				      (symbol->flow.written == 1 && symbol->flow.seen <= before));
		symbol->flow.written = 2;
	}
	return true;
}

/*
 * Looks at all registers of a body, of which labels know their statements. Those that it knows
 * nothing about keep memory that begins as zeros. @kept: output, if the body is cut; or NULL. Return:
 * false: no memory for @kept, so that the body cannot be cut.
 */
bool registers_look(const struct body *body, struct kept *kept)
{
	struct flow flow = {};
	bool good = !kept;

	if (find_blocks(&flow, body) && flow.blocks) {
		visit_all(&flow, count_read, count_write);
		flow.words = flow.exposed / 64 + 1;
		if (flow.words * 64 * flow.blocks <= SET_BITS_MOST && solve(&flow))
			visit_all(&flow, check_read, check_write);
		else
			visit_all(&flow, zero_exposed, nothing);
		if (kept)
			good = find_kept(&flow, kept);
	}
	free(flow.at);
	free(flow.block_of);
	free(flow.first);
	free(flow.before);
	free(flow.set);
	return good;
}
