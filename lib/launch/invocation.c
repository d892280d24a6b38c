// SPDX-License-Identifier: MIT
/* Checks a launch, in the order in which hardware does, and makes an invocation of it. */
#include <stdlib.h>
#include <string.h>

#include "launch.h"

#define VALUE_ALIGN	16

static CUresult check_grid(const struct request *request, const struct figures *figures)
{
	for (int i = 0; i < 3; i++)
		if (!request->grid[i] || request->grid[i] > (unsigned int)figures->max_grid[i])
			return fail(CUDA_ERROR_INVALID_VALUE, "a grid of %u, %u, %u blocks",
				    request->grid[0], request->grid[1], request->grid[2]);
	return CUDA_SUCCESS;
}

/* Return: how many threads a block has; 0: one of its numbers is 0 or too large */
static unsigned long long threads_of(const unsigned int *block, const struct figures *figures)
{
	for (int i = 0; i < 3; i++)
		if (!block[i] || block[i] > (unsigned int)figures->max_block[i])
			return 0;
	return (unsigned long long)block[0] * block[1] * block[2];
}

/*
 * Checks the block. One of a single thread stands for the block that the code requires, as on
 * hardware. @block: output
 */
static CUresult check_block(const struct request *request, const struct function *function,
			    unsigned int *block)
{
	const struct figures *figures = function->module->figures;
	const struct code *code = function->code;
	unsigned long long threads;

	memcpy(block, request->block, sizeof(request->block));
	if (code->block[0] && block[0] == 1 && block[1] == 1 && block[2] == 1)
		memcpy(block, code->block, sizeof(code->block));
	threads = threads_of(block, figures);
	if (!threads)
		return fail(CUDA_ERROR_INVALID_VALUE, "a block of %u, %u, %u threads", block[0],
			    block[1], block[2]);
	if (code->block[0] && memcmp(block, code->block, sizeof(code->block)))
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "a block of %u, %u, %u threads, the kernel is for %u, %u, %u",
			    block[0], block[1], block[2], code->block[0], code->block[1],
			    code->block[2]);
	if (threads > code->max_threads || threads > (unsigned long long)figures->max_threads)
		return fail(CUDA_ERROR_INVALID_VALUE, "%llu threads in a block, the most is %u",
			    threads, code->max_threads);
	if (threads > (unsigned long long)threads_by_registers(code, figures))
		return fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
			    "%llu threads with %u registers each, there are registers for %d", threads,
			    code->registers, threads_by_registers(code, figures));
	return CUDA_SUCCESS;
}

/* The largest grid has 2^63 blocks. */
static unsigned long long blocks_of(const unsigned int *grid)
{
	return (unsigned long long)grid[0] * grid[1] * grid[2];
}

static CUresult check_cooperative(const struct request *request, struct function *function,
				  const unsigned int *block)
{
	unsigned long long blocks = blocks_of(request->grid), most;

	most = (unsigned long long)function->module->figures->multiprocessors *
	       occupancy(function, block[0] * block[1] * block[2], request->shared);
	return blocks <= most ? CUDA_SUCCESS :
		fail(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
		     "%llu blocks at the same time, there is room for %llu", blocks, most);
}

static CUresult check_shared(const struct request *request, const struct function *function)
{
	if (request->shared <= (unsigned int)function->settings.dynamic)
		return CUDA_SUCCESS;
	return fail(CUDA_ERROR_INVALID_VALUE,
		    "%u bytes of dynamic shared memory, the function has %d; more by "
		    "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
		    request->shared, function->settings.dynamic);
}

/* @extra: tags with values. The outputs are NULL and 0 if their tags are missing. */
static CUresult read_extra(void *const *extra, const void **buffer, size_t *bytes)
{
	*buffer = NULL;
	*bytes = 0;
	for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
		if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
			*buffer = extra[1];
		else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
			*bytes = *(const size_t *)extra[1];
		else
			return fail(CUDA_ERROR_INVALID_VALUE, "no such tag in extra");
	}
	return CUDA_SUCCESS;
}

/* Copies the parameters' values, one by one or from a buffer, whose end may be missing. */
static CUresult copy_values(struct invocation *invocation, const struct request *request)
{
	const struct code *code = invocation->code;
	const void *buffer;
	size_t bytes;
	CUresult result;

	if (request->parameters && request->extra)
		return fail(CUDA_ERROR_INVALID_VALUE, "parameters as an array and in a buffer");
	if (!code->parameters_count)
		return CUDA_SUCCESS;
	if (!request->parameters && !request->extra)
		return fail(CUDA_ERROR_INVALID_VALUE, "%u parameters, none is given",
			    code->parameters_count);
	if (request->extra) {
		result = read_extra(request->extra, &buffer, &bytes);
		if (result != CUDA_SUCCESS)
			return result;
		if (!buffer || !bytes)
			return fail(CUDA_ERROR_INVALID_VALUE, "no buffer, or no size of it");
		memcpy((char *)invocation->parameters[0] - code->parameters[0].offset, buffer,
		       bytes < code->parameters_bytes ? bytes : code->parameters_bytes);
		return CUDA_SUCCESS;
	}
	for (unsigned int i = 0; i < code->parameters_count; i++) {
		if (!request->parameters[i])
			return fail(CUDA_ERROR_INVALID_VALUE, "NULL parameter %u", i);
		memcpy(invocation->parameters[i], request->parameters[i],
		       code->parameters[i].size);
	}
	return CUDA_SUCCESS;
}

