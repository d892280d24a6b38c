// SPDX-License-Identifier: MIT
/* What is compiled by itself: kernels, and functions that are called through pointers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "processor.h"

#define CUDA_NOT_FOUND	CUDA_ERROR_NOT_FOUND

/* What a function and all that it calls do together */
struct reach {
	bool waits, meetings, shared, indirect, recursive, uses_thread, exits, multimem, stores;
	bool allocas, loop_calls, callee_may_wait;
	uint32_t frame;
};

static void look(struct function *function, struct reach *reach, uint32_t depth)
{
	struct facts *facts = facts_of(function);

	if (facts->walking || depth > 2000) {
		reach->recursive = facts->recursive = true;
		return;
	}
	if (facts->seen)
		return;
	facts->seen = facts->walking = true;
	reach->waits |= facts->waits;
	reach->loop_calls |= facts->loop_calls;
	reach->callee_may_wait |= facts->calls_system;
	reach->meetings |= facts->meetings;
	reach->shared |= facts->shared;
	reach->indirect |= facts->indirect;
	reach->multimem |= facts->multimem;
	reach->stores |= facts->stores;
	reach->allocas |= facts->allocas;
	if (depth) {
		/* it is called as if through a pointer */
		reach->indirect |= function->statements > PTX_LARGE_CALLEE;
		reach->callee_may_wait |= facts->may_wait;
		reach->exits |= facts->exits;
		reach->uses_thread |= facts->own_thread;
	}
	for (uint32_t i = 0; i < facts->callees_count; i++)
		look(facts->callees[i], reach, depth + 1);
	facts->walking = false;
}

static void forget_seen(struct ptx_code *code)
{
	for (uint32_t u = 0; u < code->units_count; u++)
		for (struct function *one = code->units[u].functions; one; one = one->next) {
			facts_of(one)->seen = false;
			facts_of(one)->frame = 0;
		}
}

static struct reach reach_of(struct ptx_code *code, struct function *function)
{
	struct reach reach = {};

	forget_seen(code);
	look(function, &reach, 0);
	return reach;
}

static uint32_t frame_of(struct function *function, uint32_t depth)
{
	struct facts *facts = facts_of(function);
	uint32_t deepest = 0;

	if (facts->seen || depth > 2000)
		return facts->frame;
	facts->seen = true;
	for (uint32_t i = 0; i < facts->callees_count; i++) {
		uint32_t frame = frame_of(facts->callees[i], depth + 1);

		if (frame > deepest)
			deepest = frame;
	}
	return facts->frame = facts->own_frame + deepest;
}

/* The deepest stack: the frames of the function and of the deepest that it calls */
uint32_t root_frame(struct function *function)
{
	forget_seen(facts_of(function)->slot.owner);
	return frame_of(function, 0);
}

void root_name(const struct root *root, const char *kind, char *name, size_t size)
{
	snprintf(name, size, "%s.%u%s", kind, facts_of(root->function)->number,
		 root->kernel.windows ? ".windows" : "");
}

bool root_lacks_memory(struct root *root)
{
	root->failed = root->no_memory = true;
	snprintf(root->log.text, sizeof(root->log.text), "no memory for device code");
	return false;
}

/* Forgets what a compilation for which memory lacked has left. */
static void root_again(struct root *root)
{
	root->failed = root->no_memory = false;
	root->log.text[0] = '\0';
	root->functions_count = root->statements = root->zeroed = 0;
}

static struct root *root_new(struct ptx_code *code, struct function *function, bool windows)
{
	char *name = strndup(function->symbol->name, function->symbol->length);
	struct root *root = calloc(1, sizeof(*root));
	struct facts *facts = facts_of(function);
	struct reach reach;
	uint32_t end;
	bool shared;

	if (!name || !root) {
		free(name);
		free(root);
		return NULL;
	}
	root->kernel.name = name;
	reach = reach_of(code, function);
	root->function = function;
	/* the room of a function that is called by a pointer is looked at by its frame */
	root->kernel.deep = reach.recursive || reach.indirect ||
			    (function->kernel && reach.allocas);
	root->polls = true;
	root->kernel.checked = code->checked;
	root->kernel.windows = windows;
	/*
	 * Kernels with multimem know a window when they see one, and use plain stores for other
	 * memory. What MEMCAST_PTX_CHECK refuses is to be refused.
	 */
	root->kernel.form_for_windows = reach.stores && !reach.multimem && !code->checked;
	if (function->kernel) {
		/* a function that asks for its thread, or ends it, needs one */
		root->kernel.waits = reach.waits || (reach.loop_calls && reach.callee_may_wait) ||
				     reach.indirect || reach.exits || reach.uses_thread ||
				     reach.recursive || root->kernel.checked || code->debugged ||
				     (reach.meetings && (!facts->cuts || code->fibers));
		root->is_cut = !root->kernel.waits && facts->cuts && !code->fibers;
		if (!root->kernel.waits && facts->joins && !code->fibers)
			root->kernel.joins = facts->joins;
		root->kernel.parameter_bytes = function->parameters.bytes;
		root->polls = root->kernel.waits;
		/* a function that is called by a pointer may have any of the code's variables */
		shared = reach.shared || reach.indirect;
		if (!shared)
			facts->shared_base = PTX_SHARED_FIRST;
		end = shared ? facts->shared_base + facts->shared_bytes : PTX_SHARED_FIRST;
		if (shared && code->common_shared == PTX_SHARED_FIRST && !facts->shared_bytes)
			end = PTX_SHARED_FIRST;
		root->kernel.static_shared = end - PTX_SHARED_FIRST;
		root->kernel.dynamic_first = (end + code->dynamic_align - 1) &
					     ~(code->dynamic_align - 1);
	}
	root->next = code->roots;
	code->roots = root;
	if (windows)
		facts->windows_root = root;
	else
		facts->root = root;
	return root;
}

