// SPDX-License-Identifier: MIT
/* Modules: device code in a context. */
#include <stdlib.h>

#include "stream/capture.h"
#include "alloc/alloc.h"
#include "base/ioctl.h"
#include "kernel.h"

/*
 * The modules of each slot's contexts, under modules_lock, and the context and its life in which
 * the last module was loaded: only after the end of a context can some of them be dead.
 */
static struct of_slot {
	struct module *first;
	CUcontext context;
	unsigned int ends;
} of_slots[SLOTS];

void module_put(struct module *module)
{
	if (--module->references)
		return;
	for (uint32_t i = 0; module->functions && i < module->image->kernels_count; i++)
		free(module->functions[i].old);
	module_code_free(module);
	free(module->functions);
	free(module->addresses);
	image_put(module->image);
	free(module);
}

/* With modules_lock held: ends a module's handles. Return: is this the first call? */
static bool withdraw(struct module *module)
{
	if (!module->link)
		return false;
	*module->link = module->next;
	if (module->next)
		module->next->link = module->link;
	module->link = NULL;
	if (module->sibling_link) {
		*module->sibling_link = module->sibling;
		if (module->sibling)
			module->sibling->sibling_link = module->sibling_link;
	}
	module->managed = NULL;
	handle_remove(module->handle);
	for (uint32_t i = 0; i < module->image->kernels_count; i++)
		handle_remove(module->functions[i].handle);
	return true;
}

/* Ends modules of contexts that have ended. Return: a list of these modules */
static struct module *withdraw_dead(struct of_slot *list)
{
	struct module *module, *next, *dead = NULL;

	for (module = list->first; module; module = next) {
		next = module->next;
		if (module_is_alive(module))
			continue;
		withdraw(module);
		module->next = dead;
		dead = module;
	}
	return dead;
}

/*
 * With modules_lock held: adds a module to its slot's list. Return: the modules of the slot's
 * earlier contexts, which end
 */
static struct module *list_add(struct module *module)
{
	struct of_slot *list = &of_slots[context_slot(module->context) - slots];
	struct module *dead = NULL;

	if (list->context != module->context || list->ends != module->ends)
		dead = withdraw_dead(list);
	list->context = module->context;
	list->ends = module->ends;
	module->next = list->first;
	module->link = &list->first;
	if (module->next)
		module->next->link = &module->next;
	list->first = module;
	return dead;
}

/* @image: the module takes the caller's reference, also on failure; @new: with one for the caller */
CUresult module_new(struct image *image, struct slot *slot, const struct library *library,
		    struct module **new)
{
	struct module *module = calloc(1, sizeof(*module)), *dead, *next;
	CUmoduleLoadingMode mode;
	CUresult result;

	if (!module) {
		image_put(image);
		return image_no_memory();
	}
	*module = (struct module) {
		.head.kind = HANDLE_MODULE, .references = 1, .of_library = library,
		.managed = library ? library->managed : NULL,
		.context = context_value(slot), .ends = slot->ends, .device = slot->device,
		.image = image,
		.functions = calloc(image->kernels_count + 1, sizeof(*module->functions)),
		.addresses = calloc(image->variables_count + 1, sizeof(*module->addresses)),
	};
	pthread_mutex_init(&module->code_lock, NULL);
	result = figures_get(slot->device, &module->figures);
	if (result == CUDA_SUCCESS && module->functions && module->addresses)
		module->handle = (CUmodule)handle_add(module);
	if (result == CUDA_SUCCESS && !module->handle)
		result = image_no_memory();
	if (result != CUDA_SUCCESS) {
		module_put(module);
		return result;
	}
	/* the caller's: once the module is in the list, another thread may end it */
	module->references++;
	for (uint32_t i = 0; i < image->kernels_count; i++)
		module->functions[i] = (struct function) {
			.head.kind = HANDLE_FUNCTION, .module = module,
			.code = &image->kernels[i],
			.settings = settings_of(&image->kernels[i], module->figures),
		};
	pthread_mutex_lock(&modules_lock);
	dead = list_add(module);
	pthread_mutex_unlock(&modules_lock);
	for (; dead; dead = next) {
		next = dead->next;
		module_put(dead);
	}
	if (cuModuleGetLoadingMode(&mode) == CUDA_SUCCESS && mode == CU_MODULE_EAGER_LOADING)
		module_compile_all(module);
	*new = module;
	return CUDA_SUCCESS;
}

/* Managed memory is the host's. */
static uint32_t free_flags(const struct variable *variable)
{
	return variable->is_managed ? MEMCAST_BLOCK_HOST : 0;
}

/*
 * Ends a module's handles and its memory. Return: is this the first call? Then the caller puts
 * the module's first reference.
 */
