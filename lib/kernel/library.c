// SPDX-License-Identifier: MIT
/* Libraries: device code for all contexts; each context that uses it has a module of it. */
#include <stdlib.h>
#include <string.h>

#include "stream/capture.h"
#include "kernel.h"

void library_put(struct library *library)
{
	if (--library->references)
		return;
	for (uint32_t i = 0; i < library->image->kernels_count; i++)
		free(library->kernels[i].settings);
	free(library->kernels);
	free(library->managed);
	image_put(library->image);
	free(library);
}

static struct module *module_in(struct library *library, CUcontext context)
{
	struct module *module = library->modules;

	while (module && (module->context != context || !module_is_alive(module)))
		module = module->sibling;
	return module;
}

/* Gives the functions of a new module the settings of the library's kernels. */
static void settings_inherit(const struct library *library, struct module *module)
{
	for (uint32_t i = 0; i < library->image->kernels_count; i++)
		if (library->kernels[i].settings)
			module->functions[i].settings =
				library->kernels[i].settings[module->device];
}

/* Ends a module, and puts the caller's reference. */
static void drop(struct module *module)
{
	if (module_end(module))
		module_put(module);
	module_put(module);
}

/* With modules_lock held. A module whose context has ended meanwhile may have ended, too. */
static void enter(struct library *library, struct module *module)
{
	if (!module->link)
		return;
	module->sibling = library->modules;
	module->sibling_link = &library->modules;
	if (module->sibling)
		module->sibling->sibling_link = &module->sibling;
	library->modules = module;
}

/* Finds or makes the library's module in a context (NULL: the current one), with a reference. */
CUresult library_module(struct library *library, CUcontext context, struct module **module)
{
	struct module *new, *other;
	struct slot *slot;
	CUresult result = context_find(context, &slot);

	if (result != CUDA_SUCCESS)
		return result;
	if (library->error != CUDA_SUCCESS)
		return fail(library->error, "%s", library->reason);
	pthread_mutex_lock(&modules_lock);
	*module = module_in(library, context_value(slot));
	if (*module)
		(*module)->references++;
	pthread_mutex_unlock(&modules_lock);
	if (*module)
		return CUDA_SUCCESS;

	result = module_new(image_get(library->image), slot, library, &new);
	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&modules_lock);
	if (!library->handle) {
		pthread_mutex_unlock(&modules_lock);
		drop(new);
		return fail(CUDA_ERROR_INVALID_HANDLE, "the library was unloaded meanwhile");
	}
	other = module_in(library, new->context);
	if (other) {
		other->references++;
	} else {
		settings_inherit(library, new);
		enter(library, new);
	}
	*module = other ? other : new;
	pthread_mutex_unlock(&modules_lock);
	if (other)
		drop(new);
	return CUDA_SUCCESS;
}

/* Makes a library. One whose image cannot be read has no kernels. */
static CUresult library_new(struct library **new, const void *data, size_t bytes, unsigned int count,
			    const CUjit_option *options, void **values)
{
	const struct wrapper *wrapper = data;
	struct library *library = calloc(1, sizeof(*library));
	CUresult result;

	if (!library)
		return image_no_memory();
	library->head.kind = HANDLE_LIBRARY;
	library->references = 1;
	/* a wrapper without a fatbin is an empty library */
	if (!bytes && wrapper->magic == WRAPPER_MAGIC && !wrapper->data)
		result = image_empty(&library->image);
	else
		result = load_image(data, bytes, 0, count, options, values, &library->image);
	/* the next try may find memory; what is wrong with the image stays so */
	if (result == CUDA_ERROR_OUT_OF_MEMORY) {
		free(library);
		return result;
	}
	if (result != CUDA_SUCCESS) {
		library->error = result;
		strncpy(library->reason, fail_reason(), sizeof(library->reason) - 1);
		result = image_empty(&library->image);
	}
	if (result == CUDA_SUCCESS) {
		library->kernels = calloc(library->image->kernels_count + 1,
					  sizeof(*library->kernels));
		library->managed = calloc(1, sizeof(*library->managed) +
					     library->image->variables_count *
					     sizeof(*library->managed->addresses));
		if (library->kernels && library->managed)
			library->handle = (CUlibrary)handle_add(library);
	}
	if (!library->handle) {
		if (library->image)
			image_put(library->image);
		free(library->kernels);
		free(library->managed);
		free(library);
		return image_no_memory();
	}
	for (uint32_t i = 0; i < library->image->kernels_count; i++)
		library->kernels[i] = (struct kernel) {
			.head.kind = HANDLE_KERNEL, .library = library,
			.code = &library->image->kernels[i],
		};
	*new = library;
	return CUDA_SUCCESS;
}

