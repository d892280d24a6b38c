// SPDX-License-Identifier: MIT
/* Texts of an image: reading, linking, and compiling what is asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "ptx/ir/instructions.h"
#include "processor.h"

static int fail_with(struct ptx_log *log, int result, const char *text)
{
	snprintf(log->text, sizeof(log->text), "%s", text);
	return result;
}

struct facts *facts_of(struct function *function)
{
	return function->translated;
}

static int make_facts(struct ptx_code *code)
{
	for (uint32_t u = 0; u < code->units_count; u++)
		for (struct function *function = code->units[u].functions; function;
		     function = function->next) {
			struct facts *facts = calloc(1, sizeof(*facts));

			if (!facts)
				return CUDA_ERROR_OUT_OF_MEMORY;
			function->translated = facts;
			facts->slot = (struct ptx_slot) { ptx_slot_first_call, code, function };
		}
	return CUDA_SUCCESS;
}

static int check_bodies(struct ptx_code *code, struct ptx_log *log)
{
	for (uint32_t u = 0; u < code->units_count; u++)
		for (struct function *function = code->units[u].functions; function;
		     function = function->next) {
			struct complaint complaint = {};
			CUresult result = function->defined ?
					  function_check(code, function, &complaint) : CUDA_SUCCESS;

			if (result != CUDA_SUCCESS)
				return fail_with(log, result, complaint.text);
			code->clusters |= code->units[u].clusters;
		}
	return CUDA_SUCCESS;
}

static uint32_t align_up(uint32_t value, uint32_t align)
{
	return align ? (value + align - 1) & ~(align - 1) : value;
}

#define DYNAMIC_ALIGN	16		/* at least, as on an H100 */

/* Shared variables of texts and of functions that kernels call have one place for all kernels. */
static void place_common(struct ptx_code *code)
{
	uint32_t next = PTX_SHARED_FIRST;

	code->dynamic_align = DYNAMIC_ALIGN;
	for (uint32_t u = 0; u < code->units_count; u++) {
		struct unit *unit = &code->units[u];

		for (uint32_t i = 0; i < unit->variables_count; i++) {
			struct symbol *symbol = unit->variables[i];

			if (symbol->space == SPACE_SHARED && symbol->unsized &&
			    symbol->align > code->dynamic_align)
				code->dynamic_align = symbol->align;
			if (symbol->space != SPACE_SHARED || symbol->unsized ||
			    code_resolve(code, symbol) != symbol)
				continue;
			symbol->offset = align_up(next, symbol->align);
			next = symbol->offset + symbol->bytes;
		}
		for (struct function *function = unit->functions; function;
		     function = function->next) {
			struct facts *facts = facts_of(function);

			if (function->kernel || !facts->shared_bytes)
				continue;
			facts->shared_base = align_up(next, facts->shared_align);
			next = facts->shared_base + facts->shared_bytes;
		}
	}
	code->common_shared = next;
	for (uint32_t u = 0; u < code->units_count; u++)
		for (struct function *function = code->units[u].functions; function;
		     function = function->next)
			if (function->kernel)
				facts_of(function)->shared_base = align_up(next,
									   facts_of(function)->shared_align);
}

static int place_variables(struct ptx_code *code, const struct ptx_variables *variables,
			   struct ptx_log *log)
{
	char name[1024];

	for (uint32_t u = 0; u < code->units_count; u++) {
		struct unit *unit = &code->units[u];

		for (uint32_t i = 0; i < unit->variables_count; i++) {
			struct symbol *symbol = unit->variables[i];

			if ((symbol->space != SPACE_GLOBAL && symbol->space != SPACE_CONST) ||
			    code_resolve(code, symbol) != symbol)
				continue;
			if (symbol->length >= sizeof(name))
				return fail_with(log, CUDA_ERROR_INVALID_PTX,
						 "a variable's name has over 1023 characters");
			memcpy(name, symbol->name, symbol->length);
			name[symbol->length] = '\0';
			symbol->has_values = variables->has_values &&
					     variables->has_values(variables->data, name, u);
			symbol->address = variables->address(variables->data, name, u,
							     symbol->bytes,
							     symbol->align ? symbol->align : 1);
			if (!symbol->address)
				return fail_with(log, CUDA_ERROR_OUT_OF_MEMORY,
						 "no memory for a variable");
			if (symbol->has_values)
				continue;
			/* of several texts, only the linker knows whose value counts */
			if (code->units_count > 1 && symbol->bytes)
				memset((void *)(uintptr_t)symbol->address, 0, symbol->bytes);
			if (code->units_count > 1 && symbol->initial)
				memcpy((void *)(uintptr_t)symbol->address, symbol->initial->bytes,
				       symbol->initial->size);
		}
	}
	return CUDA_SUCCESS;
}

