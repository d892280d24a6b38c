// SPDX-License-Identifier: MIT
/* Translates the kernels of a module of which there is PTX. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/alloc.h"
#include "base/host_access.h"
#include "kernel.h"
#include "translate/translate.h"

/*
 * Of the modules that share managed variables one at a time is linked: the first of a library writes
 * their values. Taken after a module's code_lock, before modules_lock
 */
static pthread_mutex_t linking_lock = PTHREAD_MUTEX_INITIALIZER;

/* With code_lock held. Memory of a variable that the image does not list is the module's, too. */
static uint64_t own_memory(struct module *module, size_t bytes)
{
	CUdeviceptr *more = realloc(module->own, (module->own_count + 1) * sizeof(*more));
	struct slot *slot;
	uint32_t heap, before;

	if (!more)
		return 0;
	module->own = more;
	if (context_find(module->context, &slot) != CUDA_SUCCESS ||
	    context_heap_of(slot, HEAP_OF_DEVICE, &heap) != CUDA_SUCCESS ||
	    heap_alloc(heap, bytes ? bytes : 1, BLOCK_MODULE | block_flags_of(slot),
		       &more[module->own_count]) != CUDA_SUCCESS)
		return 0;
	before = host_access_open();
	memset((void *)more[module->own_count], 0, bytes);
	host_access_close(before);
	return more[module->own_count++];
}

/* Finds the memory of a variable, for the translator. */
static uint64_t variable_address(void *data, const char *name, uint32_t text, size_t bytes,
				 size_t align)
{
	struct module *module = data;
	const struct variable *variable = image_variable_of(module->image, name, text);
	CUdeviceptr address;
	size_t size;

	(void)align;		/* blocks of a heap are aligned to 256 bytes or more */
	if (variable && module_place(module, variable, &address, &size) != CUDA_SUCCESS)
		return 0;
	return variable && size >= bytes ? address : own_memory(module, bytes);
}

/* With linking_lock held */
static bool has_values(void *data, const char *name, uint32_t text)
{
	struct module *module = data;
	const struct variable *variable = image_variable_of(module->image, name, text);
	bool linked;

	pthread_mutex_lock(&modules_lock);
	linked = variable && variable->is_managed && module->managed && module->managed->linked;
	pthread_mutex_unlock(&modules_lock);
	return linked;
}

static bool shares_variables(const struct module *module)
{
	const struct image *image = module->image;

	for (uint32_t i = 0; module->of_library && i < image->variables_count; i++)
		if (image->variables[i].is_managed)
			return true;
	return false;
}

static void set_linked(struct module *module)
{
	pthread_mutex_lock(&modules_lock);
	if (module->managed)
		module->managed->linked = true;
	pthread_mutex_unlock(&modules_lock);
}

static void notice(const char *text)
{
	static atomic_bool aloud;

	log_notice(text, !atomic_exchange(&aloud, true));
}

/* With code_lock held: reads and links the module's texts, the first time. */
static CUresult link_texts(struct module *module, const struct ptx_object *object)
{
	const struct ptx_variables variables = { variable_address, has_values, module,
						 module->context, notice };
	struct image *image = module->image;
	struct ptx_log log = {};
	uint32_t before;
	bool shares;
	CUresult result;

	if (module->code)
		return CUDA_SUCCESS;
	/* it writes initial values of variables */
	before = host_access_open();
	shares = shares_variables(module);
	if (shares)
		pthread_mutex_lock(&linking_lock);
	result = object->code_new(image->texts, image->texts_count, &variables, &module->code, &log);
	if (shares && result == CUDA_SUCCESS)
		set_linked(module);
	if (shares)
		pthread_mutex_unlock(&linking_lock);
	host_access_close(before);
	return result == CUDA_SUCCESS ? result : fail(result, "%.200s", log.text);
}

