// SPDX-License-Identifier: MIT
/*
 * Kernel nodes. The program gives a function, a shape and parameters; they are checked as for a
 * launch, and become an invocation, which copies of the node share. The library's own copies
 * have a mark behind the parameters, in bytes that the program's leave empty.
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

static CUresult make(const CUgraphNodeParams *params, struct invocation **invocation,
		     CUcontext *context)
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
	*context = function->module->context;
	result = invocation_new(function, &request, invocation);
	handle_put(function);
	return result;
}

/* Checks a node. Its context becomes that of the function. */
CUresult kernel_node_check(CUgraphNodeParams *params)
{
	struct invocation *invocation;
	CUresult result = own(params) ? CUDA_SUCCESS :
		make(params, &invocation, &params->kernel.ctx);

	if (result == CUDA_SUCCESS && !own(params))
		invocation_put(invocation);
	return result;
}

/* @to is a plain copy of @from, and becomes a copy of the library. */
CUresult kernel_node_copy(CUgraphNodeParams *to, const CUgraphNodeParams *from)
{
	struct invocation *invocation = own(from);
	CUresult result = CUDA_SUCCESS;
	CUcontext context;

	if (invocation)
		invocation->references++;
	else
		result = make(from, &invocation, &context);
	if (result == CUDA_SUCCESS)
		set_own(to, invocation);
	return result;
}

/*
 * A node gets other parameters, and keeps its attributes, which have calls of their own. @to: the
 * library's copy of @from, which the program gave; @node: what the node had
 */
CUresult kernel_node_keep(CUgraphNodeParams *to, const CUgraphNodeParams *from,
			  const CUgraphNodeParams *node)
{
	const struct invocation *before = own(node);
	struct invocation *new = own(to);
	CUresult result;

	if (own(from))		/* of another node, with its attributes */
		return CUDA_SUCCESS;
	result = invocation_ask(new, before);
	if (result != CUDA_SUCCESS || !before->attributes)
		return result;
	new->attributes = malloc(ATTRIBUTES * sizeof(*new->attributes));
	if (!new->attributes)
		return image_no_memory();
	memcpy(new->attributes, before->attributes, ATTRIBUTES * sizeof(*new->attributes));
	return CUDA_SUCCESS;
}

void kernel_node_free(CUgraphNodeParams *params)
{
	struct invocation *invocation = own(params);

	if (invocation)
		invocation_put(invocation);
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

/* Return: a copy of the node's invocation to be changed, with room for attributes; NULL: no memory */
static struct invocation *launch_node_copy(const CUgraphNodeParams *params)
{
	struct invocation *copy = invocation_copy(own(params));

	if (copy && !copy->attributes)
		copy->attributes = calloc(ATTRIBUTES, sizeof(*copy->attributes));
	if (!copy || !copy->attributes) {
		if (copy)
			invocation_put(copy);
		return NULL;
	}
	return copy;
}

/*
 * Gives a node the changed copy, if what @asks asks for can be launched so. Other nodes may share
 * the invocation that the node has had.
 */
static CUresult launch_node_change(CUgraphNodeParams *params, struct invocation *changed,
				   const struct invocation *asks)
{
	CUresult result = invocation_ask(changed, asks);

	if (result != CUDA_SUCCESS) {
		invocation_put(changed);
		return result;
	}
	invocation_put(own(params));
	set_own(params, changed);
	return CUDA_SUCCESS;
}

CUresult node_attribute_set(CUgraphNodeParams *params, int number,
			    const CUlaunchAttributeValue *value)
{
	CUlaunchAttribute attribute = { .id = number, .value = *value };
	CUlaunchConfig config = { .attrs = &attribute, .numAttrs = 1 };
	struct request request = {};
	struct invocation *new;
	CUresult result;

	if (!has_attribute(number))
		return no_attribute(number);
	result = attributes_read(&config, &request);
	if (result != CUDA_SUCCESS)
		return result;
	new = launch_node_copy(params);
	if (!new)
		return image_no_memory();
	new->attributes[number] = *value;
	if (number == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
		new->cooperative = value->cooperative;
	if (number == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
		memcpy(new->asked, request.cluster, sizeof(new->asked));
	return launch_node_change(params, new, new);
}

CUresult node_attributes_copy(CUgraphNodeParams *to, const CUgraphNodeParams *from)
{
	const struct invocation *other = own(from);
	struct invocation *new = launch_node_copy(to);

	if (!new)
		return image_no_memory();
	if (other->attributes)
		memcpy(new->attributes, other->attributes,
		       ATTRIBUTES * sizeof(*new->attributes));
	else
		memset(new->attributes, 0, ATTRIBUTES * sizeof(*new->attributes));
	return launch_node_change(to, new, other);
}
