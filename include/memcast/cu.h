/* SPDX-License-Identifier: MIT */
/*
 * Device code compiled as C++: a .cu file is compiled by the C++ compiler at hand instead of
 * nvcc, and memcast runs its kernels (memcast/kernel.h). memcast-cu includes this header by
 * itself, and writes C++ in the place of the syntax that C++ lacks:
 *
 *	memcast-cu program.cu -o program			# a program
 *	memcast-cu -shared -Xcompiler -fPIC program.cu -o k.so	# its kernels, for MEMCAST_KERNELS
 *
 * Each thread of a kernel has threadIdx, blockIdx, blockDim, gridDim and warpSize as CUDA
 * C++ has them, and the functions of memcast/cu/functions.h. docs/stack/cu.md lists the parts of
 * CUDA C++ that are there and those that are not.
 *
 * Without memcast-cu, a C++ file itself has the lines that memcast-cu would write:
 *
 *	__global__ void add(float *to, int count) { ... }
 *	MEMCAST_CU_KERNEL(add);
 *	memcast::cu::launch(add, blocks, threads, shared_bytes, stream)(to, count);
 *
 * C++17, with libcuda.so.1 and libcudart.so.13 of memcast.
 */
#ifndef MEMCAST_CU_H
#define MEMCAST_CU_H

#ifndef __cplusplus
#error "memcast/cu.h is for C++"
#endif

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include <cuda_runtime.h>
#include <memcast/kernel.h>

/*
 * The functions by which programs from nvcc register an image, and a kernel in it, with the
 * runtime
 */
extern "C" void **__cudaRegisterFatBinary(void *image);
extern "C" void __cudaRegisterFatBinaryEnd(void **handle);
extern "C" void __cudaRegisterFunction(void **handle, const char *stub, char *device_stub,
				       const char *name, int thread_limit, uint3 *thread,
				       uint3 *block, dim3 *block_dim, dim3 *grid_dim, int *warp);

/* The place of this thread in the kernel's launch; without meaning in a program's own threads */
inline thread_local uint3 threadIdx = {}, blockIdx = {};
inline thread_local dim3 blockDim, gridDim;
constexpr int warpSize = 32;

