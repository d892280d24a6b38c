// SPDX-License-Identifier: MIT
/*
 * How many blocks of a kernel a multiprocessor of the device has room for: threads in whole
 * warps, blocks, shared memory, registers. The formula is CUDA's; its results on hardware were
 * recorded.
 */
#include "kernel.h"

#define SHARED_UNIT	128	/* units of shared memory, */
#define REGISTERS_UNIT	256	/* and of a warp's registers */
#define PARTITIONS	4	/* of a multiprocessor, each with registers of its own */
#define CLUSTER		8	/* blocks of a cluster on every device, */
#define CLUSTER_LARGE	16	/* and on this one, if the kernel allows it */
#define CLUSTER_BLOCKS	8	/* blocks of clusters in a multiprocessor */

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* Return: how many warps a multiprocessor has registers for; a warp's are in one partition. */
static int warps_by_registers(const struct code *code, const struct figures *figures)
{
	int registers = (code->registers * figures->warp + REGISTERS_UNIT - 1) / REGISTERS_UNIT *
			REGISTERS_UNIT;

	/* MEMCAST_ATTR may set any value */
	return registers && figures->registers_each > 0 ?
	       figures->registers_each / PARTITIONS / registers * PARTITIONS : INT_MAX;
}

/* Return: how many threads a block may have by the registers of a kernel */
int threads_by_registers(const struct code *code, const struct figures *figures)
{
	int warps = warps_by_registers(code, figures);

	return warps <= INT_MAX / figures->warp ? warps * figures->warp : INT_MAX;
}

/* Return: how many blocks fit, without regard to shared memory. */
static int by_threads(const struct function *function, int threads)
{
	const struct figures *figures = function->module->figures;
	int warps = (threads + figures->warp - 1) / figures->warp, blocks;

	if (threads > figures->max_threads)
		return 0;
	blocks = least(figures->blocks_each, figures->threads_each / figures->warp / warps);
	return least(blocks, warps_by_registers(function->code, figures) / warps);
}

/* @threads: of a block, at least 1; @dynamic: its dynamic shared memory in bytes */
int occupancy(const struct function *function, int threads, size_t dynamic)
{
	const struct figures *figures = function->module->figures;
	int shared;

	if (dynamic > (size_t)function->settings.dynamic)
		return 0;
	shared = function->code->shared + dynamic + figures->shared_reserved;
	shared = (shared + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT;
	return least(by_threads(function, threads), shared ? figures->shared_each / shared : INT_MAX);
}

#define WITH_FUNCTION(found, handle, expression)				\
	WITH(struct function *found, function_get_any(handle, NULL, &found), expression, \
	     handle_put(found))

static CUresult flags_check(unsigned int flags)
{
	return flags & ~CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE ?
		fail(CUDA_ERROR_INVALID_VALUE, "flags %#x", flags) : CUDA_SUCCESS;
}

static CUresult active_blocks(int *blocks, const struct function *function, int threads,
			      size_t dynamic, unsigned int flags)
{
	if (!blocks || threads < 1)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output, or no threads");
	if (flags_check(flags) != CUDA_SUCCESS)
		return CUDA_ERROR_INVALID_VALUE;
	*blocks = occupancy(function, threads, dynamic);
	return CUDA_SUCCESS;
}

FORWARD(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int *blocks, CUfunction function,
							       int threads, size_t dynamic,
							       unsigned int flags),
	WITH_FUNCTION(found, function, active_blocks(blocks, found, threads, dynamic, flags)),
	blocks, function, threads, dynamic, flags)
FORWARD(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, CUfunction function, int threads,
						      size_t dynamic),
	WITH_FUNCTION(found, function, active_blocks(blocks, found, threads, dynamic, 0)),
	blocks, function, threads, dynamic)

struct wish {
	CUoccupancyB2DSize dynamic_of;
	size_t dynamic;
	int limit;
	unsigned int flags;
};

/* Finds the block size with the most threads in a multiprocessor; of several, the largest. */
static CUresult best_block(int *grid, int *block, const struct function *function,
			   const struct wish *wish)
{
	const struct figures *figures = function->module->figures;
	int most = 0, limit = least(figures->max_threads, function->code->max_threads);
	int threads, blocks, step;

	if (!grid || !block || wish->limit < 0)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output, or a limit below 0");
	if (flags_check(wish->flags) != CUDA_SUCCESS)
		return CUDA_ERROR_INVALID_VALUE;
	if (wish->limit)
		limit = least(limit, wish->limit);
	*grid = *block = 0;
	for (threads = limit; threads > 0 && most < figures->threads_each; threads -= step) {
		step = threads % figures->warp ? threads % figures->warp : figures->warp;
		blocks = occupancy(function, threads, wish->dynamic_of ?
				   wish->dynamic_of(threads) : wish->dynamic);
		if (blocks * threads > most) {
			most = blocks * threads;
			*block = threads;
			*grid = blocks * figures->multiprocessors;
		}
	}
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
						   CUoccupancyB2DSize dynamic_of, size_t dynamic,
						   int limit, unsigned int flags)
{
	struct wish wish = { dynamic_of, dynamic, limit, flags };

	return WHOLE_CALL(WITH_FUNCTION(found, function, best_block(grid, block, found, &wish)),
			  grid, block, function, dynamic, limit, flags);
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
					  CUoccupancyB2DSize dynamic_of, size_t dynamic, int limit)
{
	struct wish wish = { dynamic_of, dynamic, limit, 0 };

	return WHOLE_CALL(WITH_FUNCTION(found, function, best_block(grid, block, found, &wish)),
			  grid, block, function, dynamic, limit);
}

