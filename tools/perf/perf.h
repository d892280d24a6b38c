/* SPDX-License-Identifier: MIT */
/* memcast-perf: its options, and how results are printed. */
#ifndef MEMCAST_TOOLS_PERF_H
#define MEMCAST_TOOLS_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/ranks.h"
#include "shared/team.h"

struct json_object;

enum collective { ALLREDUCE, BROADCAST, REDUCE };

struct options {
	enum collective collective;
	const struct element *element;
	size_t min_bytes, max_bytes, factor;
	size_t bind_bytes, create_bytes;	/* 0: no more than needed */
	unsigned int ranks, root, warmup, iterations, checks;
	unsigned int seconds;	/* for all sizes, about; 0: no limit */
	uint32_t seed;
	bool json;
};

/* A rank's facts about itself, for the head of a report. */
struct introduction {
	int pid, driver_version, device;
	char host[64];		/* "": all ranks are on one host */
	char name[64];
	unsigned char uuid[16];
};

/* A table as nccl-tests prints it, or a JSON object with the same contents. */
struct report {
	const struct options *options;
	struct introduction rank[RANKS_MAX];
	struct json_object *rows;
	double busbw_sum;
	unsigned int sizes;
	uint64_t wrong;
	size_t fewer, last;	/* bytes: the first size with fewer iterations, and the last */
	bool cut;		/* larger sizes would take too long */
};

const char *collective_name(enum collective collective);

void report_begin(struct report *report);
void report_row(struct report *report, size_t count, unsigned int iterations,
		double seconds, uint64_t wrong);
void report_end(struct report *report);

#endif /* MEMCAST_TOOLS_PERF_H */
