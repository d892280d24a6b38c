// SPDX-License-Identifier: MIT
/*
 * Registration of a program's images, kernels and variables. Each program and library with
 * device code calls these functions before main(); none fails, and none calls the driver.
 */
#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

struct variable {
	struct item item;
	void **managed;			/* the program's pointer to it, if it is managed */
	const char *name;
	struct image *image;
	struct variable *next;		/* list of the image's variables */
	size_t bytes;
};

struct image {
	const void *data;		/* the program's image, as nvcc makes it */
	CUlibrary library;		/* NULL: not loaded yet */
	struct kernel *kernels;		/* list of the image's kernels */
	struct variable *variables;
};

/*
 * Trees of kernels by stub, of loaded kernels by the driver's handle, and of variables; and a lock
 * for all of these and all images. No driver function that may wait or call the program back is
 * called with the lock held.
 */
static void *kernels, *loaded, *variables;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take_lock(void)
{
	pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
	pthread_mutex_unlock(&lock);
}

/* A child finds the lock free: it unregisters images, too. */
static void __attribute__((constructor)) when_forked(void)
{
	pthread_atfork(take_lock, give_lock, give_lock);
}

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

/*
 * Of several items registered at an address, such as the kernels of one template in two libraries,
 * the first counts, and the next when its image goes.
 */
static void insert(void **tree, struct item *item)
{
	struct item **link = tsearch(item, tree, compare);

	while (link && *link && *link != item)
		link = &(*link)->next;
	if (link)
		*link = item;
}

static void remove_item(void **tree, struct item *item)
{
	struct item **link = tfind(item, tree, compare);

	if (link && *link == item && !item->next) {
		tdelete(item, tree, compare);
		return;
	}
	while (link && *link && *link != item)
		link = &(*link)->next;
	if (link && *link)
		*link = item->next;
	item->next = NULL;
}

static int compare_handles(const void *a, const void *b)
{
	const struct kernel *x = a, *y = b;

	return x->handle < y->handle ? -1 : x->handle > y->handle;
}

/*
 * Is the process ending? Its images then stay: to unload one waits for its kernels, which may run
 * for ever, and other threads may still launch them.
 */
static atomic_bool exiting;

static void note_exit(void)
{
	exiting = true;
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

EXPORTED void __cudaRegisterFunction(void **handle, const char *stub, char *device_stub,
				     const char *name, int thread_limit, void *tid, void *bid,
				     dim3 *block, dim3 *grid, int *warp)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));

	(void)device_stub, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
	if (!kernel || !handle) {
		free(kernel);
		return;
	}
	*kernel = (struct kernel) {
		.item.address = stub,
		.name = name,
		.image = (struct image *)handle,
	};
	pthread_mutex_lock(&lock);
	kernel->next = kernel->image->kernels;
	kernel->image->kernels = kernel;
	insert(&kernels, &kernel->item);
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
	*variable = (struct variable) {
		.item.address = symbol, .name = name, .image = (struct image *)handle,
		.bytes = bytes,
	};
	pthread_mutex_lock(&lock);
	variable->next = variable->image->variables;
	variable->image->variables = variable;
	insert(&variables, &variable->item);
	pthread_mutex_unlock(&lock);
}

/* The program reads its pointer to a managed variable after __cudaInitModule(). */
EXPORTED void __cudaRegisterManagedVar(void **handle, void **pointer, char *device_address,
				       const char *name, int ext, size_t bytes, int constant,
				       int global)
{
	struct variable *variable;

	__cudaRegisterVar(handle, (char *)pointer, device_address, name, ext, bytes, constant,
			  global);
	pthread_mutex_lock(&lock);
	variable = handle ? ((struct image *)handle)->variables : NULL;
	if (variable && variable->item.address == pointer)
		variable->managed = pointer;
	pthread_mutex_unlock(&lock);
}

/* Tables that only device code reads */
EXPORTED void __cudaRegisterHostVar(void)
{
}

