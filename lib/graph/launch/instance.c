// SPDX-License-Identifier: MIT
/* Instances: graphs prepared for launches. */
#include <stdlib.h>

#include "plan.h"

#define AUTO_FREE	CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
#define PRIORITY	CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY
#define UPLOAD		CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD
#define ON_DEVICE	CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH

static void reference(void *instance)
{
	((struct instance *)instance)->references++;
}

static struct table table = TABLE(reference);

/* Finds an instance by its handle, and takes a reference. */
CUresult instance_get(CUgraphExec handle, struct instance **instance)
{
	*instance = handle ? table_find(&table, handle) : NULL;
	return *instance ? CUDA_SUCCESS :
		fail(CUDA_ERROR_INVALID_VALUE, "%p was not instantiated, or is destroyed",
		     (void *)handle);
}

void instance_put(struct instance *instance)
{
	if (--instance->references)
		return;
	plan_put(instance->plan);
	fence_put(instance->last);
	pthread_mutex_destroy(&instance->lock);
	free(instance);
}

/* @error: output, a node of a cycle, or NULL */
CUresult graph_plan(CUgraph handle, struct plan **plan, CUgraphNode *error)
{
	struct graph *graph;
	CUresult result;

	*error = NULL;
	graphs_lock();
	result = graph_of(handle, &graph);
	if (result == CUDA_SUCCESS)
		result = plan_new(graph, plan, error);
	graphs_unlock();
	return result;
}

/*
 * Adds one to the graph's instances. A graph with alloc, free or conditional nodes may have
 * only one.
 */
static CUresult enter_graph(CUgraph handle)
{
	struct graph *graph;
	CUresult result;

	graphs_lock();
	result = graph_of(handle, &graph);
	if (result == CUDA_SUCCESS && graph->owner && graph->owner->condition)
		result = fail(CUDA_ERROR_NOT_SUPPORTED,
			      "a conditional node's graph has no instance of its own");
	if (result == CUDA_SUCCESS && graph->instances &&
	    (graph->memory_nodes || graph->conditional_nodes))
		result = fail(CUDA_ERROR_NOT_SUPPORTED,
			      "one instance at a time: the graph allocates, frees or has conditions");
	if (result == CUDA_SUCCESS)
		graph->instances++;
	graphs_unlock();
	return result;
}

static void leave_graph(CUgraph handle)
{
	struct graph *graph;

	graphs_lock();
	graph = graph_find(handle);
	if (graph)
		graph->instances--;
	graphs_unlock();
}

static CUresult instance_publish(CUgraphExec *handle, struct instance *instance)
{
	CUresult result = enter_graph(instance->graph);

	if (result != CUDA_SUCCESS)
		return result;
	instance->handle = (CUgraphExec)table_add(&table, instance);
	if (!instance->handle) {
		leave_graph(instance->graph);
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "too many instances");
	}
	*handle = instance->handle;
	return CUDA_SUCCESS;
}

static CUresult instantiate(CUgraphExec *handle, CUgraph graph, unsigned long long flags,
			    CUgraphNode *error)
{
	struct instance *instance;
	struct plan *plan;
	CUresult result;

	*error = NULL;
	if (!handle || !graph)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (conditions_unused(graph))
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "no conditional node has a handle of the graph");
	result = graph_plan(graph, &plan, error);
	if (result != CUDA_SUCCESS)
		return result;
	instance = calloc(1, sizeof(*instance));
	if (!instance) {
		plan_put(plan);
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for an instance");
	}
	*instance = (struct instance) { .references = 1, .graph = graph, .flags = flags,
					.lock = PTHREAD_MUTEX_INITIALIZER, .plan = plan };
	result = plan_look(plan);
	if (result == CUDA_SUCCESS)
		result = instance_publish(handle, instance);
	if (result != CUDA_SUCCESS)
		instance_put(instance);
	return result;
}

DEFINE_WHOLE_CALL(cuGraphInstantiateWithFlags, (CUgraphExec *instance, CUgraph graph,
						unsigned long long flags),
		  instance, graph, flags)
{
	CUgraphNode error;

	if (flags & ~(unsigned long long)(AUTO_FREE | PRIORITY))
		return fail(CUDA_ERROR_INVALID_VALUE, "flags %#llx are not for this call", flags);
	return instantiate(instance, graph, flags, &error);
}

