// SPDX-License-Identifier: MIT
/*
 * What a program's start tells: its images, kernels and variables. It calls these functions
 * before main(), of each library with device code; none fails, and none asks the driver.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "../symbol.h"

struct image {
	const void *data;		/* as nvcc puts it into the program */
	enum { NOT_ASKED, LOADED, REFUSED } state;
	CUresult result;		/* if it was refused */
	CUlibrary library;
};

struct variable {
	const void *symbol;		/* what the program calls it by */
	const char *name;
	struct image *image;
	size_t bytes;
};

/* Trees of kernels by their stub, and of variables; and a lock for both and all images. */
static void *kernels, *variables;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int compare(const void *a, const void *b)
{
	const void *x = *(const void *const *)a, *y = *(const void *const *)b;

	return x < y ? -1 : x > y;
}

static void *find(void *const *tree, const void *symbol)
{
	void **found = tfind(&symbol, tree, compare);

	return found ? *found : NULL;
}

/* The last one registered under an address stands. @item begins with the address. */
static void insert(void **tree, void *item)
{
	void **found = tsearch(item, tree, compare);

	if (found && *found != item) {
		void *before = *found;

		*found = item;
		free(before);
	}
	if (!found)
		free(item);
}

EXPORTED void **__cudaRegisterFatBinary(void *binary)
{
	struct image *image = calloc(1, sizeof(*image));

	if (image)
		image->data = binary;
	return (void **)image;
}

EXPORTED void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

EXPORTED char __cudaInitModule(void **handle)
{
	return handle != NULL;
}

EXPORTED void __cudaRegisterFunction(void **handle, const char *stub, char *device_stub,
				     const char *name, int thread_limit, void *tid, void *bid,
				     dim3 *block, dim3 *grid, int *warp)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));

	(void)device_stub, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
	if (!kernel || !handle) {
		free(kernel);
		return;
	}
	*kernel = (struct kernel) {
		.stub = stub,
		.name = name,
		.image = (struct image *)handle,
		.thread_limit = thread_limit,
	};
	pthread_mutex_lock(&lock);
	insert(&kernels, kernel);
	pthread_mutex_unlock(&lock);
}

EXPORTED void __cudaRegisterVar(void **handle, char *symbol, char *device_address,
				const char *name, int ext, size_t bytes, int constant, int global)
{
	struct variable *variable = calloc(1, sizeof(*variable));

	(void)device_address, (void)ext, (void)constant, (void)global;
	if (!variable || !handle) {
		free(variable);
		return;
	}
	*variable = (struct variable) { symbol, name, (struct image *)handle, bytes };
	pthread_mutex_lock(&lock);
	insert(&variables, variable);
	pthread_mutex_unlock(&lock);
}

/* There is no managed memory: its variables are known by name, and their pointer stays NULL. */
EXPORTED void __cudaRegisterManagedVar(void **handle, void **symbol, char *device_address,
				       const char *name, int ext, size_t bytes, int constant,
				       int global)
{
	__cudaRegisterVar(handle, (char *)symbol, device_address, name, ext, bytes, constant,
			  global);
}

/* Tables that only device code looks at */
EXPORTED void __cudaRegisterHostVar(void)
{
}

EXPORTED void __cudaRegisterUnifiedTable(void)
{
}

/* What twalk_r() is to find something by, and what it has found */
struct search {
	const struct image *image;
	const void *handle;
	const char *name;
	void *found;
};

static void match_kernel(const void *node, VISIT visit, void *data)
{
	struct kernel *kernel = *(struct kernel *const *)node;
	struct search *search = data;

	if ((visit == postorder || visit == leaf) && kernel->image == search->image)
		search->found = kernel;
}

static void match_variable(const void *node, VISIT visit, void *data)
{
	struct variable *variable = *(struct variable *const *)node;
	struct search *search = data;

	if ((visit == postorder || visit == leaf) && variable->image == search->image)
		search->found = variable;
}

static void forget(void **tree, const struct image *image,
		   void (*match)(const void *, VISIT, void *))
{
	struct search search = { .image = image };

	while (twalk_r(*tree, match, &search), search.found) {
		tdelete(search.found, tree, compare);
		free(search.found);
		search.found = NULL;
	}
}

