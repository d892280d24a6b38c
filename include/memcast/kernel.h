/* SPDX-License-Identifier: MIT */
/*
 * Kernels by name: the work of a program's kernel, written as a C function, for kernels of which
 * there is no PTX, or in its place. memcast knows which kernel a launch asks for, its parameters
 * and its shape, and calls the function that is registered for that name, in the stream's order.
 *
 *	#include <memcast/kernel.h>
 *
 *	MEMCAST_KERNEL(vectorAdd, MEMCAST_THREADS_ALONE, float *, float *, float *, int)
 *	{
 *		int i = memcast_thread(at);
 *
 *		if (i < MEMCAST_PARAMETER(at, 3, int))
 *			MEMCAST_PARAMETER(at, 2, float *)[i] =
 *				MEMCAST_PARAMETER(at, 0, float *)[i] +
 *				MEMCAST_PARAMETER(at, 1, float *)[i];
 *	}
 *
 * A program that is not to be changed needs no more than that, in a shared object:
 *
 *	gcc -shared -fPIC -O2 kernels.c -o kernels.so $(pkg-config --cflags --libs memcast)
 *	MEMCAST_KERNELS=./kernels.so ./program		# several: a.so:b.so
 *
 * docs/stack/kernels.md says how to port a kernel. The functions are exported by memcast's
 * libcuda.so.1 only. C and C++.
 */
#ifndef MEMCAST_KERNEL_H
#define MEMCAST_KERNEL_H

#include <stddef.h>

#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

struct memcast_dim {
	unsigned int x, y, z;
};

/**
 * struct memcast_launch - a launch, and the block and thread for which the function is called
 * @name: of the kernel, as the module has it
 * @grid: blocks; @block: threads of each; @cluster: blocks of each cluster, 1 without
 * @shared_bytes: of @shared
 * @stream: that it runs in; not to be used: no call of the driver API may be made here
 * @device: that it runs on, @context: that the kernel is of
 * @parameters: where each parameter is; they are the launch's own copies
 * @parameters_count: how many there are
 * @user: as it was registered
 * @block_index: which block; @thread_index: which of its threads
 * @shared: dynamic shared memory of the block
 * @static_shared: as much shared memory as the kernel's code declares
 * @internal: for memcast only
 */
struct memcast_launch {
	const char *name;
	struct memcast_dim grid, block, cluster;
	unsigned int shared_bytes;
	CUstream stream;
	CUdevice device;
	CUcontext context;
	void *const *parameters;
	unsigned int parameters_count;
	void *user;
	struct memcast_dim block_index, thread_index;
	void *shared;
	void *static_shared;
	const void *internal;
};

typedef void (*memcast_kernel_function)(const struct memcast_launch *at);

/*
 * How often the function is called for a launch. The calls come one after the other, unless the
 * shape says otherwise.
 */
enum memcast_shape {
	MEMCAST_ONCE,		/* for the launch; indices are 0 */
	MEMCAST_BLOCKS,		/* for each block; thread_index is 0 */
	MEMCAST_THREADS_ALONE,	/* for each thread; threads do not wait for each other */
	/*
	 * For each thread, the threads of a block taking turns: memcastSyncThreads() is
	 * __syncthreads(). Each has a stack of 60 KiB.
	 */
	MEMCAST_THREADS,
	/*
	 * The same, with all blocks at the same time: memcastSyncGrid() waits for all. At
	 * most 16,384 threads.
	 */
	MEMCAST_GRID
};

/**
 * struct memcast_kernel - a kernel, for memcastKernelRegister()
 * @size: sizeof(struct memcast_kernel), which may grow
 * @name: of the kernel. A mangled name as the module has it; or the plain one, which
 *	stands for functions that are in no namespace and no template
 * @shape: how often the function is called
 * @function: does the work of the kernel
 * @user: for memcast_launch.user
 * @sizes: array of the parameters' sizes, in bytes
 * @count: its length
 */
struct memcast_kernel {
	size_t size;
	const char *name;
	enum memcast_shape shape;
	memcast_kernel_function function;
	void *user;
	const size_t *sizes;
	unsigned int count;
};

/**
 * memcastKernelRegister() - register the C function of a kernel
 * @kernel: copied
 *
 * For the whole process and until it ends; before or after cuInit(), by any thread, also
 * when a shared object is loaded. Several kernels may have one name if their parameters
 * differ.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE: a pointer is NULL, a kernel of this name with these
 * parameters is registered already, or a loaded module has a kernel of this name, but none
 * with these parameters. CUDA_ERROR_OUT_OF_MEMORY. The reason is in the log.
 */
CUresult memcastKernelRegister(const struct memcast_kernel *kernel);

/* The functions below are called by a kernel's function, with the pointer that it was given. */

/**
 * memcastSyncThreads() - __syncthreads(): wait for all threads of the block that have not returned
 * @at: as the kernel's function got it
 */
void memcastSyncThreads(const struct memcast_launch *at);

/**
 * memcastSyncGrid() - wait for all threads of the launch that have not returned
 * @at: as the kernel's function got it; the kernel is of MEMCAST_GRID
 */
void memcastSyncGrid(const struct memcast_launch *at);

