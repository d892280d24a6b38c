// SPDX-License-Identifier: MIT
/*
 * Kernels in CUDA C++ of the kind that tests and samples have, and the results that they must
 * compute. host-cuda.sh compiles this file by clang with memcast's headers, and by nvcc with
 * NVIDIA's; both give the same results.
 */
#include <cassert>
#include <cmath>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <memcast/multimem.h>

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
	if (i < 32) {
		unsigned int lanes = __match_all_sync(0xffffffff, 5, &odd);

		atomicAdd(&out[4], lanes == 0xffffffff && odd == 1);
		lanes = __match_all_sync(0xffffffff, (long long)i << 32, &odd);
		atomicAdd(&out[5], !lanes && !odd);
	}
}

static __global__ void numbers(unsigned int *out)
{
	out[0] = __dp4a(0x01020304, 0x05060708, 10);
	out[1] = __dp4a(0xff000000U, 0x02000000U, 1U);
	out[2] = __dp2a_lo(0x00020003, 0x05060708, 1);
	out[3] = __dp2a_hi(0x00020003, 0x05060708, 1);
	out[4] = __funnelshift_lc(1, 2, 32);
	out[5] = __funnelshift_rc(1, 2, 40);
	__stcg((float *)&out[6], 1);
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

/* Each function of <cmath> of a float and of a double; at() of the kernel and of the host */
#define FUNCTIONS(F)									\
	F(sqrt(x)) F(rsqrt(x)) F(cbrt(x)) F(exp(x)) F(exp2(x)) F(expm1(x)) F(log(x))	\
	F(log10(x)) F(log1p(x)) F(log2(x)) F(sin(x)) F(cos(x)) F(tan(x)) F(asin(x / 8))	\
	F(acos(x / 8)) F(atan(x)) F(sinh(x)) F(cosh(x)) F(tanh(x)) F(asinh(x))		\
	F(acosh(x + 1)) F(atanh(x / 8)) F(erf(x)) F(erfc(x)) F(tgamma(x)) F(lgamma(x))	\
	F(fabs(-x)) F(floor(x)) F(ceil(x)) F(trunc(x)) F(rint(x)) F(round(x))		\
	F(pow(x, y)) F(pow(x, 3)) F(fmod(x, y)) F(remainder(x, y)) F(atan2(x, y))	\
	F(hypot(x, y)) F(fmin(x, y)) F(fmax(x, y)) F(fdim(x, y)) F(fma(x, y, x))		\
	F(copysign(x, -y)) F(ldexp(x, 3)) F(nextafter(x, y)) F(lrint(x)) F(llround(x))	\
	F(min(x, y)) F(max(x, y))

#define COUNT_ONE(call)	+ 1
#define CALLS	(0 FUNCTIONS(COUNT_ONE))

template <class T> __host__ __device__ void all_functions(T *out, T x, T y)
{
#define STORE(call)	*out++ = call;
	FUNCTIONS(STORE)
#undef STORE
}

template <class T> __global__ void functions(T *out)
{
	T x = T(threadIdx.x) / 4 + T(0.25), y = T(1.75);

	all_functions(out + threadIdx.x * CALLS, x, y);
}

__global__ void bits(long long *out, int one)
{
	unsigned int word = 0xf0000 * one;

	*out++ = __clz(word) + 100 * __ffs(word) + 10000 * __popc(word) + __clz(one - 1);
	*out++ = __brev(word) + __mulhi(1 << 30, 4 * one) + __umulhi(1U << 31, 6 * one);
	*out++ = __mul24(-3 * one, 5) + __byte_perm(0x33221100 * one, 0x77665544, 0x7410);
	*out++ = __float_as_int(1.5f * one) + __funnelshift_l(one << 31, 1, 1);
	*out++ = __double_as_longlong(2.5 * one) + min(3u, one) + max(-1ll, (long long)one);
	*out++ = __float2int_rd(-1.5f * one) + 10 * __float2int_ru(1.5f * one);
	*out++ = __fadd_rz(1, 0x1p-24f * one) == 1 && __fadd_ru(1, 0x1p-24f * one) > 1;
	*out++ = __reduce_add_sync(1, one + 4) + __reduce_max_sync(1, one);
	*out++ = isnan(0.f / (one - 1)) + 2 * isinf(1. / (one - 1)) + 4 * isfinite(1.f * one) +
		8 * signbit(-1. * one);
#ifdef __CUDA_ARCH__
	*out++ = __CUDA_ARCH__ >= 800;
#endif
}

/* The first block waits for a word of the second one. */
__global__ void waits(unsigned int *words)
{
	if (blockIdx.x) {
		words[1] = 7;
		__threadfence();
		atomicExch(&words[0], 1);
		return;
	}
	while (!__ldcv(&words[0]))
		;
	__nanosleep(100);
	words[2] = words[1] + (clock64() ? 1 : 0);
	if (atomicCAS(&words[3], 0, 5) || atomicCAS(&words[3], 5, 6) != 5)
		__trap();
	printf("thread %d of block %u\n", (int)threadIdx.x, blockIdx.x);
}

__global__ void asserts(int value)
{
	assert(value == 3);
}

/* Stores to each replica of a team, adds to each, and loads the sum of all. */
__global__ void multicast(unsigned int *window, unsigned int *sum)
{
	asm volatile("multimem.st.relaxed.sys.global.u32 [%0], %1;" :: "l"(window), "r"(3)
		     : "memory");
	asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], %1;" :: "l"(window), "r"(5)
		     : "memory");
	asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u32 %0, [%1];" : "=r"(*sum)
		     : "l"(window) : "memory");
}