/* Return: an address in an initial value: of a variable, or the slot of a function */
static uint64_t address_of(struct ptx_code *code, struct symbol *symbol)
{
	struct symbol *defined = code_resolve(code, symbol);

	if (!defined)
		return 0;
	if (defined->kind == SYMBOL_FUNCTION) {
		facts_of(defined->function)->by_pointer = true;
		return (uintptr_t)function_slot(defined->function);
	}
	if (defined->space == SPACE_SHARED)
		return defined->offset;
	return defined->address;
}

static int write_addresses(struct ptx_code *code, struct ptx_log *log)
{
	for (uint32_t u = 0; u < code->units_count; u++) {
		struct unit *unit = &code->units[u];

		for (uint32_t i = 0; i < unit->variables_count; i++) {
			struct symbol *symbol = unit->variables[i];
			struct relocation *relocation;

			if (!symbol->address || !symbol->initial || symbol->has_values)
				continue;
			for (relocation = symbol->initial->relocations; relocation;
			     relocation = relocation->next) {
				uint64_t value = address_of(code, relocation->symbol);

				if (!value) {
					snprintf(log->text, sizeof(log->text),
						 "nvlink: nothing defines '%.*s'",
						 (int)(relocation->name.length < 200 ?
						       relocation->name.length : 200),
						 relocation->name.at);
					return link_error(code);
				}
				value += relocation->added;
				if (relocation->mask)
					value = (value & relocation->mask) >>
						__builtin_ctzll(relocation->mask);
				memcpy((void *)(uintptr_t)(symbol->address + relocation->at),
				       &value,
				       relocation->bytes < 8 ? relocation->bytes : 8);
			}
		}
	}
	return CUDA_SUCCESS;
}

static int read_units(struct ptx_code *code, const struct ptx_text *texts, struct ptx_log *log)
{
	for (uint32_t u = 0; u < code->units_count; u++) {
		struct complaint complaint = {};
		CUresult result = unit_read(&code->units[u], texts[u].text, texts[u].bytes,
					    &complaint);

		code->units[u].number = u;
		digest_add(&code->digest, texts[u].text, texts[u].bytes);
		if (result != CUDA_SUCCESS)
			return fail_with(log, result, complaint.text[0] ? complaint.text :
					 "no memory for the text");
	}
	return CUDA_SUCCESS;
}

#define SHARED_MOST	232448
#define CONST_MOST	65536

static int too_large(struct ptx_log *log, uint32_t line, const char *what)
{
	snprintf(log->text, sizeof(log->text), "ptxas: line %u: %s", line, what);
	return CUDA_ERROR_INVALID_PTX;
}

/* Limits of an H100's memory, and of parameters by the version of PTX */
static int check_sizes(struct ptx_code *code, struct ptx_log *log)
{
	for (uint32_t u = 0; u < code->units_count; u++) {
		struct unit *unit = &code->units[u];
		uint64_t constant = 0;

		for (uint32_t i = 0; i < unit->variables_count; i++) {
			if (unit->variables[i]->space == SPACE_CONST)
				constant += unit->variables[i]->bytes;
			if (constant > CONST_MOST)
				return too_large(log, unit->variables[i]->line,
						 "more than 65,536 bytes are constant");
		}
		for (struct function *function = unit->functions; function;
		     function = function->next) {
			if (function->kernel && function->parameters.bytes >
			    (unit->version < 81 ? 4352 : 32764))
				return too_large(log, function->line,
						 "the parameters are too large");
			if (function->kernel && facts_of(function)->shared_bytes > SHARED_MOST)
				return too_large(log, function->line,
						 "a kernel has more shared memory than a block");
		}
	}
	return CUDA_SUCCESS;
}

