// SPDX-License-Identifier: MIT
/*
 * NCCL's collectives that are kernels, on emulated devices: every value checked, a table as
 * nccl-tests prints it.
 *
 *	make && make build/examples/nccl-all-reduce NCCL_HOME=/path/to/nccl/build
 *	tools/memcast-vm --host -- build/examples/nccl-all-reduce
 *
 * Each rank is a process and has a device. The kernels are NVIDIA's, run from their PTX; with
 * --algorithm NVLS, the default, their sums are made at multicast addresses, and NCCL's log has to
 * say so. docs/stack/nccl.md says how to build NCCL for this.
 */
#define _GNU_SOURCE
#include <argp.h>
#include <cuda_runtime.h>
#include <nccl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nccl-check.h"

static const struct type {
	const char *name;
	ncclDataType_t type;
	size_t bytes;
} types[] = {
	{ "float", ncclFloat32, 4 }, { "half", ncclFloat16, 2 }, { "bfloat16", ncclBfloat16, 2 },
};

enum collective { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER };
static const char *const collectives[] = { "all_reduce", "reduce_scatter", "all_gather" };

static struct {
	int processes, iterations;
	size_t first, last;		/* bytes of the larger buffer */
	unsigned long factor;
	const struct type *type;
	enum collective collective;
	const char *algorithm;
} option = { .processes = 4, .iterations = 5, .first = 16, .last = 1 << 20, .factor = 16,
	     .type = types, .algorithm = "NVLS" };

/* Memory that all ranks share; it is mapped before fork(). */
static struct {
	ncclUniqueId id;
	bool id_is_there;
	int arrived, times;		/* at meet() */
	uint64_t wrong;
} *shared;

static int rank;

static void meet(void)
{
	int times = __atomic_load_n(&shared->times, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&shared->arrived, 1, __ATOMIC_ACQ_REL) == option.processes) {
		__atomic_store_n(&shared->arrived, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&shared->times, times + 1, __ATOMIC_RELEASE);
	}
	while (__atomic_load_n(&shared->times, __ATOMIC_ACQUIRE) == times)
		usleep(50);
}

struct buffers {
	ncclComm_t comm;
	cudaStream_t stream;
	char *send, *receive, *check;
};

/* Numbers of at most 8 bits, whose sums over eight ranks have at most 8 too: exact in all types */
static unsigned int number(int of, size_t index, int iteration)
{
	return (of + 1) * ((index + iteration) % 7 + 1);
}

static void store(char *at, size_t index, float value)
{
	_Float16 half = value;
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	bits >>= 16;
	if (option.type->type == ncclFloat32)
		memcpy(at + index * 4, &value, 4);
	else
		memcpy(at + index * 2, option.type->type == ncclFloat16 ? (void *)&half :
		       (void *)&bits, 2);
}

/* What a rank is to find at an index of its result */
static float expected(size_t index, size_t count, int iteration)
{
	unsigned int sum = 0;

	if (option.collective == ALL_GATHER)
		return number(index / count, index % count, iteration);
	if (option.collective == REDUCE_SCATTER)
		index += rank * count;
	for (int i = 0; i < option.processes; i++)
		sum += number(i, index, iteration);
	return sum;
}

/* Values of one rank's input, and of its output; count: as NCCL takes it */
static size_t input_of(size_t count)
{
	return option.collective == REDUCE_SCATTER ? count * option.processes : count;
}

static size_t output_of(size_t count)
{
	return option.collective == ALL_GATHER ? count * option.processes : count;
}

