// SPDX-License-Identifier: MIT
/*
 * NCCL's copy-engine collectives on emulated devices: no kernel, every byte checked.
 *
 *	make && make build/examples/nccl-ce NCCL_HOME=/path/to/nccl/build
 *	tools/memcast-vm --devices 4 -- build/examples/nccl-ce -p 4
 *
 * Each rank has a device. Ranks are processes (-p), threads (-t), or threads of several
 * processes (both). Both buffers are symmetric windows and the policy allows no kernels,
 * so NCCL moves data by cudaMemcpyBatchAsync(), and ranks meet by a copy to the multicast
 * address. docs/stack/nccl.md says how to build NCCL for this.
 */
#define _GNU_SOURCE
#include <argp.h>
#include <cuda_runtime.h>
#include <nccl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nccl-check.h"
#include "nccl-count.h"
#include "nccl-size.h"

static struct {
	int processes, threads, iterations;
	size_t first, last;		/* bytes that a rank has for each other one */
	unsigned long factor;
	const char *only;		/* a collective's name, or NULL */
} option = { .processes = 4, .threads = 1, .iterations = 20, .first = 1024, .last = 1 << 20, .factor = 4 };

/* Memory that all ranks share; it is mapped before fork(). */
static struct {
	ncclUniqueId id;
	bool id_is_there;
	bool lost;			/* a process has ended before it was done */
	int arrived, times;		/* at meet() */
	uint64_t wrong;
	uint64_t unicast;		/* collectives that wrote to no multicast window */
} *shared;

static __thread int rank;
static __thread ncclComm_t communicator;
static int ranks;

/* Others of a rank that was lost would wait for it: NCCL's way out is to abort. */
static void go_on_or_abort(void)
{
	if (!__atomic_load_n(&shared->lost, __ATOMIC_ACQUIRE)) {
		usleep(50);	/* there are fewer processors than ranks */
		return;
	}
	if (communicator)
		ncclCommAbort(communicator);
	fprintf(stderr, "rank %d: aborted, as another rank is gone\n", rank);
	exit(2);
}

/* All ranks are here. */
static void meet(void)
{
	int times = __atomic_load_n(&shared->times, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&shared->arrived, 1, __ATOMIC_ACQ_REL) == ranks) {
		__atomic_store_n(&shared->arrived, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&shared->times, times + 1, __ATOMIC_RELEASE);
	}
	while (__atomic_load_n(&shared->times, __ATOMIC_ACQUIRE) == times)
		go_on_or_abort();
}

struct buffers {
	ncclComm_t comm;
	cudaStream_t stream;
	cudaEvent_t begin, end;
	uint8_t *send, *receive;	/* device memory: option.last bytes for each rank */
	uint8_t *check;
};

/* The piece that @from has for @to: write it, or count the bytes that are others. */
static uint64_t piece(uint8_t *bytes, size_t count, int from, int to, int iteration, bool check)
{
	uint32_t state = (from * 251 + to * 17 + iteration) * 2654435761u + 1;
	uint64_t wrong = 0;

	for (size_t i = 0; i < count; i++) {
		state = state * 1664525 + 1013904223;
		if (check)
			wrong += bytes[i] != state >> 24;
		else
			bytes[i] = state >> 24;
	}
	return wrong;
}

/* For each collective: which ranks' pieces a rank sends to which, the first and how many */
static const struct collective {
	const char *name;
	bool to_each;		/* a piece for each rank, else one for all of them */
	bool from_root, to_root;
} collectives[] = {
	{ .name = "all_gather" },
	{ .name = "alltoall", .to_each = true },
	{ .name = "gather", .to_root = true },
	{ .name = "scatter", .to_each = true, .from_root = true },
};

#define ROOT	0

static ncclResult_t start(const struct collective *what, const struct buffers *have, size_t bytes)
{
	const void *send = have->send;
	void *receive = have->receive;

	if (what->from_root)
		return ncclScatter(send, receive, bytes, ncclUint8, ROOT, have->comm, have->stream);
	if (what->to_root)
		return ncclGather(send, receive, bytes, ncclUint8, ROOT, have->comm, have->stream);
	if (what->to_each)
		return ncclAlltoAll(send, receive, bytes, ncclUint8, have->comm, have->stream);
	return ncclAllGather(send, receive, bytes, ncclUint8, have->comm, have->stream);
}