/* As on hardware, the system's part of a block's shared memory is not subtracted. */
static CUresult available(size_t *dynamic, const struct function *function, int blocks,
			  int threads)
{
	const struct figures *figures = function->module->figures;
	int part;

	if (!dynamic || blocks < 1 || threads < 1)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output, no blocks or no threads");
	if (blocks > by_threads(function, threads))
		return fail(CUDA_ERROR_INVALID_VALUE, "there is no room for %d blocks", blocks);
	part = figures->shared_each / blocks / SHARED_UNIT * SHARED_UNIT -
	       (int)function->code->shared;
	*dynamic = part < 0 ? 0 : least(part, function->settings.dynamic);
	return CUDA_SUCCESS;
}

FORWARD(cuOccupancyAvailableDynamicSMemPerBlock, (size_t *dynamic, CUfunction function, int blocks,
						  int threads),
	WITH_FUNCTION(found, function, available(dynamic, found, blocks, threads)),
	dynamic, function, blocks, threads)

static unsigned int largest_cluster(const struct function *function)
{
	return function->settings.non_portable ? CLUSTER_LARGE : CLUSTER;
}

/* @cluster: blocks in each direction; all 0: no cluster */
CUresult cluster_check(const struct function *function, const unsigned int *grid,
		       const unsigned int *cluster)
{
	unsigned long long blocks = 1;

	for (int i = 0; i < 3; i++) {
		if (!cluster[i] || cluster[i] > largest_cluster(function) || grid[i] % cluster[i])
			return fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
				    "clusters of %u, %u, %u do not fill a grid of %u, %u, %u",
				    cluster[0], cluster[1], cluster[2], grid[0], grid[1], grid[2]);
		blocks *= cluster[i];
		if (function->code->cluster[0] && cluster[i] != function->code->cluster[i])
			return fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
				    "the code is for clusters of %u, %u, %u",
				    function->code->cluster[0], function->code->cluster[1],
				    function->code->cluster[2]);
	}
	return blocks <= largest_cluster(function) ? CUDA_SUCCESS :
		fail(CUDA_ERROR_INVALID_CLUSTER_SIZE, "%llu blocks, a cluster has %u", blocks,
		     largest_cluster(function));
}

/*
 * Finds the cluster of a launch: that of an attribute, else the one that the function requires;
 * or all 0
 */
static void cluster_of(const struct function *function, const CUlaunchConfig *config,
		       unsigned int *cluster)
{
	for (int i = 0; i < 3; i++)
		cluster[i] = function->settings.cluster[i];
	for (unsigned int i = 0; config->attrs && i < config->numAttrs; i++)
		if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
			cluster[0] = config->attrs[i].value.clusterDim.x;
			cluster[1] = config->attrs[i].value.clusterDim.y;
			cluster[2] = config->attrs[i].value.clusterDim.z;
		}
}

static CUresult active_clusters(int *clusters, const struct function *function,
				const CUlaunchConfig *config)
{
	const struct figures *figures = function->module->figures;
	unsigned int cluster[3], grid[3];
	unsigned long long threads;
	int blocks;
	CUresult result;

	if (!clusters || !config)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output or configuration");
	cluster_of(function, config, cluster);
	grid[0] = config->gridDimX;
	grid[1] = config->gridDimY;
	grid[2] = config->gridDimZ;
	if (!(cluster[0] | cluster[1] | cluster[2])) {
		*clusters = 0;
		return CUDA_SUCCESS;
	}
	result = cluster_check(function, grid, cluster);
	if (result != CUDA_SUCCESS)
		return result;
	threads = (unsigned long long)config->blockDimX * config->blockDimY;
	if (!threads || threads > INT_MAX || !config->blockDimZ ||
	    threads * config->blockDimZ > INT_MAX)
		return fail(CUDA_ERROR_INVALID_VALUE, "no block has %u x %u x %u threads",
			    config->blockDimX, config->blockDimY, config->blockDimZ);
	blocks = least(CLUSTER_BLOCKS, occupancy(function, threads * config->blockDimZ,
						 config->sharedMemBytes));
	*clusters = figures->multiprocessors * blocks / (cluster[0] * cluster[1] * cluster[2]);
	return CUDA_SUCCESS;
}

FORWARD(cuOccupancyMaxActiveClusters, (int *clusters, CUfunction function,
				       const CUlaunchConfig *config),
	WITH_FUNCTION(found, function, active_clusters(clusters, found, config)),
	clusters, function, config)

static CUresult potential_cluster(int *size, const struct function *function,
				  const CUlaunchConfig *config)
{
	if (!size || !config)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output or configuration");
	*size = largest_cluster(function);
	return CUDA_SUCCESS;
}

FORWARD(cuOccupancyMaxPotentialClusterSize, (int *size, CUfunction function,
					     const CUlaunchConfig *config),
	WITH_FUNCTION(found, function, potential_cluster(size, found, config)),
	size, function, config)
