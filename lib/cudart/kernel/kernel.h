/* SPDX-License-Identifier: MIT */
/*
 * Device code that the program's compiler has registered: images, and the kernels and variables
 * in them. The program names each by the address of an object of its own (a kernel's stub).
 *
 * The driver gets an image only when the program uses a part of it.
 */
#ifndef MEMCAST_RUNTIME_KERNEL_H
#define MEMCAST_RUNTIME_KERNEL_H

#include "../runtime.h"

struct image;

/* Begins each kernel and each variable. */
struct item {
	const void *address;		/* by which the program names it: a kernel's stub */
	struct item *next;		/* later one of another image at the same address */
};

struct kernel {
	struct item item;
	const char *name;		/* symbol of the kernel */
	struct image *image;
	struct kernel *next;		/* list of the image's kernels */
	CUkernel handle;		/* the driver's, once loaded */
};

/* register.c */
struct kernel *kernel_find(const void *stub);
struct kernel *kernel_of_function(CUfunction function);
CUresult kernel_load(struct kernel *kernel);

/* function.c */
cudaError_t kernel_result(const char *call, const struct kernel *kernel, CUresult result);
cudaError_t kernel_handle(const char *call, CUkernel *handle, const void *stub);
CUlaunchConfig kernel_config(const cudaLaunchConfig_t *config);
cudaError_t kernel_launch(const char *call, const void *stub, const cudaLaunchConfig_t *config,
			  void **arguments);

#endif /* MEMCAST_RUNTIME_KERNEL_H */
