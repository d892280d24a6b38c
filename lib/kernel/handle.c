// SPDX-License-Identifier: MIT
/* Handles of modules, functions, libraries and kernels. */
#include "kernel.h"

pthread_mutex_t modules_lock = PTHREAD_MUTEX_INITIALIZER;

static atomic_uint *references_of(void *object)
{
	switch (((struct handle *)object)->kind) {
	case HANDLE_MODULE:
		return &((struct module *)object)->references;
	case HANDLE_FUNCTION:
		return &((struct function *)object)->module->references;
	case HANDLE_LIBRARY:
		return &((struct library *)object)->references;
	case HANDLE_LINK:
		return link_references(object);
	default:
		return &((struct kernel *)object)->library->references;
	}
}

static void get(void *object)
{
	++*references_of(object);
}

static struct table handles = TABLE(get);

/* Return: the handle; 0: no room */
uintptr_t handle_add(void *object)
{
	return table_add(&handles, object);
}

void handle_put(void *object)
{
	struct handle *handle = object;

	if (handle->kind == HANDLE_MODULE)
		module_put(object);
	else if (handle->kind == HANDLE_FUNCTION)
		module_put(((struct function *)object)->module);
	else if (handle->kind == HANDLE_LIBRARY)
		library_put(object);
	else if (handle->kind == HANDLE_LINK)
		link_put(object);
	else
		library_put(((struct kernel *)object)->library);
}

/* Return: a handle's object, with a reference; NULL: no object of this kind */
void *handle_find(const void *handle, enum handle_kind kind)
{
	struct handle *object = handle ? table_find(&handles, handle) : NULL;

	if (object && object->kind != kind) {
		handle_put(object);
		return NULL;
	}
	return object;
}

/*
 * Ends a handle, which has no reference: the caller that ends the object puts that of the
 * object.
 */
void handle_remove(const void *handle)
{
	if (handle)
		table_remove(&handles, handle);
}

/* @ended: another thread has unloaded meanwhile what the handle would be of; else there is no room */
CUresult handle_missing(bool ended)
{
	return ended ? fail(CUDA_ERROR_INVALID_HANDLE, "unloaded meanwhile") : image_no_memory();
}

/* Fails if the current context's device has failed. No context need be current. */
CUresult context_not_failed(void)
{
	struct slot *slot;
	CUresult result = context_find(NULL, &slot);

	return result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_NOT_PERMITTED ?
		CUDA_SUCCESS : result;
}

/*
 * @refusal: result for a NULL handle, where hardware's is special; @object: output, with a
 * reference
 */
CUresult handle_get(const void *handle, enum handle_kind kind, CUresult refusal, void *object)
{
	static const char *const names[] = {
		"module", "function", "library", "kernel", "state of linking",
	};
	CUresult result = context_not_failed();
	void **found = object;

	if (result != CUDA_SUCCESS)
		return result;
	if (!handle)
		return fail(refusal, "NULL %s", names[kind]);
	*found = handle_find(handle, kind);
	return *found ? CUDA_SUCCESS :
		fail(CUDA_ERROR_INVALID_HANDLE, "not a %s, or unloaded", names[kind]);
}

/* Is the module's context, in which its memory is, still the one that it was loaded in? */
bool module_is_alive(const struct module *module)
{
	const struct slot *slot = context_slot(module->context);

	return slot_is_of(slot, module->context) && slot->ends == module->ends;
}

/* Fails if the module's context has ended or its device has failed. */
static CUresult module_check(struct module *module)
{
	if (!module_is_alive(module))
		return fail(CUDA_ERROR_INVALID_HANDLE, "the module's context was destroyed");
	return device_working(module->device);
}

CUresult module_get(CUmodule handle, struct module **module)
{
	CUresult result = handle_get(handle, HANDLE_MODULE, CUDA_ERROR_INVALID_HANDLE, module);

	if (result == CUDA_SUCCESS)
		result = module_check(*module);
	else
		return result;
	if (result != CUDA_SUCCESS)
		module_put(*module);
	return result;
}

CUresult function_get(CUfunction handle, CUresult refusal, struct function **function)
{
	CUresult result = handle_get(handle, HANDLE_FUNCTION, refusal, function);

	if (result != CUDA_SUCCESS)
		return result;
	result = module_check((*function)->module);
	if (result != CUDA_SUCCESS)
		handle_put(*function);
	return result;
}

/* Finds a function by its handle, or by that of a kernel in a context (NULL: the current one). */
CUresult function_get_any(CUfunction handle, CUcontext context, struct function **function)
{
	struct kernel *kernel = handle_find(handle, HANDLE_KERNEL);
	struct module *module;
	CUresult result;

	if (!kernel)
		return function_get(handle, CUDA_ERROR_INVALID_HANDLE, function);
	result = library_module(kernel->library, context, &module);
	if (result == CUDA_SUCCESS)
		*function = &module->functions[kernel - kernel->library->kernels];
	handle_put(kernel);
	return result;
}