/* Runs it once. Return: seconds; *wrong gets values that are others */
static double once(struct buffers *have, size_t count, bool in_place, int iteration,
		   uint64_t *wrong)
{
	size_t bytes = option.type->bytes, input = input_of(count), output = output_of(count);
	char *send = have->send, *receive = have->receive, expect[4];
	struct timespec begin, end;

	if (in_place && option.collective == ALL_GATHER)
		send = receive + rank * count * bytes;
	else if (in_place)
		receive = send + (option.collective == REDUCE_SCATTER ? rank * count * bytes : 0);
	CHECK(cudaMemset(have->receive, 0xee, option.last));
	for (size_t i = 0; i < input; i++)
		store(have->check, i, number(rank, i, iteration));
	CHECK(cudaMemcpy(send, have->check, input * bytes, cudaMemcpyHostToDevice));
	meet();
	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (option.collective == ALL_REDUCE)
		CHECK_NCCL(ncclAllReduce(send, receive, count, option.type->type, ncclSum, have->comm,
					 have->stream));
	else if (option.collective == REDUCE_SCATTER)
		CHECK_NCCL(ncclReduceScatter(send, receive, count, option.type->type, ncclSum,
					     have->comm, have->stream));
	else
		CHECK_NCCL(ncclAllGather(send, receive, count, option.type->type, have->comm,
					 have->stream));
	CHECK(cudaStreamSynchronize(have->stream));
	clock_gettime(CLOCK_MONOTONIC, &end);
	CHECK(cudaMemcpy(have->check, receive, output * bytes, cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < output; i++) {
		store(expect, 0, expected(i, count, iteration));
		*wrong += !!memcmp(have->check + i * bytes, expect, bytes);
	}
	return end.tv_sec - begin.tv_sec + (end.tv_nsec - begin.tv_nsec) / 1e9;
}

static void measure(struct buffers *have, size_t bytes)
{
	size_t count = bytes / option.type->bytes;
	double factor = (option.processes - 1.0) / option.processes, us;
	uint64_t wrong;

	if (option.collective != ALL_REDUCE)
		count /= option.processes;
	if (!count)
		return;
	if (option.collective == ALL_REDUCE)
		factor *= 2;
	if (!rank)
		printf("%12zu %12zu %9s %7s", bytes, count, option.type->name,
		       option.collective == ALL_GATHER ? "none" : "sum");
	for (int in_place = 0; in_place < 2; in_place++) {
		us = wrong = 0;
		for (int i = 0; i < option.iterations; i++)
			us += once(have, count, in_place, i, &wrong) * 1e6 / option.iterations;
		__atomic_fetch_add(&shared->wrong, wrong, __ATOMIC_RELAXED);
		if (!rank)
			printf(" %11.1f %7.3f %7.3f %6lu", us, bytes / us / 1e3, bytes / us / 1e3 * factor,
			       wrong);
	}
	if (!rank)
		printf("\n"), fflush(stdout);
}

static int run(void)
{
	struct buffers have;
	double begin = time(NULL);

	CHECK(cudaSetDevice(rank));
	CHECK(cudaStreamCreateWithFlags(&have.stream, cudaStreamNonBlocking));
	/* NCCL serves it from a thread of this process, which a child would not have */
	if (!rank) {
		CHECK_NCCL(ncclGetUniqueId(&shared->id));
		__atomic_store_n(&shared->id_is_there, true, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(&shared->id_is_there, __ATOMIC_ACQUIRE))
		usleep(1000);
	CHECK_NCCL(ncclCommInitRank(&have.comm, option.processes, shared->id, rank));
	CHECK_NCCL(ncclMemAlloc((void **)&have.send, option.last));
	CHECK_NCCL(ncclMemAlloc((void **)&have.receive, option.last));
	have.check = malloc(option.last);
	if (!have.check)
		return 1;
	once(&have, 1, false, 0, &(uint64_t){ 0 });	/* kernels are compiled */
	if (!rank)
		printf("# %s by %s: %d ranks, %d iterations; ready after %.0f s\n"
		       "%-43s %-35s %s\n%12s %12s %9s %7s %11s %7s %7s %6s %11s %7s %7s %6s\n",
		       collectives[option.collective], option.algorithm, option.processes,
		       option.iterations, time(NULL) - begin, "#", "out of place", "in place",
		       "# size (B)", "count", "type", "redop", "time (us)", "algbw", "busbw", "#wrong",
		       "time (us)", "algbw", "busbw", "#wrong");
	for (size_t bytes = option.first; bytes <= option.last; bytes *= option.factor)
		measure(&have, bytes);
	CHECK_NCCL(ncclMemFree(have.send));
	CHECK_NCCL(ncclMemFree(have.receive));
	CHECK_NCCL(ncclCommDestroy(have.comm));
	return 0;
}

/* NCCL takes another algorithm without a word on stderr; its log has it. */
static int start_log(void)
{
	char path[64];
	int log;

	if (getenv("NCCL_DEBUG"))
		return -1;	/* somebody reads it */
	log = memfd_create("nccl-log", 0);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), log);
	setenv("NCCL_DEBUG", "INFO", 1);
	setenv("NCCL_DEBUG_SUBSYS", "TUNING", 1);
	setenv("NCCL_DEBUG_FILE", path, 1);
	return log;
}

