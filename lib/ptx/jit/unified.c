// SPDX-License-Identifier: MIT
/*
 * Unified functions, those with .attribute(.unified(1, 2)): all of the same two numbers, in all
 * modules of the process, have one address. A slot is there, which looks whose kernel calls, and
 * calls the function of that module.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"

struct unified {
	struct ptx_slot slot;		/* the first member: it is all that a call knows */
	uint64_t uuid[2];
	struct facts *members;		/* by sibling */
	struct unified *next;
};

/* Protects the list, its members, and their siblings; the last lock to be taken */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct unified *all;

struct ptx_slot *function_slot(struct function *function)
{
	struct facts *facts = facts_of(function);

	return facts->unified ? facts->unified : &facts->slot;
}

/* Return: the slot of the kernel's own module, else of one of its context; NULL: there is none */
static struct ptx_slot *slot_for(const struct unified *unified, const struct ptx_kernel *kernel)
{
	const struct root *root = (const void *)((const char *)kernel -
						 offsetof(struct root, kernel));
	const struct ptx_code *code = facts_of(root->function)->slot.owner;
	struct ptx_slot *found = NULL;

	pthread_mutex_lock(&lock);
	for (struct facts *member = unified->members; member; member = member->sibling)
		if (member->slot.owner == code ||
		    (!found && member->slot.owner->context == code->context))
			found = &member->slot;
	pthread_mutex_unlock(&lock);
	return found;
}

static void call(struct ptx_thread *thread, void *parameters, void *results, struct ptx_slot *slot)
{
	struct ptx_slot *own = slot_for((struct unified *)slot, ptx_run_kernel(thread));

	if (!own)
		ptx_run_fault(thread, CUDA_ERROR_INVALID_PC, 0,
			      "no module of the kernel's context has the unified function");
	own->code(thread, parameters, results, own);
}

/* With the lock held. NULL: no memory */
static struct unified *find(const uint64_t uuid[2])
{
	struct unified *unified;

	for (unified = all; unified; unified = unified->next)
		if (!memcmp(unified->uuid, uuid, sizeof(unified->uuid)))
			return unified;
	unified = calloc(1, sizeof(*unified));
	if (!unified)
		return NULL;
	unified->slot.code = call;
	memcpy(unified->uuid, uuid, sizeof(unified->uuid));
	unified->next = all;
	all = unified;
	return unified;
}

bool unified_join(struct ptx_code *code)
{
	bool good = true;

	pthread_mutex_lock(&lock);
	for (uint32_t u = 0; u < code->units_count; u++)
		for (struct function *function = code->units[u].functions; function && good;
		     function = function->next) {
			struct facts *facts = facts_of(function);
			struct unified *unified;

			/* of several texts' functions, the definition that counts */
			if (!function->unified || !function->defined || function->kernel ||
			    code_resolve(code, function->symbol) != function->symbol)
				continue;
			unified = find(function->uuid);
			good = unified;
			if (!good)
				break;
			facts->unified = &unified->slot;
			facts->sibling = unified->members;
			unified->members = facts;
		}
	pthread_mutex_unlock(&lock);
	return good;
}

/* With the lock held */
static void leave(struct facts *facts)
{
	struct unified *unified = (struct unified *)facts->unified, **entry = &all;
	struct facts **link = &unified->members;

	while (*link != facts)
		link = &(*link)->sibling;
	*link = facts->sibling;
	facts->unified = NULL;
	if (unified->members)
		return;
	while (*entry != unified)
		entry = &(*entry)->next;
	*entry = unified->next;
	free(unified);
}

void unified_leave(struct ptx_code *code)
{
	pthread_mutex_lock(&lock);
	for (uint32_t u = 0; u < code->units_count; u++)
		for (struct function *function = code->units[u].functions; function;
		     function = function->next)
			if (function->translated && facts_of(function)->unified)
				leave(facts_of(function));
	pthread_mutex_unlock(&lock);
}

void *ptx_code_unified(struct ptx_code *code, const char *name)
{
	for (uint32_t u = 0; u < code->units_count; u++) {
		struct symbol *symbol = scope_find_here(code->units[u].scope, name, strlen(name));

		if (symbol && symbol->kind == SYMBOL_FUNCTION &&
		    facts_of(symbol->function)->unified)
			return facts_of(symbol->function)->unified;
	}
	return NULL;
}
