/* SPDX-License-Identifier: MIT */
/* Counts instructions, under a clock that ticks once per instruction. */
#ifndef MEMCAST_TOOLS_BENCH_CONTROL_H
#define MEMCAST_TOOLS_BENCH_CONTROL_H

#include <stdbool.h>
#include <stdint.h>
#include <x86intrin.h>

struct bench;

static inline uint64_t bench_ticks(void)
{
	return __rdtsc();
}

/* Is a tick an instruction? A loop of known length tells. */
bool bench_counts_instructions(void);

/* From now on no other thread runs in between, as far as this process may ask for that. */
void bench_count_alone(struct bench *bench);

/* costs.c: names everything besides memcast on which the counts depend */
char *bench_counting_machine(void);

/*
 * The machine and the obstacle of all suites that count instructions. Device 0 has enough memory for
 * a first 1 GiB that nobody has used: a call that takes chunks which others gave back zeroes them.
 * Loading a module is counted without the translator of PTX, whose check of a text costs by its length.
 */
#define BENCH_CONTROL_MACHINE \
	"--root --icount --cpus 1 --devices 64 --pool-mib 1160,4 --timeout 900 --env MEMCAST_PTX=0"
const char *bench_control_obstacle(void);

/* One with the translator */
#define BENCH_TRANSLATED_MACHINE "--root --icount --cpus 1 --devices 1 --pool-mib 4 --timeout 900"

#endif /* MEMCAST_TOOLS_BENCH_CONTROL_H */