bool module_end(struct module *module)
{
	bool first;

	pthread_mutex_lock(&modules_lock);
	first = withdraw(module);
	pthread_mutex_unlock(&modules_lock);
	/* a module that has ended gets no more variables; a context that has, has freed them */
	for (uint32_t i = 0; first && i < module->image->variables_count; i++)
		if (module->addresses[i] && module_is_alive(module))
			heap_free(module->addresses[i], free_flags(&module->image->variables[i]));
	if (first && module_is_alive(module))
		module_own_free(module);
	return first;
}

DEFINE_WHOLE_CALL(cuModuleUnload, (CUmodule module), module)
{
	struct module *found;
	CUresult result = module_get(module, &found);

	if (result != CUDA_SUCCESS)
		return result;
	if (found->of_library)
		result = fail(CUDA_ERROR_NOT_PERMITTED, "a library's: cuLibraryUnload() ends it");
	if (result == CUDA_SUCCESS)
		result = capture_unsafe();
	if (result == CUDA_SUCCESS)
		result = streams_wait(found->context);
	prints_flush();
	if (result == CUDA_SUCCESS && module_end(found))
		module_put(found);
	module_put(found);
	return result;
}

/* With modules_lock held. Return: the handle, made if needed; NULL: no room, or the module ended */
CUfunction function_handle(struct function *function)
{
	if (!function->handle && function->module->link)
		function->handle = (CUfunction)handle_add(function);
	return function->handle;
}

DEFINE_WHOLE_CALL(cuModuleGetFunction, (CUfunction *function, CUmodule module, const char *name),
		  function, module, name)
{
	struct function *kernel;
	const struct code *code;
	struct module *found;
	CUresult result = module_get(module, &found);

	if (result != CUDA_SUCCESS)
		return result;
	if (!function || !name || !*name) {
		module_put(found);
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output, or no name");
	}
	*function = NULL;
	code = image_kernel(found->image, name);
	if (code) {
		kernel = &found->functions[code - found->image->kernels];
		pthread_mutex_lock(&modules_lock);
		kernel->loaded = true;
		*function = function_handle(kernel);
		result = *function ? CUDA_SUCCESS : handle_missing(!found->link);
		pthread_mutex_unlock(&modules_lock);
	} else {
		result = fail(CUDA_ERROR_NOT_FOUND, "no kernel of the module is called %.100s",
			      name);
	}
	module_put(found);
	return result;
}

DEFINE_WHOLE_CALL(cuModuleGetFunctionCount, (unsigned int *count, CUmodule module), count, module)
{
	struct module *found;
	CUresult result = module_get(module, &found);

	if (result != CUDA_SUCCESS)
		return result;
	if (count)
		*count = found->image->kernels_count;
	else
		result = fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	module_put(found);
	return result;
}

DEFINE_WHOLE_CALL(cuModuleEnumerateFunctions, (CUfunction *functions, unsigned int count,
					       CUmodule module),
		  functions, count, module)
{
	struct module *found;
	CUresult result = module_get(module, &found);

	if (result != CUDA_SUCCESS)
		return result;
	if (!functions)
		result = fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	pthread_mutex_lock(&modules_lock);
	for (uint32_t i = 0; i < found->image->kernels_count && i < count &&
	     result == CUDA_SUCCESS; i++) {
		functions[i] = function_handle(&found->functions[i]);
		if (!functions[i])
			result = handle_missing(!found->link);
	}
	pthread_mutex_unlock(&modules_lock);
	module_put(found);
	return result;
}

/* Finds the heap for a variable, or makes it. */
static CUresult heap_for(const struct module *module, const struct variable *variable,
			 struct slot *slot, uint32_t *heap)
{
	bool shared;

	pthread_mutex_lock(&modules_lock);
	shared = variable->is_managed && module->managed;
	*heap = shared ? module->managed->heap : 0;
	pthread_mutex_unlock(&modules_lock);
	if (*heap)
		return CUDA_SUCCESS;
	if (shared)
		return managed_heap(module, heap);
	return context_heap_of(slot, variable->is_managed ? HEAP_MANAGED : HEAP_OF_DEVICE, heap);
}

/* The kernel writes: the memory may be gone meanwhile with its context, or a lazy pool be empty. */
static CUresult set_initial(const struct module *module, const struct variable *variable,
			    CUdeviceptr address)
{
	struct memcast_copy copy = {
		.to = address, .from = (uintptr_t)variable->value, .bytes = variable->bytes,
		.device = module->device,
	};
	struct memcast_fill zeros = {
		.to = address, .count = variable->bytes, .width = 1, .device = module->device,
	};

	return device_answer(module->device, variable->value ? device_ioctl(MEMCAST_COPY, &copy) :
							       device_ioctl(MEMCAST_FILL, &zeros));
}