/* Return: in how many lines of the log the algorithm was chosen, and in how many another */
static void read_log(int log, unsigned long *chosen, unsigned long *other)
{
	char line[1024], *at;
	FILE *file = fdopen(log, "r");

	*chosen = *other = 0;
	if (!file)
		return;
	rewind(file);
	while (fgets(line, sizeof(line), file)) {
		at = strstr(line, "-> Algo ");
		if (!at)
			continue;
		at += strlen("-> Algo ");
		if (!strncasecmp(at, option.algorithm, strlen(option.algorithm)) &&
		    at[strlen(option.algorithm)] == ' ')
			++*chosen;
		else
			++*other;
	}
	fclose(file);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	size_t i;

	switch (key) {
	case 'p': option.processes = atoi(value); break;
	case 'n': option.iterations = atoi(value); break;
	case 'b': option.first = strtoull(value, NULL, 0); break;
	case 'e': option.last = strtoull(value, NULL, 0); break;
	case 'f': option.factor = strtoul(value, NULL, 0); break;
	case 'a': option.algorithm = value; break;
	case 'd':
		for (i = 0; i < 3 && strcmp(types[i].name, value); i++)
			;
		if (i == 3)
			argp_error(state, "-d float, half or bfloat16");
		option.type = &types[i];
		break;
	case 'c':
		for (i = 0; i < 3 && strcmp(collectives[i], value); i++)
			;
		if (i == 3)
			argp_error(state, "-c all_reduce, reduce_scatter or all_gather");
		option.collective = i;
		break;
	case ARGP_KEY_END:
		if (option.processes < 2 || option.processes > 8 || option.iterations < 1 ||
		    option.factor < 2 || option.first < 4 || option.first > option.last ||
		    option.last < 64)
			argp_error(state, "2 to 8 ranks, at least one iteration, a factor of 2, "
				   "-b 4 or more and not above -e, -e 64 or more");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "processes", 'p', "N", 0, "Ranks, each a process (4)", 0 },
		{ "iterations", 'n', "N", 0, "Of each size (5)", 0 },
		{ "minbytes", 'b', "BYTES", 0, "Bytes at first (16)", 0 },
		{ "maxbytes", 'e', "BYTES", 0, "And at last (1048576)", 0 },
		{ "stepfactor", 'f', "N", 0, "From one size to the next (16)", 0 },
		{ "datatype", 'd', "TYPE", 0, "float, half or bfloat16 (float)", 0 },
		{ "collective", 'c', "NAME", 0, "all_reduce, reduce_scatter or all_gather", 0 },
		{ "algorithm", 'a', "NAME", 0, "NCCL_ALGO: NVLS, Ring, Tree (NVLS)", 0 },
		{ }
	};
	static const struct argp argp = {
		options, parse, NULL,
		"NCCL's collectives on emulated devices, by NVIDIA's kernels: every value checked.",
		NULL, NULL, NULL
	};
	unsigned long chosen, other;
	int status, failed = 0, log = -1;
	pid_t pids[8];

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	setenv("NCCL_ALGO", option.algorithm, 1);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return perror("mmap"), 1;
	fflush(stdout);
	for (rank = 0; rank < option.processes; rank++) {
		/* rank 0 alone writes the log: all take the same algorithm */
		if (!rank)
			log = start_log();
		pids[rank] = fork();
		if (pids[rank] < 0)
			return perror("fork"), 1;
		if (!pids[rank])
			exit(run());
		if (log >= 0) {
			unsetenv("NCCL_DEBUG");
			unsetenv("NCCL_DEBUG_FILE");
		}
	}
	while (!failed && wait(&status) > 0)
		failed = status;
	if (failed) {
		fprintf(stderr, "a rank ended with status %#x\n", failed);
		for (int i = 0; i < option.processes; i++)
			kill(pids[i], SIGKILL);
		return 1;
	}
	if (shared->wrong)
		return fprintf(stderr, "%lu values are wrong\n", shared->wrong), 1;
	if (log >= 0) {
		read_log(log, &chosen, &other);
		if (!chosen || other)
			return fprintf(stderr, "NCCL took %s %lu times, and another algorithm %lu times\n",
				       option.algorithm, chosen, other), 1;
		printf("# NCCL's log: %lu collectives by %s\n", chosen, option.algorithm);
	}
	printf("# every value is right\n");
	return 0;
}
