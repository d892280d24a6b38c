// SPDX-License-Identifier: MIT
/*
 * Runs a launch in its stream's thread, step by step. While a step waits for an event or a
 * word, steps that do not depend on it go on.
 */
#include "base/ioctl.h"
#include "launch/node.h"
#include "plan.h"

static CUresult do_step(const struct step *step, struct stream *stream);

/* No step begins after a failure in the context, or its end. */
static CUresult may_begin(const struct stream *stream)
{
	CUresult result = stream->set->error;

	return result == CUDA_SUCCESS ? result :
		fail(result, "the context has failed or ended during a launch of a graph");
}

/* That, or the end of the process, ends what waits, and loops. */
static CUresult may_go_on(const struct stream *stream)
{
	CUresult result = may_begin(stream);

	return result == CUDA_SUCCESS ? library_ready() : result;
}

/* Does a conditional node's graph, whose steps neither wait nor have events. */
static CUresult do_body(const struct plan *plan, struct stream *stream)
{
	CUresult result = CUDA_SUCCESS;

	for (uint32_t i = 0; i < plan->count && result == CUDA_SUCCESS; i++) {
		result = may_begin(stream);
		if (result == CUDA_SUCCESS)
			result = do_step(&plan->steps[plan->order[i]], stream);
	}
	return result;
}

static CUresult do_condition(const struct step *step, struct stream *stream)
{
	const CUDA_CONDITIONAL_NODE_PARAMS *params = &step->params.conditional;
	unsigned int value = condition_value(step->condition);
	CUresult result = CUDA_SUCCESS;

	switch (params->type) {
	case CU_GRAPH_COND_TYPE_IF:
		value = !value;
		break;
	case CU_GRAPH_COND_TYPE_SWITCH:
		break;
	case CU_GRAPH_COND_TYPE_WHILE:
		while (condition_value(step->condition) && result == CUDA_SUCCESS) {
			result = do_body(step->bodies[0], stream);
			if (result == CUDA_SUCCESS)
				loop_look();
			if (result == CUDA_SUCCESS)
				result = may_go_on(stream);
		}
		return result;
	}
	return value < params->size ? do_body(step->bodies[value], stream) : CUDA_SUCCESS;
}

static CUresult do_step(const struct step *step, struct stream *stream)
{
	struct memcast_fill fill;
	CUresult result;

	if (step->disabled)
		return CUDA_SUCCESS;
	switch (step->params.type) {
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return layers_result(&step->layers, layers_copy(&step->layers));
	case CU_GRAPH_NODE_TYPE_MEMSET:
		fill = step->fill;
		result = fill_check_access(step->params.memset.ctx, &fill);
		if (result == CUDA_SUCCESS)
			result = device_ioctl(MEMCAST_FILL, &fill);
		return fill_result(&step->fill, result);
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return kernel_node_run(&step->params);
	case CU_GRAPH_NODE_TYPE_HOST:
		step->params.host.fn(step->params.host.userData);
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
		return do_condition(step, stream);
	default:
		return CUDA_SUCCESS;
	}
}

/* @done: output, is the whole step done? If not, it is tried again. */
static CUresult try_step(struct launch *launch, struct stream *stream, uint32_t number,
			 bool *done)
{
	const struct step *step = &launch->plan->steps[number];
	uint32_t *at = launch->progress ? &launch->progress[number].at : NULL;
	uint32_t before = at ? *at : 0;
	CUresult unused, result = may_begin(stream);

	*done = true;
	if (result != CUDA_SUCCESS)
		return result;
	switch (step->params.type) {
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		result = memops_try(step->memops, step->memops_device, at, done);
		if (at && *at != before)
			stream_got_on(stream);
		return work_result(result);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		fence_signal(launch->fences[number], CUDA_SUCCESS);
		fence_put(launch->fences[number]);
		launch->fences[number] = NULL;
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		/* a failure of another stream's work is no failure of this stream */
		if (launch->fences[number])
			*done = fence_done(launch->fences[number], &unused);
		return CUDA_SUCCESS;
	default:
		return do_step(step, stream);
	}
}

/* Looks once at all steps. @left: how many are not done */
static CUresult look_at_all(struct launch *launch, struct stream *stream, uint32_t *left)
{
	struct plan *plan = launch->plan;
	CUresult result = CUDA_SUCCESS;
	bool done;

	for (uint32_t i = 0; i < plan->count && result == CUDA_SUCCESS; i++) {
		uint32_t number = plan->order[i];
		const struct step *step = &plan->steps[number];

		if (launch->progress[number].before)
			continue;
		result = try_step(launch, stream, number, &done);
		if (result != CUDA_SUCCESS || !done)
			continue;
		launch->progress[number].before = NO_STEP;
		for (uint32_t k = 0; k < step->after_count; k++)
			launch->progress[plan->after[step->after + k]].before--;
		--*left;
	}
	return result;
}

/* Names a word that the launch waits for, if it has waited long. */
static void notice_wait(const struct launch *launch, struct pause *pause,
			const struct stream *stream)
{
	for (uint32_t i = 0; i < launch->plan->count; i++) {
		const struct step *step = &launch->plan->steps[i];

		if (!launch->progress[i].before && step->params.type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) {
			pause_notice(pause, &step->memops->at[launch->progress[i].at], stream);
			return;
		}
	}
}

static CUresult run_waiting(struct launch *launch, struct stream *stream)
{
	uint32_t left = launch->plan->count;
	CUresult result = CUDA_SUCCESS;
	struct pause pause = {};

	while (left && result == CUDA_SUCCESS) {
		uint64_t progress = look_begin();
		uint32_t before = left;

		pause_begin(&pause);
		result = look_at_all(launch, stream, &left);
		if (left < before) {
			stream_got_on(stream);
			pause_end(&pause);
		} else if (result == CUDA_SUCCESS) {
			look_in_vain(progress);
			result = may_go_on(stream);
			notice_wait(launch, &pause, stream);
			pause_sleep(&pause);
		}
	}
	pause_end(&pause);
	return result;
}

/* Conditions get the values that a launch begins with. */
static void plan_begin(const struct plan *plan)
{
	conditions_reset(&plan->conditions);
	for (uint32_t i = 0; i < plan->count; i++) {
		const struct step *step = &plan->steps[i];

		for (uint32_t k = 0; k < bodies_count(&step->params); k++)
			plan_begin(step->bodies[k]);
	}
}

CUresult launch_run(struct launch *launch, struct stream *stream)
{
	struct plan *plan = launch->plan;
	CUresult result = CUDA_SUCCESS;
	bool done;

	plan_begin(plan);
	if (plan->waits)
		result = run_waiting(launch, stream);
	else
		for (uint32_t i = 0; i < plan->count && result == CUDA_SUCCESS; i++)
			result = try_step(launch, stream, plan->order[i], &done);
	return result;
}