static int number, failures;

static void check(const char *name, bool good)
{
	printf("%sok %d cuda.%s\n", good ? "" : "not ", ++number, name);
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
	static const unsigned int right[7] = { 80, 511, 39, 29, 1, 2, 0x3f800000 };
	int host[7];

	MUST(cudaMemset(memory, 0, sizeof(host)));
	warps<<<1, 96>>>(memory, 64);
	MUST(cudaMemcpy(host, memory, sizeof(host), cudaMemcpyDeviceToHost));
	if (host[0] != 63 * 64 / 2 || host[1] != 1 || host[2] != 32 || host[3] != 7 ||
	    host[4] != 32 || host[5] != 32)
		return false;
	numbers<<<1, 1>>>((unsigned int *)memory);
	MUST(cudaMemcpy(host, memory, sizeof(host), cudaMemcpyDeviceToHost));
	return !memcmp(host, right, sizeof(host));
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

/* Functions that the header has as templates: arguments are converted to the kernel's types. */
static bool do_typed(int *memory)
{
	int host[COUNT], grid, size, blocks, given = 4, got = 0;
	cudaLaunchConfig_t config = {};
	cudaUserObject_t object;
	cudaGraphExec_t instance;
	cudaGraphNode_t node, last;
	cudaFunction_t function;
	cudaKernel_t kernel;
	cudaGraph_t graph;
	short count = COUNT;
	const char *name;
	size_t bytes;

	for (int i = 0; i < COUNT; i++)
		host[i] = i;
	MUST(cudaMemcpy(memory, host, sizeof(host), cudaMemcpyHostToDevice));
	config.gridDim = 4;
	config.blockDim = 256;
	MUST(cudaLaunchKernelEx(&config, inner::add, memory, memory, count));
	MUST(cudaGetKernel(&kernel, inner::add));
	MUST(cudaLaunchKernelEx(&config, kernel, memory, (const int *)memory, int(0)));
	MUST(cudaMemcpy(host, memory, sizeof(host), cudaMemcpyDeviceToHost));
	for (int i = 0; i < COUNT; i++)
		if (host[i] != i + i * (i & 3))
			return false;
	MUST(cudaFuncGetName(&name, inner::add));
	MUST(cudaGetFuncBySymbol(&function, (const void *)inner::add));
	MUST(cudaOccupancyMaxPotentialBlockSizeWithFlags(&grid, &size, inner::add));
	MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, inner::add, size, 0));
	MUST(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, inner::add, blocks, size));
	MUST(cudaOccupancyMaxPotentialClusterSize(&got, inner::add, &config));
	MUST(cudaOccupancyMaxActiveClusters(&got, inner::add, &config));
	if (strcmp(name, "_ZN5inner3addEPiPKii") || size != 256)
		return false;
	MUST(cudaUserObjectCreate(&object, new pair(), 1, cudaUserObjectNoDestructorSync));
	MUST(cudaUserObjectRelease(object));
	MUST(cudaGraphCreate(&graph, 0));
	MUST(cudaGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, factor, &given,
					    sizeof(given), 0, cudaMemcpyHostToDevice));
	MUST(cudaGraphAddMemcpyNodeFromSymbol(&last, graph, &node, 1, &got, factor,
					      sizeof(got), 0, cudaMemcpyDeviceToHost));
	MUST(cudaGraphInstantiate(&instance, graph, nullptr, nullptr, 0));
	MUST(cudaGraphLaunch(instance, nullptr));
	MUST(cudaDeviceSynchronize());
	MUST(cudaGraphExecDestroy(instance));
	MUST(cudaGraphDestroy(graph));
	return got == 4;
}

