/* SPDX-License-Identifier: MIT */
/*
 * Cooperative groups of threads that exist in every launch: a block, and its parts of up to 32
 * threads. For clang without NVIDIA's toolkit (clang/cuda.h); C++17. There are no groups of the
 * grid, of a cluster, or of threads that happen to execute together.
 */
/* The include guard of NVIDIA's header of this name: of the two headers, the first one counts. */
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#include <cuda_runtime.h>

namespace cooperative_groups {

/* All threads of this thread's block; x counts fastest. */
class thread_block {
public:
	__device__ void sync() const { __syncthreads(); }
	__device__ unsigned int thread_rank() const
	{
		return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
	}
	__device__ unsigned int size() const { return blockDim.x * blockDim.y * blockDim.z; }
	__device__ unsigned int num_threads() const { return size(); }
	__device__ dim3 thread_index() const { return threadIdx; }
	__device__ dim3 group_index() const { return blockIdx; }
	__device__ dim3 group_dim() const { return blockDim; }
	__device__ dim3 dim_threads() const { return blockDim; }
};

inline __device__ thread_block this_thread_block()
{
	return thread_block();
}

/* @Size adjacent threads of a block: a power of two, at most 32 */
template <unsigned int Size> class thread_block_tile {
	static_assert(Size && Size <= 32 && !(Size & (Size - 1)),
		      "memcast has tiles of 1, 2, 4, 8, 16 and 32 threads");

	static __device__ unsigned int rank() { return this_thread_block().thread_rank(); }
	/* The warp's lane that is this tile's first thread */
	static __device__ unsigned int first() { return rank() % 32 & ~(Size - 1); }
	static __device__ unsigned int mask()
	{
		return (Size == 32 ? ~0U : (1U << Size % 32) - 1) << first();
	}

public:
	__device__ void sync() const { __syncwarp(mask()); }
	static constexpr __host__ __device__ unsigned int size() { return Size; }
	static constexpr __host__ __device__ unsigned int num_threads() { return Size; }
	__device__ unsigned int thread_rank() const { return rank() % Size; }
	__device__ unsigned int meta_group_rank() const { return rank() / Size; }
	__device__ unsigned int meta_group_size() const
	{
		return (this_thread_block().size() + Size - 1) / Size;
	}

	template <class T> __device__ T shfl(T value, int from) const
	{
		return __shfl_sync(mask(), value, from, Size);
	}
	template <class T> __device__ T shfl_down(T value, unsigned int delta) const
	{
		return __shfl_down_sync(mask(), value, delta, Size);
	}
	template <class T> __device__ T shfl_up(T value, unsigned int delta) const
	{
		return __shfl_up_sync(mask(), value, delta, Size);
	}
	template <class T> __device__ T shfl_xor(T value, unsigned int bits) const
	{
		return __shfl_xor_sync(mask(), value, bits, Size);
	}
	__device__ int any(int predicate) const { return __any_sync(mask(), predicate); }
	__device__ int all(int predicate) const { return __all_sync(mask(), predicate); }
	__device__ unsigned int ballot(int predicate) const
	{
		return __ballot_sync(mask(), predicate) >> first();
	}
};

template <unsigned int Size>
__device__ thread_block_tile<Size> tiled_partition(const thread_block &)
{
	return thread_block_tile<Size>();
}

template <unsigned int Size, unsigned int Whole>
__device__ thread_block_tile<Size> tiled_partition(const thread_block_tile<Whole> &)
{
	static_assert(Size <= Whole, "a part is not larger than the whole");
	return thread_block_tile<Size>();
}

template <class Group> __device__ void sync(const Group &group)
{
	group.sync();
}

} /* namespace cooperative_groups */

#endif /* _COOPERATIVE_GROUPS_H_ */
