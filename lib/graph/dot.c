// SPDX-License-Identifier: MIT
/* Prints a graph in the language of dot, for people. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "launch/node.h"

static const char *const type_names[] = {
	[CU_GRAPH_NODE_TYPE_KERNEL] = "KERNEL",
	[CU_GRAPH_NODE_TYPE_MEMCPY] = "MEMCPY",
	[CU_GRAPH_NODE_TYPE_MEMSET] = "MEMSET",
	[CU_GRAPH_NODE_TYPE_HOST] = "HOST",
	[CU_GRAPH_NODE_TYPE_GRAPH] = "GRAPH",
	[CU_GRAPH_NODE_TYPE_EMPTY] = "EMPTY",
	[CU_GRAPH_NODE_TYPE_WAIT_EVENT] = "EVENT_WAIT",
	[CU_GRAPH_NODE_TYPE_EVENT_RECORD] = "EVENT_RECORD",
	[CU_GRAPH_NODE_TYPE_MEM_ALLOC] = "MEM_ALLOC",
	[CU_GRAPH_NODE_TYPE_MEM_FREE] = "MEM_FREE",
	[CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = "BATCH_MEM_OP",
	[CU_GRAPH_NODE_TYPE_CONDITIONAL] = "CONDITIONAL",
};

static void print_params(FILE *out, const CUgraphNodeParams *params)
{
	const CUDA_MEMCPY3D *copy = &params->memcpy.copyParams;

	switch (params->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		fprintf(out, "\\n%s\\n%u x %u x %u blocks of %u x %u x %u threads",
			kernel_node_name(params), params->kernel.gridDimX, params->kernel.gridDimY,
			params->kernel.gridDimZ, params->kernel.blockDimX, params->kernel.blockDimY,
			params->kernel.blockDimZ);
		break;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		fprintf(out, "\\nto %#llx, from %#llx\\n%zu x %zu x %zu bytes",
			copy->dstMemoryType == CU_MEMORYTYPE_HOST ?
			(CUdeviceptr)(uintptr_t)copy->dstHost : copy->dstDevice,
			copy->srcMemoryType == CU_MEMORYTYPE_HOST ?
			(CUdeviceptr)(uintptr_t)copy->srcHost : copy->srcDevice,
			copy->WidthInBytes, copy->Height, copy->Depth);
		break;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		fprintf(out, "\\n%#llx: %#x\\n%zu x %zu elements of %u", params->memset.dst,
			params->memset.value, params->memset.width, params->memset.height,
			params->memset.elementSize);
		break;
	case CU_GRAPH_NODE_TYPE_HOST:
		fprintf(out, "\\n%p(%p)", (void *)params->host.fn, params->host.userData);
		break;
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		fprintf(out, "\\nevent %p", (void *)params->eventRecord.event);
		break;
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		fprintf(out, "\\n%#llx\\n%zu bytes", params->alloc.dptr, params->alloc.bytesize);
		break;
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		fprintf(out, "\\n%#llx", params->free.dptr);
		break;
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		fprintf(out, "\\n%u operations", params->memOp.count);
		break;
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
		fprintf(out, "\\n%s %#llx",
			params->conditional.type == CU_GRAPH_COND_TYPE_IF ? "if" :
			params->conditional.type == CU_GRAPH_COND_TYPE_WHILE ? "while" : "switch",
			(unsigned long long)params->conditional.handle);
		break;
	default:
		break;
	}
}

static void print_graph(FILE *out, const struct graph *graph, bool verbose);

static void print_cluster(FILE *out, const struct graph *graph, CUgraphNode node, bool verbose)
{
	fprintf(out, "\tsubgraph \"cluster_%p\" {\n", (void *)graph->handle);
	print_graph(out, graph, verbose);
	fprintf(out, "\tlabel=\"%p\";\n\t}\n", (void *)node);
}

/* The graphs of a child or conditional node become clusters beside it. */
static void print_graph(FILE *out, const struct graph *graph, bool verbose)
{
	const struct node *node;

	for (node = graph->first; node; node = node->next) {
		fprintf(out, "\t\"%p\" [label=\"%s", (void *)node->handle,
			type_names[node->params.type]);
		if (verbose)
			print_params(out, &node->params);
		fprintf(out, "\"];\n");
		if (node->child)
			print_cluster(out, node->child, node->handle, verbose);
		for (uint32_t i = 0; i < bodies_count(&node->params); i++)
			print_cluster(out, node->bodies[i], node->handle, verbose);
	}
	for (node = graph->first; node; node = node->next)
		for (size_t i = 0; i < node->to.count; i++)
			fprintf(out, "\t\"%p\" -> \"%p\"%s;\n", (void *)node->handle,
				(void *)node->to.at[i].node->handle,
				node->to.at[i].port ? " [style=dashed]" : "");
}

/* Without the lock: the file may be a pipe that no process reads. */
static CUresult write_file(const char *path, const char *text, size_t bytes)
{
	FILE *file = fopen(path, "we");
	bool written;

	if (!file)
		return fail(CUDA_ERROR_OPERATING_SYSTEM, "%s: %s", path, strerror(errno));
	written = fwrite(text, 1, bytes, file) == bytes;
	if (fclose(file) || !written)
		return fail(CUDA_ERROR_OPERATING_SYSTEM, "%s: %s", path, strerror(errno));
	return CUDA_SUCCESS;
}

static CUresult dot_print(CUgraph handle, const char *path, unsigned int flags)
{
	struct graph *graph;
	char *text = NULL;
	size_t bytes = 0;
	CUresult result;
	FILE *out;

	if (!path)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL path");
	out = open_memstream(&text, &bytes);
	if (!out)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for the text");
	graphs_lock();
	result = graph_of(handle, &graph);
	if (result == CUDA_SUCCESS) {
		fprintf(out, "digraph \"%p\" {\n\tnode [shape=box];\n", (void *)handle);
		print_graph(out, graph, flags & CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
		fprintf(out, "}\n");
	}
	graphs_unlock();
	if (fclose(out) && result == CUDA_SUCCESS)
		result = fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for the text");
	if (result == CUDA_SUCCESS)
		result = write_file(path, text, bytes);
	free(text);
	return result;
}

CUresult cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned int flags)
{
	return WHOLE_CALL(dot_print(graph, path, flags), graph, path, flags);
}
