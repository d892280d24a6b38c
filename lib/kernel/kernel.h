/* SPDX-License-Identifier: MIT */
/*
 * Loaded device code: modules, libraries, and kernels as handles.
 *
 *   handle.c	handles, and the checks before they are looked up
 *   module.c	modules, their functions, their variables
 *   library.c	libraries, and their modules in contexts
 *   managed.c	the memory of libraries' managed variables
 *   load.c	loads from memory or a file, with options
 *   device_figures.c	a device's attributes that matter for kernels
 *   function_attribute.c	a function's or a kernel's attributes
 *   function.c	the calls about them
 *   occupancy.c	how many blocks a device would have room for
 *
 * modules_lock protects lists, settings and variables' addresses. It is taken after the locks
 * of graphs and before those of tables, and is not held while streams are waited for.
 * A handle that was found keeps its object: a module counts references, also for its functions,
 * which have none of their own; a library does so for its kernels.
 */
#ifndef LIB_KERNEL_H
#define LIB_KERNEL_H

#include <pthread.h>

#include "context/context.h"
#include "image/image.h"
#include "table/table.h"

/* A device's attributes that matter for kernels */
struct figures {
	int architecture;		/* 90: compute capability 9.0 */
	int multiprocessors;
	int max_threads, max_block[3], max_grid[3], warp;
	int shared, shared_optin, shared_reserved;	/* of a block */
	int threads_each, blocks_each, shared_each, registers_each; /* of a multiprocessor */
};

/* Attributes that a program may set; launches and occupancy read them without modules_lock. */
struct settings {
	atomic_int dynamic;		/* most dynamic shared memory of a launch */
	atomic_int carveout;
	atomic_int cluster[3];		/* 0: any */
	atomic_int non_portable, policy;
};

enum handle_kind {
	HANDLE_MODULE, HANDLE_FUNCTION, HANDLE_LIBRARY, HANDLE_KERNEL, HANDLE_LINK,
};

/* The first member of every object that has a handle */
struct handle {
	enum handle_kind kind;
};

struct registered;

struct function {
	struct handle head;
	CUfunction handle;		/* NULL: not made yet */
	struct module *module;
	const struct code *code;
	struct settings settings;
	atomic_bool loaded;
	/* the C function that lib/launch/registry.c found last, NULL: none; and when */
	const struct registered *_Atomic registered;
	atomic_uint registered_at;
	struct old_launch *old;		/* settings of calls from before CUDA 4.0, or NULL */
};

struct module {
	struct handle head;
	CUmodule handle;
	/* list of the slot's modules; @link is NULL once the module has ended */
	struct module *next, **link;
	struct module *sibling, **sibling_link;	/* list of a library's modules that have not ended */
	atomic_uint references;
	bool of_library;
	CUcontext context;
	unsigned int ends;		/* how often the context had ended before (slot->ends) */
	uint32_t device;
	const struct figures *figures;
	struct image *image;
	struct function *functions;	/* in the order of the image's kernels */
	CUdeviceptr *addresses;		/* as the image's variables; 0: not allocated */
	struct managed *managed;	/* the library's; NULL: no library, or the module has ended */
	/* Protects the members below; taken before modules_lock */
	pthread_mutex_t code_lock;
	struct ptx_code *code;		/* the image's PTX, linked; NULL: not yet */
	CUdeviceptr *own;		/* variables that the image does not list */
	unsigned int own_count;
};

/* A library's managed variables, which its modules in all contexts share. Under modules_lock */
struct managed {
	uint32_t heap;			/* their own, until the library is unloaded; 0: none yet */
	bool linked;			/* a module was: the initial values are there */
	bool ended;
	CUdeviceptr addresses[];	/* as the image's variables; 0: not allocated */
};

struct kernel {
	struct handle head;
	CUkernel handle;
	struct library *library;
	const struct code *code;
	struct settings *settings;	/* per device; NULL: none is set */
};

struct library {
	struct handle head;
	CUlibrary handle;
	atomic_uint references;
	struct image *image;		/* empty, if reading it failed */
	CUresult error;			/* of reading the image */
	char reason[256];
	struct kernel *kernels;
	struct managed *managed;
	struct module *modules;
};

