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
#include "nccl-kill.h"
#include "nccl-log.h"
#include "nccl-numbers.h"
#include "nccl-options.h"

/* Memory that all ranks share; it is mapped before fork(). */
static struct {
	ncclUniqueId id;
	int ids;			/* as many communicators have got one */
	bool ready;			/* for the first collective of the table */
	bool inside;			/* a collective: the last rank has seen no end of it */
	bool lost;			/* a rank has ended before it was done */
	int arrived, times;		/* at meet() */
	int aborted;			/* ranks, when another one was lost */
	int busy;			/* of these, threads still used a processor */
	uint64_t wrong;
	int failed;			/* cases */
} *shared;

/* What is measured now */
static struct {
	const struct type *type;
	const struct operation *operation;
	enum collective collective;
} now;

static int rank;
static ncclComm_t communicator;

/*
 * Others of a rank that was lost would wait for it: NCCL's way out is to abort. No kernel may go on
 * spinning then.
 */
static void go_on_or_abort(void)
{
	int patience = 60;

	if (!__atomic_load_n(&shared->lost, __ATOMIC_ACQUIRE)) {
		usleep(1000);	/* there are fewer processors than ranks */
		return;
	}
	if (communicator)
		ncclCommAbort(communicator);
	while (!is_idle() && --patience)
		;
	if (!patience)
		__atomic_fetch_add(&shared->busy, 1, __ATOMIC_RELAXED);
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
	if (rank == option.processes - 1)
		__atomic_store_n(&shared->inside, true, __ATOMIC_RELEASE);
	while ((error = cudaStreamQuery(have->stream)) == cudaErrorNotReady)
		go_on_or_abort();
	CHECK(error);
	if (rank == option.processes - 1)
		__atomic_store_n(&shared->inside, false, __ATOMIC_RELEASE);
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

/*
 * Has what NCCL is to take operations at multicast addresses? LLMC has plain stores there, which
 * are not counted.
 */
static bool uses_multimem(void)
{
	if (option.kernel)
		return strstr(option.kernel, "MC") && !strstr(option.kernel, "LLMC");
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

/*
 * Rank 0 judges a case: @multimem operations, as memcast counts them, and its log of NCCL, or -1.
 *
 * Return: what is wrong, or NULL.
 */
static const char *judge(uint64_t multimem, int log)
{
	static char text[256];
	unsigned long taken, other;

	printf("# memcast counted %lu multimem operations\n", multimem);
	if (shared->wrong) {
		snprintf(text, sizeof(text), "%lu values are wrong", shared->wrong);
		return text;
	}
	/* it says nothing of sends */
	if (log >= 0 && option.collectives != 1U << SENDRECV) {
		taken = log_read(log, option.algorithm, option.protocol, option.kernel, &other);
		snprintf(text, sizeof(text), "NCCL took what was wanted %lu times, and something "
			 "else %lu times", taken, other);
		if (!taken || other)
			return text;
		printf("# NCCL's log: %lu collectives by %s\n", taken, wanted());
	}
	if (uses_multimem() && !multimem)
		return "there are no multimem operations";
	if (!uses_multimem() && option.algorithm && multimem)
		return "it has no multimem operations";
	return NULL;
}

/* Runs what options say, with a communicator of its own: number @number of this process */
static void run_case(struct buffers *have, int number, int log)
{
	ncclWindow_t windows[2];
	void *handles[2];
	double begin = time(NULL);
	const char *problem;
	uint64_t multimem;

	tell_nccl();
	now.collective = __builtin_ctz(option.collectives);
	now.operation = &operations[__builtin_ctz(option.operations)];
	now.type = &types[__builtin_ctz(option.types)];
	/* NCCL serves it from a thread of this process, which a child would not have */
	if (!rank) {
		shared->wrong = 0;
		CHECK_NCCL(ncclGetUniqueId(&shared->id));
		__atomic_store_n(&shared->ids, number, __ATOMIC_RELEASE);
	}
	while (__atomic_load_n(&shared->ids, __ATOMIC_ACQUIRE) < number)
		usleep(1000);
	CHECK_NCCL(ncclCommInitRank(&communicator, option.processes, shared->id, rank));
	CHECK_NCCL(ncclMemAlloc((void **)&have->send, option.last));
	CHECK_NCCL(ncclMemAlloc((void **)&have->receive, option.last));
	register_buffer(have->send, &handles[0], &windows[0]);
	register_buffer(have->receive, &handles[1], &windows[1]);
	have->check = malloc(option.last);
	if (!have->check)
		exit(1);
	once(have, 1, false, 0, &(uint64_t){ 0 });	/* kernels are compiled */
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
	measure_all(have);
	meet();			/* all have counted their wrong values */
	if (!rank) {
		problem = judge(windows_count("multimem") - multimem, log);
		shared->failed += !!problem;
		printf("# %s%s%s\n", problem ? problem : "every value is right",
		       option.line ? ": " : "", option.line ? option.line : "");
		fflush(stdout);
	}
	deregister_buffer(handles[0], windows[0]);
	deregister_buffer(handles[1], windows[1]);
	CHECK_NCCL(ncclMemFree(have->send));
	CHECK_NCCL(ncclMemFree(have->receive));
	free(have->check);
	CHECK_NCCL(ncclCommDestroy(communicator));
	communicator = NULL;
}

static int run(int log)
{
	struct buffers have;

	CHECK(cudaSetDevice(rank));
	CHECK(cudaStreamCreateWithFlags(&have.stream, cudaStreamNonBlocking));
	for (int i = 0; i < cases_count; i++) {
		option = cases[i];
		run_case(&have, i + 1, log);
	}
	return 0;
}

/*
 * Ends ranks of which one is gone: most abort, and the rest wait for it in a call of NCCL's.
 *
 * Return: did all abort, and none go on spinning?
 */
static bool end_others(const pid_t *pids)
{
	int killed = 0, ended = 0, patience = option.patience;
	pid_t pid;

	__atomic_store_n(&shared->lost, true, __ATOMIC_RELEASE);
	while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0) {
		sleep(!pid);
		ended += pid > 0;
		for (int i = 0; !pid && !patience && i < option.processes; i++) {
			if (kill(pids[i], SIGKILL))
				continue;
			printf("# rank %d, process %d, did not abort\n", i, (int)pids[i]);
			killed++;
		}
		patience -= !pid;
	}
	printf("# ranks: %d aborted, %d ended with an error, %d were killed; %d went on spinning\n",
	       shared->aborted, ended - shared->aborted - killed, killed, shared->busy);
	return shared->aborted == ended && !shared->busy;
}

int main(int argc, char **argv)
{
	int status, failed = 0, log = -1;
	bool killed = false;
	pid_t pids[8];

	read_options(argc, argv);
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
			exit(run(log));
		if (log >= 0) {
			unsetenv("NCCL_DEBUG");
			unsetenv("NCCL_DEBUG_FILE");
		}
	}
	if (option.kill_after >= 0)
		killed = kill_inside(pids[option.processes - 1], &shared->ready, &shared->inside,
				     option.kill_after);
	if (killed)
		printf("# rank %d was killed in a collective\n", option.processes - 1);
	while (!failed && wait(&status) > 0)
		failed = status;
	if (failed) {
		if (end_others(pids) && killed && WIFSIGNALED(failed))
			return 0;
		return fprintf(stderr, "a rank ended with status %#x\n", failed), 1;
	}
	if (option.kill_after >= 0)
		return fprintf(stderr, "all collectives ended before a rank was killed\n"), 1;
	return !!shared->failed;
}