/*
 * Writes addresses into variables that begin with them, and the values that linking several texts
 * has chosen, before the program sees a variable. Without memcast-ptx.so they stay as they are.
 * Return: CUDA_ERROR_OUT_OF_MEMORY: a later try may succeed, and then writes the values; of what
 * does not link, launches say it
 */
CUresult module_addresses(struct module *module)
{
	const struct ptx_object *object;
	const char *why;
	CUresult result;

	if (!module->image->texts_count ||
	    (!module->image->has_addresses && module->image->texts_count == 1))
		return CUDA_SUCCESS;
	object = translator_get(&why);
	if (!object)
		return CUDA_SUCCESS;
	pthread_mutex_lock(&module->code_lock);
	result = link_texts(module, object);
	pthread_mutex_unlock(&module->code_lock);
	return result == CUDA_ERROR_OUT_OF_MEMORY ? result : CUDA_SUCCESS;
}

/* Finds what kernels of any context call a function by, of the module's that are unified. */
CUresult module_unified(struct module *module, const char *name, void **function)
{
	const char *why = "its image has no PTX for the device";
	const struct ptx_object *object;
	CUresult result;

	object = module->image->texts_count ? translator_get(&why) : NULL;
	if (!object)
		return fail(CUDA_ERROR_NOT_FOUND, "no function of the library is unified: %s", why);
	pthread_mutex_lock(&module->code_lock);
	result = link_texts(module, object);
	pthread_mutex_unlock(&module->code_lock);
	if (result != CUDA_SUCCESS)
		return result;
	*function = object->unified(module->code, name);
	return *function ? CUDA_SUCCESS :
	       fail(CUDA_ERROR_NOT_FOUND, "no unified function of the library is called %.100s", name);
}

/*
 * Finds a kernel that is translated from PTX, and translates it the first time. @why: output,
 * why no kernel can be; then @kernel is NULL
 */
CUresult module_compiled(struct module *module, const char *name,
			 const struct ptx_kernel **kernel, const char **why)
{
	const struct ptx_object *object;
	struct ptx_log log = {};
	CUresult result;

	*kernel = NULL;
	*why = "its image has no PTX for the device";
	object = module->image->texts_count ? translator_get(why) : NULL;
	if (!object)
		return CUDA_SUCCESS;
	pthread_mutex_lock(&module->code_lock);
	result = link_texts(module, object);
	pthread_mutex_unlock(&module->code_lock);
	if (result != CUDA_SUCCESS)
		return result;
	result = object->kernel(module->code, name, kernel, &log);
	return result == CUDA_SUCCESS ? result : fail(result, "%.200s", log.text);
}

/*
 * Return: what runs in the place of a kernel in a launch that was given a window: its plain stores
 * reach all replicas without a signal for each. It is compiled the first time.
 */
const struct ptx_kernel *module_for_windows(struct module *module,
					    const struct ptx_kernel *kernel)
{
	const char *why;

	return translator_get(&why)->for_windows(module->code, kernel);
}

/* Compiles what launches may ask for. What cannot be compiled is an error of the launch. */
void module_compile_all(struct module *module)
{
	const struct ptx_kernel *kernel;
	const char *why;

	for (uint32_t i = 0; module->image->texts_count && i < module->image->kernels_count; i++)
		module_compiled(module, module->image->kernels[i].name, &kernel, &why);
}

/* The module has no users any more. */
void module_code_free(struct module *module)
{
	const char *why;

	if (module->code)
		translator_get(&why)->code_free(module->code);
	free(module->own);
	pthread_mutex_destroy(&module->code_lock);
}

/* Frees what own_memory() has allocated. The module has ended. */
void module_own_free(struct module *module)
{
	pthread_mutex_lock(&module->code_lock);
	for (unsigned int i = 0; i < module->own_count; i++)
		heap_free(module->own[i], 0);
	module->own_count = 0;
	pthread_mutex_unlock(&module->code_lock);
}