struct options {
	unsigned int count, library_count;
	CUjit_option *jit;
	CUlibraryOption *library;
	void **jit_values, **library_values;
};

static CUresult library_load_from(CUlibrary *handle, const void *data, size_t bytes,
				  const struct options *options)
{
	struct library *library = NULL;
	CUresult result = context_not_failed();

	if (result != CUDA_SUCCESS && result != CUDA_ERROR_CONTEXT_IS_DESTROYED)
		return result;
	if (!handle || !data)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output or image");
	result = options_check(options->count, options->jit, options->jit_values);
	if (result != CUDA_SUCCESS)
		return result;
	if (options->library_count && (!options->library || !options->library_values))
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL options");
	for (unsigned int i = 0; i < options->library_count; i++)
		if ((unsigned int)options->library[i] >= CU_LIBRARY_NUM_OPTIONS)
			return fail(CUDA_ERROR_INVALID_VALUE, "no library option %d",
				    (int)options->library[i]);
	result = library_new(&library, data, bytes, options->count, options->jit, options->jit_values);
	if (result == CUDA_SUCCESS)
		*handle = library->handle;
	return result;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit,
			   void **jit_values, unsigned int jit_count, CUlibraryOption *options,
			   void **values, unsigned int count)
{
	struct options all = { jit_count, count, jit, options, jit_values, values };

	return WHOLE_CALL(library_load_from(library, code, 0, &all), library, code, jit_count,
			  count);
}

static CUresult load_from_file(CUlibrary *library, const char *path,
			       const struct options *options)
{
	size_t bytes;
	char *text;
	CUresult result;

	if (!library || !path || !*path)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output, or no path");
	result = load_file(path, &text, &bytes);
	if (result != CUDA_SUCCESS)
		return result;
	result = library_load_from(library, text, bytes, options);
	free(text);
	return result;
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *jit,
			       void **jit_values, unsigned int jit_count,
			       CUlibraryOption *options, void **values, unsigned int count)
{
	struct options all = { jit_count, count, jit, options, jit_values, values };

	return WHOLE_CALL(load_from_file(library, path, &all), library, path);
}

/*
 * Walks a library's modules: puts @module, or begins if that is NULL. Return: the next one, with a
 * reference; behind one that has ended meanwhile, and is in no list any more, the first
 */
static struct module *next_module(const struct library *library, struct module *module)
{
	struct module *next;

	pthread_mutex_lock(&modules_lock);
	next = module && module->link ? module->sibling : library->modules;
	if (next)
		next->references++;
	pthread_mutex_unlock(&modules_lock);
	if (module)
		module_put(module);
	return next;
}

/* Waits for the work in all contexts in which a library has a module. */
static CUresult wait_for_users(const struct library *library)
{
	CUresult result = CUDA_SUCCESS;
	struct module *module = NULL;

	while ((module = next_module(library, module)))
		if (result == CUDA_SUCCESS && module_is_alive(module)) {
			result = streams_wait(module->context);
			/* it has ended meanwhile, and all work with it */
			if (result == CUDA_ERROR_CONTEXT_IS_DESTROYED)
				result = CUDA_SUCCESS;
		}
	return result;
}

/* Ends a library's handles, and its modules. */
DEFINE_WHOLE_CALL(cuLibraryUnload, (CUlibrary library), library)
{
	struct module *module = NULL;
	struct library *found;
	CUresult result = handle_get(library, HANDLE_LIBRARY, CUDA_ERROR_INVALID_HANDLE, &found);

	if (result != CUDA_SUCCESS)
		return result;
	result = capture_unsafe();
	if (result == CUDA_SUCCESS)
		result = wait_for_users(found);
	if (result == CUDA_SUCCESS) {
		bool first;

		/* without a handle, a library gets no more modules */
		pthread_mutex_lock(&modules_lock);
		first = found->handle;
		handle_remove(found->handle);
		found->handle = NULL;
		for (uint32_t i = 0; i < found->image->kernels_count; i++)
			handle_remove(found->kernels[i].handle);
		pthread_mutex_unlock(&modules_lock);
		while ((module = next_module(found, module)))
			if (module_end(module))
				module_put(module);
		if (first) {
			managed_free(found->managed);
			library_put(found);
		}
	}
	library_put(found);
	return result;
}

/* With modules_lock held. Return: the handle, made if needed; NULL: no room, or the library ended */
static CUkernel kernel_handle(struct kernel *kernel)
{
	if (!kernel->handle && kernel->library->handle)
		kernel->handle = (CUkernel)handle_add(kernel);
	return kernel->handle;
}

