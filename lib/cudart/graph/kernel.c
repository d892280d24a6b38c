// SPDX-License-Identifier: MIT
/*
 * Kernel nodes of graphs. The program names a kernel by its stub; the driver gets a handle of
 * its own.
 */
#include "../kernel/kernel.h"

SAME_LAYOUT(cudaLaunchAttributeValue, CUlaunchAttributeValue);

static cudaError_t describe(const char *call, CUDA_KERNEL_NODE_PARAMS *drivers,
			    const struct cudaKernelNodeParams *params)
{
	if (!params)
		return refuse(call, cudaErrorInvalidValue, "NULL parameters");
	*drivers = (CUDA_KERNEL_NODE_PARAMS) {
		.gridDimX = params->gridDim.x,
		.gridDimY = params->gridDim.y,
		.gridDimZ = params->gridDim.z,
		.blockDimX = params->blockDim.x,
		.blockDimY = params->blockDim.y,
		.blockDimZ = params->blockDim.z,
		.sharedMemBytes = params->sharedMemBytes,
		.kernelParams = params->kernelParams,
		.extra = params->extra,
	};
	return kernel_handle(call, &drivers->kern, params->func);
}

/* Return: the error of the driver's result; logs the kernel's name if it is not supported. */
static cudaError_t result_of(const char *call, const struct cudaKernelNodeParams *params,
			     CUresult result)
{
	const struct kernel *kernel = kernel_find(params->func);

	return kernel ? kernel_result(call, kernel, result) : error_of(result);
}

FORWARD_WITH(cudaGraphAddKernelNode, (cudaGraphNode_t *node, cudaGraph_t graph,
				      const cudaGraphNode_t *dependencies, size_t count,
				      const struct cudaKernelNodeParams *params),
	     CUDA_KERNEL_NODE_PARAMS drivers,
	     describe(__func__, &drivers, params) ?:
	     result_of(__func__, params,
		       cuGraphAddKernelNode(node, graph, dependencies, count, &drivers)))
FORWARD_WITH(cudaGraphKernelNodeSetParams, (cudaGraphNode_t node,
					    const struct cudaKernelNodeParams *params),
	     CUDA_KERNEL_NODE_PARAMS drivers,
	     describe(__func__, &drivers, params) ?:
	     result_of(__func__, params, cuGraphKernelNodeSetParams(node, &drivers)))
FORWARD_WITH(cudaGraphExecKernelNodeSetParams, (cudaGraphExec_t instance, cudaGraphNode_t node,
						const struct cudaKernelNodeParams *params),
	     CUDA_KERNEL_NODE_PARAMS drivers,
	     describe(__func__, &drivers, params) ?:
	     result_of(__func__, params, cuGraphExecKernelNodeSetParams(instance, node, &drivers)))

/* Return: the kernel that the program has registered of a node, or NULL */
static const struct kernel *kernel_of(const CUDA_KERNEL_NODE_PARAMS *drivers)
{
	const struct kernel *kernel;
	CUcontext context;

	if (drivers->kern)
		return kernel_find(drivers->kern);
	/* a kernel has another function in each context */
	if (cuCtxPushCurrent(drivers->ctx) != CUDA_SUCCESS)
		return NULL;
	kernel = kernel_of_function(drivers->func);
	cuCtxPopCurrent(&context);
	return kernel;
}

/*
 * Return: the address by which the program names a kernel, if it has registered it; else the
 * driver's handle.
 */
static void *stub_of(const CUDA_KERNEL_NODE_PARAMS *drivers)
{
	const struct kernel *kernel = kernel_of(drivers);

	return kernel ? (void *)kernel->item.address :
	       drivers->kern ? (void *)drivers->kern : (void *)drivers->func;
}

DEFINE_CALL(cudaGraphKernelNodeGetParams, (cudaGraphNode_t node,
					   struct cudaKernelNodeParams *params),
	    node, params)
{
	CUDA_KERNEL_NODE_PARAMS drivers;
	cudaError_t error;

	if (!params)
		return refuse("cudaGraphKernelNodeGetParams", cudaErrorInvalidValue, "NULL output");
	error = error_of(cuGraphKernelNodeGetParams(node, &drivers));
	if (error != cudaSuccess)
		return error;
	*params = (struct cudaKernelNodeParams) {
		.func = stub_of(&drivers),
		.gridDim = { drivers.gridDimX, drivers.gridDimY, drivers.gridDimZ },
		.blockDim = { drivers.blockDimX, drivers.blockDimY, drivers.blockDimZ },
		.sharedMemBytes = drivers.sharedMemBytes,
		.kernelParams = drivers.kernelParams,
		.extra = drivers.extra,
	};
	return cudaSuccess;
}

FORWARD(cudaGraphKernelNodeCopyAttributes, (cudaGraphNode_t to, cudaGraphNode_t from),
	cuGraphKernelNodeCopyAttributes(to, from))
FORWARD(cudaGraphKernelNodeGetAttribute, (cudaGraphNode_t node, cudaLaunchAttributeID attribute,
					  cudaLaunchAttributeValue *value),
	cuGraphKernelNodeGetAttribute(node, (CUkernelNodeAttrID)attribute,
				      (CUkernelNodeAttrValue *)value))
FORWARD(cudaGraphKernelNodeSetAttribute, (cudaGraphNode_t node, cudaLaunchAttributeID attribute,
					  const cudaLaunchAttributeValue *value),
	cuGraphKernelNodeSetAttribute(node, (CUkernelNodeAttrID)attribute,
				      (const CUkernelNodeAttrValue *)value))