static bool close_to(double is, double wanted, double error)
{
	return is == wanted || fabs(is - wanted) <= error * fabs(wanted);
}

template <class T> static bool do_functions(int *memory, double error)
{
	static T all[32 * CALLS], wanted[CALLS];
	bool good = true;

	functions<<<1, 32>>>((T *)memory);
	MUST(cudaMemcpy(all, memory, sizeof(all), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 32 * CALLS; i++) {
		if (i % CALLS == 0)
			all_functions(wanted, T(i / CALLS) / 4 + T(0.25), T(1.75));
		if (!close_to(all[i], wanted[i % CALLS], error)) {
			printf("# function %d of %d: %.17g, not %.17g\n", i % CALLS, i / CALLS,
			       (double)all[i], (double)wanted[i % CALLS]);
			good = false;
		}
	}
	return good;
}

static bool do_bits(int *memory)
{
	const long long wanted[] = {
		12 + 1700 + 40000 + 32, 0xf000 + 1 + 3, -15 + 0x77441100, 0x3fc00000 + 3,
		0x4004000000000000 + 1 + 1, -2 + 20, 1, 5 + 1, 15, 1,
	};
	long long host[10];

	bits<<<1, 1>>>((long long *)memory, 1);
	MUST(cudaMemcpy(host, memory, sizeof(host), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 10; i++)
		if (host[i] != wanted[i])
			return printf("# %d: %llx, not %llx\n", i, host[i], wanted[i]), false;
	return true;
}

static bool do_waits(int *memory)
{
	void (*kernel)(unsigned int *) = waits;
	int host[4];

	MUST(cudaMemset(memory, 0, sizeof(host)));
	kernel<<<2, 1>>>((unsigned int *)memory);
	MUST(cudaDeviceSynchronize());
	MUST(cudaMemcpy(host, memory, sizeof(host), cudaMemcpyDeviceToHost));
	return host[2] == 8 && host[3] == 6;
}

/* A team of two devices; the mapping is of the first one. */
static bool do_multicast(int *memory)
{
	const size_t bytes = 2 << 20;
	CUmulticastObjectProp prop = {};
	CUmemAllocationProp on = {};
	CUmemAccessDesc access = {};
	CUmemGenericAllocationHandle team, held;
	CUdeviceptr window;
	unsigned int sum;
	bool good;

	prop.numDevices = 2;
	prop.size = bytes;
	on.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	on.location.type = access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	good = !cuMulticastCreate(&team, &prop) && !cuMulticastAddDevice(team, 0) &&
		!cuMulticastAddDevice(team, 1);
	for (int device = 0; good && device < 2; device++) {
		on.location.id = device;
		good = !cuMemCreate(&held, bytes, &on, 0) &&
			!cuMulticastBindMem(team, 0, held, 0, bytes, 0);
	}
	good = good && !cuMemAddressReserve(&window, bytes, 0, 0, 0) &&
		!cuMemMap(window, bytes, 0, team, 0) && !cuMemSetAccess(window, bytes, &access, 1);
	if (!good)
		return false;
	multicast<<<1, 1>>>((unsigned int *)window, (unsigned int *)memory);
	MUST(cudaMemcpy(&sum, memory, sizeof(sum), cudaMemcpyDeviceToHost));
	return sum == 16 && multimem_ld_reduce_add_u32_at(window) == 16;
}

static bool do_asserts(int *)
{
	asserts<<<1, 1>>>(2);
	return cudaDeviceSynchronize() == cudaErrorAssert;
}

int main()
{
	int *memory;

	printf("TAP version 13\n1..14\n");
	if (cudaMalloc(&memory, 1 << 16) != cudaSuccess)
		return 1;
	check("a_kernel_in_a_namespace", do_add(memory));
	check("templates_and_shared_memory_of_both_kinds", do_sum(memory));
	check("shuffles_votes_and_threads_that_return_early", do_warps(memory));
	check("tiles_of_a_block", do_tiles(memory));
	check("atomics_and_structs_by_value", do_words(memory));
	check("launch_bounds_and_occupancy", do_limits());
	check("variables", do_variables(memory));
	check("typed_functions", do_typed(memory));
	check("functions_of_a_float", do_functions<float>(memory, 2e-6));
	check("functions_of_a_double", do_functions<double>(memory, 1e-14));
	check("bits_and_roundings", do_bits(memory));
	check("a_block_waits_for_another", do_waits(memory));
	check("multimem", do_multicast(memory));
	check("an_assertion_that_fails", do_asserts(memory));
	return failures != 0;
}
