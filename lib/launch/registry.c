// SPDX-License-Identifier: MIT
/* Finds the C function that is registered for a kernel's name. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct registered *registry;

/*
 * Is it a mangled name like _Z9vectorAddPKfS0_Pfi, of a function in no namespace? The name
 * follows its length.
 */
static bool mangled_from(const char *mangled, const char *plain)
{
	char *end;
	size_t length;

	if (strncmp(mangled, "_Z", 2) || !isdigit((unsigned char)mangled[2]))
		return false;
	length = strtoul(mangled + 2, &end, 10);
	return length == strlen(plain) && !strncmp(end, plain, length);
}

static bool same_sizes(const struct registered *registered, const struct code *code)
{
	if (registered->count != code->parameters_count)
		return false;
	for (unsigned int i = 0; i < registered->count; i++)
		if (registered->sizes[i] != code->parameters[i].size)
			return false;
	return true;
}

/* Writes sizes as "8, 8, 4". */
static const char *list(char *text, size_t room, unsigned int count, const size_t *sizes,
			const struct parameter *parameters)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < count && used < room; i++)
		used += snprintf(text + used, room - used, "%s%zu", i ? ", " : "",
				 sizes ? sizes[i] : parameters[i].size);
	return text;
}

/* With the lock held. @other: output, a function with this name but other parameters, or NULL */
static const struct registered *find_function(const struct code *code, bool exact,
					      const struct registered **other)
{
	const struct registered *registered;

	for (registered = registry; registered; registered = registered->next) {
		if (exact ? strcmp(code->name, registered->name) :
			    !mangled_from(code->name, registered->name))
			continue;
		if (same_sizes(registered, code))
			return registered;
		*other = registered;
	}
	return NULL;
}

/* Finds the C function that is registered for a kernel of an image. */
CUresult registered_find(const struct code *code, const struct registered **found)
{
	const struct registered *other = NULL;
	char takes[80], has[80];

	pthread_mutex_lock(&registry_lock);
	*found = find_function(code, true, &other);
	if (!*found)
		*found = find_function(code, false, &other);
	pthread_mutex_unlock(&registry_lock);
	if (*found)
		return CUDA_SUCCESS;
	list(takes, sizeof(takes), code->parameters_count, NULL, code->parameters);
	if (!other)
		return fail(CUDA_ERROR_NOT_SUPPORTED,
			    "kernel %.80s(%s) is not registered: memcast/kernel.h", code->name,
			    takes);
	return fail(CUDA_ERROR_INVALID_VALUE, "kernel %.60s takes (%s), but is registered with (%s)",
		    code->name, takes,
		    list(has, sizeof(has), other->count, other->sizes, NULL));
}

/* With the lock held */
static CUresult check_other(const struct registered *new)
{
	const struct registered *old;

	for (old = registry; old; old = old->next)
		if (!strcmp(old->name, new->name) && old->count == new->count &&
		    !memcmp(old->sizes, new->sizes, new->count * sizeof(*new->sizes)))
			return fail(CUDA_ERROR_INVALID_VALUE, "kernel %.100s is registered already",
				    new->name);
	return CUDA_SUCCESS;
}

struct search {
	const struct registered *new;
	const struct code *other;
	bool fits;
};

static void compare(const struct code *code, void *data)
{
	struct search *search = data;

	if (strcmp(code->name, search->new->name) && !mangled_from(code->name, search->new->name))
		return;
	if (same_sizes(search->new, code))
		search->fits = true;
	else
		search->other = code;
}

/* If loaded modules have kernels of this name, one must have these parameters. */
static CUresult check_modules(const struct registered *new)
{
	struct search search = { .new = new };
	char takes[80], has[80];

	modules_each_code(compare, &search);
	if (search.fits || !search.other)
		return CUDA_SUCCESS;
	return fail(CUDA_ERROR_INVALID_VALUE, "kernel %.60s takes (%s), not (%s)",
		    search.other->name,
		    list(takes, sizeof(takes), search.other->parameters_count, NULL,
			 search.other->parameters),
		    list(has, sizeof(has), new->count, new->sizes, NULL));
}

static CUresult add(const struct memcast_kernel *kernel)
{
	struct registered *new;
	CUresult result;

	if (!kernel || kernel->size < sizeof(*kernel) || !kernel->name || !*kernel->name ||
	    !kernel->function || (kernel->count && !kernel->sizes) ||
	    (unsigned int)kernel->shape > MEMCAST_GRID)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer, no name, or no such shape");
	new = calloc(1, sizeof(*new) + strlen(kernel->name) + 1);
	if (new)
		new->sizes = calloc(kernel->count + 1, sizeof(*new->sizes));
	if (!new || !new->sizes) {
		free(new);
		return image_no_memory();
	}
	strcpy(new->name, kernel->name);
	new->shape = kernel->shape;
	new->function = kernel->function;
	new->user = kernel->user;
	new->count = kernel->count;
	if (kernel->count)
		memcpy(new->sizes, kernel->sizes, kernel->count * sizeof(*new->sizes));
	result = check_modules(new);
	pthread_mutex_lock(&registry_lock);
	if (result == CUDA_SUCCESS)
		result = check_other(new);
	if (result == CUDA_SUCCESS) {
		new->next = registry;
		registry = new;
	}
	pthread_mutex_unlock(&registry_lock);
	if (result != CUDA_SUCCESS) {
		free(new->sizes);
		free(new);
	}
	return result;
}

CUresult memcastKernelRegister(const struct memcast_kernel *kernel)
{
	return WHOLE_LOGGED(add(kernel), "kernel=%s",
			    kernel && kernel->name ? kernel->name : "NULL");
}

void memcastKernelMust(const struct memcast_kernel *kernel)
{
	if (memcastKernelRegister(kernel) == CUDA_SUCCESS)
		return;
	fprintf(stderr, "memcast: %s\n", fail_reason());
	exit(1);
}

/*
 * Loads the shared objects in MEMCAST_KERNELS, which the program does not know; for the first
 * cuInit().
 */
CUresult kernels_load(void)
{
	const char *paths = secure_getenv("MEMCAST_KERNELS");
	CUresult result = CUDA_SUCCESS;
	char *copy, *path, *rest;

	if (!paths || !*paths)
		return CUDA_SUCCESS;
	copy = strdup(paths);
	if (!copy)
		return image_no_memory();
	for (path = strtok_r(copy, ":", &rest); path && result == CUDA_SUCCESS;
	     path = strtok_r(NULL, ":", &rest))
		if (!dlopen(path, RTLD_NOW | RTLD_NODELETE))
			result = fail(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
				      "MEMCAST_KERNELS: %.200s", dlerror());
	free(copy);
	return result;
}
