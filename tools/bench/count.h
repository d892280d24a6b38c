/* SPDX-License-Identifier: MIT */
/* Counting instructions, under a clock that does. */
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

/* Is a tick an instruction? Tried with a loop of known length. */
bool bench_counts_instructions(void);

/* From now on nothing runs in between, as far as that may be asked for. */
void bench_count_alone(struct bench *bench);

/* costs.c: what the counts depend on besides memcast */
char *bench_counting_machine(void);

/* Those of all suites that count instructions */
#define BENCH_CONTROL_MACHINE	"--root --icount --cpus 1 --devices 64 --pool-mib 1026,4 --timeout 900"
const char *bench_control_obstacle(void);

#endif /* MEMCAST_TOOLS_BENCH_CONTROL_H */
