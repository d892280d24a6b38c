// SPDX-License-Identifier: MIT
/*
 * The same kernels in OpenCL C, by the OpenCL that is installed (PoCL, which runs them on the
 * processors as well). Without OpenCL's headers, or its library, there are none.
 */
#include <stddef.h>

#include "ptx.h"

#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <string.h>

#include "shared/ranks.h"

#define ARRAYS	3

static const char source[] =
	"#pragma OPENCL FP_CONTRACT OFF\n"
	"#define ARRAYS(type) global const type *a, global const type *b, global type *c, uint n\n"
	"kernel void vector_add(ARRAYS(float))\n"
	"{\n"
	"	uint i = get_global_id(0);\n"
	"	if (i < n)\n"
	"		c[i] = a[i] + b[i];\n"
	"}\n"
	"kernel void stencil(ARRAYS(float))\n"
	"{\n"
	"	int x = get_global_id(0), y = get_global_id(1), side = n, i = y * side + x;\n"
	"	if (x < 1 || x >= side - 1 || y < 1 || y >= side - 1)\n"
	"		return;\n"
	"	c[i] = a[i] + 0.25f * (((a[i - 1] + a[i + 1]) + a[i - side]) + a[i + side]);\n"
	"}\n"
	"kernel void histogram(global const uchar *a, global const uint *b, global uint *c, uint n)\n"
	"{\n"
	"	for (uint i = get_global_id(0); i < n; i += get_global_size(0))\n"
	"		atomic_add(c + a[i], 1);\n"
	"}\n"
	"kernel void sum_shared(ARRAYS(uint))\n"
	"{\n"
	"	local uint words[256];\n"
	"	uint t = get_local_id(0), sum = 0;\n"
	"	for (uint i = get_global_id(0); i < n; i += get_global_size(0))\n"
	"		sum += a[i];\n"
	"	words[t] = sum;\n"
	"	barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	for (uint width = 128; width; width /= 2) {\n"
	"		if (t < width)\n"
	"			words[t] += words[t + width];\n"
	"		barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	}\n"
	"	if (!t)\n"
	"		atomic_add(c, words[0]);\n"
	"}\n"
	"kernel void product(ARRAYS(float))\n"
	"{\n"
	"	local float tile_a[16][16], tile_b[16][16];\n"
	"	uint x = get_local_id(0), y = get_local_id(1);\n"
	"	uint row = get_global_id(1), column = get_global_id(0);\n"
	"	float sum = 0;\n"
	"	for (uint tile = 0; tile < n; tile += 16) {\n"
	"		tile_a[y][x] = a[row * n + tile + x];\n"
	"		tile_b[y][x] = b[(tile + y) * n + column];\n"
	"		barrier(CLK_LOCAL_MEM_FENCE);\n"
	"		for (int k = 0; k < 16; k++)\n"
	"			sum = fma(tile_a[y][k], tile_b[k][x], sum);\n"
	"		barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	}\n"
	"	c[row * n + column] = sum;\n"
	"}\n"
	"kernel void transpose(ARRAYS(float))\n"
	"{\n"
	"	local float tile[32][33];\n"
	"	uint x = get_local_id(0), y = get_local_id(1);\n"
	"	uint from = 32 * get_group_id(0), to = 32 * get_group_id(1);\n"
	"	for (int k = 0; k < 32; k += 8)\n"
	"		tile[y + k][x] = a[(to + y + k) * n + from + x];\n"
	"	barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	for (int k = 0; k < 32; k += 8)\n"
	"		c[(from + y + k) * n + to + x] = tile[x][y + k];\n"
	"}\n";

#define FUNCTIONS(F)								\
	F(clGetPlatformIDs) F(clGetPlatformInfo) F(clGetDeviceIDs) F(clCreateContext)	\
	F(clCreateCommandQueue) F(clCreateProgramWithSource) F(clBuildProgram)	\
	F(clCreateBuffer) F(clCreateKernel) F(clSetKernelArg) F(clEnqueueNDRangeKernel) \
	F(clFinish)
#define MEMBER(name)	__typeof__(name) *name;
static struct { FUNCTIONS(MEMBER) } cl;

static cl_context context;
static cl_command_queue queue;
static cl_program program;
static char name[64];

static bool find_functions(void)
{
	void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
	bool all = library;

#define FIND(function)	\
	all = all && (cl.function = (__typeof__(cl.function))dlsym(library, #function));
	FUNCTIONS(FIND)
	return all;
}

const char *opencl_open(void)
{
	const char *text = source;
	cl_platform_id platform;
	cl_device_id device;

	if (*name)
		return name;
	if (!find_functions() || cl.clGetPlatformIDs(1, &platform, NULL) ||
	    cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL))
		return NULL;
	context = cl.clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	queue = context ? cl.clCreateCommandQueue(context, device, 0, NULL) : NULL;
	program = queue ? cl.clCreateProgramWithSource(context, 1, &text, NULL, NULL) : NULL;
	if (!program || cl.clBuildProgram(program, 1, &device, "", NULL, NULL) ||
	    cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(name), name, NULL))
		return NULL;
	return name;
}

struct opencl_kernel {
	cl_kernel kernel;
	cl_mem arrays[ARRAYS];
};

struct opencl_kernel *opencl_kernel(const char *kernel_name, const struct arrays *arrays,
				    size_t bytes)
{
	static struct opencl_kernel kernel;
	void *const memory[ARRAYS] = { arrays->a, arrays->b, arrays->c };

	kernel.kernel = cl.clCreateKernel(program, kernel_name, NULL);
	if (!kernel.kernel)
		return NULL;
	for (unsigned int i = 0; i < ARRAYS; i++) {
		if (!kernel.arrays[i])
			kernel.arrays[i] = cl.clCreateBuffer(context, CL_MEM_USE_HOST_PTR |
							     CL_MEM_READ_WRITE, bytes, memory[i],
							     NULL);
		if (cl.clSetKernelArg(kernel.kernel, i, sizeof(cl_mem), &kernel.arrays[i]))
			rank_die("OpenCL takes no array");
	}
	cl.clSetKernelArg(kernel.kernel, ARRAYS, sizeof(arrays->n), &arrays->n);
	return &kernel;
}

void opencl_launch(const struct opencl_kernel *kernel, const unsigned int grid[2],
		   const unsigned int block[2])
{
	const size_t group[2] = { block[0], block[1] };
	const size_t all[2] = { (size_t)grid[0] * block[0], (size_t)grid[1] * block[1] };

	if (cl.clEnqueueNDRangeKernel(queue, kernel->kernel, 2, NULL, all, group, 0, NULL, NULL) ||
	    cl.clFinish(queue))
		rank_die("OpenCL runs no kernel");
}
#else
const char *opencl_open(void)
{
	return NULL;
}

struct opencl_kernel *opencl_kernel(const char *kernel_name, const struct arrays *arrays,
				    size_t bytes)
{
	(void)kernel_name;
	(void)arrays;
	(void)bytes;
	return NULL;
}

void opencl_launch(const struct opencl_kernel *kernel, const unsigned int grid[2],
		   const unsigned int block[2])
{
	(void)kernel;
	(void)grid;
	(void)block;
}
#endif
