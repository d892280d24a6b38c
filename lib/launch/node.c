// SPDX-License-Identifier: MIT
/*
 * Kernel nodes. The program gives a function, a shape and parameters; they are checked as for a
 * launch, and become an invocation; each node, and each step of a plan, has its own. The library's
 * copies have a mark behind the parameters, in bytes that the program's leave empty.
 */
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "node.h"

#define OWN_MARK	0x6d656d636173746bLL
#define MARK_AT		27
#define INVOCATION_AT	28

static struct invocation *own(const CUgraphNodeParams *params)
{
	struct invocation *invocation = (void *)params->reserved1[INVOCATION_AT];

	return params->reserved1[MARK_AT] == OWN_MARK && invocation &&
	       params->kernel.kernelParams == invocation->parameters ? invocation : NULL;
}

static void set_own(CUgraphNodeParams *params, struct invocation *invocation)
{
	params->reserved1[MARK_AT] = OWN_MARK;
	params->reserved1[INVOCATION_AT] = (long long)invocation;
	params->kernel.kernelParams = invocation->parameters;
	params->kernel.extra = NULL;
}

void node_params_of(CUgraphNodeParams *params, struct invocation *invocation,
		    struct function *function)
{
	pthread_mutex_lock(&modules_lock);
	*params = (CUgraphNodeParams) {
		.type = CU_GRAPH_NODE_TYPE_KERNEL,
		.kernel = {
			.func = function_handle(function),
			.gridDimX = invocation->grid[0],
			.gridDimY = invocation->grid[1],
			.gridDimZ = invocation->grid[2],
			.blockDimX = invocation->block[0],
			.blockDimY = invocation->block[1],
			.blockDimZ = invocation->block[2],
			.sharedMemBytes = invocation->shared,
			.ctx = invocation->module->context,
		},
	};
	pthread_mutex_unlock(&modules_lock);
	set_own(params, invocation);
}

/* Finds the function of a node: it has a function, or a kernel with a context. */
static CUresult launch_node_find(const CUDA_KERNEL_NODE_PARAMS_v3 *kernel,
				 struct function **function)
{
	CUfunction handle = kernel->func ? kernel->func : (CUfunction)kernel->kern;

	if (!handle)
		return fail(CUDA_ERROR_INVALID_HANDLE, "NULL function");
	return function_get_any(handle, kernel->ctx, function);
}

static CUresult make(const CUgraphNodeParams *params, struct invocation **invocation)
{
	const CUDA_KERNEL_NODE_PARAMS_v3 *kernel = &params->kernel;
	struct request request = {
		.grid = { kernel->gridDimX, kernel->gridDimY, kernel->gridDimZ },
		.block = { kernel->blockDimX, kernel->blockDimY, kernel->blockDimZ },
		.shared = kernel->sharedMemBytes,
		.parameters = kernel->kernelParams, .extra = kernel->extra,
	};
	struct function *function;
	CUresult result = launch_node_find(kernel, &function);

	if (result != CUDA_SUCCESS)
		return result;
	result = invocation_new(function, &request, invocation);
	handle_put(function);
	return result;
}

/* Finds a node's context, which is that of the function. kernel_node_copy() checks the rest. */
CUresult kernel_node_check(CUgraphNodeParams *params)
{
	struct function *function;
	CUresult result = launch_node_find(&params->kernel, &function);

	if (result != CUDA_SUCCESS)
		return result;
	params->kernel.ctx = function->module->context;
	handle_put(function);
	return result;
}

/* @to is a plain copy of @from, and becomes a copy of the library. */
CUresult kernel_node_copy(CUgraphNodeParams *to, const CUgraphNodeParams *from)
{
	struct invocation *invocation = own(from);
	CUresult result = CUDA_SUCCESS;

	if (!invocation)
		result = make(from, &invocation);
	else if (!(invocation = invocation_copy(invocation)))
		result = image_no_memory();
	if (result == CUDA_SUCCESS)
		set_own(to, invocation);
	return result;
}

