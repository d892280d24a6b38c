// SPDX-License-Identifier: MIT
/*
 * Names that code of one object has for what is outside of it. They have numbers, not addresses, so
 * that other processes can use the same object.
 */
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "ptx/math/multimem.h"
#include "ptx/math/ptx_math.h"

/* Gives all functions and variables their numbers. */
void external_number(struct ptx_code *code)
{
	uint32_t functions = 0, variables = 0;

	for (uint32_t u = 0; u < code->units_count; u++) {
		struct unit *unit = &code->units[u];

		for (struct function *function = unit->functions; function;
		     function = function->next)
			facts_of(function)->number = functions++;
		for (uint32_t i = 0; i < unit->variables_count; i++)
			if (unit->variables[i]->space == SPACE_GLOBAL ||
			    unit->variables[i]->space == SPACE_CONST)
				unit->variables[i]->offset = variables++;
	}
}

static void *slot_of(struct ptx_code *code, uint32_t number)
{
	for (uint32_t u = 0; u < code->units_count; u++)
		for (struct function *function = code->units[u].functions; function;
		     function = function->next)
			if (facts_of(function)->number == number)
				return function_slot(function);
	return NULL;
}

static void *variable_of(struct ptx_code *code, uint32_t number)
{
	for (uint32_t u = 0; u < code->units_count; u++)
		for (uint32_t i = 0; i < code->units[u].variables_count; i++) {
			const struct symbol *symbol = code->units[u].variables[i];

			if ((symbol->space == SPACE_GLOBAL || symbol->space == SPACE_CONST) &&
			    symbol->offset == number)
				return (void *)(uintptr_t)symbol->address;
		}
	return NULL;
}

static const char *behind(const char *name, const char *start)
{
	size_t length = strlen(start);

	return strncmp(name, start, length) ? NULL : name + length;
}

/* Return: what a name stands for; NULL: there is no such thing */
void *external_find(struct ptx_code *code, const char *name)
{
	const struct math_name *found;
	const char *rest;

	rest = behind(name, "slot.");
	if (rest)
		return slot_of(code, strtoul(rest, NULL, 10));
	rest = behind(name, "variable.");
	if (rest)
		return variable_of(code, strtoul(rest, NULL, 10));
	for (const struct ptx_run_name *entry = ptx_run_names; entry->name; entry++)
		if (!strcmp(entry->name, name))
			return entry->address;
	rest = behind(name, "ptx_math_");
	found = rest ? math_find(rest, strlen(rest)) : NULL;
	if (found)
		return found->address;
	for (const struct multimem_name *entry = multimem_names; entry->name; entry++)
		if (!strcmp(entry->name, name))
			return (void *)(uintptr_t)entry->function;
	return NULL;
}
