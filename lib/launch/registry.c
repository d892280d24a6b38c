// SPDX-License-Identifier: MIT
/* Finds the C function that is registered for a kernel's name. */
#include <ctype.h>
#include <dlfcn.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"

/*
 * A tree by name; functions of one name, with different parameters, are a list. And how many
 * functions it has, which changes with the lock held.
 */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static void *registry;
static atomic_uint registrations = 1;

static int registered_compare_names(const void *one, const void *other)
{
	const struct name *a = one, *b = other;
	size_t least = a->length < b->length ? a->length : b->length;
	int order = memcmp(a->at, b->at, least);

	return order ? order : (a->length > b->length) - (a->length < b->length);
}

static struct name registered_get_name(const char *text)
{
	return (struct name) { text, strlen(text) };
}

/*
 * Return: the plain name in a mangled one like _Z9vectorAddPKfS0_Pfi, of a function in no
 * namespace, where it follows its length; else no name.
 */
static struct name plain_name(const char *mangled)
{
	char *end;
	size_t length;

	if (strncmp(mangled, "_Z", 2) || !isdigit((unsigned char)mangled[2]))
		return (struct name) {};
	length = strtoul(mangled + 2, &end, 10);
	return strnlen(end, length) == length ? (struct name) { end, length } :
						(struct name) {};
}

static bool same_name(struct name one, struct name other)
{
	return one.at && one.length == other.length && !memcmp(one.at, other.at, one.length);
}

/* With the lock held. Return: the functions of a name, or NULL. */
static struct registered *of_name(struct name name)
{
	void **found = name.at ? tfind(&name, &registry, registered_compare_names) : NULL;

	return found ? *found : NULL;
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
static const struct registered *registered_find_function(const struct code *code, struct name name,
							 const struct registered **other)
{
	const struct registered *registered;

	for (registered = of_name(name); registered; registered = registered->next) {
		if (same_sizes(registered, code))
			return registered;
		*other = registered;
	}
	return NULL;
}

/* Fails for a kernel whose functions in C, of which @other is one, have other parameters. */
static CUresult fail_other(const struct code *code, const struct registered *other)
{
	char takes[80], has[80];

	list(takes, sizeof(takes), code->parameters_count, NULL, code->parameters);
	return fail(CUDA_ERROR_INVALID_VALUE, "kernel %.60s takes (%s), but is registered with (%s)",
		    code->name, takes,
		    list(has, sizeof(has), other->count, other->sizes, NULL));
}

/* Fails for a kernel that has no function in C. @why: it is not translated either */
CUresult registered_missing(const struct code *code, const char *why)
{
	char takes[80];

	list(takes, sizeof(takes), code->parameters_count, NULL, code->parameters);
	return fail(CUDA_ERROR_NOT_SUPPORTED,
		    "kernel %.80s(%s) is not registered: memcast/kernel.h; and %.160s", code->name,
		    takes, why);
}

/*
 * Says once in a process, on stderr, why the last launch was refused: few programs check that.
 * Those that do print a number.
 */
void registered_say_refused(void)
{
	static atomic_bool said;
	char text[512];

	if (atomic_exchange(&said, true))
		return;
	snprintf(text, sizeof(text),
		 "a kernel cannot run: %s. What runs: kernels with PTX (nvcc -arch=compute_90, docs/stack/ptx.md), and C functions in the place of kernels (memcast-vm --kernels FILE, docs/stack/kernels.md)",
		 fail_reason());
	log_notice(text, true);
}

/*
 * Finds the C function that is registered for a function of a module. The function remembers it, or
 * that there is none, until others are registered, of which one may fit better. @found: NULL: there
 * is none
 */
CUresult registered_find(struct function *function, const struct registered **found)
{
	const struct code *code = function->code;
	const struct registered *other = NULL;

	if (function->registered_at == registrations) {
		*found = function->registered;
		return CUDA_SUCCESS;
	}
	pthread_mutex_lock(&registry_lock);
	*found = registered_find_function(code, registered_get_name(code->name), &other);
	if (!*found)
		*found = registered_find_function(code, plain_name(code->name), &other);
	if (*found || !other) {
		function->registered = *found;
		function->registered_at = registrations;
	}
	pthread_mutex_unlock(&registry_lock);
	return *found || !other ? CUDA_SUCCESS : fail_other(code, other);
}

/* With the lock held */
static CUresult check_other(const struct registered *new)
{
	const struct registered *old;

	for (old = of_name(new->name); old; old = old->next)
		if (old->count == new->count &&
		    !memcmp(old->sizes, new->sizes, new->count * sizeof(*new->sizes)))
			return fail(CUDA_ERROR_INVALID_VALUE, "kernel %.100s is registered already",
				    new->text);
	return CUDA_SUCCESS;
}

struct search {
	const struct registered *new;
	const struct code *other;
	bool fits;
};

static void registered_compare(const struct code *code, void *data)
{
	struct search *search = data;

	if (!same_name(registered_get_name(code->name), search->new->name) &&
	    !same_name(plain_name(code->name), search->new->name))
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

	modules_each_code(registered_compare, &search);
	if (search.fits || !search.other)
		return CUDA_SUCCESS;
	return fail(CUDA_ERROR_INVALID_VALUE, "kernel %.60s takes (%s), not (%s)",
		    search.other->name,
		    list(takes, sizeof(takes), search.other->parameters_count, NULL,
			 search.other->parameters),
		    list(has, sizeof(has), new->count, new->sizes, NULL));
}

/* With the lock held: adds a function to the tree, or to the list of its name. */
static CUresult enter(struct registered *new)
{
	struct registered **found = tsearch(new, &registry, registered_compare_names);

	if (!found)
		return image_no_memory();
	if (*found != new) {
		new->next = (*found)->next;
		(*found)->next = new;
	}
	registrations++;
	return CUDA_SUCCESS;
}

static CUresult registered_add(const struct memcast_kernel *kernel)
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
	strcpy(new->text, kernel->name);
	new->name = registered_get_name(new->text);
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
	if (result == CUDA_SUCCESS)
		result = enter(new);
	pthread_mutex_unlock(&registry_lock);
	if (result != CUDA_SUCCESS) {
		free(new->sizes);
		free(new);
	}
	return result;
}

CUresult memcastKernelRegister(const struct memcast_kernel *kernel)
{
	const char *name = kernel ? kernel->name : NULL;

	return WHOLE_LOGGED(registered_add(kernel), name);
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
