// SPDX-License-Identifier: MIT
/*
 * Scopes. Registers that are declared as %r<100> become symbols when they are first named, so
 * that a million of them cost nothing.
 */
#include <string.h>

#include "text.h"

#define ROOM_FIRST	16

static uint32_t hash_of(const char *name, size_t length)
{
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619U;
	return hash ^ hash >> 15;
}

struct scope *scope_new(struct arena *arena, struct scope *outer)
{
	struct scope *scope = arena_take(arena, sizeof(*scope));

	if (scope) {
		scope->arena = arena;
		scope->outer = outer;
		scope->depth = outer ? outer->depth + 1 : 0;
	}
	return scope;
}

struct symbol *scope_find_here(const struct scope *scope, const char *name, size_t length)
{
	if (!scope->room)
		return NULL;
	for (struct symbol *symbol = scope->buckets[hash_of(name, length) & (scope->room - 1)];
	     symbol; symbol = symbol->next)
		if (symbol->length == length && !memcmp(symbol->name, name, length))
			return symbol;
	return NULL;
}

static bool grow(struct scope *scope)
{
	uint32_t room = scope->room ? 2 * scope->room : ROOM_FIRST;
	struct symbol **buckets = arena_take(scope->arena, room * sizeof(struct symbol *));

	if (!buckets)
		return false;
	for (uint32_t i = 0; i < scope->room; i++) {
		struct symbol *next;

		for (struct symbol *symbol = scope->buckets[i]; symbol; symbol = next) {
			uint32_t at = hash_of(symbol->name, symbol->length) & (room - 1);

			next = symbol->next;
			symbol->next = buckets[at];
			buckets[at] = symbol;
		}
	}
	scope->buckets = buckets;
	scope->room = room;
	return true;
}

/* Adds a name that is not there. Return: NULL if there is no memory */
struct symbol *scope_add(struct scope *scope, const struct word *name)
{
	struct symbol *symbol, **bucket;

	if (scope->count >= scope->room && !grow(scope))
		return NULL;
	symbol = arena_take(scope->arena, sizeof(*symbol));
	if (!symbol)
		return NULL;
	symbol->scope = scope;
	symbol->name = name->at;
	symbol->length = name->length;
	symbol->vector = 1;
	bucket = &scope->buckets[hash_of(name->at, name->length) & (scope->room - 1)];
	symbol->next = *bucket;
	*bucket = symbol;
	scope->count++;
	return symbol;
}

/* Is the name one of %r<count>? Then it becomes a symbol of its own. */
static struct symbol *of_registers(struct scope *scope, const char *name, size_t length)
{
	struct word word = { .at = name, .length = length };
	struct symbol *registers, *symbol;
	uint64_t number = 0;
	size_t stem = length;

	if (!scope->ranges)
		return NULL;
	while (stem && name[stem - 1] >= '0' && name[stem - 1] <= '9')
		stem--;
	/* %r1 may be of %r<2> or, in a strange text, %r10 of %r1<2>: the shortest stem first */
	for (; stem < length; stem++) {
		registers = scope_find_here(scope->ranges, name, stem);
		if (registers && (name[stem] != '0' || stem + 1 == length))
			break;
	}
	if (stem >= length || length - stem > 9)
		return NULL;
	for (size_t i = stem; i < length; i++)
		number = 10 * number + name[i] - '0';
	if (number >= registers->count)
		return NULL;
	symbol = scope_add(scope, &word);
	if (symbol) {
		symbol->kind = SYMBOL_REGISTER;
		symbol->space = SPACE_REG;
		symbol->type = registers->type;
		symbol->vector = registers->vector;
	}
	return symbol;
}

struct symbol *scope_find(struct scope *scope, const char *name, size_t length)
{
	for (; scope; scope = scope->outer) {
		struct symbol *symbol = scope_find_here(scope, name, length);

		if (!symbol)
			symbol = of_registers(scope, name, length);
		if (symbol)
			return symbol;
	}
	return NULL;
}

/* Return: the label of a name, as branches have it; NULL: there is none */
struct symbol *label_find(struct scope *scope, const struct word *name)
{
	struct symbol *symbol = scope_find(scope, name->at, name->length);

	return symbol && symbol->kind == SYMBOL_LABEL ? symbol : NULL;
}

/* Is the name taken in this scope? */
bool scope_has(const struct scope *scope, const char *name, size_t length)
{
	return scope_find_here(scope, name, length) ||
	       of_registers((struct scope *)scope, name, length);
}
