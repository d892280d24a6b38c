// SPDX-License-Identifier: MIT
/*
 * A program with kernels, as nvcc builds it with the shared runtime: it loads, every call works
 * except launches, and the runtime refuses each kernel that it does not run. Built where nvcc is
 * found, for the legacy default stream and for the per-thread one.
 */
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

#define TESTS	10

__device__ int counter = 5;
__managed__ int held = 3;
__constant__ float factors[4] = { 1, 2, 3, 4 };

__global__ void __launch_bounds__(256) add(float *to, const float *from, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		to[i] += from[i] * factors[i & 3] + counter;
}

template <int N> __global__ void turn(float *values)
{
	__shared__ float held[N];

	held[threadIdx.x % N] = values[threadIdx.x];
	__syncthreads();
	values[threadIdx.x] = held[(threadIdx.x + 1) % N];
}

static int number, failures;

static void result(const char *name, bool good)
{
	printf("%sok %d nvcc_runtime.%s\n", good ? "" : "not ", ++number, name);
	failures += !good;
}

static bool attributes()
{
	cudaFuncAttributes first = {}, second = {};

	return cudaFuncGetAttributes(&first, add) == cudaSuccess &&
		first.maxThreadsPerBlock == 256 && first.binaryVersion == 90 &&
		first.constSizeBytes >= sizeof(factors) &&
		cudaFuncGetAttributes(&second, turn<8>) == cudaSuccess &&
		second.sharedSizeBytes == 8 * sizeof(float);
}

static bool names()
{
	const char *name = "";

	return cudaFuncGetName(&name, (const void *)turn<8>) == cudaSuccess &&
		!strcmp(name, "_Z4turnILi8EEvPf");
}

static bool occupancy()
{
	int blocks = 0, grid = 0, size = 0;

	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0) ==
			cudaSuccess && blocks == 8 &&
		cudaOccupancyMaxPotentialBlockSize(&grid, &size, add) == cudaSuccess &&
		size == 256;
}

static bool variables()
{
	int first = 0, second = 6, third = 0;
	float read[4] = {};

	return cudaMemcpyFromSymbol(&first, counter, sizeof(first)) == cudaSuccess &&
		first == 5 &&
		cudaMemcpyToSymbol(counter, &second, sizeof(second)) == cudaSuccess &&
		cudaMemcpyFromSymbol(&third, counter, sizeof(third)) == cudaSuccess &&
		third == 6 &&
		cudaMemcpyFromSymbol(read, factors, sizeof(read)) == cudaSuccess && read[3] == 4;
}

static bool handles()
{
	cudaFunction_t function = NULL;
	cudaKernel_t kernel = NULL;

	return cudaGetFuncBySymbol(&function, (const void *)add) == cudaSuccess && function &&
		cudaGetKernel(&kernel, add) == cudaSuccess && kernel;
}

/* Return: is the memory still zero, as no kernel has run? */
static bool unchanged(const float *memory)
{
	float here[16];

	if (cudaMemcpy(here, memory, sizeof(here), cudaMemcpyDeviceToHost) != cudaSuccess)
		return false;
	for (float value : here)
		if (value)
			return false;
	return true;
}

int main()
{
	float *memory = NULL;
	void *arguments[] = { &memory };

	printf("TAP version 13\n1..%d\n", TESTS);
	result("memory", cudaMalloc(&memory, 4096) == cudaSuccess &&
			 cudaMemset(memory, 0, 4096) == cudaSuccess);
	result("attributes", attributes());
	result("names", names());
	result("occupancy", occupancy());
	result("variables", variables());
	result("managed", held == 3);
	result("handles", handles());
	add<<<1, 16>>>(memory, memory, 16);
	result("launch_is_refused", cudaGetLastError() == cudaErrorNotSupported);
	turn<8><<<1, 8, 0, cudaStreamPerThread>>>(memory);
	result("another_is_refused", cudaGetLastError() == cudaErrorNotSupported &&
	       cudaLaunchKernel((const void *)turn<8>, dim3(1), dim3(8), arguments, 0, 0) ==
			cudaErrorNotSupported);
	result("nothing_has_run", cudaDeviceSynchronize() == cudaSuccess && unchanged(memory) &&
	       cudaFree(memory) == cudaSuccess);
	return failures ? 1 : 0;
}
