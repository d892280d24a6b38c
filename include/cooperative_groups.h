/* SPDX-License-Identifier: MIT */
/*
 * Cooperative groups of threads that exist in every launch: a block, and its parts of up to 32
 * threads. For kernels that are compiled as C++ (memcast/cu.h); C++17. Groups of the grid, of a
 * cluster and of threads that happen to execute together are not supported.
 */
#ifndef MEMCAST_COOPERATIVE_GROUPS_H
#define MEMCAST_COOPERATIVE_GROUPS_H

#include <memcast/cu.h>

namespace cooperative_groups {

/* All threads of this thread's block; x counts fastest. */
class thread_block {
public:
	void sync() const { __syncthreads(); }
	unsigned int thread_rank() const { return memcast_thread_in_block(memcast::cu::here); }
	unsigned int size() const { return blockDim.x * blockDim.y * blockDim.z; }
	unsigned int num_threads() const { return size(); }
	dim3 thread_index() const { return threadIdx; }
	dim3 group_index() const { return blockIdx; }
	dim3 group_dim() const { return blockDim; }
	dim3 dim_threads() const { return blockDim; }
};

inline thread_block this_thread_block()
{
	return thread_block();
}

/* @Size adjacent threads of a block: a power of two, at most 32 */
template <unsigned int Size> class thread_block_tile {
	static_assert(Size && Size <= 32 && !(Size & (Size - 1)),
		      "memcast has tiles of 1, 2, 4, 8, 16 and 32 threads");

	/* Lanes of the warp that are in this thread's tile */
	unsigned int mask() const
	{
		unsigned int first = memcast::cu::lane() & ~(Size - 1);

		return (Size == 32 ? ~0U : (1U << Size % 32) - 1) << first;
	}

public:
	void sync() const { __syncwarp(mask()); }
	static constexpr unsigned int size() { return Size; }
	static constexpr unsigned int num_threads() { return Size; }
	unsigned int thread_rank() const { return memcast::cu::lane() % Size; }
	unsigned int meta_group_rank() const
	{
		return memcast_thread_in_block(memcast::cu::here) / Size;
	}
	unsigned int meta_group_size() const
	{
		return (blockDim.x * blockDim.y * blockDim.z + Size - 1) / Size;
	}

	template <class T> T shfl(T value, int from) const
	{
		return __shfl_sync(mask(), value, from, Size);
	}
	template <class T> T shfl_down(T value, unsigned int delta) const
	{
		return __shfl_down_sync(mask(), value, delta, Size);
	}
	template <class T> T shfl_up(T value, unsigned int delta) const
	{
		return __shfl_up_sync(mask(), value, delta, Size);
	}
	template <class T> T shfl_xor(T value, unsigned int bits) const
	{
		return __shfl_xor_sync(mask(), value, bits, Size);
	}
	int any(int predicate) const { return __any_sync(mask(), predicate); }
	int all(int predicate) const { return __all_sync(mask(), predicate); }
	unsigned int ballot(int predicate) const
	{
		return __ballot_sync(mask(), predicate) >> (memcast::cu::lane() & ~(Size - 1));
	}
};

template <unsigned int Size> thread_block_tile<Size> tiled_partition(const thread_block &)
{
	return thread_block_tile<Size>();
}

template <unsigned int Size, unsigned int Whole>
thread_block_tile<Size> tiled_partition(const thread_block_tile<Whole> &)
{
	static_assert(Size <= Whole, "a part is not larger than the whole");
	return thread_block_tile<Size>();
}

template <class Group> void sync(const Group &group)
{
	group.sync();
}

} /* namespace cooperative_groups */

#endif /* MEMCAST_COOPERATIVE_GROUPS_H */