namespace memcast {
namespace cu {

inline thread_local const memcast_launch *here;

/* Sets the place of this thread to that of the kernel's thread that it runs from now on. */
inline void enter(const memcast_launch *at)
{
	here = at;
	threadIdx = { at->thread_index.x, at->thread_index.y, at->thread_index.z };
	blockIdx = { at->block_index.x, at->block_index.y, at->block_index.z };
	blockDim = { at->block.x, at->block.y, at->block.z };
	gridDim = { at->grid.x, at->grid.y, at->grid.z };
}

/* Gives each of the block's other threads a turn, then goes on. */
inline void yield()
{
	const memcast_launch *at = here;

	memcastYield(at);
	enter(at);
}

/* The state of a warp; the blocks run one after the other in a thread of the process. */
struct warp {
	uint32_t there;			/* lanes that have not returned */
	uint32_t arrived, released;	/* at __syncwarp() */
	uint64_t values[32];
};
inline thread_local warp warps[32];

inline unsigned int lane()
{
	return memcast_thread_in_block(here) % 32;
}

inline warp &my_warp()
{
	return warps[memcast_thread_in_block(here) / 32];
}

inline void block_begin(const memcast_launch *at)
{
	unsigned int threads = at->block.x * at->block.y * at->block.z;

	for (unsigned int i = 0; i < 32; i++) {
		unsigned int first = 32 * i, count = threads > first ? threads - first : 0;

		warps[i].there = count >= 32 ? ~0U : (1U << count) - 1;
		warps[i].arrived = 0;
		warps[i].released = 0;
	}
}

template <class... P, size_t... I>
void call(void (*function)(P...), void *const *parameters, std::index_sequence<I...>)
{
	function(*static_cast<std::remove_cv_t<P> *>(parameters[I])...);
}

/* memcast calls this for each thread of a launch. */
template <class... P> void thread(const memcast_launch *at)
{
	auto function = reinterpret_cast<void (*)(P...)>(at->user);

	if (!memcast_thread_in_block(at))
		block_begin(at);
	enter(at);
	call(function, at->parameters, std::index_sequence_for<P...>());
	my_warp().there &= ~(1U << lane());
	here = nullptr;
}

/*
 * The kernels, found by their function. A kernel is registered when its file is loaded; one
 * that a template makes, when it is first launched.
 */
struct kernels {
	std::mutex lock;
	std::map<const void *, std::string> names;
};

inline kernels &known()
{
	static kernels *all = new kernels;	/* never freed */

	return *all;
}

/*
 * With the lock held. Return: a kernel's mangled name, so that modules of nvcc mean the same
 * kernel. The linker does not tell the name of a static function: @plain stands for it, with a
 * number if another kernel has that name.
 */
inline std::string name_of(const void *function, const char *plain)
{
	std::string name = plain;
	Dl_info info;

	if (dladdr(function, &info) && info.dli_saddr == function && info.dli_sname)
		return info.dli_sname;
	for (const auto &other : known().names)
		if (other.second == plain)
			return name + "$" + std::to_string(known().names.size());
	return name;
}

/* Return: device code of which only the names and the sizes matter. */
inline std::string code_of(const char *name, const size_t *sizes, const size_t *aligns,
			   size_t count, int thread_limit)
{
	std::string code = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry ";

	code += name;
	code += "(";
	for (size_t i = 0; i < count; i++)
		code += std::string(i ? ", " : "") + ".param .align " +
			std::to_string(aligns[i]) + " .b8 p" + std::to_string(i) + "[" +
			std::to_string(sizes[i]) + "]";
	code += ")";
	if (thread_limit > 0)
		code += " .maxntid " + std::to_string(thread_limit) + ", 1, 1";
	return code + " { ret; }\n";
}

/* Registers the kernel of a function. @thread_limit: of __launch_bounds__(); 0: none */
template <class... P>
void know(void (*function)(P...), const char *plain, int thread_limit, memcast_shape shape)
{
	static const size_t sizes[] = { sizeof(P)..., 0 }, aligns[] = { alignof(P)..., 0 };
	const void *key = reinterpret_cast<const void *>(function);
	std::lock_guard<std::mutex> guard(known().lock);

	if (known().names.count(key))
		return;

	const std::string &name = known().names[key] = name_of(key, plain);
	const memcast_kernel kernel = {
		sizeof(kernel), name.c_str(), shape, thread<P...>,
		const_cast<void *>(key), sizes, sizeof...(P)
	};
	/* never freed: the runtime reads it when it is first needed */
	char *code = strdup(code_of(name.c_str(), sizes, aligns, sizeof...(P),
				    thread_limit).c_str());
	void **image;

	memcastKernelMust(&kernel);
	image = __cudaRegisterFatBinary(code);
	__cudaRegisterFunction(image, static_cast<const char *>(key), nullptr, name.c_str(),
			       thread_limit > 0 ? thread_limit : -1, nullptr, nullptr, nullptr,
			       nullptr, nullptr);
	__cudaRegisterFatBinaryEnd(image);
}

struct registration {
	template <class... P>
	registration(void (*function)(P...), const char *plain, int thread_limit = 0,
		     memcast_shape shape = MEMCAST_THREADS)
	{
		know(function, plain, thread_limit, shape);
	}
};

/* Launches: kernel<<<grid, block, shared_bytes, stream>>>(values) */
template <class... P> struct launcher {
	void (*function)(P...);
	memcast_shape shape;
	dim3 grid, block;
	size_t shared_bytes;
	cudaStream_t stream;

	void operator()(P... values) const
	{
		void *parameters[] = { const_cast<std::remove_cv_t<P> *>(&values)..., nullptr };

		know(function, "kernel", 0, shape);
		cudaLaunchKernel(reinterpret_cast<const void *>(function), grid, block,
				 parameters, shared_bytes, stream);
	}
};

/**
 * launch_as() - the code that memcast-cu writes for kernel<<<...>>>
 * @shape: MEMCAST_THREADS, or MEMCAST_THREADS_ALONE for a kernel whose threads do not wait
 *	for each other, which is faster; ignored if the kernel is registered already
 * @kernel: its function, also one that a template has made
 * @grid: blocks
 * @block: threads of each
 * @shared_bytes: of the block's dynamic shared memory
 * @stream: that it runs in
 *
 * Return: a function of the kernel's parameters that launches it. cudaGetLastError() tells its
 * error, as of a launch in CUDA C++.
 */
template <class... P>
launcher<P...> launch_as(memcast_shape shape, void (*kernel)(P...), dim3 grid, dim3 block,
			 size_t shared_bytes = 0, cudaStream_t stream = nullptr)
{
	return { kernel, shape, grid, block, shared_bytes, stream };
}

/* The same for any kernel, in files that memcast-cu does not process */
template <class... P>
launcher<P...> launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes = 0,
		      cudaStream_t stream = nullptr)
{
	return launch_as(MEMCAST_THREADS, kernel, grid, block, shared_bytes, stream);
}

/* extern __shared__ type name[]; the block's dynamic shared memory */
inline void *dynamic_shared()
{
	return here->shared;
}

/* The same, declared outside of functions */
template <class T> struct shared_array {
	operator T *() const { return static_cast<T *>(dynamic_shared()); }
	template <class U> explicit operator U *() const
	{
		return static_cast<U *>(dynamic_shared());
	}
};

} /* namespace cu */
} /* namespace memcast */

/**
 * MEMCAST_CU_KERNEL() - register a kernel when the file is loaded; behind its definition
 * @kernel: a function with one definition of this name, and no template
 */
#define MEMCAST_CU_KERNEL(kernel) \
	static const ::memcast::cu::registration memcast_cu_##kernel(&kernel, #kernel)

/* memcast-cu processes these words itself, so that they may have other meanings in other places. */
#ifndef MEMCAST_CU
#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__	static thread_local
#define __forceinline__	inline __attribute__((always_inline))
#endif

#include <memcast/cu/functions.h>
#include <memcast/cu/symbol.h>

#endif /* MEMCAST_CU_H */
