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
	int thread_limit;		/* of a block, or less than 1 */
	int dynamic_bytes;		/* of shared memory, as the program has allowed, or 0 */
	cudaKernel_t handle;		/* the driver's, once it was asked */
};

/* driver.c: the driver's functions for device code, which older ones do not have */
CUresult driver_library_load(cudaLibrary_t *library, const void *image);
CUresult driver_library_unload(cudaLibrary_t library);
CUresult driver_library_kernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name);
CUresult driver_library_global(CUdeviceptr *pointer, size_t *bytes, cudaLibrary_t library,
			       const char *name);
CUresult driver_kernel_function(cudaFunction_t *function, cudaKernel_t kernel);
CUresult driver_kernel_attribute(int *value, int attribute, cudaKernel_t kernel, CUdevice device);
CUresult driver_kernel_set_attribute(int attribute, int value, cudaKernel_t kernel, CUdevice device);
CUresult driver_launch(const cudaLaunchConfig_t *config, cudaKernel_t kernel, void **arguments);

/* register.c */
struct kernel *kernel_find(const void *stub);
struct kernel *kernel_find_or_refuse(const char *call, const void *stub);
CUresult kernel_load(struct kernel *kernel);

/* function.c */
cudaError_t kernel_refuse(const char *call, const struct kernel *kernel);
cudaError_t kernel_launch(const char *call, const void *stub, const cudaLaunchConfig_t *config,
			  void **arguments);

#endif /* MEMCAST_RUNTIME_KERNEL_H */
