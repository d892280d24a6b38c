// SPDX-License-Identifier: MIT
/*
 * Kernels in CUDA C++ of the kind that tests and samples have, and the results that they must
 * compute. memcast-cu compiles this file as a program and as a shared object of kernels; nvcc,
 * where it is found, compiles it as well. All give the same results: cu_test.sh compares them.
 */
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

namespace groups = cooperative_groups;

#define COUNT	1000

__constant__ int factor;
__device__ unsigned int counter = 5;

struct pair {
	double first;
	char second;
};

namespace inner {
__global__ void __launch_bounds__(256, 2) add(int *to, const int *from, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		to[i] += __ldcg(from + i) * (i & 3);
}
}

/* Sums a block's words by halves, in static shared memory and in dynamic shared memory. */
template <int N, class T> __global__ void sum(T *values)
{
	__shared__ T held[N];
	extern __shared__ __align__(16) unsigned char raw[];
	T *more = reinterpret_cast<T *>(raw);
	unsigned int i = threadIdx.x;

	held[i] = values[blockIdx.x * N + i];
	more[i] = 1;
	for (unsigned int half = N / 2; half; half /= 2) {
		__syncthreads();
		if (i < half) {
			held[i] += held[i + half];
			more[i] += more[i + half];
		}
	}
	if (!i)
		values[blockIdx.x * N] = held[0] * more[0];
}

template __global__ void sum<64, int>(int *values);

static __global__ void warps(int *out, int count)
{
	int i = threadIdx.x, value = i, odd;

	if (i >= count)
		return;
	for (int delta = 16; delta; delta /= 2)
		value += __shfl_down_sync(0xffffffff, value, delta);
	if (i % 32 == 0)
		atomicAdd(&out[0], value);
	if (__any_sync(0xffffffff, i == 3) && i % 32 == 0)
		atomicAdd(&out[1], 1);
	odd = __syncthreads_count(i & 1);
	atomicMax(&out[2], odd);
	if (i == 31)
		out[3] = __popc(__ballot_sync(1U << 31, 1)) + __shfl_xor_sync(1U << 31, 6, 0);
}

static __global__ void tiles(int *out)
{
	groups::thread_block block = groups::this_thread_block();
	auto tile = groups::tiled_partition<8>(block);
	int value = block.thread_rank();

	for (unsigned int delta = tile.size() / 2; delta; delta /= 2)
		value += tile.shfl_xor(value, delta);
	groups::sync(block);
	out[block.thread_rank()] = value;
}

extern "C" __global__ void words(unsigned int *word, pair by_value, float *real)
{
	atomicInc(word, 9);
	atomicAdd(real, 0.5f);
	if (threadIdx.x == blockDim.x - 1 && by_value.second == 'x')
		__stcg(word + 1, (unsigned int)by_value.first + blockIdx.y * gridDim.y);
}

__global__ void variables(unsigned int *out)
{
	*out = atomicAdd(&counter, factor);
}

static int number, failures;

static void check(const char *name, bool good)
{
	printf("%sok %d cu.%s\n", good ? "" : "not ", ++number, name);
	failures += !good;
}

