// SPDX-License-Identifier: MIT
/* Properties of functions and kernels: reads them and sets them. */
#include <stdlib.h>

#include "kernel.h"

#define WITH_FUNCTION(found, handle, refusal, expression)			\
	WITH(struct function *found, function_get(handle, refusal, &found), LOCKED(expression), \
	     handle_put(found))
#define WITH_KERNEL(found, handle, refusal, expression)			\
	WITH(struct kernel *found, handle_get(handle, HANDLE_KERNEL, refusal, &found), \
	     LOCKED(expression), handle_put(found))

static CUresult null_output(void)
{
	return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
}

static CUresult function_attribute(int *value, CUfunction_attribute attribute,
				   const struct function *function)
{
	return value ? setting_get(function->module->image, function->code,
				   function->module->figures, &function->settings, attribute,
				   value) : null_output();
}

FORWARD(cuFuncGetAttribute, (int *value, CUfunction_attribute attribute, CUfunction function),
	WITH_FUNCTION(found, function, CUDA_ERROR_INVALID_HANDLE,
		      function_attribute(value, attribute, found)),
	value, attribute, function)
FORWARD(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value),
	WITH_FUNCTION(found, function, CUDA_ERROR_INVALID_HANDLE,
		      setting_set(found->code, found->module->figures, &found->settings, attribute,
				  value)),
	function, attribute, value)

static CUresult cache_check(CUfunc_cache cache)
{
	return (unsigned int)cache <= CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_SUCCESS :
		fail(CUDA_ERROR_INVALID_VALUE, "no such preference");
}

FORWARD(cuFuncSetCacheConfig, (CUfunction function, CUfunc_cache cache),
	WITH_FUNCTION(found, function, CUDA_ERROR_INVALID_HANDLE, cache_check(cache)),
	function, cache)
FORWARD(cuFuncSetSharedMemConfig, (CUfunction function, CUsharedconfig banks),
	WITH_FUNCTION(found, function, CUDA_ERROR_INVALID_HANDLE, banks_check(banks)),
	function, banks)

static CUresult function_module(CUmodule *module, const struct function *function)
{
	if (!module)
		return null_output();
	*module = function->module->handle;
	return CUDA_SUCCESS;
}

FORWARD(cuFuncGetModule, (CUmodule *module, CUfunction function),
	WITH_FUNCTION(found, function, CUDA_ERROR_INVALID_VALUE, function_module(module, found)),
	module, function)

static CUresult function_get_name(const char **name, const struct code *code)
{
	if (!name)
		return null_output();
	*name = code->name;
	return CUDA_SUCCESS;
}

FORWARD(cuFuncGetName, (const char **name, CUfunction function),
	WITH_FUNCTION(found, function, CUDA_ERROR_INVALID_VALUE,
		      function_get_name(name, found->code)),
	name, function)
FORWARD(cuKernelGetName, (const char **name, CUkernel kernel),
	WITH_KERNEL(found, kernel, CUDA_ERROR_INVALID_VALUE, function_get_name(name, found->code)),
	name, kernel)

static CUresult parameter_info(const struct code *code, size_t number, size_t *offset,
			       size_t *bytes)
{
	if (!offset)
		return null_output();
	if (number >= code->parameters_count)
		return fail(CUDA_ERROR_INVALID_VALUE, "the kernel has %u parameters",
			    code->parameters_count);
	*offset = code->parameters[number].offset;
	if (bytes)
		*bytes = code->parameters[number].size;
	return CUDA_SUCCESS;
}

FORWARD(cuFuncGetParamInfo, (CUfunction function, size_t number, size_t *offset, size_t *bytes),
	WITH_FUNCTION(found, function, CUDA_ERROR_INVALID_VALUE,
		      parameter_info(found->code, number, offset, bytes)),
	function, number, offset, bytes)
FORWARD(cuKernelGetParamInfo, (CUkernel kernel, size_t number, size_t *offset, size_t *bytes),
	WITH_KERNEL(found, kernel, CUDA_ERROR_INVALID_VALUE,
		    parameter_info(found->code, number, offset, bytes)),
	kernel, number, offset, bytes)

static CUresult is_loaded(CUfunctionLoadingState *state, const struct function *function)
{
	CUmoduleLoadingMode mode;

	if (!state)
		return null_output();
	cuModuleGetLoadingMode(&mode);
	*state = function->loaded || mode == CU_MODULE_EAGER_LOADING ?
		CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
	return CUDA_SUCCESS;
}

FORWARD(cuFuncIsLoaded, (CUfunctionLoadingState *state, CUfunction function),
	WITH_FUNCTION(found, function, CUDA_ERROR_INVALID_HANDLE, is_loaded(state, found)),
	state, function)

