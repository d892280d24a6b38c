// SPDX-License-Identifier: MIT
/*
 * Does a function wait, in a loop, for what others write? Only if a branch depends on what it has
 * read of others: of a loop that always takes as many turns, none can be what it waits by.
 */
#include "code.h"
#include "ptx/ir/instructions.h"

static const char *const waiting[] = {
	"atom", "mbarrier", "nanosleep", "call", "fence", "membar", "cp",
};

/* May the instruction, in a loop, be what the loop waits by? */
bool statement_may_wait(const struct statement *statement)
{
	/* .cg, .cv: weak, but not from a cache that may be old: programs poll by them */
	static const char *const polling[] = {
		".volatile", ".relaxed", ".acquire", ".mmio", ".cg", ".cv",
	};

	if (word_is(&statement->name, "ld")) {
		for (uint32_t i = 0; i < statement->modifiers_count; i++)
			if (word_is_one_of(&statement->modifiers[i], polling, ARRAY_SIZE(polling)))
				return true;
		return false;
	}
	if (word_is(&statement->name, "multimem"))
		return statement->modifiers_count && word_is(&statement->modifiers[0],
							     ".ld_reduce");
	return word_is_one_of(&statement->name, waiting, ARRAY_SIZE(waiting));
}

/* What is known so far: registers have a mark, memory is one thing. */
struct knowledge {
	bool memory;			/* a value that depends has been stored */
	bool changed;
};

static bool is_name(const struct statement *statement, const char *name)
{
	return word_is(&statement->name, name);
}

static bool is_branch(const struct statement *statement)
{
	return is_name(statement, "bra") || is_name(statement, "brx") ||
	       is_name(statement, "exit") || is_name(statement, "ret");
}

static bool operand_depends(const struct operand *operand)
{
	if ((operand->kind == OPERAND_REGISTER || operand->kind == OPERAND_ADDRESS) &&
	    operand->symbol && operand->symbol->kind == SYMBOL_REGISTER &&
	    operand->symbol->flow.depends)
		return true;
	for (uint32_t i = 0; i < operand->count; i++)
		if (operand_depends(&operand->items[i]))
			return true;
	return operand->second && operand_depends(operand->second);
}

static bool statement_depends(const struct statement *statement)
{
	if (statement->guard && statement->guard->flow.depends)
		return true;
	for (uint32_t i = 0; i < statement->operands_count; i++)
		if (operand_depends(&statement->operands[i]))
			return true;
	return false;
}

static void mark(struct knowledge *know, const struct operand *operand)
{
	struct symbol *symbol = operand->kind == OPERAND_REGISTER ? operand->symbol : NULL;

	if (symbol && symbol->kind == SYMBOL_REGISTER && !symbol->flow.depends)
		symbol->flow.depends = know->changed = true;
	for (uint32_t i = 0; i < operand->count; i++)
		mark(know, &operand->items[i]);
	if (operand->second)
		mark(know, operand->second);
}

/* Does it load what no other thread can change while the kernel runs? */
static bool is_constant(const struct statement *statement)
{
	return statement_has(statement, ".param") || statement_has(statement, ".const") ||
	       statement_has(statement, ".nc");
}

/*
 * May a loop wait by calls of a function that has the instruction? By a load that is made anew, or a
 * store: the loop's own loads are made anew behind that.
 */
bool callee_may_wait(const struct statement *statement)
{
	bool accesses = is_name(statement, "ld") || is_name(statement, "st") ||
			is_name(statement, "red") || is_name(statement, "multimem");

	return statement_may_wait(statement) ||
	       (accesses && !is_constant(statement) && !statement_has(statement, ".local"));
}

static void learn(struct knowledge *know, const struct statement *statement)
{
	bool load = (is_name(statement, "ld") || is_name(statement, "ldu")) &&
		    !is_constant(statement);

	if (!statement->operands_count || is_branch(statement) ||
	    !(statement_may_wait(statement) || (load && know->memory) ||
	      statement_depends(statement)))
		return;
	/* the first operand of these is an address: what they write is memory */
	if (is_name(statement, "st") || is_name(statement, "red")) {
		know->changed |= !know->memory;
		know->memory = true;
		return;
	}
	if (is_name(statement, "atom") && statement_depends(statement) && !know->memory)
		know->memory = know->changed = true;
	mark(know, &statement->operands[0]);
}

/* Return: may a branch of the body depend on what others write while it runs? */
bool body_depends(const struct body *body)
{
	struct knowledge know = { .changed = true };
	const struct statement *at;

	for (at = body->first; at; at = at->next) {
		if (at->kind != STATEMENT_INSTRUCTION)
			continue;
		if (is_name(at, "call") || is_name(at, "mbarrier") || is_name(at, "nanosleep"))
			return true;
		/* loads behind a fence or a copy see what others have stored since */
		if (is_name(at, "fence") || is_name(at, "membar") || is_name(at, "cp"))
			know.memory = true;
	}
	while (know.changed) {
		know.changed = false;
		for (at = body->first; at; at = at->next)
			if (at->kind == STATEMENT_INSTRUCTION)
				learn(&know, at);
	}
	for (at = body->first; at; at = at->next)
		if (at->kind == STATEMENT_INSTRUCTION && is_branch(at) && statement_depends(at))
			return true;
	return false;
}