/* An invocation's values are behind it: finds their addresses. */
static void find_values(struct invocation *invocation)
{
	const struct code *code = invocation->code;
	char *values = (char *)invocation + invocation->bytes - code->parameters_bytes;

	for (unsigned int i = 0; i < code->parameters_count; i++)
		invocation->parameters[i] = values + code->parameters[i].offset;
}

/* Takes a reference to the function's module. */
static struct invocation *invocation_allocate(struct function *function,
					      const struct request *request,
					      const unsigned int *block)
{
	const struct code *code = function->code;
	size_t head = sizeof(struct invocation) +
		      (code->parameters_count + 1) * sizeof(void *);
	size_t values = (head + VALUE_ALIGN - 1) / VALUE_ALIGN * VALUE_ALIGN;
	size_t bytes = values + code->parameters_bytes;
	struct invocation *new = malloc(bytes);

	if (!new)
		return NULL;
	memset(new, 0, bytes);
	new->bytes = bytes;
	new->module = function->module;
	new->module->references++;
	new->function = function;
	new->code = code;
	memcpy(new->grid, request->grid, sizeof(new->grid));
	memcpy(new->block, block, sizeof(new->block));
	new->shared = request->shared;
	new->cooperative = request->cooperative;
	find_values(new);
	return new;
}

/* On failure the invocation is unchanged. */
static CUresult set_cluster(struct invocation *invocation, const struct request *request,
			    const struct function *function)
{
	const unsigned int *asked = request->cluster;
	CUresult result = CUDA_SUCCESS;
	unsigned int cluster[3];

	for (int i = 0; i < 3; i++)
		cluster[i] = asked[0] | asked[1] | asked[2] ? asked[i] :
			     (unsigned int)function->settings.cluster[i];
	if (cluster[0] | cluster[1] | cluster[2])
		result = cluster_check(function, request->grid, cluster);
	if (result == CUDA_SUCCESS) {
		memcpy(invocation->asked, asked, sizeof(invocation->asked));
		memcpy(invocation->cluster, cluster, sizeof(invocation->cluster));
	}
	return result;
}

CUresult invocation_ask(struct invocation *invocation, bool cooperative,
			const unsigned int *cluster)
{
	struct request request = { .shared = invocation->shared };
	CUresult result = CUDA_SUCCESS;

	memcpy(request.grid, invocation->grid, sizeof(request.grid));
	memcpy(request.cluster, cluster, sizeof(request.cluster));
	if (cooperative)
		result = check_cooperative(&request, invocation->function, invocation->block);
	if (result == CUDA_SUCCESS)
		result = set_cluster(invocation, &request, invocation->function);
	if (result == CUDA_SUCCESS)
		invocation->cooperative = cooperative;
	return result;
}

CUresult invocation_new(struct function *function, const struct request *request,
			struct invocation **out)
{
	struct invocation *new;
	unsigned int block[3];
	CUresult result = check_grid(request, function->module->figures);

	if (result == CUDA_SUCCESS)
		result = check_block(request, function, block);
	if (result == CUDA_SUCCESS && request->cooperative)
		result = check_cooperative(request, function, block);
	if (result == CUDA_SUCCESS)
		result = check_shared(request, function);
	if (result != CUDA_SUCCESS)
		return result;
	new = invocation_allocate(function, request, block);
	if (!new)
		return image_no_memory();
	result = copy_values(new, request);
	if (result == CUDA_SUCCESS)
		result = set_cluster(new, request, function);
	if (result == CUDA_SUCCESS)
		result = registered_find(function, &new->registered);
	if (result == CUDA_SUCCESS && !new->registered)
		result = translated_find(function, new);
	if (result == CUDA_ERROR_NOT_SUPPORTED)
		registered_say_refused();
	if (result == CUDA_SUCCESS && new->registered && new->registered->shape == MEMCAST_GRID &&
	    blocks_of(new->grid) > GANG_MOST / (block[0] * block[1] * block[2]))
		result = fail(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
			      "the C function's threads all wait for each other: at most %u",
			      GANG_MOST);
	if (result != CUDA_SUCCESS)
		invocation_free(new);
	else
		*out = new;
	function->loaded = true;
	return result;
}

/* Return: NULL: no memory */
struct invocation *invocation_copy(const struct invocation *from)
{
	struct invocation *copy = malloc(from->bytes);
	size_t attributes = ATTRIBUTES * sizeof(*copy->attributes);

	if (!copy)
		return NULL;
	memcpy(copy, from, from->bytes);
	find_values(copy);
	if (from->attributes) {
		copy->attributes = malloc(attributes);
		if (!copy->attributes) {
			free(copy);
			return NULL;
		}
		memcpy(copy->attributes, from->attributes, attributes);
	}
	copy->module->references++;
	return copy;
}

void invocation_take(struct invocation *invocation, struct invocation *from)
{
	struct module *module = invocation->module;

	memcpy(invocation, from, from->bytes);
	find_values(invocation);
	from->module = module;
	from->attributes = NULL;
}

void invocation_free(struct invocation *invocation)
{
	module_put(invocation->module);
	free(invocation->attributes);
	free(invocation);
}