EXPORTED void __cudaRegisterUnifiedTable(void)
{
}

/* Unloads a library also while a stream is captured, which would fail: the program has not asked. */
static void unload(CUlibrary library)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUresult result = cuThreadExchangeStreamCaptureMode(&mode);

	cuLibraryUnload(library);
	if (result == CUDA_SUCCESS)
		cuThreadExchangeStreamCaptureMode(&mode);
}

EXPORTED void __cudaUnregisterFatBinary(void **handle)
{
	struct image *image = (struct image *)handle;
	struct variable *variable;
	struct kernel *kernel;

	if (!image || exiting)
		return;
	pthread_mutex_lock(&lock);
	while ((kernel = image->kernels)) {
		image->kernels = kernel->next;
		remove_item(&kernels, &kernel->item);
		if (kernel->handle)
			tdelete(kernel, &loaded, compare_handles);
		free(kernel);
	}
	while ((variable = image->variables)) {
		image->variables = variable->next;
		remove_item(&variables, &variable->item);
		free(variable);
	}
	pthread_mutex_unlock(&lock);
	if (image->library)
		unload(image->library);
	free(image);
}

/*
 * Loads an image once. The driver takes a wrong one, too, and says what is wrong when a part of it is
 * asked for. @library: output, the driver's library. Of two threads that load it, the first one's
 * counts.
 */
static CUresult load(struct image *image, CUlibrary *library)
{
	CUlibrary new;
	CUresult result;

	pthread_mutex_lock(&lock);
	*library = image->library;
	pthread_mutex_unlock(&lock);
	if (*library)
		return CUDA_SUCCESS;
	result = cuLibraryLoadData(&new, image->data, NULL, NULL, 0, NULL, NULL, 0);
	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&lock);
	if (!image->library)
		image->library = new;
	*library = image->library;
	pthread_mutex_unlock(&lock);
	if (*library != new)
		unload(new);
	else
		/* called at exit before what the image's program registered when it began */
		atexit(note_exit);
	return CUDA_SUCCESS;
}

/* With the lock held: the program, and calls that take a symbol, find a managed variable there. */
static void place_managed(struct variable *variable, CUdeviceptr address)
{
	if (variable->item.address == (void *)address)
		return;
	remove_item(&variables, &variable->item);
	variable->item.address = *variable->managed = (void *)(uintptr_t)address;
	insert(&variables, &variable->item);
}

/*
 * Called before the program's first access to a managed variable of an image, until it succeeds.
 *
 * Return: 1: all pointers are there; 0: a call of the driver failed, and they may be NULL.
 */
EXPORTED char __cudaInitModule(void **handle)
{
	struct image *image = (struct image *)handle;
	struct variable *variable;
	CUdeviceptr address;
	CUlibrary library;
	size_t bytes;

	for (variable = image ? image->variables : NULL; variable; variable = variable->next) {
		if (!variable->managed)
			continue;
		if (runtime_ready() != cudaSuccess || load(image, &library) != CUDA_SUCCESS ||
		    cuLibraryGetManaged(&address, &bytes, library, variable->name) != CUDA_SUCCESS)
			return 0;
		pthread_mutex_lock(&lock);
		place_managed(variable, address);
		pthread_mutex_unlock(&lock);
	}
	return image != NULL;
}

CUresult kernel_load(struct kernel *kernel)
{
	CUresult result = CUDA_SUCCESS;
	CUlibrary library;
	CUkernel handle;

	pthread_mutex_lock(&lock);
	handle = kernel->handle;
	pthread_mutex_unlock(&lock);
	if (handle)
		return CUDA_SUCCESS;
	result = load(kernel->image, &library);
	if (result == CUDA_SUCCESS)
		result = cuLibraryGetKernel(&handle, library, kernel->name);
	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&lock);
	if (!kernel->handle) {
		kernel->handle = handle;
		/* without memory for the tree it is not found by its handle */
		tsearch(kernel, &loaded, compare_handles);
	}
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