/* What cannot be compiled is an error of the launch. */
static CUresult load_function(struct function *function)
{
	const struct ptx_kernel *kernel;
	const char *why;

	pthread_mutex_lock(&modules_lock);
	function->loaded = true;
	pthread_mutex_unlock(&modules_lock);
	module_compiled(function->module, function->code->name, &kernel, &why);
	return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction function)
{
	return WHOLE_CALL(WITH(struct function *found,
			       function_get(function, CUDA_ERROR_INVALID_HANDLE, &found),
			       load_function(found), handle_put(found)),
			  function);
}

/* Finds a kernel's function in the current context. */
DEFINE_WHOLE_CALL(cuKernelGetFunction, (CUfunction *function, CUkernel kernel), function, kernel)
{
	struct function *of_module;
	struct kernel *found;
	struct module *module;
	CUresult result = handle_get(kernel, HANDLE_KERNEL, CUDA_ERROR_INVALID_HANDLE, &found);

	if (result != CUDA_SUCCESS)
		return result;
	result = function ? library_module(found->library, NULL, &module) : null_output();
	if (result == CUDA_SUCCESS) {
		of_module = &module->functions[found - found->library->kernels];
		pthread_mutex_lock(&modules_lock);
		of_module->loaded = true;
		*function = function_handle(of_module);
		if (!*function)
			result = handle_missing(!module->link);
		pthread_mutex_unlock(&modules_lock);
		module_put(module);
	}
	handle_put(found);
	return result;
}

static CUresult kernel_library(CUlibrary *library, const struct kernel *kernel)
{
	if (!library)
		return null_output();
	*library = kernel->library->handle;
	return CUDA_SUCCESS;
}

FORWARD(cuKernelGetLibrary, (CUlibrary *library, CUkernel kernel),
	WITH_KERNEL(found, kernel, CUDA_ERROR_INVALID_HANDLE, kernel_library(library, found)),
	library, kernel)

static CUresult kernel_attribute(int *value, CUfunction_attribute attribute,
				 const struct kernel *kernel, CUdevice device)
{
	const struct figures *figures;
	struct settings settings;
	CUresult result;

	if (!value)
		return null_output();
	result = context_check_device(device);
	if (result == CUDA_SUCCESS)
		result = figures_get(device, &figures);
	if (result != CUDA_SUCCESS)
		return result;
	settings = kernel->settings ? kernel->settings[device] :
				      settings_of(kernel->code, figures);
	return setting_get(kernel->library->image, kernel->code, figures, &settings, attribute,
			   value);
}

FORWARD(cuKernelGetAttribute, (int *value, CUfunction_attribute attribute, CUkernel kernel,
			       CUdevice device),
	WITH_KERNEL(found, kernel, CUDA_ERROR_INVALID_HANDLE,
		    kernel_attribute(value, attribute, found, device)),
	value, attribute, kernel, device)

/* Sets an attribute of a kernel, and of its functions in contexts of that device. */
static CUresult kernel_set(struct kernel *kernel, CUfunction_attribute attribute, int value,
			   CUdevice device)
{
	const struct figures *figures;
	struct module *module;
	CUresult result = context_check_device(device);

	if (result == CUDA_SUCCESS)
		result = figures_get(device, &figures);
	if (result != CUDA_SUCCESS)
		return result;
	if (!kernel->settings) {
		kernel->settings = calloc(MEMCAST_MAX_DEVICES, sizeof(*kernel->settings));
		if (!kernel->settings)
			return image_no_memory();
		for (int i = 0; i < MEMCAST_MAX_DEVICES; i++)
			kernel->settings[i] = settings_of(kernel->code, figures);
	}
	result = setting_set(kernel->code, figures, &kernel->settings[device], attribute, value);
	if (result != CUDA_SUCCESS)
		return result;
	for (module = kernel->library->modules; module; module = module->sibling)
		if (module->device == (uint32_t)device)
			setting_set(kernel->code, figures,
				    &module->functions[kernel - kernel->library->kernels].settings,
				    attribute, value);
	return CUDA_SUCCESS;
}

FORWARD(cuKernelSetAttribute, (CUfunction_attribute attribute, int value, CUkernel kernel,
			       CUdevice device),
	WITH_KERNEL(found, kernel, CUDA_ERROR_INVALID_HANDLE,
		    kernel_set(found, attribute, value, device)),
	attribute, value, kernel, device)

static CUresult kernel_cache(CUfunc_cache cache, CUdevice device)
{
	CUresult result = context_check_device(device);

	return result == CUDA_SUCCESS ? cache_check(cache) : result;
}

FORWARD(cuKernelSetCacheConfig, (CUkernel kernel, CUfunc_cache cache, CUdevice device),
	WITH_KERNEL(found, kernel, CUDA_ERROR_INVALID_HANDLE, kernel_cache(cache, device)),
	kernel, cache, device)
