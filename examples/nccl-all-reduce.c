// SPDX-License-Identifier: MIT
/*
 * NCCL's collectives that are kernels, on emulated devices: every value checked, a table as
 * nccl-tests prints it, whose options it has.
 *
 *	make && make build/examples/nccl-all-reduce NCCL_HOME=/path/to/nccl/build
 *	tools/memcast-vm --host -- build/examples/nccl-all-reduce
 *
 * Each rank is a process and has a device. The kernels are NVIDIA's, run from their PTX; with
 * --algorithm NVLS, the default, their sums are made at multicast addresses. What NCCL takes is
 * checked in its log. docs/stack/nccl.md says how to build NCCL for this.
 */
#define _GNU_SOURCE
#include <cuda_runtime.h>
#include <nccl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nccl-check.h"
#include "nccl-count.h"
#include "nccl-log.h"
#include "nccl-numbers.h"
#include "nccl-options.h"

/* Memory that all ranks share; it is mapped before fork(). */
static struct {
	ncclUniqueId id;
	bool id_is_there;
	bool ready;			/* for the first collective of the table */
	bool lost;			/* a rank has ended before it was done */
	int arrived, times;		/* at meet() */
	int aborted;			/* ranks, when another one was lost */
	uint64_t wrong;
	uint64_t multimem;		/* operations, as memcast counts them */
} *shared;

/* What is measured now */
static struct {
	const struct type *type;
	const struct operation *operation;
	enum collective collective;
} now;

static int rank;
static ncclComm_t communicator;

/* Others of a rank that was lost would wait for it: NCCL's way out is to abort. */
static void go_on_or_abort(void)
{
	if (!__atomic_load_n(&shared->lost, __ATOMIC_ACQUIRE)) {
		usleep(1000);	/* there are fewer processors than ranks */
		return;
	}
	if (communicator)
		ncclCommAbort(communicator);
	__atomic_fetch_add(&shared->aborted, 1, __ATOMIC_RELAXED);
	exit(2);
}

static void meet(void)
{
	int times = __atomic_load_n(&shared->times, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&shared->arrived, 1, __ATOMIC_ACQ_REL) == option.processes) {
		__atomic_store_n(&shared->arrived, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&shared->times, times + 1, __ATOMIC_RELEASE);
	}
	while (__atomic_load_n(&shared->times, __ATOMIC_ACQUIRE) == times)
		go_on_or_abort();
}

struct buffers {
	cudaStream_t stream;
	char *send, *receive, *check;
};

static bool reduces(void)
{
	return now.collective == ALL_REDUCE || now.collective == REDUCE_SCATTER;
}

static int root_of(int iteration)
{
	return iteration % option.processes;
}

/* What a rank is to find at an index of its result */
static int expected(size_t index, size_t count, int iteration)
{
	const struct type *type = now.type;
	int all;

	if (now.collective == ALL_GATHER)
		return number(type, index / count, index % count, iteration);
	if (now.collective == BROADCAST)
		return number(type, root_of(iteration), index, iteration);
	if (now.collective == SENDRECV)
		return number(type, (rank + option.processes - 1) % option.processes, index,
			      iteration);
	if (now.collective == REDUCE_SCATTER)
		index += rank * count;
	all = number(type, 0, index, iteration);
	for (int i = 1; i < option.processes; i++)
		all = combine(now.operation, all, number(type, i, index, iteration));
	return all;
}

/* Values of one rank's input, and of its output; count: as NCCL takes it */
static size_t input_of(size_t count)
{
	return now.collective == REDUCE_SCATTER ? count * option.processes : count;
}

static size_t output_of(size_t count)
{
	return now.collective == ALL_GATHER ? count * option.processes : count;
}

static void start(const char *send, char *receive, size_t count, int iteration,
		  cudaStream_t stream)
{
	ncclDataType_t type = now.type->type;
	ncclRedOp_t operation = now.operation->operation;
	ncclComm_t comm = communicator;

	switch (now.collective) {
	case ALL_REDUCE:
		CHECK_NCCL(ncclAllReduce(send, receive, count, type, operation, comm, stream));
		break;
	case REDUCE_SCATTER:
		CHECK_NCCL(ncclReduceScatter(send, receive, count, type, operation, comm, stream));
		break;
	case ALL_GATHER:
		CHECK_NCCL(ncclAllGather(send, receive, count, type, comm, stream));
		break;
	case BROADCAST:
		CHECK_NCCL(ncclBroadcast(send, receive, count, type, root_of(iteration), comm,
					 stream));
		break;
	case SENDRECV:
		CHECK_NCCL(ncclGroupStart());
		CHECK_NCCL(ncclSend(send, count, type, (rank + 1) % option.processes, comm, stream));
		CHECK_NCCL(ncclRecv(receive, count, type,
				    (rank + option.processes - 1) % option.processes, comm, stream));
		CHECK_NCCL(ncclGroupEnd());
		break;
	}
}

