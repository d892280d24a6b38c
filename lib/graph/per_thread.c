// SPDX-License-Identifier: MIT
/*
 * Symbols that programs built for the per-thread default stream import, as in
 * lib/entry/per_thread.c.
 */
#include "graph/launch/plan.h"

#pragma GCC visibility push(default)

FIRST(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), mode)
FIRST(cuStreamBeginCaptureToGraph, (CUstream stream, CUgraph graph, const CUgraphNode *nodes,
				    const CUgraphEdgeData *edges, size_t count,
				    CUstreamCaptureMode mode),
      graph, nodes, edges, count, mode)
FIRST(cuStreamEndCapture, (CUstream stream, CUgraph *graph), graph)
FIRST(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus *status), status)
FIRST(cuStreamGetCaptureInfo, (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id),
      status, id)
FIRST(cuStreamGetCaptureInfo_v2, (CUstream stream, CUstreamCaptureStatus *status,
				  cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
				  size_t *count),
      status, id, graph, nodes, count)
FIRST(cuStreamGetCaptureInfo_v3, (CUstream stream, CUstreamCaptureStatus *status,
				  cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
				  const CUgraphEdgeData **edges, size_t *count),
      status, id, graph, nodes, edges, count)
FIRST(cuStreamUpdateCaptureDependencies, (CUstream stream, CUgraphNode *nodes, size_t count,
					  unsigned int flags),
      nodes, count, flags)
FIRST(cuStreamUpdateCaptureDependencies_v2, (CUstream stream, CUgraphNode *nodes,
					     const CUgraphEdgeData *edges, size_t count,
					     unsigned int flags),
      nodes, edges, count, flags)

CUresult cuStreamBeginCapture_ptsz(CUstream stream)
{
	return cuStreamBeginCapture(OR_OWN(stream));
}

CUresult cuGraphLaunch_ptsz(CUgraphExec instance, CUstream stream)
{
	return cuGraphLaunch(instance, OR_OWN(stream));
}

CUresult cuGraphUpload_ptsz(CUgraphExec instance, CUstream stream)
{
	return cuGraphUpload(instance, OR_OWN(stream));
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *instance, CUgraph graph,
					   CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	return WHOLE_CALL(instantiate_with(instance, graph, params,
					   OR_OWN(params ? params->hUploadStream : NULL)),
			  instance, graph, params);
}

#pragma GCC visibility pop
