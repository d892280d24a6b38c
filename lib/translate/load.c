// SPDX-License-Identifier: MIT
/* Loads memcast-ptx.so from the folder of libcuda.so.1. */
#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "translate.h"

/* Protects the loading; a child of fork() needs no translator, and so does not take it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct ptx_object *_Atomic loaded;
static bool ended;			/* loaded, or never will be */
static char failure[2 * PATH_MAX];	/* why it cannot be used; the first reason stays */

/* Has the program a function of its own in the place of a library's? */
static bool is_replaced(const char *library, const char *name)
{
	void *own = dlsym(RTLD_DEFAULT, name), *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);

	return own && handle && own != dlsym(handle, name);
}

/*
 * DEEPBIND: the object's calls of LLVM are its own LLVM's, whatever the program has of it. So are its
 * calls of the C library, which would get memory to free that an allocator of the program's, as
 * jemalloc or a sanitizer, has given to strdup() or to another library.
 */
static void translate_load(void)
{
	const char *value = secure_getenv("MEMCAST_PTX");
	char why[PATH_MAX + 300];
	int flags = RTLD_NOW | RTLD_LOCAL;

	ended = true;
	if (value && !strcmp(value, "0")) {
		strcpy(failure, "MEMCAST_PTX=0 is set");
		return;
	}
	if (!is_replaced(LIBC_SO, "malloc") && !is_replaced("libstdc++.so.6", "_Znwm"))
		flags |= RTLD_DEEPBIND;
	loaded = load_beside(PTX_OBJECT, PTX_OBJECT_SYMBOL, PTX_OBJECT_VERSION, flags, why,
			     sizeof(why), &ended);
	if (!loaded && !*failure)
		snprintf(failure, sizeof(failure),
			 "its PTX is run by the package memcast-ptx (%s)", why);
}

const struct ptx_object *translator_get(const char **why)
{
	const struct ptx_object *object = loaded;

	if (!object) {
		pthread_mutex_lock(&lock);
		if (!ended)
			translate_load();
		object = loaded;
		pthread_mutex_unlock(&lock);
	}
	*why = failure;
	return object;
}