/* Allocates a variable, and sets its initial value. No lock is held: a copy may be long. */
static CUresult place(const struct module *module, const struct variable *variable,
		      CUdeviceptr *address)
{
	uint32_t flags = BLOCK_MODULE | (variable->is_managed ? BLOCK_MANAGED : 0);
	struct slot *slot;
	uint32_t heap;
	CUresult result = context_find(module->context, &slot);

	if (result == CUDA_SUCCESS)
		result = heap_for(module, variable, slot, &heap);
	if (result == CUDA_SUCCESS)
		result = heap_alloc(heap, variable->bytes ? variable->bytes : 1,
				    flags | block_flags_of(slot), address);
	if (result != CUDA_SUCCESS)
		return result;
	result = set_initial(module, variable, *address);
	if (result != CUDA_SUCCESS)
		heap_free(*address, free_flags(variable));
	return result;
}

/* With modules_lock held. Return: where the variable's address is, or will be */
static CUdeviceptr *address_at(struct module *module, const struct variable *variable)
{
	CUdeviceptr *all = module->managed && variable->is_managed ? module->managed->addresses :
								     module->addresses;

	return &all[variable - module->image->variables];
}

/* Publishes a variable that was placed, unless another thread was first, or the module ended. */
static CUresult module_publish(struct module *module, const struct variable *variable,
			       CUdeviceptr new, CUdeviceptr *address)
{
	bool ended, first;
	CUdeviceptr *at;

	pthread_mutex_lock(&modules_lock);
	ended = !module->link || (module->managed && module->managed->ended);
	at = address_at(module, variable);
	first = !ended && !*at;
	if (first)
		*at = new;
	*address = *at;
	pthread_mutex_unlock(&modules_lock);
	if (!first)
		heap_free(new, free_flags(variable));
	return ended ? fail(CUDA_ERROR_INVALID_HANDLE, "the module was unloaded meanwhile") :
		       CUDA_SUCCESS;
}

/* Allocates a variable of the module's image if needed. Outputs may be NULL. */
CUresult module_place(struct module *module, const struct variable *variable,
		      CUdeviceptr *address, size_t *bytes)
{
	CUresult result = CUDA_SUCCESS;
	CUdeviceptr found, new;

	pthread_mutex_lock(&modules_lock);
	found = *address_at(module, variable);
	pthread_mutex_unlock(&modules_lock);
	if (!found)
		result = place(module, variable, &new);
	if (!found && result == CUDA_SUCCESS)
		result = module_publish(module, variable, new, &found);
	if (result == CUDA_SUCCESS && address)
		*address = found;
	if (result == CUDA_SUCCESS && bytes)
		*bytes = variable->bytes;
	return result;
}

/* Finds a variable, and allocates it if needed. Outputs may be NULL. */
CUresult module_variable(struct module *module, const char *name, CUdeviceptr *address,
			 size_t *bytes)
{
	const struct variable *variable = image_variable(module->image, name);

	if (variable)
		return module_place(module, variable, address, bytes);
	if (image_kernel(module->image, name))
		return fail(CUDA_ERROR_INVALID_VALUE, "%.100s is a kernel", name);
	return fail(CUDA_ERROR_NOT_FOUND, "no variable of the module is called %.100s", name);
}

DEFINE_WHOLE_CALL(cuModuleGetGlobal_v2, (CUdeviceptr *address, size_t *bytes, CUmodule module,
					 const char *name),
		  address, bytes, module, name)
{
	struct module *found;
	CUresult result = module_get(module, &found);

	if (result != CUDA_SUCCESS)
		return result;
	if ((!address && !bytes) || !name || !*name) {
		module_put(found);
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL outputs, or no name");
	}
	result = module_addresses(found);
	if (result == CUDA_SUCCESS)
		result = module_variable(found, name, address, bytes);
	/* a program that ignores the result finds NULL, as on hardware */
	if (result == CUDA_ERROR_NOT_FOUND && address)
		*address = 0;
	if (result == CUDA_ERROR_NOT_FOUND && bytes)
		*bytes = 0;
	module_put(found);
	return result;
}

/* Calls a function for each kernel of each module. */
void modules_each_code(void (*function)(const struct code *code, void *data), void *data)
{
	pthread_mutex_lock(&modules_lock);
	for (unsigned int slot = 0; slot < SLOTS; slot++)
		for (struct module *module = of_slots[slot].first; module; module = module->next)
			for (uint32_t i = 0; i < module->image->kernels_count; i++)
				function(&module->image->kernels[i], data);
	pthread_mutex_unlock(&modules_lock);
}
