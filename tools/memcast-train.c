// SPDX-License-Identifier: MIT
/*
 * memcast-train: data-parallel training. Every rank computes the gradient of
 * its share of a batch into memory of its own device; an all-reduce over the
 * team makes it the gradient of the batch; every rank takes the same step.
 */
#define _GNU_SOURCE
#include <argp.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fashion.h"
#include "options.h"
#include "ranks.h"
#include "softmax.h"
#include "team.h"

/* Larger steps overshoot: they blow rounding errors up instead of damping them. */
#define MAX_RATE	0.15f

struct job {
	const char *folder;
	size_t samples, epochs, batch, ranks;
	uint32_t seed;
	float rate;
	bool json;
	struct fashion train, test;
};

struct epoch {
	double loss;		/* mean over the samples, as they were visited */
	double accuracy;	/* on the test images, after the epoch */
	double seconds;
};

struct model {
	const struct job *job;
	struct team *team;	/* NULL: one process does everything */
	float weights[SOFTMAX_WEIGHTS];
	float *sum;		/* a batch's gradient and loss */
	uint32_t *order;
};

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

static struct epoch run_epoch(struct model *model, size_t number)
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

static void report_epoch(struct json_object *list, const struct job *job,
			 size_t number, const struct epoch *epoch)
{
	struct json_object *one;

	if (!job->json) {
		printf("%5zu  %8.4f  %8.2f %%  %7.2f\n", number + 1, epoch->loss,
		       epoch->accuracy * 100, epoch->seconds);
		fflush(stdout);
		return;
	}
	one = json_object_new_object();
	json_object_object_add(one, "loss", json_object_new_double(epoch->loss));
	json_object_object_add(one, "accuracy",
			       json_object_new_double(epoch->accuracy));
	json_object_object_add(one, "seconds",
			       json_object_new_double(epoch->seconds));
	json_object_array_add(list, one);
}

/* Trains from zero weights; rank 0, or the only process, reports. */
static void run_training(struct model *model, struct json_object *list)
{
	bool speaker = !model->team || model->team->index == 0;
	size_t i;

	if (speaker && !model->job->json)
		printf("#\n# %s\nepoch      loss    accuracy  seconds\n",
		       model->team ? "team" : "one process");
	for (i = 0; i < model->job->epochs; i++) {
		struct epoch epoch = run_epoch(model, i);

		if (speaker)
			report_epoch(list, model->job, i, &epoch);
	}
}

static struct model *model_new(const struct job *job, struct team *team)
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

static double largest_difference(const float *one, const float *other)
{
	double largest = 0;
	size_t i;

	for (i = 0; i < SOFTMAX_WEIGHTS; i++) {
		double difference = fabs((double)one[i] - other[i]);

		if (!(difference <= largest))	/* a NaN counts as well */
			largest = difference;
	}
	return largest;
}

/* All ranks added the same sums to the same weights: not one bit may differ. */
static void compare_ranks(struct model *model)
{
	team_broadcast(model->team, &element_f32, SOFTMAX_WEIGHTS, 0,
		       model->weights);
	if (memcmp(model->sum, model->weights, sizeof(model->weights)))
		rank_die("its weights are not those of rank 0");
}

/*
 * How far rounding can take two trainings apart that add in different orders.
 * An operation is off by 2^-24 of a magnitude near 1 at most, and N such errors
 * grow as the square root of N. Per step a weight meets those of summing a
 * batch and the pixels of a logit, times rate, and its own. Four standard
 * deviations; a single share that is missing from a single step is far outside.
 */
static double rounding_bound(const struct job *job, const float *weights)
{
	double steps = ceil((double)job->train.count / (double)job->batch) *
		       (double)job->epochs;
	double terms = (double)(job->batch + FASHION_PIXELS);
	double largest = 0;
	size_t i;

	for (i = 0; i < SOFTMAX_WEIGHTS; i++)
		largest = fmax(largest, fabs((double)weights[i]));
	return 4 * 0x1p-24 * sqrt(2 * steps) *
	       ((double)job->rate * sqrt(terms) + largest);
}

static int report_comparison(const struct job *job, struct json_object *all,
			     double difference, double bound)
{
	bool equal = difference <= bound;

	if (!job->json) {
		printf("#\n# Largest difference of a weight: %.2e, bound for float32 rounding: %.2e: %s\n",
		       difference, bound, equal ? "OK" : "FAILED");
		return !equal;
	}
	json_object_object_add(all, "largest_difference",
			       json_object_new_double(difference));
	json_object_object_add(all, "bound", json_object_new_double(bound));
	json_object_object_add(all, "equal", json_object_new_boolean(equal));
	puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
	return !equal;
}