static int new_code(const struct ptx_text *texts, uint32_t count, const char *const *names,
		    bool complete, struct ptx_code **code, struct ptx_log *log)
{
	struct ptx_code *new = calloc(1, sizeof(*new));
	struct processor_floats floats;
	int result;

	*code = NULL;
	log->text[0] = '\0';
	if (!new)
		return fail_with(log, CUDA_ERROR_OUT_OF_MEMORY, "no memory for device code");
	/* the thread's own rounding is not for numbers of the texts */
	floats = processor_set_floats(PROCESSOR_FLOATS_USUAL);
	pthread_mutex_init(&new->lock, NULL);
	new->names = names;
	new->debugged = jit_wants("MEMCAST_PTX_GDB");
	new->fibers = new->debugged || jit_wants("MEMCAST_PTX_FIBERS");
	new->incomplete = !complete;
	new->checked = jit_wants("MEMCAST_PTX_CHECK");
	new->units = calloc(count ? count : 1, sizeof(*new->units));
	new->globals = scope_new(&new->arena, NULL);
	new->units_count = new->units ? count : 0;
	result = new->units && new->globals ? read_units(new, texts, log) :
		 fail_with(log, CUDA_ERROR_OUT_OF_MEMORY, "no memory for device code");
	if (!result)
		result = make_facts(new);
	if (!result)
		external_number(new);
	if (!result)
		result = code_link(new, log);
	if (!result)
		result = check_bodies(new, log);
	if (!result)
		result = check_sizes(new, log);
	processor_set_floats(floats);
	if (result) {
		ptx_code_free(new);
		return result;
	}
	place_common(new);
	*code = new;
	return CUDA_SUCCESS;
}

int ptx_code_new(const struct ptx_text *texts, uint32_t count,
		 const struct ptx_variables *variables, struct ptx_code **code, struct ptx_log *log)
{
	struct ptx_code *new;
	int result = new_code(texts, count, NULL, true, &new, log);

	*code = NULL;
	if (!result) {
		new->context = variables->context;
		new->notice = variables->notice;
		if (!unified_join(new))
			result = fail_with(log, CUDA_ERROR_OUT_OF_MEMORY,
					   "no memory for device code");
	}
	if (!result)
		result = place_variables(new, variables, log);
	if (!result)
		result = write_addresses(new, log);
	if (result) {
		ptx_code_free(new);
		return result;
	}
	*code = new;
	return CUDA_SUCCESS;
}

int ptx_check(const struct ptx_text *text, struct ptx_log *log)
{
	struct ptx_code *code;
	int result = new_code(text, 1, NULL, true, &code, log);

	ptx_code_free(code);
	return result;
}

/* Do the texts link? @complete: nothing may be undefined any more */
int ptx_link(const struct ptx_text *texts, uint32_t count, const char *const *names,
	     bool complete, struct ptx_log *log)
{
	struct ptx_code *code;
	int result = new_code(texts, count, names, complete, &code, log);

	ptx_code_free(code);
	return result;
}

static void root_free(struct root *root)
{
	line_table_remove(root->lines);
	gdb_remove(root->gdb);
	for (uint32_t i = 0; i < root->externals_count; i++)
		free(root->externals[i].name);
	free(root->externals);
	free(root->functions);
	free((char *)root->kernel.name);
	free(root);
}

void ptx_code_free(struct ptx_code *code)
{
	struct root *next;

	if (!code)
		return;
	unified_leave(code);
	if (code->jit)
		jit_free(code->jit);
	for (struct root *root = code->roots; root; root = next) {
		next = root->next;
		root_free(root);
	}
	for (uint32_t u = 0; u < code->units_count; u++) {
		for (struct function *function = code->units[u].functions; function;
		     function = function->next) {
			if (function->translated)
				free(facts_of(function)->callees);
			free(function->translated);
		}
		unit_free(&code->units[u]);
	}
	free(code->units);
	arena_free(&code->arena);
	pthread_mutex_destroy(&code->lock);
	free(code);
}
