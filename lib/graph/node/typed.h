/* SPDX-License-Identifier: MIT */
/* Converts the parameters of a node of one type to those of any node. */
#ifndef MEMCAST_GRAPH_TYPED_H
#define MEMCAST_GRAPH_TYPED_H

#include "graph/graph.h"

static inline CUgraphNodeParams memcpy_all(const CUDA_MEMCPY3D *params, CUcontext context)
{
	return (CUgraphNodeParams) {
		.type = CU_GRAPH_NODE_TYPE_MEMCPY,
		.memcpy = { .copyCtx = context, .copyParams = *params },
	};
}

static inline CUgraphNodeParams memset_all(const CUDA_MEMSET_NODE_PARAMS *params,
					   CUcontext context)
{
	return (CUgraphNodeParams) {
		.type = CU_GRAPH_NODE_TYPE_MEMSET,
		.memset = {
			.dst = params->dst,
			.pitch = params->pitch,
			.value = params->value,
			.elementSize = params->elementSize,
			.width = params->width,
			.height = params->height,
			.ctx = context,
		},
	};
}

static inline CUgraphNodeParams host_all(const CUDA_HOST_NODE_PARAMS *params)
{
	return (CUgraphNodeParams) {
		.type = CU_GRAPH_NODE_TYPE_HOST,
		.host = { params->fn, params->userData },
	};
}

static inline CUgraphNodeParams record_all(CUevent event)
{
	return (CUgraphNodeParams) {
		.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD,
		.eventRecord.event = event,
	};
}

static inline CUgraphNodeParams wait_all(CUevent event)
{
	return (CUgraphNodeParams) {
		.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT,
		.eventWait.event = event,
	};
}

static inline CUgraphNodeParams memops_all(const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
	return (CUgraphNodeParams) {
		.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
		.memOp = { params->ctx, params->count, params->paramArray, params->flags },
	};
}

static inline CUgraphNodeParams alloc_all(const CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
	return (CUgraphNodeParams) {
		.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
		.alloc = { params->poolProps, params->accessDescs, params->accessDescCount,
			   params->bytesize, 0 },
	};
}

/* Makes @all of @params, unless they are NULL, and evaluates an expression with it. */
#define WITH_ALL(all, params, general, expression)				\
({										\
	CUresult with_;								\
										\
	if (params) {								\
		CUgraphNodeParams all = general;				\
										\
		with_ = (expression);						\
	} else {								\
		with_ = fail(CUDA_ERROR_INVALID_VALUE, "NULL parameters");	\
	}									\
	with_;									\
})

#endif /* MEMCAST_GRAPH_TYPED_H */