#define MUST(call)								\
do {										\
	cudaError_t error_ = (call);						\
	if (error_ != cudaSuccess) {						\
		printf("# %s: %s\n", #call, cudaGetErrorString(error_));	\
		return false;							\
	}									\
} while (0)

static bool do_add(int *memory)
{
	int host[COUNT];

	for (int i = 0; i < COUNT; i++)
		host[i] = i;
	MUST(cudaMemcpy(memory, host, sizeof(host), cudaMemcpyHostToDevice));
	inner::add<<<4, 256>>>(memory, memory, COUNT);
	MUST(cudaGetLastError());
	MUST(cudaMemcpy(host, memory, sizeof(host), cudaMemcpyDeviceToHost));
	for (int i = 0; i < COUNT; i++)
		if (host[i] != i + i * (i & 3))
			return false;
	return true;
}

static bool do_sum(int *memory)
{
	int host[128], first = 0, second = 0;

	for (int i = 0; i < 128; i++) {
		host[i] = i;
		*(i < 64 ? &first : &second) += 64 * i;
	}
	MUST(cudaMemcpy(memory, host, sizeof(host), cudaMemcpyHostToDevice));
	sum<64, int><<<dim3(2), 64, 64 * sizeof(int)>>>(memory);
	MUST(cudaMemcpy(host, memory, sizeof(host), cudaMemcpyDeviceToHost));
	return host[0] == first && host[64] == second;
}

static bool do_warps(int *memory)
{
	int host[4];

	MUST(cudaMemset(memory, 0, sizeof(host)));
	warps<<<1, 96>>>(memory, 64);
	MUST(cudaMemcpy(host, memory, sizeof(host), cudaMemcpyDeviceToHost));
	return host[0] == 63 * 64 / 2 && host[1] == 1 && host[2] == 32 && host[3] == 7;
}

static bool do_tiles(int *memory)
{
	int host[40];

	tiles<<<1, 40>>>(memory);
	MUST(cudaMemcpy(host, memory, sizeof(host), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 40; i++)
		if (host[i] != 64 * (i / 8) + 28)
			return false;
	return true;
}

static bool do_words(int *memory)
{
	unsigned int *word = (unsigned int *)memory, host[3];
	const pair given = { 1000.5, 'x' };
	float real;
	cudaStream_t stream;

	MUST(cudaStreamCreate(&stream));
	MUST(cudaMemset(memory, 0, 64));
	words<<<dim3(1, 3), 8, 0, stream>>>(word, given, (float *)(word + 2));
	MUST(cudaStreamSynchronize(stream));
	MUST(cudaMemcpy(host, word, sizeof(host), cudaMemcpyDeviceToHost));
	memcpy(&real, &host[2], sizeof(real));
	MUST(cudaStreamDestroy(stream));
	return host[0] == 4 && host[1] >= 1000 && host[1] <= 1006 && real == 12;
}

static bool do_variables(int *memory)
{
	const int given = 3;
	unsigned int counted, before;

	MUST(cudaMemcpyToSymbol(factor, &given, sizeof(given)));
	variables<<<1, 1>>>((unsigned int *)memory);
	MUST(cudaMemcpyFromSymbol(&counted, counter, sizeof(counted)));
	MUST(cudaMemcpy(&before, memory, sizeof(before), cudaMemcpyDeviceToHost));
	return before == 5 && counted == 8;
}

static bool do_limits()
{
	cudaFuncAttributes attributes;
	int grid, size;

	MUST(cudaFuncGetAttributes(&attributes, inner::add));
	MUST(cudaOccupancyMaxPotentialBlockSize(&grid, &size, inner::add));
	inner::add<<<1, 512>>>(nullptr, nullptr, 0);
	return attributes.maxThreadsPerBlock == 256 && size == 256 &&
		cudaGetLastError() == cudaErrorInvalidValue;
}

/* With an argument, kernels come from a shared object, which has its own copies of variables. */
int main(int argc, char **)
{
	int *memory;

	printf("TAP version 13\n1..7\n");
	if (cudaMalloc(&memory, 1 << 16) != cudaSuccess)
		return 1;
	check("a_kernel_in_a_namespace", do_add(memory));
	check("templates_and_shared_memory_of_both_kinds", do_sum(memory));
	check("shuffles_votes_and_threads_that_return_early", do_warps(memory));
	check("tiles_of_a_block", do_tiles(memory));
	check("atomics_and_structs_by_value", do_words(memory));
	check("launch_bounds_and_occupancy", do_limits());
	if (argc == 1)
		check("variables", do_variables(memory));
	else
		printf("ok 7 cu.variables # SKIP they are of another object\n");
	cudaFree(memory);
	return failures != 0;
}