EXPORTED void __cudaUnregisterFatBinary(void **handle)
{
	struct image *image = (struct image *)handle;

	if (!image)
		return;
	pthread_mutex_lock(&lock);
	forget(&kernels, image, match_kernel);
	forget(&variables, image, match_variable);
	pthread_mutex_unlock(&lock);
	if (image->state == LOADED)
		cuLibraryUnload(image->library);
	free(image);
}

/* With the lock held: the driver's library of an image, or why there is none */
static CUresult load(struct image *image)
{
	if (image->state == NOT_ASKED) {
		image->result = cuLibraryLoadData(&image->library, image->data, NULL, NULL, 0,
						  NULL, NULL, 0);
		image->state = image->result == CUDA_SUCCESS ? LOADED : REFUSED;
	}
	return image->result;
}

CUresult kernel_load(struct kernel *kernel)
{
	CUresult result = CUDA_SUCCESS;

	pthread_mutex_lock(&lock);
	if (!kernel->handle)
		result = load(kernel->image);
	if (result == CUDA_SUCCESS && !kernel->handle)
		result = cuLibraryGetKernel(&kernel->handle, kernel->image->library,
					    kernel->name);
	pthread_mutex_unlock(&lock);
	return result;
}

static void match_handle(const void *node, VISIT visit, void *data)
{
	struct kernel *kernel = *(struct kernel *const *)node;
	struct search *search = data;

	if ((visit == postorder || visit == leaf) && kernel->handle == search->handle)
		search->found = kernel;
}

static void match_function(const void *node, VISIT visit, void *data)
{
	struct kernel *kernel = *(struct kernel *const *)node;
	struct search *search = data;
	CUfunction function;

	if ((visit == postorder || visit == leaf) && kernel->handle &&
	    !strcmp(kernel->name, search->name) &&
	    cuKernelGetFunction(&function, kernel->handle) == CUDA_SUCCESS &&
	    function == search->handle)
		search->found = kernel;
}

/* The kernel that has this function in the current context, if it is a registered one */
struct kernel *kernel_of_function(CUfunction function)
{
	struct search search = { .handle = function };

	if (cuFuncGetName(&search.name, function) != CUDA_SUCCESS)
		return NULL;
	pthread_mutex_lock(&lock);
	twalk_r(kernels, match_function, &search);
	pthread_mutex_unlock(&lock);
	return search.found;
}

/* The driver's handle of a kernel that was loaded serves as its stub does. */
struct kernel *kernel_find(const void *stub)
{
	struct search search = { .handle = stub };

	pthread_mutex_lock(&lock);
	search.found = find(&kernels, stub);
	if (!search.found && stub)
		twalk_r(kernels, match_handle, &search);
	pthread_mutex_unlock(&lock);
	return search.found;
}

cudaError_t symbol_find(const char *call, const void *symbol, void **pointer, size_t *bytes)
{
	struct variable *variable;
	CUresult result = CUDA_SUCCESS;
	const char *name = NULL;
	CUdeviceptr where = 0;

	pthread_mutex_lock(&lock);
	variable = find(&variables, symbol);
	if (variable) {
		name = variable->name;
		result = load(variable->image);
	}
	if (variable && result == CUDA_SUCCESS)
		result = cuLibraryGetGlobal(&where, bytes, variable->image->library, name);
	pthread_mutex_unlock(&lock);
	if (!name)
		return refuse(call, cudaErrorInvalidSymbol, "no variable is registered at %p",
			      symbol);
	if (result == CUDA_ERROR_NOT_SUPPORTED)
		return refuse(call, cudaErrorNotSupported,
			      "variable %s: memcast loads no device code", name);
	if (result == CUDA_SUCCESS)
		*pointer = (void *)(uintptr_t)where;
	return error_of(result);
}

cudaError_t symbol_part(const char *call, const void *symbol, size_t bytes, size_t offset,
			void **pointer)
{
	size_t size = 0, end;
	cudaError_t error = symbol_find(call, symbol, pointer, &size);

	if (error != cudaSuccess)
		return error;
	if (__builtin_add_overflow(offset, bytes, &end) || end > size)
		return refuse(call, cudaErrorInvalidValue,
			      "%zu bytes from %zu on of a variable of %zu", bytes, offset, size);
	*pointer = (char *)*pointer + offset;
	return cudaSuccess;
}