/*
 * A node gets other parameters, and keeps its attributes, which have calls of their own. With the
 * same function it keeps its invocation, too: programs get the addresses of the values there once,
 * and use them for each change. @to: the new parameters; @node: the node's, only to be freed if
 * this succeeds
 */
CUresult kernel_node_keep(CUgraphNodeParams *to, CUgraphNodeParams *node)
{
	struct invocation *before = own(node), *new = own(to);
	CUresult result = invocation_ask(new, before->cooperative, before->asked);

	if (result != CUDA_SUCCESS)
		return result;
	new->attributes = before->attributes;
	before->attributes = NULL;
	if (new->code == before->code) {
		invocation_take(before, new);
		set_own(to, before);
		set_own(node, new);
	}
	return result;
}

void kernel_node_free(CUgraphNodeParams *params)
{
	struct invocation *invocation = own(params);

	if (invocation)
		invocation_free(invocation);
}

CUresult kernel_node_run(const CUgraphNodeParams *params)
{
	return invocation_run(own(params));
}

const char *kernel_node_name(const CUgraphNodeParams *params)
{
	return own(params)->code->name;
}

/*
 * Attributes of a node. Those that change the launch are also set in the invocation; the others
 * are only kept and read back.
 */
static bool has_attribute(int number)
{
	switch (number) {
	case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
	case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
	case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
	case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		return true;
	default:
		return false;
	}
}

static CUresult no_attribute(int number)
{
	return fail(CUDA_ERROR_INVALID_VALUE, "a kernel node has no attribute %d", number);
}

CUresult node_attribute(const CUgraphNodeParams *params, int number,
			CUlaunchAttributeValue *value)
{
	const struct invocation *invocation = own(params);

	if (!has_attribute(number))
		return no_attribute(number);
	memset(value, 0, sizeof(*value));
	if (invocation->attributes)
		*value = invocation->attributes[number];
	if (number == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
		value->cooperative = invocation->cooperative;
	if (number == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
		value->clusterDim.x = invocation->cluster[0];
		value->clusterDim.y = invocation->cluster[1];
		value->clusterDim.z = invocation->cluster[2];
	}
	return CUDA_SUCCESS;
}

static CUresult make_attributes(struct invocation *invocation)
{
	if (!invocation->attributes)
		invocation->attributes = calloc(ATTRIBUTES, sizeof(*invocation->attributes));
	return invocation->attributes ? CUDA_SUCCESS : image_no_memory();
}

CUresult node_attribute_set(const CUgraphNodeParams *params, int number,
			    const CUlaunchAttributeValue *value)
{
	struct invocation *invocation = own(params);
	CUlaunchAttribute attribute = { .id = number, .value = *value };
	CUlaunchConfig config = { .attrs = &attribute, .numAttrs = 1 };
	struct request request = {};
	CUresult result;

	if (!has_attribute(number))
		return no_attribute(number);
	result = attributes_read(&config, &request);
	if (result == CUDA_SUCCESS)
		result = make_attributes(invocation);
	if (result == CUDA_SUCCESS)
		result = invocation_ask(invocation, number == CU_LAUNCH_ATTRIBUTE_COOPERATIVE ?
					request.cooperative : invocation->cooperative,
					number == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION ?
					request.cluster : invocation->asked);
	if (result == CUDA_SUCCESS)
		invocation->attributes[number] = *value;
	return result;
}

CUresult node_attributes_copy(const CUgraphNodeParams *to, const CUgraphNodeParams *from)
{
	struct invocation *invocation = own(to), *other = own(from);
	CUresult result = make_attributes(invocation);

	if (result == CUDA_SUCCESS)
		result = make_attributes(other);
	if (result == CUDA_SUCCESS)
		result = invocation_ask(invocation, other->cooperative, other->asked);
	if (result == CUDA_SUCCESS)
		memmove(invocation->attributes, other->attributes,
			ATTRIBUTES * sizeof(*invocation->attributes));
	return result;
}
