// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "train.h"

/* Steps and tests that are timed to decide how many images there is time for */
#define TRIED_STEPS	5
#define TRIED_TESTS	200

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* On a terminal one line that changes, elsewhere four lines per epoch. */
static void progress(const struct model *model, size_t epoch, size_t step,
		     size_t steps, double loss)
{
	static double shown;
	bool tty = isatty(STDERR_FILENO), last = step == steps;

	if (model->team && model->team->index)
		return;
	if (tty ? now() - shown < 0.1 && !last : step % ((steps + 3) / 4) && !last)
		return;
	shown = now();
	fprintf(stderr, "%s%s: epoch %zu/%zu, step %zu/%zu, loss %.4f%s",
		tty ? "\r" : "", model->team ? "team" : "one process",
		epoch + 1, model->job->epochs, step, steps, loss,
		!tty ? "\n" : last ? "\033[K\r\033[K" : "\033[K");
}

/* A new order of the samples, the same on every rank. */
static void shuffle(uint32_t *order, size_t count, uint64_t state)
{
	size_t i;

	for (i = 0; i < count; i++) {
		size_t other;
		uint32_t kept = (uint32_t)i;

		state = state * 6364136223846793005u + 1442695040888963407u;
		other = (state >> 33) % (i + 1);
		order[i] = order[other];
		order[other] = kept;
	}
}

/* The part of @count that is this rank's */
static void own_share(const struct model *model, size_t count, size_t *first,
		      size_t *end)
{
	size_t ranks = model->team ? model->team->count : 1;
	size_t index = model->team ? model->team->index : 0;

	*first = count * index / ranks;
	*end = count * (index + 1) / ranks;
}

static double run_step(struct model *model, const uint32_t *pick, size_t count)
{
	float rate = model->job->rate / (float)count;
	size_t first, end, i;

	own_share(model, count, &first, &end);
	softmax_gradient(model->weights, &model->job->train, pick + first,
			 end - first, model->sum);
	if (model->team)
		team_allreduce(model->team, &element_f32, SOFTMAX_WEIGHTS + 1);
	for (i = 0; i < SOFTMAX_WEIGHTS; i++)
		model->weights[i] -= rate * model->sum[i];
	return model->sum[SOFTMAX_WEIGHTS];
}

static double test_accuracy(struct model *model)
{
	const struct fashion *test = &model->job->test;
	uint64_t right, all_right[RANKS_MAX];
	size_t first, end, i;

	own_share(model, test->count, &first, &end);
	right = softmax_right(model->weights, test, first, end);
	if (model->team) {
		team_exchange(model->team, right, all_right);
		for (right = 0, i = 0; i < model->team->count; i++)
			right += all_right[i];
	}
	return (double)right / (double)test->count;
}

struct epoch run_epoch(struct model *model, size_t number)
{
	const struct job *job = model->job;
	size_t count = job->train.count;
	size_t steps = (count + job->batch - 1) / job->batch, step, done = 0;
	struct epoch epoch = { .loss = 0 };
	double start = now();

	shuffle(model->order, count, ((uint64_t)job->seed << 32) + number);
	for (step = 0; step < steps; step++) {
		size_t part = count - done < job->batch ? count - done : job->batch;
		double loss = run_step(model, model->order + done, part);

		epoch.loss += loss / (double)count;
		done += part;
		progress(model, number, step + 1, steps, loss / (double)part);
	}
	epoch.accuracy = test_accuracy(model);
	epoch.seconds = now() - start;
	return epoch;
}

struct model *model_new(const struct job *job, struct team *team)
{
	struct model *model = calloc(1, sizeof(*model));

	if (!model)
		rank_die("no memory for a model");
	model->job = job;
	model->team = team;
	model->order = calloc(job->train.count, sizeof(*model->order));
	model->sum = team ? (float *)(void *)team->own :
			    calloc(SOFTMAX_WEIGHTS + 1, sizeof(*model->sum));
	if (!model->order || !model->sum)
		rank_die("no memory for a model");
	return model;
}

/* Return: the slowest rank's @seconds, on all ranks */
static double slowest(struct model *model, double seconds)
{
	uint64_t all[RANKS_MAX], most = 0;
	size_t i;

	team_exchange(model->team, (uint64_t)(seconds * 1e9), all);
	for (i = 0; i < model->team->count; i++)
		most = all[i] > most ? all[i] : most;
	return (double)most * 1e-9;
}

/* Return: on rank 0, seconds of a step by one process alone with its share of all tests; else 0 */
static double try_alone(struct model *model, size_t batch)
{
	const struct job *job = model->job;
	size_t tests = job->test.count < TRIED_TESTS ? job->test.count : TRIED_TESTS;
	double start = now(), seconds;
	size_t step;

	if (model->team->index)
		return 0;
	for (step = 0; step < TRIED_STEPS; step++)
		softmax_gradient(model->weights, &job->train, model->order + step * batch, batch,
				 model->sum);
	seconds = now() - start;
	start = now();
	softmax_right(model->weights, &job->test, 0, tests);
	/* A step's share of the tests counts twice: they run here, and on the ranks. */
	return seconds / TRIED_STEPS + 2 * (now() - start) / (double)tests *
	       (double)job->test.count * (double)batch / (double)job->train.count;
}

size_t samples_in_time(struct model *model)
{
	const struct job *job = model->job;
	size_t count = job->train.count, batch = job->batch, steps, i;
	double start, each;

	if (batch * TRIED_STEPS > count)
		return count;
	for (i = 0; i < batch * TRIED_STEPS; i++)
		model->order[i] = (uint32_t)i;
	run_step(model, model->order, batch);	/* not timed: it faults pages in */
	start = now();
	for (i = 0; i < TRIED_STEPS; i++)
		run_step(model, model->order + i * batch, batch);
	each = slowest(model, now() - start) / TRIED_STEPS;
	each += slowest(model, try_alone(model, batch));

	memset(model->weights, 0, sizeof(model->weights));
	steps = (size_t)((double)job->seconds / (double)job->epochs / each);
	if (steps < TRIED_STEPS)
		steps = TRIED_STEPS;
	return steps < count / batch ? steps * batch : count;
}
