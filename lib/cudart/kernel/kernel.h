/* SPDX-License-Identifier: MIT */
/*
 * Device code that a program's compiler has registered: images, and the kernels and variables
 * in them, which the program calls by the address of something of its own.
 *
 * The driver is asked for an image when something in it is wanted, and not before. Where it
 * loads none, kernels are known by name all the same.
 */
#ifndef MEMCAST_RUNTIME_KERNEL_H
#define MEMCAST_RUNTIME_KERNEL_H

#include "../runtime.h"

struct image;

struct kernel {
	const void *stub;		/* what the program calls it by */
	const char *name;		/* its symbol */
	struct image *image;
	struct kernel *next;		/* of the same image */
	int thread_limit;		/* of a block, or less than 1 */
	int dynamic_bytes;		/* of shared memory, as the program has allowed, or 0 */
	CUkernel handle;		/* the driver's, once it was asked */
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