extern pthread_mutex_t modules_lock;

/* handle.c */
uintptr_t handle_add(void *object);
void *handle_find(const void *handle, enum handle_kind kind);
void handle_remove(const void *handle);
void handle_put(void *object);
CUresult handle_missing(bool ended);
CUresult context_not_failed(void);
bool module_is_alive(const struct module *module);
CUresult handle_get(const void *handle, enum handle_kind kind, CUresult refusal, void *object);
CUresult module_get(CUmodule handle, struct module **module);
CUresult function_get(CUfunction handle, CUresult refusal, struct function **function);
CUresult function_get_any(CUfunction handle, CUcontext context, struct function **function);

/* module.c */
CUresult module_new(struct image *image, struct slot *slot, const struct library *library,
		    struct module **module);
bool module_end(struct module *module);
void module_put(struct module *module);
CUfunction function_handle(struct function *function);
CUresult module_place(struct module *module, const struct variable *variable,
		      CUdeviceptr *address, size_t *bytes);
CUresult module_variable(struct module *module, const char *name, CUdeviceptr *address,
			 size_t *bytes);
void modules_each_code(void (*function)(const struct code *code, void *data), void *data);

/* compile.c */
struct ptx_kernel;
CUresult module_compiled(struct module *module, const char *name,
			 const struct ptx_kernel **kernel, const char **why);
const struct ptx_kernel *module_for_windows(struct module *module,
					    const struct ptx_kernel *kernel);
CUresult module_unified(struct module *module, const char *name, void **function);
void module_compile_all(struct module *module);
CUresult module_addresses(struct module *module);
void module_code_free(struct module *module);
void module_own_free(struct module *module);

/* library.c */
void library_put(struct library *library);
CUresult library_module(struct library *library, CUcontext context, struct module **module);

/* managed.c */
CUresult managed_heap(const struct module *module, uint32_t *heap);
void managed_free(struct managed *managed);

/* load.c */
CUresult load_file(const char *path, char **text, size_t *bytes);
CUresult load_image(const void *data, size_t bytes, uint32_t device, unsigned int count,
		    const CUjit_option *options, void **values, struct image **image);
bool option_has(unsigned int count, const CUjit_option *options, CUjit_option wanted,
		unsigned int *at);
CUresult options_check(unsigned int count, const CUjit_option *options, void *const *values);

void load_log(unsigned int count, const CUjit_option *options, void **values, const char *error);

/* link.c */
struct link;
atomic_uint *link_references(struct link *link);
void link_put(struct link *link);

/* device_figures.c */
CUresult figures_get(uint32_t device, const struct figures **figures);

/* function_attribute.c */
struct settings settings_of(const struct code *code, const struct figures *figures);
CUresult setting_get(const struct image *image, const struct code *code,
		     const struct figures *figures, const struct settings *settings,
		     CUfunction_attribute attribute, int *value);
CUresult setting_set(const struct code *code, const struct figures *figures,
		     struct settings *settings, CUfunction_attribute attribute, int value);

/* occupancy.c */
int threads_by_registers(const struct code *code, const struct figures *figures);
int occupancy(const struct function *function, int threads, size_t dynamic);
CUresult cluster_check(const struct function *function, const unsigned int *grid,
		       const unsigned int *cluster);

/* Finds an object, evaluates an expression with it, and puts it. */
#define WITH(declaration, find, expression, put)				\
({										\
	declaration;								\
	CUresult with_ = (find);						\
										\
	if (with_ == CUDA_SUCCESS) {						\
		with_ = (expression);						\
		put;								\
	}									\
	with_;									\
})

/* Evaluates an expression with modules_lock held. */
#define LOCKED(expression)							\
({										\
	pthread_mutex_lock(&modules_lock);					\
	CUresult locked_ = (expression);					\
										\
	pthread_mutex_unlock(&modules_lock);					\
	locked_;								\
})

#endif /* LIB_KERNEL_H */