static int train_main(struct rank *rank, void *arg)
{
	const struct job *job = arg;
	struct json_object *all, *together, *alone;
	struct model *model, *reference;
	struct team team;

	team_join(&team, rank, (SOFTMAX_WEIGHTS + 1) * sizeof(float));
	model = model_new(job, &team);
	together = json_object_new_array();
	run_training(model, together);
	compare_ranks(model);
	if (rank->index)
		return 0;

	reference = model_new(job, NULL);
	alone = json_object_new_array();
	run_training(reference, alone);
	all = json_object_new_object();
	json_object_object_add(all, "ranks", json_object_new_uint64(job->ranks));
	json_object_object_add(all, "samples",
			       json_object_new_uint64(job->train.count));
	json_object_object_add(all, "batch", json_object_new_uint64(job->batch));
	json_object_object_add(all, "rate",
			       json_object_new_double((double)job->rate));
	json_object_object_add(all, "team", together);
	json_object_object_add(all, "one_process", alone);
	return report_comparison(job, all,
				 largest_difference(model->weights,
						    reference->weights),
				 rounding_bound(job, reference->weights));
}

static const struct argp_option argp_options[] = {
	{ "data", 'd', "FOLDER", 0, "where the images are (" FASHION_FOLDER ")", 0 },
	{ "ranks", 'n', "COUNT", 0, "processes, 2 or more (4)", 0 },
	{ "samples", 's', "COUNT", 0, "training images to use (all 60000)", 0 },
	{ "epochs", 'e', "COUNT", 0, "passes over them (2)", 0 },
	{ "batch", 'b', "COUNT", 0, "images per step, over all ranks (100)", 0 },
	{ "rate", 'r', "RATE", 0, "step size, up to 0.15 (0.1)", 0 },
	{ "seed", 'S', "NUMBER", 0, "of the order of images (1)", 0 },
	{ "json", 'j', NULL, 0, "print JSON instead of the table", 0 },
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct job *job = state->input;
	char *end;

	switch (key) {
	case 'd':
		job->folder = arg;
		break;
	case 'n':
		job->ranks = count_option(state, arg, 2);
		break;
	case 's':
		job->samples = count_option(state, arg, 1);
		break;
	case 'e':
		job->epochs = count_option(state, arg, 1);
		break;
	case 'b':
		job->batch = count_option(state, arg, 2);
		break;
	case 'r':
		job->rate = strtof(arg, &end);
		if (end == arg || *end || !(job->rate > 0 && job->rate <= MAX_RATE))
			argp_error(state, "rate '%s' is not between 0 and %g",
				   arg, (double)MAX_RATE);
		break;
	case 'S':
		job->seed = (uint32_t)count_option(state, arg, 0);
		break;
	case 'j':
		job->json = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse_option,
		.doc = "Trains softmax regression on Fashion-MNIST, a process "
		       "for each emulated device, gradients all-reduced through "
		       "a multicast team; then once more in one process, and "
		       "compares the weights."
		       "\vThe loss is the mean over an epoch's steps, the "
		       "accuracy that on the 10000 test images. Exit status: 0, "
		       "or 1 if the weights differ by more than rounding or a "
		       "rank failed, or 2 for wrong usage.",
	};
	struct job job = {
		.folder = FASHION_FOLDER,
		.ranks = 4, .epochs = 2, .batch = 100, .seed = 1, .rate = 0.1f,
	};

	argp_err_exit_status = 2;
	argp_program_version = TOOLS_VERSION("memcast-train");
	argp_parse(&argp, argc, argv, 0, NULL, &job);
	job.ranks = team_ranks((unsigned int)job.ranks);
	fashion_load(&job.train, job.folder, "train", job.samples);
	fashion_load(&job.test, job.folder, "t10k", 0);
	if (!job.json) {
		printf("# memcast-train: softmax regression on Fashion-MNIST\n"
		       "# ranks %zu, samples %zu, tests %zu, batch %zu, rate %g, seed %u\n",
		       job.ranks, job.train.count, job.test.count, job.batch,
		       (double)job.rate, job.seed);
	}
	return ranks_run((unsigned int)job.ranks, train_main, &job);
}