/* @log: becomes empty; reasons are in the log that CUDA_LOG_FILE names */
static CUresult instantiate_logged(CUgraphExec *handle, CUgraph graph, CUgraphNode *error_node,
				   char *log, size_t bytes)
{
	CUgraphNode error;
	CUresult result = instantiate(handle, graph, 0, &error);

	if (error_node)
		*error_node = error;
	if (log && bytes)
		*log = '\0';
	return result;
}

EXPORTED CUresult cuGraphInstantiate_v2(CUgraphExec *instance, CUgraph graph,
					CUgraphNode *error_node, char *log, size_t bytes)
{
	return WHOLE_CALL(instantiate_logged(instance, graph, error_node, log, bytes),
			  instance, graph, error_node, log, bytes);
}

static CUresult check_upload(CUstream handle)
{
	struct stream *stream;
	CUresult result = stream_get(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	result = stream_working(stream);
	if (result == CUDA_SUCCESS && stream_captured(stream))
		result = capture_refuse(stream);
	stream_put(stream);
	return result;
}

static CUresult check_params(const CUDA_GRAPH_INSTANTIATE_PARAMS *params, CUstream upload)
{
	if (params->flags & ~(cuuint64_t)(AUTO_FREE | PRIORITY | UPLOAD | ON_DEVICE))
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
	if (params->flags & ON_DEVICE)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "nothing launches graphs on a device");
	return params->flags & UPLOAD ? check_upload(upload) : CUDA_SUCCESS;
}

CUresult instantiate_with(CUgraphExec *handle, CUgraph graph,
			  CUDA_GRAPH_INSTANTIATE_PARAMS *params, CUstream upload)
{
	CUgraphNode error = NULL;
	bool unused = false;
	CUresult result;

	if (!params)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = check_params(params, upload);
	if (result == CUDA_SUCCESS) {
		unused = handle && graph && conditions_unused(graph);
		result = instantiate(handle, graph, params->flags, &error);
	}
	params->hErrNode_out = error;
	params->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS :
			     error ? CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE :
			     unused ? CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED :
				     CUDA_GRAPH_INSTANTIATE_ERROR;
	return result;
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *instance, CUgraph graph,
				      CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	return WHOLE_CALL(instantiate_with(instance, graph, params,
					   params ? params->hUploadStream : NULL),
			  instance, graph, params);
}

static CUresult instance_get_flags(CUgraphExec handle, cuuint64_t *flags)
{
	struct instance *instance;
	CUresult result;

	if (!flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = instance_get(handle, &instance);
	if (result != CUDA_SUCCESS)
		return result;
	*flags = instance->flags & AUTO_FREE;
	instance_put(instance);
	return CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec instance, cuuint64_t *flags)
{
	return WHOLE_CALL(instance_get_flags(instance, flags), instance, flags);
}

static CUresult instance_destroy(CUgraphExec handle)
{
	struct instance *instance = handle ? table_remove(&table, handle) : NULL;

	if (!instance)
		return fail(CUDA_ERROR_INVALID_VALUE, "%p was not instantiated, or is destroyed",
			    (void *)handle);
	leave_graph(instance->graph);
	instance_put(instance);
	return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec instance)
{
	return WHOLE_CALL(instance_destroy(instance), instance);
}

static CUresult upload(CUgraphExec handle, CUstream stream)
{
	struct instance *instance;
	CUresult result = instance_get(handle, &instance);

	if (result != CUDA_SUCCESS)
		return result;
	instance_put(instance);
	return check_upload(stream);
}

CUresult cuGraphUpload(CUgraphExec instance, CUstream stream)
{
	return WHOLE_CALL(upload(instance, stream), instance, stream);
}

/* The first version does the same. */
#undef cuGraphInstantiate
OLDER_NAME(cuGraphInstantiate, (CUgraphExec *instance, CUgraph graph, CUgraphNode *error_node,
				char *log, size_t bytes),
	   cuGraphInstantiate_v2(instance, graph, error_node, log, bytes))