/* Runs it once. Return: seconds; *wrong gets values that are others */
static double once(struct buffers *have, size_t count, bool in_place, int iteration,
		   uint64_t *wrong)
{
	const struct type *type = now.type;
	size_t bytes = type->bytes, input = input_of(count), output = output_of(count);
	char *send = have->send, *receive = have->receive, expect[8];
	struct timespec begin, end;
	cudaError_t error;

	if (in_place && now.collective == ALL_GATHER)
		send = receive + rank * count * bytes;
	else if (in_place)
		receive = send + (now.collective == REDUCE_SCATTER ? rank * count * bytes : 0);
	CHECK(cudaMemset(have->receive, 0xee, option.last));
	for (size_t i = 0; i < input; i++)
		store(type, have->check, i, number(type, rank, i, iteration));
	CHECK(cudaMemcpy(send, have->check, input * bytes, cudaMemcpyHostToDevice));
	meet();
	clock_gettime(CLOCK_MONOTONIC, &begin);
	start(send, receive, count, iteration, have->stream);
	while ((error = cudaStreamQuery(have->stream)) == cudaErrorNotReady)
		go_on_or_abort();
	CHECK(error);
	clock_gettime(CLOCK_MONOTONIC, &end);
	CHECK(cudaMemcpy(have->check, receive, output * bytes, cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < output; i++) {
		store(type, expect, 0, expected(i, count, iteration));
		*wrong += !!memcmp(have->check + i * bytes, expect, bytes);
	}
	return end.tv_sec - begin.tv_sec + (end.tv_nsec - begin.tv_nsec) / 1e9;
}

static void measure(struct buffers *have, size_t bytes)
{
	double factor = 1, us, share = (option.processes - 1.0) / option.processes;
	bool parts = now.collective == REDUCE_SCATTER || now.collective == ALL_GATHER;
	size_t count = bytes / now.type->bytes;
	uint64_t wrong;

	if (parts)
		count /= option.processes;
	if (!count)
		return;
	if (parts || now.collective == ALL_REDUCE)
		factor = parts ? share : 2 * share;
	if (!rank)
		printf("%12zu %12zu %9s %7s", bytes, count, now.type->name,
		       reduces() ? now.operation->name : "none");
	for (int in_place = 0; in_place < 2; in_place++) {
		if (in_place && now.collective == SENDRECV)
			break;
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

/* Has what NCCL is to take operations at multicast addresses? */
static bool uses_multimem(void)
{
	if (option.kernel)
		return strstr(option.kernel, "MC");
	return option.algorithm && !strcasecmp(option.algorithm, "NVLS");
}

/* multimem, and so NVLS and the symmetric kernels, has no minimum of these */
static bool exists(void)
{
	bool floats = now.type->type == ncclFloat32 || now.type->type == ncclFloat64;

	return !uses_multimem() || now.operation->operation == ncclSum || !floats;
}

/* All types of all operations of all collectives that were asked for */
static void measure_all(struct buffers *have)
{
	for (unsigned int i = 0; option.collectives >> i; i++) {
		now.collective = i;
		if (!(option.collectives >> i & 1))
			continue;
		if (!rank)
			printf("# %s\n", collectives[i]);
		for (unsigned int j = 0; option.operations >> j; j++) {
			now.operation = &operations[j];
			if (!(option.operations >> j & 1) || (!reduces() && j))
				continue;
			for (unsigned int k = 0; option.types >> k; k++) {
				now.type = &types[k];
				if (!(option.types >> k & 1) || (reduces() && !exists()))
					continue;
				for (size_t bytes = option.first; bytes <= option.last;
				     bytes *= option.factor)
					measure(have, bytes);
			}
		}
	}
}

static void register_buffer(char *buffer, void **handle, ncclWindow_t *window)
{
	if (option.registration == 1)
		CHECK_NCCL(ncclCommRegister(communicator, buffer, option.last, handle));
	else if (option.registration == 2)
		CHECK_NCCL(ncclCommWindowRegister(communicator, buffer, option.last, window,
						  NCCL_WIN_COLL_SYMMETRIC));
}

static void deregister_buffer(void *handle, ncclWindow_t window)
{
	if (option.registration == 1)
		CHECK_NCCL(ncclCommDeregister(communicator, handle));
	else if (option.registration == 2)
		CHECK_NCCL(ncclCommWindowDeregister(communicator, window));
}

static const char *wanted(void)
{
	if (option.kernel)
		return *option.kernel ? option.kernel : "symmetric kernels";
	return option.algorithm ? option.algorithm : "NCCL's choice";
}

static int run(void)
{
	struct buffers have;
	ncclWindow_t windows[2];
	void *handles[2];
	double begin = time(NULL);
	uint64_t multimem;

	CHECK(cudaSetDevice(rank));
	CHECK(cudaStreamCreateWithFlags(&have.stream, cudaStreamNonBlocking));
	/* NCCL serves it from a thread of this process, which a child would not have */
	if (!rank) {
		CHECK_NCCL(ncclGetUniqueId(&shared->id));
		__atomic_store_n(&shared->id_is_there, true, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(&shared->id_is_there, __ATOMIC_ACQUIRE))
		usleep(1000);
	CHECK_NCCL(ncclCommInitRank(&communicator, option.processes, shared->id, rank));
	CHECK_NCCL(ncclMemAlloc((void **)&have.send, option.last));
	CHECK_NCCL(ncclMemAlloc((void **)&have.receive, option.last));
	register_buffer(have.send, &handles[0], &windows[0]);
	register_buffer(have.receive, &handles[1], &windows[1]);
	have.check = malloc(option.last);
	if (!have.check)
		return 1;
	once(&have, 1, false, 0, &(uint64_t){ 0 });	/* kernels are compiled */
	if (!rank)
		printf("# By %s%s%s: %d ranks, %d iterations; ready after %.0f s\n"
		       "%-43s %-35s %s\n%12s %12s %9s %7s %11s %7s %7s %6s %11s %7s %7s %6s\n",
		       wanted(), option.protocol ? " " : "",
		       option.protocol ? option.protocol : "", option.processes,
		       option.iterations, time(NULL) - begin, "#", "out of place", "in place",
		       "# size (B)", "count", "type", "redop", "time (us)", "algbw", "busbw", "#wrong",
		       "time (us)", "algbw", "busbw", "#wrong");
	multimem = windows_count("multimem");
	__atomic_store_n(&shared->ready, true, __ATOMIC_RELEASE);
	measure_all(&have);
	if (!rank)
		shared->multimem = windows_count("multimem") - multimem;
	deregister_buffer(handles[0], windows[0]);
	deregister_buffer(handles[1], windows[1]);
	CHECK_NCCL(ncclMemFree(have.send));
	CHECK_NCCL(ncclMemFree(have.receive));
	CHECK_NCCL(ncclCommDestroy(communicator));
	return 0;
}

/*
 * Kills the last rank in the middle of a collective.
 *
 * Return: false: a rank ended before the first collective of the table.
 */
static bool kill_last(pid_t pid)
{
	siginfo_t ended = { };

	while (!__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE)) {
		if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) || ended.si_pid)
			return false;
		usleep(1000);
	}
	usleep(option.kill_after * 1000);
	return !kill(pid, SIGKILL);
}

/*
 * Ends ranks of which one is gone: most abort, and the rest wait for it in a call of NCCL's.
 *
 * Return: how many had to be killed.
 */
static int end_others(const pid_t *pids)
{
	int killed = 0, ended = 0, patience = 300;
	pid_t pid;

	__atomic_store_n(&shared->lost, true, __ATOMIC_RELEASE);
	while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0) {
		sleep(!pid);
		ended += pid > 0;
		for (int i = 0; !pid && !patience && i < option.processes; i++)
			killed += !kill(pids[i], SIGKILL);
		patience -= !pid;
	}
	printf("# ranks: %d aborted, %d ended with an error, %d were killed\n", shared->aborted,
	       ended - shared->aborted - killed, killed);
	return killed;
}

