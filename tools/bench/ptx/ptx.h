/* SPDX-License-Identifier: MIT */
/*
 * The suite "ptx": kernels of PTX, each against the same work by a loop of C's. It needs no device:
 * it calls memcast-ptx.so as libcuda.so.1 does.
 */
#ifndef MEMCAST_TOOLS_BENCH_PTX_H
#define MEMCAST_TOOLS_BENCH_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <memcast/view.h>

#include "translate/ptx_object.h"

/* Parameters of all kernels, and of all loops */
struct arrays {
	void *a, *b, *c;
	uint32_t n;
};

/* ---- kernels.c */

extern const char ptx_kernels[];
/* Return: a text with a kernel "long" of about so many instructions; the caller frees it */
char *ptx_long_kernel(unsigned int instructions);

/* ---- loops.c: the same work for a part of the range, by gcc -O3 */

#define HISTOGRAM_BINS	256

void loop_vector_add(const struct arrays *arrays, size_t first, size_t end);
void loop_saxpy(const struct arrays *arrays, size_t first, size_t end);
void loop_sum(const struct arrays *arrays, size_t first, size_t end);
void loop_histogram(const struct arrays *arrays, size_t first, size_t end);
void loop_product(const struct arrays *arrays, size_t first, size_t end);
void loop_transpose(const struct arrays *arrays, size_t first, size_t end);
void loop_stencil(const struct arrays *arrays, size_t first, size_t end);

/* ---- costs.c */

struct bench;

void costs_measure(struct bench *bench, struct ptx_code *code);

/* ---- device.c */

/* Return: NULL, or why memcast-ptx.so cannot be used */
const char *device_open(void);
/* Reads texts; ends the program if they are wrong. */
struct ptx_code *device_load(const char *text);
void device_unload(struct ptx_code *code);
/* Finds a kernel, and compiles it the first time. */
const struct ptx_kernel *device_kernel(struct ptx_code *code, const char *name);
void device_launch(const struct ptx_kernel *kernel, unsigned int blocks_x, unsigned int blocks_y,
		   unsigned int threads_x, unsigned int threads_y, const struct arrays *arrays);
/* Makes the replicas of a view appear at an address, as those of a team's window do. */
void *device_window(const struct memcast_view *view);

/* ---- opencl.c: the same kernels by OpenCL, on all processors that the program may use then */

struct opencl_kernel;

/* Return: who implements OpenCL here; NULL: nobody */
const char *opencl_open(void);
/* Finds a kernel, and gives it its parameters. Return: NULL: there is none of that name */
struct opencl_kernel *opencl_kernel(const char *name, const struct arrays *arrays, size_t bytes);
void opencl_launch(const struct opencl_kernel *kernel, const unsigned int grid[2],
		   const unsigned int block[2]);

#endif /* MEMCAST_TOOLS_BENCH_PTX_H */
