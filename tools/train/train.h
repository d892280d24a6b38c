/* SPDX-License-Identifier: MIT */
/* Training by all ranks of a team together, or by one process alone */
#ifndef MEMCAST_TOOLS_TRAIN_H
#define MEMCAST_TOOLS_TRAIN_H

#include <stdbool.h>

#include "fashion.h"
#include "softmax.h"
#include "shared/team.h"

struct job {
	const char *folder;
	size_t samples, epochs, batch, ranks;
	size_t seconds;		/* about how long both trainings may take; 0: no limit */
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

/* Makes a model with zero weights; @team is NULL, or a team that all ranks have joined. */
struct model *model_new(const struct job *job, struct team *team);

struct epoch run_epoch(struct model *model, size_t number);

/*
 * Return: how many training images there is time for, the same on each rank: all ranks try
 * a few steps, then rank 0 tries some alone. Weights and sums are lost.
 */
size_t samples_in_time(struct model *model);

#endif /* MEMCAST_TOOLS_TRAIN_H */
