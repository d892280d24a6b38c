// SPDX-License-Identifier: MIT
/*
 * memcast-train: data-parallel training. Every rank computes the gradient of
 * its share of a batch into memory of its own device; an all-reduce over the
 * team makes these the gradient of the batch; every rank takes the same step.
 */
#define _GNU_SOURCE
#include <argp.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/options.h"
#include "train.h"

/* Larger steps overshoot: they blow rounding errors up instead of damping them. */
#define MAX_RATE	0.15f

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
 * grow as the square root of N. Per step a weight gets the errors of summing a
 * batch and the pixels of a logit, times rate, and its own. The bound is four
 * standard deviations; a single share missing from a single step is far outside.
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
		printf("#\n# Largest difference of a weight: %.2e, bound for float32 rounding: "
		       "%.2e: %s\n", difference, bound, equal ? "OK" : "FAILED");
		return !equal;
	}
	json_object_object_add(all, "largest_difference",
			       json_object_new_double(difference));
	json_object_object_add(all, "bound", json_object_new_double(bound));
	json_object_object_add(all, "equal", json_object_new_boolean(equal));
	puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
	return !equal;
}

/* Uses fewer images to train with, and to test with by the same factor: tests take time, too. */
static void fit_in_time(struct job *job, struct model *model)
{
	size_t samples = samples_in_time(model), all = job->train.count;

	if (samples == all)
		return;
	if (!model->team->index)
		fprintf(stderr, "memcast-train: %zu of %zu images, as a short trial says that all "
			"would take longer than %zu s here\n", samples, all, job->seconds);
	job->test.count = job->test.count * samples / all;
	if (!job->test.count)
		job->test.count = 1;
	job->train.count = samples;
}

static void print_head(const struct job *job)
{
	if (!job->json)
		printf("# memcast-train: softmax regression on Fashion-MNIST\n"
		       "# ranks %zu, samples %zu, tests %zu, batch %zu, rate %g, seed %u\n",
		       job->ranks, job->train.count, job->test.count, job->batch,
		       (double)job->rate, job->seed);
}

static int train_main(struct rank *rank, void *arg)
{
	struct job *job = arg;
	struct json_object *all, *together, *alone;
	struct model *model, *reference;
	struct team team;

	team_join(&team, rank, &(struct team_sizes) {
		.bytes = (SOFTMAX_WEIGHTS + 1) * sizeof(float),
	});
	model = model_new(job, &team);
	if (job->seconds)
		fit_in_time(job, model);
	if (!rank->index)
		print_head(job);
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
	{ "seconds", 't', "COUNT", 0, "take fewer images, if a short trial says that both "
	  "trainings would take longer than that (no limit)", 0 },
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
	case 't':
		job->seconds = count_option(state, arg, 1);
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
	return ranks_run((unsigned int)job.ranks, train_main, &job);
}
