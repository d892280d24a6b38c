// SPDX-License-Identifier: MIT
/* Instructions: the table of what makes IR of them, their modifiers, and guards. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instructions.h"
#include "ir.h"

/* Sorted by name. Those without a function are instructions of PTX that memcast has not. */
static const struct opcode opcodes[] = {
#define ROW(...)	{ __VA_ARGS__ },
#define LACKED(text)	{ .name = text },
	PTX_INSTRUCTIONS(ROW, LACKED)
};

static int compare(const void *key, const void *element)
{
	const struct word *word = key;
	const char *name = ((const struct opcode *)element)->name;
	int order = strncmp(word->at, name, word->length);

	return order ? order : name[word->length] ? -1 : 0;
}

/* Return: NULL if PTX has no such instruction */
const struct opcode *opcode_find(const struct word *name)
{
	return bsearch(name, opcodes, ARRAY_SIZE(opcodes), sizeof(*opcodes), compare);
}

/* Has the instruction this modifier? Those that nobody asks for make it unsupported. */
bool has(struct translator *t, enum modifier modifier)
{
	bool found = false;

	for (uint32_t i = 0; i < t->at->modifiers_count; i++)
		if (t->modifiers[i] == modifier) {
			t->used |= 1U << i;
			found = true;
		}
	return found;
}

bool has_any(struct translator *t, const enum modifier *list, uint32_t count)
{
	bool found = false;

	for (uint32_t i = 0; i < count; i++)
		found |= has(t, list[i]);
	return found;
}

/* Notes the first thing that memcast lacks; translation goes on with any value. */
void lacks(struct translator *t, const char *format, ...)
{
	struct ptx_log *log = &t->root->log;
	char what[500];
	va_list values;

	t->unsupported = true;
	if (t->root->failed)
		return;
	t->root->failed = true;
	va_start(values, format);
	vsnprintf(what, sizeof(what), format, values);
	va_end(values);
	snprintf(log->text, sizeof(log->text), "%s %.*s: line %u: %s is not supported",
		 t->function->kernel ? "kernel" : "function",
		 (int)(t->function->symbol->length < 300 ? t->function->symbol->length : 300),
		 t->function->symbol->name, t->at ? t->at->line : t->function->line, what);
}

/* The instruction is one that memcast lacks. @about: a name that says what of it, or NULL */
void unsupported_about(struct translator *t, const struct symbol *about)
{
	lacks(t, "%.*s%s%.*s", t->at ? (int)(t->at->text.length < 200 ? t->at->text.length : 200) : 4,
	      t->at && t->at->text.at ? t->at->text.at : "this", about ? " " : "",
	      about ? (int)(about->length < 200 ? about->length : 200) : 0,
	      about ? about->name : "");
}

void unsupported(struct translator *t)
{
	unsupported_about(t, NULL);
}

static void take_modifiers(struct translator *t)
{
	t->types_count = 0;
	t->used = 0;
	t->unsupported = false;
	for (uint32_t i = 0; i < t->at->modifiers_count; i++) {
		const struct word *word = &t->at->modifiers[i];
		enum type type = type_of_word(word);

		t->modifiers[i] = type ? MOD_NONE : modifier_of_word(word);
		if (type) {
			t->types[t->types_count++] = type;
			t->used |= 1U << i;
		}
	}
}

/* Runs an instruction only where its guard is true. */
static LLVMBasicBlockRef guard(struct translator *t)
{
	LLVMBasicBlockRef then = new_block(t), after = new_block(t);
	LLVMValueRef condition = register_read(t, t->at->guard, 0);

	if (t->at->guard_negated)
		condition = BUILD(Not, condition);
	if (t->at->bound)
		condition = bounds_tested(t, condition);
	LLVMBuildCondBr(t->builder, condition, then, after);
	LLVMPositionBuilderAtEnd(t->builder, then);
	return after;
}

/*
 * NVIDIA's compiler makes several instructions of some, and puts the guard on all but the last one.
 * Where the guard is false, an H100 then tests a number all the same, or converts what a register
 * already has. Compilers make no such code; random kernels have it.
 */
static bool guard_is_dropped(const struct translator *t)
{
	return word_is(&t->at->name, "testp");
}

static void last_instruction(struct translator *t)
{
	enum type to = type_at(t, 0), from = type_at(t, 1);
	LLVMValueRef guard, value, converted;

	if (!word_is(&t->at->name, "set") || type_is(from, KIND_FLOAT) || type_bits(to) != 32 ||
	    (to != TYPE_F32 && type_bits(from) != 16))
		return;
	value = get(t, operand(t, 0), TYPE_B32);
	if (to == TYPE_F32) {
		guard = register_read(t, t->at->guard, 0);
		if (t->at->guard_negated)
			guard = BUILD(Not, guard);
		converted = choose(t, BUILD(ICmp, LLVMIntSLT, value, constant(t, 32, 0)),
				   BUILD(Neg, value), value);
		converted = as_int(t, BUILD(SIToFP, converted, t->f32));
		put(t, operand(t, 0), choose(t, guard, value, converted), TYPE_B32);
	} else {
		value = resize(t, value, 16, false);
		put(t, operand(t, 0), resize(t, value, 32, true), TYPE_B32);
	}
}

void translate_statement(struct translator *t, struct statement *statement)
{
	LLVMBasicBlockRef after = NULL;

	t->at = statement;
	if (statement->kind == STATEMENT_LABEL || statement->guard)
		t->epoch++;
	if (statement->kind == STATEMENT_LABEL) {
		go_on_at(t, label_block(t, statement->label));
		if (t->cuts && statement->cut) {
			t->about[statement->cut] = (struct ptx_cut) { .kind = PTX_CUT_TURN };
			cut_here(t, label_block(t, statement->label), statement->cut);
		}
		return;
	}
	if (t->ended)	/* nothing comes here; LLVM still wants a block */
		go_on_at(t, new_block(t));
	take_modifiers(t);
	if (statement->guard && !guard_is_dropped(t))
		after = guard(t);
	if (!statement->opcode->translate)
		unsupported(t);
	else
		statement->opcode->translate(t);
	align_note_sum(t);
	if (t->used != (1U << statement->modifiers_count) - 1)
		unsupported(t);
	if (after) {
		go_on_at(t, after);
		t->epoch++;
		last_instruction(t);
	}
}