/**
 * memcastYield() - let other threads run
 * @at: as the kernel's function got it
 *
 * A thread that waits for another event, such as a word that another thread or process writes,
 * calls this in its loop. If the context has failed meanwhile, or has ended, the launch ends as by
 * memcastKernelFail().
 */
void memcastYield(const struct memcast_launch *at);

/**
 * memcastKernelFail() - end the launch as a device's fault does, and with it the context
 * @at: as the kernel's function got it
 * @result: the error that calls return from then on: CUDA_ERROR_LAUNCH_FAILED (trap),
 *	_MISALIGNED_ADDRESS, _ASSERT and others
 * @reason: in words, for the log; or NULL
 *
 * It does not return, and memory and locks that the function holds stay as they are.
 */
__attribute__((noreturn))
void memcastKernelFail(const struct memcast_launch *at, CUresult result, const char *reason);

/**
 * memcastKernelVariable() - find a variable of the kernel's module, as cuModuleGetGlobal() does
 * @at: as the kernel's function got it
 * @name: of the variable
 *
 * Return: its address; NULL: the module has no such variable. If there is no memory for it, the launch
 * fails, as by memcastKernelFail().
 */
void *memcastKernelVariable(const struct memcast_launch *at, const char *name);

/**
 * memcastKernelCheck() - may the device access this memory?
 * @at: as the kernel's function got it
 * @address: of the first byte
 * @bytes: how many
 *
 * If not, the launch ends with CUDA_ERROR_ILLEGAL_ADDRESS. Accesses to addresses without a
 * mapping do that by themselves; this call also finds ordinary memory of the program, which
 * a device could not reach and a C function can.
 */
void memcastKernelCheck(const struct memcast_launch *at, const void *address, size_t bytes);

/* Parameter @number, from 0, as an lvalue of type @type */
#define MEMCAST_PARAMETER(at, number, type)	(*(type *)(at)->parameters[number])

/* blockIdx.x * blockDim.x + threadIdx.x */
static inline unsigned int memcast_thread(const struct memcast_launch *at)
{
	return at->block_index.x * at->block.x + at->thread_index.x;
}

/* The thread's number in its block, and the block's in the grid: x counts first, then y, then z */
static inline unsigned int memcast_thread_in_block(const struct memcast_launch *at)
{
	return (at->thread_index.z * at->block.y + at->thread_index.y) * at->block.x +
	       at->thread_index.x;
}

static inline size_t memcast_block_in_grid(const struct memcast_launch *at)
{
	return ((size_t)at->block_index.z * at->grid.y + at->block_index.y) * at->grid.x +
	       at->block_index.x;
}

/**
 * MEMCAST_KERNEL() - define a kernel's function, registered when its file is loaded
 * @kernel: its name, mangled or plain, without quotes
 * @shape: one of enum memcast_shape
 * @...: the types of its parameters, at most 24
 *
 * A block with the function's statements follows; in it, "at" is the struct memcast_launch.
 * If the function cannot be registered, a line on stderr says so and the process ends.
 */
#define MEMCAST_KERNEL(kernel, shape, ...)						\
static void memcast_kernel_##kernel(const struct memcast_launch *at);			\
__attribute__((constructor))								\
static void memcast_register_##kernel(void)						\
{											\
	static const size_t sizes[] = { MEMCAST_SIZES(__VA_ARGS__) 0 };			\
	const struct memcast_kernel registered = {					\
		sizeof(registered), #kernel, shape, memcast_kernel_##kernel, 0, sizes,	\
		sizeof(sizes) / sizeof(sizes[0]) - 1					\
	};										\
											\
	memcastKernelMust(&registered);							\
}											\
static void memcast_kernel_##kernel(const struct memcast_launch *at)

/* memcastKernelRegister() for MEMCAST_KERNEL() */
void memcastKernelMust(const struct memcast_kernel *kernel);

#define MEMCAST_SIZES(...)	__VA_OPT__(MEMCAST_SIZES_(__VA_ARGS__,,,,,,,,,,,,,,,,,,,,,,,,))
#define MEMCAST_SIZES_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, ...) \
	MEMCAST_SIZE(a) MEMCAST_SIZE(b) MEMCAST_SIZE(c) MEMCAST_SIZE(d)			\
	MEMCAST_SIZE(e) MEMCAST_SIZE(f) MEMCAST_SIZE(g) MEMCAST_SIZE(h)			\
	MEMCAST_SIZE(i) MEMCAST_SIZE(j) MEMCAST_SIZE(k) MEMCAST_SIZE(l)			\
	MEMCAST_SIZE(m) MEMCAST_SIZE(n) MEMCAST_SIZE(o) MEMCAST_SIZE(p)			\
	MEMCAST_SIZE(q) MEMCAST_SIZE(r) MEMCAST_SIZE(s) MEMCAST_SIZE(t)			\
	MEMCAST_SIZE(u) MEMCAST_SIZE(v) MEMCAST_SIZE(w) MEMCAST_SIZE(x)
#define MEMCAST_SIZE(...)	__VA_OPT__(sizeof(__VA_ARGS__),)

#ifdef __cplusplus
}
#endif

#endif /* MEMCAST_KERNEL_H */