/* Data that no iteration before had, and a receive buffer without any of them */
static void prepare(const struct collective *what, struct buffers *have, size_t bytes, int iteration)
{
	int pieces = what->from_root && rank != ROOT ? 0 : what->to_each ? ranks : 1;

	CHECK(cudaMemsetAsync(have->receive, 0xEE, bytes * ranks, have->stream));
	for (int to = 0; to < pieces; to++)
		piece(have->check + to * bytes, bytes, rank, to, iteration, false);
	CHECK(cudaMemcpyAsync(have->send, have->check, bytes * pieces, cudaMemcpyHostToDevice,
			      have->stream));
	CHECK(cudaStreamSynchronize(have->stream));
}

static uint64_t check(const struct collective *what, struct buffers *have, size_t bytes, int iteration)
{
	int pieces = what->from_root ? 1 : ranks;
	uint64_t wrong = 0;

	if (what->to_root && rank != ROOT)
		return 0;
	CHECK(cudaMemcpy(have->check, have->receive, bytes * pieces, cudaMemcpyDeviceToHost));
	for (int i = 0; i < pieces; i++)
		wrong += piece(have->check + i * bytes, bytes, what->from_root ? ROOT : i,
			       what->to_each ? rank : 0, iteration, true);
	return wrong;
}

static void measure(const struct collective *what, struct buffers *have, size_t bytes)
{
	uint64_t wrong = 0, writes = 0, before = 0, after;
	double us = 0, total;

	for (int i = 0; i < option.iterations; i++) {
		cudaError_t error;
		float ms;

		prepare(what, have, bytes, i);
		meet();
		if (!rank)
			before = windows_count("writes");
		meet();
		CHECK(cudaEventRecord(have->begin, have->stream));
		CHECK_NCCL(start(what, have, bytes));
		CHECK(cudaEventRecord(have->end, have->stream));
		while ((error = cudaStreamQuery(have->stream)) == cudaErrorNotReady)
			go_on_or_abort();
		CHECK(error);
		CHECK(cudaEventElapsedTime(&ms, have->begin, have->end));
		us += ms * 1000;
		meet();
		if (!rank) {
			after = windows_count("writes");
			writes += after - before;
			shared->unicast += after == before;
		}
		wrong += check(what, have, bytes, i);
	}
	__atomic_fetch_add(&shared->wrong, wrong, __ATOMIC_RELAXED);
	meet();
	if (rank)
		return;
	us /= option.iterations;
	total = (double)bytes * ranks;
	printf("%12zu %-12s %10.1f %8.3f %8.3f %10.1f %8lu\n", bytes, what->name, us,
	       total / us / 1000, total * (ranks - 1) / ranks / us / 1000,
	       (double)writes / option.iterations, shared->wrong);
	fflush(stdout);
}

static void *run(void *which)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	struct buffers have;
	ncclWindow_t windows[2];
	size_t room;
	int devices;

	rank = (intptr_t)which;
	room = option.last * ranks;
	CHECK(cudaGetDeviceCount(&devices));
	if (devices < ranks)
		fprintf(stderr, "%d ranks need a device each, here are %d\n", ranks, devices), exit(1);
	CHECK(cudaSetDevice(rank));
	CHECK(cudaStreamCreateWithFlags(&have.stream, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&have.begin));
	CHECK(cudaEventCreate(&have.end));
	CHECK(cudaHostAlloc((void **)&have.check, room, cudaHostAllocDefault));
	config.CTAPolicy = NCCL_CTA_POLICY_ZERO;
	config.maxCTAs = 1;	/* no kernel runs, so none needs buffers */
	CHECK_NCCL(ncclCommInitRankConfig(&have.comm, ranks, shared->id, rank, &config));
	communicator = have.comm;
	CHECK_NCCL(ncclMemAlloc((void **)&have.send, room));
	CHECK_NCCL(ncclMemAlloc((void **)&have.receive, room));
	CHECK_NCCL(ncclCommWindowRegister(have.comm, have.send, room, &windows[0],
					  NCCL_WIN_COLL_SYMMETRIC));
	CHECK_NCCL(ncclCommWindowRegister(have.comm, have.receive, room, &windows[1],
					  NCCL_WIN_COLL_SYMMETRIC));
	if (!rank)
		printf("# %d ranks: %d processes of %d threads; %d iterations\n%12s %-12s %10s %8s %8s %10s %8s\n",
		       ranks, option.processes, option.threads, option.iterations, "bytes/rank",
		       "collective", "time (us)", "algGB/s", "busGB/s", "mc writes", "wrong");
	for (size_t i = 0; i < sizeof(collectives) / sizeof(collectives[0]); i++)
		for (size_t bytes = option.first; bytes <= option.last; bytes *= option.factor)
			if (!option.only || !strcmp(option.only, collectives[i].name))
				measure(&collectives[i], &have, bytes);
	CHECK_NCCL(ncclCommWindowDeregister(have.comm, windows[0]));
	CHECK_NCCL(ncclCommWindowDeregister(have.comm, windows[1]));
	CHECK_NCCL(ncclMemFree(have.send));
	CHECK_NCCL(ncclMemFree(have.receive));
	CHECK_NCCL(ncclCommDestroy(have.comm));
	CHECK(cudaFreeHost(have.check));
	return NULL;
}

