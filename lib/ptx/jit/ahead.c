// SPDX-License-Identifier: MIT
/* Compiling ahead of time: all that launches and calls through pointers may ask for. */
#include <stdio.h>
#include <string.h>

#include "code.h"

static bool is_root(struct function *function)
{
	return function->defined && (function->kernel || facts_of(function)->by_pointer ||
				     function->statements > PTX_LARGE_CALLEE);
}

static const char *name_of(const struct function *function, char *name, size_t size)
{
	const struct symbol *symbol = function->symbol;

	snprintf(name, size, "%.*s", (int)symbol->length, symbol->name);
	return name;
}

/* Compiles every @parts-th function, from @part on; several processes can divide the work. */
void ptx_code_compile(struct ptx_code *code, uint32_t part, uint32_t parts, bool windows,
		      ptx_told *told, void *data)
{
	struct function *function;
	uint32_t index = 0;
	char name[256];

	for (uint32_t u = 0; u < code->units_count; u++)
		for (function = code->units[u].functions; function; function = function->next) {
			const struct root *root;

			if (!is_root(function) || index++ % parts != part)
				continue;
			pthread_mutex_lock(&code->lock);
			root = root_compile(code, function);
			pthread_mutex_unlock(&code->lock);
			if (windows && function->kernel && root && !root->failed)
				ptx_code_for_windows(code, &root->kernel);
			told(data, name_of(function, name, sizeof(name)),
			     root && !root->failed ? NULL : root ? root->log.text : "no memory");
		}
}

/* How many functions there are to compile */
int ptx_code_count(const struct ptx_code *code)
{
	int count = 0;

	for (uint32_t u = 0; u < code->units_count; u++)
		for (struct function *function = code->units[u].functions; function;
		     function = function->next)
			count += is_root(function);
	return count;
}

/* Shows the code of each function that is compiled, or of those that are called @name. */
void ptx_code_show(struct ptx_code *code, const char *name, ptx_shown *shown, ptx_told *told,
		   void *data)
{
	struct function *function;
	char own[1024];

	for (uint32_t u = 0; u < code->units_count; u++)
		for (function = code->units[u].functions; function; function = function->next) {
			const char *wrong;

			name_of(function, own, sizeof(own));
			if (!is_root(function) || (name && strcmp(name, own)))
				continue;
			told(data, own, NULL);
			pthread_mutex_lock(&code->lock);
			wrong = root_show(code, function, shown, data);
			pthread_mutex_unlock(&code->lock);
			if (wrong)
				told(data, own, wrong);
		}
}