/* A root, and a compiler for it. NULL: no memory */
static struct root *root_begin(struct ptx_code *code, struct function *function, bool windows)
{
	const struct facts *facts = facts_of(function);
	struct root *root = windows ? facts->windows_root : facts->root;

	if (!root)
		root = root_new(code, function, windows);
	if (!root || root->done)
		return root;
	root_again(root);
	if (!code->jit)
		code->jit = jit_new(code, root);
	if (!code->jit) {
		root->failed = true;
		root->done = !root->no_memory;
	}
	return root;
}

static struct root *compile(struct ptx_code *code, struct function *function, bool windows)
{
	struct root *root = root_begin(code, function, windows);
	struct processor_floats floats;

	if (!root || root->done || root->failed)
		return root;
	/* the thread's own rounding is not for numbers of the text, nor for what LLVM computes */
	floats = processor_set_floats(PROCESSOR_FLOATS_USUAL);
	if (!jit_compile(code->jit, code, root))
		root->failed = true;
	root->done = !root->no_memory;
	processor_set_floats(floats);
	return root;
}

struct root *root_compile(struct ptx_code *code, struct function *function)
{
	return compile(code, function, false);
}


const char *root_show(struct ptx_code *code, struct function *function, ptx_shown *shown,
		      void *data)
{
	struct root *root = root_begin(code, function, false);
	struct processor_floats floats;
	bool good;

	if (!root)
		return "no memory";
	floats = processor_set_floats(PROCESSOR_FLOATS_USUAL);
	good = !root->failed && jit_show(code->jit, code, root, shown, data);
	processor_set_floats(floats);
	return good ? NULL : root->log.text;
}

static struct function *kernel_of(struct ptx_code *code, const char *name)
{
	for (uint32_t u = 0; u < code->units_count; u++) {
		struct symbol *symbol = scope_find_here(code->units[u].scope, name, strlen(name));

		/* one that is weak gives way to another text's */
		symbol = symbol ? code_resolve(code, symbol) : NULL;
		if (symbol && symbol->kind == SYMBOL_FUNCTION && symbol->function->kernel &&
		    symbol->function->defined)
			return symbol->function;
	}
	return NULL;
}

static CUresult failure_of(const struct root *root)
{
	return root && !root->no_memory ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_OUT_OF_MEMORY;
}

int ptx_code_kernel(struct ptx_code *code, const char *name, const struct ptx_kernel **kernel,
		    struct ptx_log *log)
{
	struct function *function = kernel_of(code, name);
	int result = CUDA_SUCCESS;
	struct root *root;

	*kernel = NULL;
	if (!function) {
		snprintf(log->text, sizeof(log->text), "no text has a kernel '%.200s'", name);
		return CUDA_NOT_FOUND;
	}
	pthread_mutex_lock(&code->lock);
	root = root_compile(code, function);
	if (!root) {
		snprintf(log->text, sizeof(log->text), "no memory for device code");
		result = CUDA_ERROR_OUT_OF_MEMORY;
	} else if (root->failed) {
		*log = root->log;
		result = failure_of(root);
	} else {
		*kernel = &root->kernel;
	}
	pthread_mutex_unlock(&code->lock);
	return result;
}

const struct ptx_kernel *ptx_code_for_windows(struct ptx_code *code,
					      const struct ptx_kernel *kernel)
{
	struct root *root;

	if (!kernel->form_for_windows)
		return kernel;
	pthread_mutex_lock(&code->lock);
	root = compile(code, kernel_of(code, kernel->name), true);
	pthread_mutex_unlock(&code->lock);
	return root && !root->failed ? &root->kernel : kernel;
}

#define FRAME_SMALL	4096U		/* room that each stack has below what is known of it */

/* Calls a function whose frame is large, if the thread's stack has room for it. */
static void call_large(struct ptx_thread *thread, void *parameters, void *results,
		       struct ptx_slot *slot)
{
	const struct root *root = facts_of(slot->function)->root;
	size_t room = (char *)__builtin_frame_address(0) - thread->stack_end;
	void (*entry)(struct ptx_thread *, void *, void *, struct ptx_slot *) = root->entry;

	if (room < (size_t)root->kernel.frame + FRAME_SMALL)
		ptx_run_stack_overflow(thread);
	entry(thread, parameters, results, slot);
}

static void compile_slot(void *data)
{
	struct ptx_slot *slot = data;
	struct root *root;

	pthread_mutex_lock(&slot->owner->lock);
	root = root_compile(slot->owner, slot->function);
	if (root && !root->failed)
		__atomic_store_n(&slot->code, root->kernel.frame > FRAME_SMALL ? call_large :
				 root->entry, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&slot->owner->lock);
}

/* The first call of a function through a pointer compiles it, on a stack that is large enough. */
void ptx_slot_first_call(struct ptx_thread *thread, void *parameters, void *results,
			 struct ptx_slot *slot)
{
	ptx_run_host(thread, compile_slot, slot);
	if (slot->code == ptx_slot_first_call) {
		struct root *root = facts_of(slot->function)->root;

		ptx_run_fault(thread, failure_of(root), 0, root ? root->log.text : NULL);
	}
	slot->code(thread, parameters, results, slot);
}
