// SPDX-License-Identifier: MIT
/* Copies to and from variables of device code, in graphs */
#include "../memory/copy.h"

static cudaError_t to_symbol(const char *call, CUDA_MEMCPY3D *copy, const void *symbol,
			     const void *from, size_t bytes, size_t offset,
			     enum cudaMemcpyKind kind)
{
	void *to;

	return symbol_part(call, symbol, bytes, offset, kind, cudaMemcpyHostToDevice, &to) ?:
		copy_1d_as_3d(call, copy, to, from, bytes, kind);
}

static cudaError_t from_symbol(const char *call, CUDA_MEMCPY3D *copy, void *to,
			       const void *symbol, size_t bytes, size_t offset,
			       enum cudaMemcpyKind kind)
{
	void *from;

	return symbol_part(call, symbol, bytes, offset, kind, cudaMemcpyDeviceToHost, &from) ?:
		copy_1d_as_3d(call, copy, to, from, bytes, kind);
}

FORWARD_WITH(cudaGraphAddMemcpyNodeToSymbol, (cudaGraphNode_t *node, cudaGraph_t graph,
					      const cudaGraphNode_t *dependencies, size_t count,
					      const void *symbol, const void *from, size_t bytes,
					      size_t offset, enum cudaMemcpyKind kind),
	     CUDA_MEMCPY3D copy,
	     to_symbol(__func__, &copy, symbol, from, bytes, offset, kind) ?:
	     error_of(cuGraphAddMemcpyNode(node, graph, dependencies, count, &copy, NULL)))
FORWARD_WITH(cudaGraphAddMemcpyNodeFromSymbol, (cudaGraphNode_t *node, cudaGraph_t graph,
						const cudaGraphNode_t *dependencies, size_t count,
						void *to, const void *symbol, size_t bytes,
						size_t offset, enum cudaMemcpyKind kind),
	     CUDA_MEMCPY3D copy,
	     from_symbol(__func__, &copy, to, symbol, bytes, offset, kind) ?:
	     error_of(cuGraphAddMemcpyNode(node, graph, dependencies, count, &copy, NULL)))
FORWARD_WITH(cudaGraphMemcpyNodeSetParamsToSymbol, (cudaGraphNode_t node, const void *symbol,
						    const void *from, size_t bytes, size_t offset,
						    enum cudaMemcpyKind kind),
	     CUDA_MEMCPY3D copy,
	     to_symbol(__func__, &copy, symbol, from, bytes, offset, kind) ?:
	     error_of(cuGraphMemcpyNodeSetParams(node, &copy)))
FORWARD_WITH(cudaGraphMemcpyNodeSetParamsFromSymbol, (cudaGraphNode_t node, void *to,
						      const void *symbol, size_t bytes,
						      size_t offset, enum cudaMemcpyKind kind),
	     CUDA_MEMCPY3D copy,
	     from_symbol(__func__, &copy, to, symbol, bytes, offset, kind) ?:
	     error_of(cuGraphMemcpyNodeSetParams(node, &copy)))
FORWARD_WITH(cudaGraphExecMemcpyNodeSetParamsToSymbol, (cudaGraphExec_t instance,
							cudaGraphNode_t node, const void *symbol,
							const void *from, size_t bytes,
							size_t offset, enum cudaMemcpyKind kind),
	     CUDA_MEMCPY3D copy,
	     to_symbol(__func__, &copy, symbol, from, bytes, offset, kind) ?:
	     error_of(cuGraphExecMemcpyNodeSetParams(instance, node, &copy, NULL)))
FORWARD_WITH(cudaGraphExecMemcpyNodeSetParamsFromSymbol, (cudaGraphExec_t instance,
							  cudaGraphNode_t node, void *to,
							  const void *symbol, size_t bytes,
							  size_t offset, enum cudaMemcpyKind kind),
	     CUDA_MEMCPY3D copy,
	     from_symbol(__func__, &copy, to, symbol, bytes, offset, kind) ?:
	     error_of(cuGraphExecMemcpyNodeSetParams(instance, node, &copy, NULL)))