static CUresult find_kernel(CUkernel *found, const struct library *library, const char *name)
{
	const struct code *code;
	CUresult result;

	if (!found || !name)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output or name");
	if (library->error != CUDA_SUCCESS)
		return fail(library->error, "%s", library->reason);
	code = image_kernel(library->image, name);
	if (!code)
		return fail(CUDA_ERROR_NOT_FOUND, "no kernel of the library is called %.100s",
			    name);
	pthread_mutex_lock(&modules_lock);
	*found = kernel_handle(&library->kernels[code - library->image->kernels]);
	result = *found ? CUDA_SUCCESS : handle_missing(!library->handle);
	pthread_mutex_unlock(&modules_lock);
	return result;
}

#define WITH_LIBRARY(found, handle, expression)				\
	WITH(struct library *found,						\
	     handle_get(handle, HANDLE_LIBRARY, CUDA_ERROR_INVALID_HANDLE, &found), \
	     expression, library_put(found))

FORWARD(cuLibraryGetKernel, (CUkernel *kernel, CUlibrary library, const char *name),
	WITH_LIBRARY(found, library, find_kernel(kernel, found, name)), kernel, library, name)

static CUresult count_kernels(unsigned int *count, const struct library *library)
{
	if (!count)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	*count = library->image->kernels_count;
	return CUDA_SUCCESS;
}

FORWARD(cuLibraryGetKernelCount, (unsigned int *count, CUlibrary library),
	WITH_LIBRARY(found, library, count_kernels(count, found)), count, library)

static CUresult list_kernels(CUkernel *kernels, unsigned int count,
			     const struct library *library)
{
	CUresult result = CUDA_SUCCESS;

	if (!kernels)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	pthread_mutex_lock(&modules_lock);
	for (uint32_t i = 0; i < library->image->kernels_count && i < count &&
	     result == CUDA_SUCCESS; i++) {
		kernels[i] = kernel_handle(&library->kernels[i]);
		if (!kernels[i])
			result = handle_missing(!library->handle);
	}
	pthread_mutex_unlock(&modules_lock);
	return result;
}

FORWARD(cuLibraryEnumerateKernels, (CUkernel *kernels, unsigned int count, CUlibrary library),
	WITH_LIBRARY(found, library, list_kernels(kernels, count, found)), kernels, count, library)

static CUresult get_module(CUmodule *handle, struct library *library)
{
	struct module *module;
	CUresult result;

	if (!handle)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = library_module(library, NULL, &module);
	if (result != CUDA_SUCCESS)
		return result;
	*handle = module->handle;
	module_put(module);
	return CUDA_SUCCESS;
}

FORWARD(cuLibraryGetModule, (CUmodule *module, CUlibrary library),
	WITH_LIBRARY(found, library, get_module(module, found)), module, library)

static CUresult get_variable(CUdeviceptr *address, size_t *bytes, struct library *library,
			     const char *name)
{
	struct module *module;
	CUresult result;

	if ((!address && !bytes) || !name)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL outputs or name");
	result = library_module(library, NULL, &module);
	if (result != CUDA_SUCCESS)
		return result;
	result = module_addresses(module);
	if (result == CUDA_SUCCESS)
		result = module_variable(module, name, address, bytes);
	module_put(module);
	return result;
}

FORWARD(cuLibraryGetGlobal, (CUdeviceptr *address, size_t *bytes, CUlibrary library,
			     const char *name),
	WITH_LIBRARY(found, library, get_variable(address, bytes, found, name)),
	address, bytes, library, name)

static CUresult get_managed(CUdeviceptr *address, size_t *bytes, struct library *library,
			    const char *name)
{
	const struct variable *variable = name ? image_variable(library->image, name) : NULL;

	if (variable && !variable->is_managed)
		return fail(CUDA_ERROR_NOT_FOUND, "%.100s is no managed variable", name);
	return get_variable(address, bytes, library, name);
}

FORWARD(cuLibraryGetManaged, (CUdeviceptr *address, size_t *bytes, CUlibrary library,
			      const char *name),
	WITH_LIBRARY(found, library, get_managed(address, bytes, found, name)),
	address, bytes, library, name)

static CUresult get_unified(void **function, struct library *library, const char *name)
{
	struct module *module;
	CUresult result;

	if (!function || !name)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output or name");
	result = library_module(library, NULL, &module);
	if (result != CUDA_SUCCESS)
		return result;
	result = module_unified(module, name, function);
	module_put(module);
	return result;
}

FORWARD(cuLibraryGetUnifiedFunction, (void **function, CUlibrary library, const char *name),
	WITH_LIBRARY(found, library, get_unified(function, found, name)), function, library, name)
