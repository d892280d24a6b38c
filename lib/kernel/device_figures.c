// SPDX-License-Identifier: MIT
/* A device's attributes that matter for kernels, read once. */
#include "device/device.h"
#include "kernel.h"

static struct figures known[MEMCAST_MAX_DEVICES];
static bool is_known[MEMCAST_MAX_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static CUresult read_figures(struct figures *figures, uint32_t device)
{
	int major = 0, minor = 0;
	const struct {
		int *value;
		CUdevice_attribute attribute;
	} wanted[] = {
		{ &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR },
		{ &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR },
		{ &figures->multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT },
		{ &figures->max_threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK },
		{ &figures->max_block[0], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X },
		{ &figures->max_block[1], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y },
		{ &figures->max_block[2], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z },
		{ &figures->max_grid[0], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X },
		{ &figures->max_grid[1], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y },
		{ &figures->max_grid[2], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z },
		{ &figures->warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE },
		{ &figures->shared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK },
		{ &figures->shared_optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN },
		{ &figures->shared_reserved,
		  CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK },
		{ &figures->threads_each, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR },
		{ &figures->blocks_each, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR },
		{ &figures->shared_each,
		  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR },
		{ &figures->registers_each,
		  CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR },
	};
	CUresult result = CUDA_SUCCESS;

	for (size_t i = 0; i < ARRAY_SIZE(wanted) && result == CUDA_SUCCESS; i++)
		result = device_attribute(wanted[i].value, wanted[i].attribute, device);
	if (figures->warp < 1)	/* MEMCAST_ATTR may set any value */
		figures->warp = 1;
	figures->architecture = 10 * major + minor;
	return result;
}

CUresult figures_get(uint32_t device, const struct figures **figures)
{
	CUresult result = CUDA_SUCCESS;

	pthread_mutex_lock(&lock);
	if (!is_known[device]) {
		result = read_figures(&known[device], device);
		is_known[device] = result == CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	*figures = &known[device];
	return result;
}