struct search {
	const char *name;
	CUkernel after, found;
};

/* twalk_r() calls this for the loaded kernels, whose handles grow. */
static void search_one(const void *node, VISIT visit, void *closure)
{
	const struct kernel *kernel = *(struct kernel *const *)node;
	struct search *search = closure;

	if ((visit == postorder || visit == leaf) && !search->found &&
	    kernel->handle > search->after && !strcmp(kernel->name, search->name))
		search->found = kernel->handle;
}

/* Return: the loaded kernel of a name with the lowest handle above @after, or NULL. */
static CUkernel next_of_name(const char *name, CUkernel after)
{
	struct search search = { .name = name, .after = after };

	pthread_mutex_lock(&lock);
	twalk_r(loaded, search_one, &search);
	pthread_mutex_unlock(&lock);
	return search.found;
}

static struct kernel *find_loaded(CUkernel handle)
{
	struct kernel wanted = { .handle = handle };
	void **found = tfind(&wanted, &loaded, compare_handles);

	return found ? *found : NULL;
}

/* Return: the registered kernel that has this function in the current context, or NULL. */
struct kernel *kernel_of_function(CUfunction function)
{
	struct kernel *kernel;
	CUkernel handle = NULL;
	CUfunction its;
	const char *name;

	if (cuFuncGetName(&name, function) != CUDA_SUCCESS)
		return NULL;
	do
		handle = next_of_name(name, handle);
	while (handle && (cuKernelGetFunction(&its, handle) != CUDA_SUCCESS || its != function));
	if (!handle)
		return NULL;
	pthread_mutex_lock(&lock);
	kernel = find_loaded(handle);
	pthread_mutex_unlock(&lock);
	return kernel;
}

/* Finds a kernel by its stub, or by the driver's handle once it is loaded. */
struct kernel *kernel_find(const void *stub)
{
	struct kernel *kernel;

	pthread_mutex_lock(&lock);
	kernel = find(&kernels, stub);
	if (!kernel && stub)
		kernel = find_loaded((CUkernel)stub);
	pthread_mutex_unlock(&lock);
	return kernel;
}

cudaError_t symbol_find(const char *call, const void *symbol, void **pointer, size_t *bytes)
{
	struct image *image = NULL;
	struct variable *variable;
	CUresult result = CUDA_SUCCESS;
	const char *name = NULL;
	CUdeviceptr where = 0;
	CUlibrary library;

	pthread_mutex_lock(&lock);
	variable = find(&variables, symbol);
	if (variable) {
		name = variable->name;
		image = variable->image;
	}
	pthread_mutex_unlock(&lock);
	if (image)
		result = load(image, &library);
	if (image && result == CUDA_SUCCESS)
		result = cuLibraryGetGlobal(&where, bytes, library, name);
	if (!name)
		return refuse(call, cudaErrorInvalidSymbol, "no variable is registered at %p",
			      symbol);
	if (result == CUDA_SUCCESS)
		*pointer = (void *)(uintptr_t)where;
	return error_of(result);
}

cudaError_t symbol_part(const char *call, const void *symbol, size_t bytes, size_t offset,
			enum cudaMemcpyKind kind, enum cudaMemcpyKind across, void **pointer)
{
	size_t size = 0, end;
	cudaError_t error = symbol_find(call, symbol, pointer, &size);

	if (error != cudaSuccess)
		return error;
	if (kind != across && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
		return refuse(call, cudaErrorInvalidMemcpyDirection, "kind %d", kind);
	if (__builtin_add_overflow(offset, bytes, &end) || end > size)
		return refuse(call, cudaErrorInvalidValue,
			      "%zu bytes from %zu on of a variable of %zu", bytes, offset, size);
	*pointer = (char *)*pointer + offset;
	return cudaSuccess;
}