static int run_process(int process)
{
	pthread_t threads[option.threads];

	rank = process * option.threads;
	/* NCCL serves it from a thread of this process, which a child would not have */
	if (!process) {
		CHECK_NCCL(ncclGetUniqueId(&shared->id));
		__atomic_store_n(&shared->id_is_there, true, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(&shared->id_is_there, __ATOMIC_ACQUIRE))
		go_on_or_abort();
	for (int i = 0; i < option.threads; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(intptr_t)(rank + i)))
			perror("pthread_create"), exit(1);
	for (int i = 0; i < option.threads; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	switch (key) {
	case 'p': option.processes = atoi(value); break;
	case 't': option.threads = atoi(value); break;
	case 'n': option.iterations = atoi(value); break;
	case 'b': option.first = parse_size(value, state); break;
	case 'e': option.last = parse_size(value, state); break;
	case 'f': option.factor = strtoul(value, NULL, 0); break;
	case 'c': option.only = value; break;
	case ARGP_KEY_END:
		if (option.processes < 1 || option.threads < 1 || option.processes > 64 ||
		    option.threads > 64 || option.processes * option.threads < 2)
			argp_error(state, "at least two ranks, 64 processes, 64 threads at most");
		if (option.iterations < 1 || option.factor < 2 || !option.first ||
		    option.first > option.last)
			argp_error(state, "at least one iteration, a factor of 2, and -b not above -e");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "processes", 'p', "N", 0, "Processes (4)", 0 },
		{ "threads", 't', "N", 0, "Ranks of each, as threads (1)", 0 },
		{ "iterations", 'n', "N", 0, "Of each collective and size (20)", 0 },
		{ "minbytes", 'b', "BYTES", 0, "Bytes that a rank has for another, at first (1K)", 0 },
		{ "maxbytes", 'e', "BYTES", 0, "And at last (1M)", 0 },
		{ "stepfactor", 'f', "N", 0, "From one size to the next (4)", 0 },
		{ "collective", 'c', "NAME", 0, "One: all_gather, alltoall, gather or scatter", 0 },
		{ }
	};
	static const struct argp argp = {
		options, parse, NULL,
		"NCCL's copy-engine collectives on emulated devices: no kernel, every byte checked.",
		NULL, NULL, NULL
	};
	int status, failed = 0, patience = 10;
	pid_t pids[64];

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	ranks = option.processes * option.threads;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return perror("mmap"), 1;

	/* a process that has used CUDA cannot fork() ranks, so this one does not */
	for (int i = 0; i < option.processes; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			return perror("fork"), 1;
		if (!pids[i])
			return run_process(i);
	}
	while (wait(&status) > 0) {
		if (status && !failed)
			fprintf(stderr, "a process ended with status %#x\n", status);
		failed |= status;
		if (failed)
			break;
	}
	/* NCCL may be waiting in a call for the one that is gone, as on hardware */
	__atomic_store_n(&shared->lost, true, __ATOMIC_RELEASE);
	for (pid_t pid; failed && (pid = waitpid(-1, NULL, WNOHANG)) >= 0; ) {
		if (pid || patience-- > 0)
			sleep(!pid);
		else
			for (int i = 0; i < option.processes; i++)
				kill(pids[i], SIGKILL);
	}
	if (failed)
		return 1;
	if (shared->wrong)
		return fprintf(stderr, "%lu bytes are wrong\n", shared->wrong), 1;
	/* without multicast NCCL meets by copies to each rank, and says nothing */
	if (shared->unicast)
		return fprintf(stderr, "%lu collectives met without multicast\n", shared->unicast), 1;
	printf("# every byte is right; copies met at multicast addresses\n");
	return 0;
}
