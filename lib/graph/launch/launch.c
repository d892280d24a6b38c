// SPDX-License-Identifier: MIT
/*
 * Launches. A launch waits only for work that was queued before it: an earlier launch of the
 * same instance, and records of events. So waits cannot go in a circle.
 */
#include <stdlib.h>

#include "plan.h"

static void launch_free(struct launch *launch)
{
	for (uint32_t i = 0; launch->fences && i < launch->plan->count; i++)
		fence_put(launch->fences[i]);
	fence_put(launch->after);
	fence_put(launch->done);
	plan_put(launch->plan);
	free(launch->fences);
	free(launch->memory);
	free(launch->progress);
}

/* Signals the events that the launch has not recorded: other threads may wait for them. */
static void signal_rest(struct launch *launch, CUresult error)
{
	const struct plan *plan = launch->plan;

	for (uint32_t i = 0; plan->events && i < plan->count; i++)
		if (launch->fences[i] &&
		    plan->steps[i].params.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
			fence_signal(launch->fences[i], error);
	fence_signal(launch->done, error);
}

static CUresult graph_launch_run(struct work *work, struct stream *stream, CUresult error)
{
	struct launch *launch = (struct launch *)work;

	if (launch->after)
		fence_wait(launch->after);
	if (error == CUDA_SUCCESS)
		error = launch_run(launch, stream);
	signal_rest(launch, error);
	launch_free(launch);
	/* as the process ends, no further step begins: that is no failure of the device */
	return error == CUDA_ERROR_DEINITIALIZED ? CUDA_SUCCESS : error;
}

static CUresult prepare_fences(struct launch *launch)
{
	const struct plan *plan = launch->plan;

	launch->fences = calloc(plan->count, sizeof(*launch->fences));
	if (!launch->fences)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a launch");
	for (uint32_t i = 0; i < plan->count; i++) {
		const struct step *step = &plan->steps[i];

		if (step->params.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
			launch->fences[i] = fence_alloc();
			if (!launch->fences[i])
				return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a launch");
		}
	}
	for (uint32_t i = 0; i < plan->count; i++) {
		const struct step *step = &plan->steps[i];

		if (step->params.type != CU_GRAPH_NODE_TYPE_WAIT_EVENT)
			continue;
		launch->fences[i] = step->record == NO_STEP ? event_fence(step->event) :
				    fence_reference(launch->fences[step->record]);
	}
	return CUDA_SUCCESS;
}

static CUresult prepare_progress(struct launch *launch)
{
	const struct plan *plan = launch->plan;

	launch->progress = calloc(plan->count, sizeof(*launch->progress));
	if (!launch->progress)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a launch");
	for (uint32_t i = 0; i < plan->count; i++)
		launch->progress[i].before = plan->steps[i].before;
	return CUDA_SUCCESS;
}

static CUresult prepare_memory(struct launch *launch)
{
	const struct plan *plan = launch->plan;
	uint32_t count = 0;

	launch->memory = calloc(plan->memory_steps, sizeof(*launch->memory));
	if (!launch->memory)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a launch");
	for (uint32_t i = 0; i < plan->count; i++) {
		const struct step *step = &plan->steps[plan->order[i]];

		if (step->memory)
			launch->memory[count++] = (struct memory_step) {
				.memory = step->memory,
				.allocates = step->params.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC,
			};
	}
	return CUDA_SUCCESS;
}

/* Prepares a launch, with the instance's lock held. */
static CUresult prepare(struct launch *launch, struct instance *instance,
			const struct stream *stream)
{
	struct plan *plan = instance->plan;
	CUresult result = CUDA_SUCCESS;

	launch->work.run = graph_launch_run;
	launch->plan = plan_get(plan);
	launch->done = fence_alloc();
	if (!launch->done)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a launch");
	/* launches in one stream are in order anyway */
	if (instance->last && instance->last_stream != stream->id)
		launch->after = fence_reference(instance->last);
	if (plan->events)
		result = prepare_fences(launch);
	if (result == CUDA_SUCCESS && plan->waits)
		result = prepare_progress(launch);
	if (result == CUDA_SUCCESS && plan->memory_steps)
		result = prepare_memory(launch);
	return result;
}

/*
 * Queues a launch, with the instance's lock held. The launch may be done, and freed, when
 * stream_submit() returns: later code has references of its own.
 */
static CUresult graph_launch_submit(struct launch *launch, struct instance *instance,
				    struct stream *stream)
{
	bool auto_free = instance->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
	struct plan *plan = instance->plan;
	struct fence *done = fence_reference(launch->done);
	struct memory_step *memory = launch->memory;
	struct fence **records = NULL;
	CUresult result = CUDA_SUCCESS;

	launch->memory = NULL;
	if (plan->events) {
		records = calloc(plan->count, sizeof(*records));
		if (!records)
			result = fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a launch");
	}
	for (uint32_t i = 0; records && i < plan->count; i++)
		if (plan->steps[i].params.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
			records[i] = fence_reference(launch->fences[i]);

	if (result == CUDA_SUCCESS && memory)
		result = memory_launch(memory, plan->memory_steps, auto_free);
	if (result == CUDA_SUCCESS) {
		result = stream_submit(stream, &launch->work);
		if (result != CUDA_SUCCESS && memory)
			memory_unlaunch(memory, plan->memory_steps);
	}
	if (result == CUDA_SUCCESS) {
		fence_put(instance->last);
		instance->last = fence_reference(done);
		instance->last_stream = stream->id;
	}
	/* in the plan's order: several nodes may record one event */
	for (uint32_t i = 0; records && i < plan->count; i++) {
		uint32_t number = plan->order[i];

		if (records[number] && result == CUDA_SUCCESS)
			event_set(plan->steps[number].event, records[number]);
		else
			fence_put(records[number]);
	}
	free(records);
	free(memory);
	fence_put(done);
	return result;
}

static CUresult launch_in(struct instance *instance, struct stream *stream)
{
	struct launch *launch = calloc(1, sizeof(*launch));
	CUresult result;

	if (!launch)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a launch");
	stream_wait_room(stream);
	pthread_mutex_lock(&instance->lock);
	result = prepare(launch, instance, stream);
	if (result == CUDA_SUCCESS)
		result = graph_launch_submit(launch, instance, stream);
	if (result != CUDA_SUCCESS)
		launch_free(launch);
	pthread_mutex_unlock(&instance->lock);
	if (result != CUDA_SUCCESS)
		free(launch);
	return result;
}

static CUresult launch(CUgraphExec handle, CUstream stream_handle)
{
	struct instance *instance;
	struct stream *stream;
	CUresult result = instance_get(handle, &instance);

	if (result != CUDA_SUCCESS)
		return result;
	result = stream_get(stream_handle, &stream);
	if (result == CUDA_SUCCESS) {
		result = stream_captured(stream) ? capture_refuse(stream) :
						   launch_in(instance, stream);
		stream_put(stream);
	}
	instance_put(instance);
	return result;
}

CUresult cuGraphLaunch(CUgraphExec instance, CUstream stream)
{
	return WHOLE_CALL(launch(instance, stream), instance, stream);
}