int main(int argc, char **argv)
{
	unsigned long taken, other;
	int status, failed = 0, log = -1;
	bool killed = false;
	pid_t pids[8];

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	now.collective = __builtin_ctz(option.collectives);
	now.operation = &operations[__builtin_ctz(option.operations)];
	now.type = &types[__builtin_ctz(option.types)];
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return perror("mmap"), 1;
	fflush(stdout);
	for (rank = 0; rank < option.processes; rank++) {
		/* rank 0 alone writes the log: all take the same algorithm */
		if (!rank)
			log = log_start();
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
	if (option.kill_after >= 0)
		killed = kill_last(pids[option.processes - 1]);
	while (!failed && wait(&status) > 0)
		failed = status;
	if (failed) {
		if (!end_others(pids) && killed && WIFSIGNALED(failed))
			return 0;
		return fprintf(stderr, "a rank ended with status %#x\n", failed), 1;
	}
	if (shared->wrong)
		return fprintf(stderr, "%lu values are wrong\n", shared->wrong), 1;
	/* it says nothing of sends */
	if (log >= 0 && option.collectives != 1U << SENDRECV) {
		taken = log_read(log, option.algorithm, option.protocol, option.kernel, &other);
		if (!taken || other)
			return fprintf(stderr, "NCCL took what was wanted %lu times, and something "
				       "else %lu times\n", taken, other), 1;
		printf("# NCCL's log: %lu collectives by %s\n", taken, wanted());
	}
	printf("# memcast counted %lu multimem operations\n", shared->multimem);
	if (uses_multimem() && !shared->multimem)
		return fprintf(stderr, "%s has to make some\n", wanted()), 1;
	if (!uses_multimem() && option.algorithm && shared->multimem)
		return fprintf(stderr, "%s has none\n", wanted()), 1;
	printf("# every value is right\n");
	return 0;
}
