// SPDX-License-Identifier: MIT
/*
 * The blocks, warps and threads that translated PTX runs on (lib/ptx/run/), by functions written
 * in C in place of generated code. They need no device.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "fiber/fiber.h"
#include "kselftest_harness.h"

/* No timeout ends a test: machines are busy. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 86400
#include "ptx/run/run.h"

#define ILLEGAL_ADDRESS		700
#define ILLEGAL_INSTRUCTION	715
#define LAUNCH_FAILED		719

#define SPIN(thread, condition)						\
	while (condition) {						\
		(thread)->poll_budget -= PTX_POLL_WAIT;			\
		if ((thread)->poll_budget < 0)				\
			ptx_run_poll(thread);				\
	}

static __thread ptx_catcher *catcher;

static void on_fault(int number, siginfo_t *info, void *context)
{
	ptx_catcher *chosen = catcher;

	(void)context;
	catcher = NULL;			/* it gets one, as of libcuda.so.1 */
	chosen(number, (uintptr_t)info->si_addr, 0, 0, true);
}

static void set_catcher(ptx_catcher *caught)
{
	catcher = caught;
}

static const struct ptx_run_host host = { .catch = set_catcher };
static uint64_t heap_limit = 8 << 20, heap_life;
static const void *heap_of;

#define run(kernel, grid, threads, parameters)				\
	run_(_metadata, &(kernel), grid, threads, false, parameters)
static struct ptx_outcome run_(struct __test_metadata *_metadata, const struct ptx_kernel *kernel,
			       uint32_t grid, uint32_t threads, bool cooperative,
			       const void *parameters)
{
	static char stack[65536];
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const struct sigaction action = {
		.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};
	struct ptx_launch launch = {
		.kernel = kernel, .parameters = parameters, .grid = { grid, 1, 1 },
		.block = { threads, 1, 1 }, .cluster = { 1, 1, 1 }, .cooperative = cooperative,
		.multiprocessors = 132, .heap_limit = heap_limit, .host = &host,
		.heap = heap_of, .heap_life = heap_life,
	};
	struct ptx_outcome outcome;

	(void)_metadata;
	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &action, NULL);
	ptx_run(&launch, &outcome);
	return outcome;
}

#define EXPECT_RAN(outcome)							\
	do {									\
		struct ptx_outcome ended = (outcome);				\
		EXPECT_EQ(0, ended.result) TH_LOG("%s", ended.reason);		\
	} while (0)

struct words {
	atomic_uint *word;
};

/* Each thread of a block adds to a word of its own, one after the other. */
static void count(struct ptx_thread *thread, const void *parameters)
{
	const struct words *words = parameters;

	for (uint32_t i = 0; i < thread->ntid[0]; i++)
		words->word[thread->ctaid[0] * thread->ntid[0] + i] += 1 + i;
}

TEST(threads_that_never_wait)
{
	static const struct ptx_kernel kernel = { .block = count, .name = "count", .frame = 512 };
	static atomic_uint word[100 * 48];
	struct words words = { word };

	EXPECT_RAN(run(kernel, 100, 48, &words));
	for (int i = 0; i < 4800; i++)
		ASSERT_EQ(1 + i % 48, (int)word[i]);
}

/* A tree of barriers: the sum of all threads' numbers */
static void reduce(struct ptx_thread *thread, const void *parameters)
{
	const struct words *words = parameters;
	uint32_t *shared = (uint32_t *)(thread->shared + PTX_SHARED_FIRST), i = thread->tid[0];

	shared[i] = i;
	for (uint32_t half = thread->ntid[0] / 2; half; half /= 2) {
		ptx_run_bar_sync(thread, 0, 0);
		if (i < half)
			shared[i] += shared[i + half];
	}
	if (!i)
		words->word[thread->ctaid[0]] = shared[0];
}

TEST(barriers_of_a_block)
{
	static const struct ptx_kernel kernel = {
		.thread = reduce, .name = "reduce", .frame = 512, .static_shared = 4096, .waits = true,
	};
	static atomic_uint word[64];
	struct words words = { word };

	for (int round = 0; round < 20; round++) {
		memset(word, 0, sizeof(word));
		EXPECT_RAN(run(kernel, 64, 1024, &words));
		for (int i = 0; i < 64; i++)
			ASSERT_EQ(1023 * 512, (int)word[i]);
	}
}

/* Producers arrive, consumers wait, at two barriers that have numbers and counts. */
static void stages(struct ptx_thread *thread, const void *parameters)
{
	const struct words *words = parameters;
	uint32_t *shared = (uint32_t *)(thread->shared + PTX_SHARED_FIRST);

	for (uint32_t i = 0; i < 50; i++) {
		if (thread->warpid == 0) {
			shared[thread->laneid] = i * 100 + thread->laneid;
			ptx_run_bar_arrive(thread, 1, 64);
			ptx_run_bar_sync(thread, 2, 64);
		} else if (thread->warpid == 1) {
			ptx_run_bar_sync(thread, 1, 64);
			words->word[0] += shared[31 - thread->laneid] == i * 100 + 31 - thread->laneid;
			ptx_run_bar_arrive(thread, 2, 64);
		} else if (ptx_run_bar_red(thread, 3, 32, PTX_RED_POPC, thread->laneid < 7) == 7) {
			words->word[1]++;
		}
	}
}

TEST(barriers_with_numbers_and_counts)
{
	static const struct ptx_kernel kernel = {
		.thread = stages, .name = "stages", .frame = 512, .waits = true,
	};
	static atomic_uint word[2];
	struct words words = { word };

	EXPECT_RAN(run(kernel, 2, 96, &words));
	EXPECT_EQ(2 * 50 * 32, (int)word[0]);
	EXPECT_EQ(2 * 50 * 32, (int)word[1]);
}

/* Threads that end count at barriers for all threads, and lanes that end at operations. */
static void leave(struct ptx_thread *thread, const void *parameters)
{
	const struct words *words = parameters;

	if (thread->tid[0] % 3 == 1)
		ptx_run_exit(thread);
	ptx_run_bar_sync(thread, 0, 0);
	if (ptx_run_vote(thread, -1U, PTX_VOTE_BALLOT, 1, PTX_LANES_UP) & 1U << thread->laneid)
		words->word[0]++;
	ptx_run_bar_sync(thread, 5, 64);
	words->word[1]++;
}

TEST(threads_that_have_ended_are_not_waited_for)
{
	static const struct ptx_kernel kernel = {
		.thread = leave, .name = "leave", .frame = 512, .waits = true,
	};
	static atomic_uint word[2];
	struct words words = { word };

	EXPECT_RAN(run(kernel, 1, 50, &words));
	EXPECT_EQ(33, (int)word[0]);
	EXPECT_EQ(33, (int)word[1]);
}

static void lanes(struct ptx_thread *thread, const void *parameters)
{
	const struct words *words = parameters;
	uint32_t lane = thread->laneid, predicate, all[32], good = 0;

	good += ptx_run_shfl(thread, -1U, PTX_SHFL_DOWN, lane + 100, 3, 31, &predicate) ==
			(lane < 29 ? lane + 103 : lane + 100) && predicate == (lane < 29);
	good += ptx_run_shfl(thread, -1U, PTX_SHFL_UP, lane, 1, 0x1800, &predicate) ==
			(lane % 8 ? lane - 1 : lane) && predicate == (lane % 8 > 0);
	good += ptx_run_shfl(thread, -1U, PTX_SHFL_IDX, lane, 5, 0x181f, NULL) ==
		(lane & 24) + 5;
	good += ptx_run_redux(thread, -1U, PTX_REDUX_ADD, lane) == 31 * 16;
	good += ptx_run_match_any(thread, -1U, lane & 3) == 0x11111111U << (lane & 3);
	good += ptx_run_elect(thread, -1U, &predicate) == 0 && predicate == !lane;
	ptx_run_gather(thread, -1U, &lane, all, sizeof(lane));
	good += all[31] == 31 && all[7] == 7;
	/* halves of a warp meet apart from each other */
	if (lane < 10)
		good += ptx_run_activemask(thread, 1) == 0x3ff;
	else
		good += ptx_run_activemask(thread, 2) == ~0x3ffU;
	ptx_run_bar_warp_sync(thread, -1U, PTX_LANES_UP);
	if (lane & 1)
		good += ptx_run_vote(thread, 0xaaaaaaaa, PTX_VOTE_BALLOT, lane > 15,
				     PTX_LANES_UP) == 0xaaaa0000;
	else
		good += ptx_run_match_all(thread, 0x55555555, 7, &predicate) == 0x55555555;
	words->word[thread->tid[0]] = good;
}

TEST(operations_of_lanes)
{
	static const struct ptx_kernel kernel = {
		.thread = lanes, .name = "lanes", .frame = 1024, .waits = true,
	};
	static atomic_uint word[64];
	struct words words = { word };

	EXPECT_RAN(run(kernel, 1, 64, &words));
	for (int i = 0; i < 64; i++)
		EXPECT_EQ(9, (int)word[i]);
}

/* The order in which lanes go on: those that only load begin with the highest. */
static void order(struct ptx_thread *thread, const void *parameters)
{
	const struct words *words = parameters;

	ptx_run_bar_warp_sync(thread, -1U, PTX_LANES_DOWN);
	words->word[thread->laneid] = words->word[64]++;
	ptx_run_vote(thread, -1U, PTX_VOTE_ANY, 0, PTX_LANES_UP);
	words->word[32 + thread->laneid] = words->word[64]++;
}

TEST(order_of_lanes)
{
	static const struct ptx_kernel kernel = {
		.thread = order, .name = "order", .frame = 512, .waits = true,
	};
	static atomic_uint word[65];
	struct words words = { word };

	EXPECT_RAN(run(kernel, 1, 32, &words));
	for (int i = 0; i < 32; i++) {
		EXPECT_EQ(31 - i, (int)word[i]);
		EXPECT_EQ(32 + i, (int)word[32 + i]);
	}
}

/* Each block waits for the next one, and each lane for the one above it. */
static void chain(struct ptx_thread *thread, const void *parameters)
{
	const struct words *words = parameters;
	uint32_t number = thread->ctaid[0] * thread->ntid[0] + thread->tid[0];
	uint32_t last = thread->nctaid[0] * thread->ntid[0] - 1;

	SPIN(thread, number != last && !words->word[number + 1]);
	words->word[number] = 1;
}

TEST(progress_between_lanes_and_blocks)
{
	static const struct ptx_kernel kernel = {
		.thread = chain, .name = "chain", .frame = 512, .waits = true,
	};
	static atomic_uint word[64 * 40];
	struct words words = { word };

	EXPECT_RAN(run(kernel, 64, 40, &words));
	EXPECT_EQ(1, (int)word[0]);
}

static atomic_uint waits_told;

static void on_waits(void *data, const char *where, uint64_t nanoseconds, bool all)
{
	(void)data, (void)where, (void)nanoseconds, (void)all;
	waits_told++;
}

/* It has looked at a word before, and now calls functions in a loop. */
static void compute(struct ptx_thread *thread, const void *parameters)
{
	const struct words *words = parameters;

	thread->looked_at = (uintptr_t)words->word | 4UL << PTX_LOOKED_SHIFT;
	for (uint32_t turn = 0; turn < 60000; turn++)
		ptx_run_poll_blind(thread);
	words->word[0]++;
}

/* If its thread were taken to wait, it would sleep for 50 microseconds at each poll, and tell. */
TEST(who_computes_does_not_wait)
{
	static const struct ptx_run_host hears = { .catch = set_catcher, .waits = on_waits };
	static const struct ptx_kernel kernel = {
		.thread = compute, .name = "compute", .frame = 512, .waits = true,
	};
	static atomic_uint word;
	struct words words = { &word };
	struct ptx_launch launch = {
		.kernel = &kernel, .parameters = &words, .grid = { 1, 1, 1 }, .block = { 1, 1, 1 },
		.cluster = { 1, 1, 1 }, .multiprocessors = 132, .host = &hears,
	};
	struct ptx_outcome outcome;

	ptx_run(&launch, &outcome);
	EXPECT_EQ(0, outcome.result);
	EXPECT_EQ(1, (int)word);
	EXPECT_EQ(0, (int)waits_told);
}

/* Its thread waits for a word that nobody writes. */
static void wait_in_vain(struct ptx_thread *thread, const void *parameters)
{
	const struct words *words = parameters;

	SPIN(thread, !words->word[0]);
}

static int fails_soon(void *data)
{
	return ++*(int *)data == 3 ? LAUNCH_FAILED : 0;
}

/* A kernel that waits ends when its context has failed. */
TEST(ends_with_its_context)
{
	static const struct ptx_run_host fails = { .catch = set_catcher, .failed = fails_soon };
	static const struct ptx_kernel kernel = {
		.thread = wait_in_vain, .name = "wait_in_vain", .frame = 512, .waits = true,
	};
	static atomic_uint word;
	struct words words = { &word };
	int times = 0;
	struct ptx_launch launch = {
		.kernel = &kernel, .parameters = &words, .grid = { 1, 1, 1 }, .block = { 64, 1, 1 },
		.cluster = { 1, 1, 1 }, .multiprocessors = 132, .host = &fails, .host_data = &times,
	};
	struct ptx_outcome outcome;

	ptx_run(&launch, &outcome);
	EXPECT_EQ(LAUNCH_FAILED, outcome.result);
	EXPECT_STREQ("kernel wait_in_vain was ended: its context has failed or ended",
		     outcome.reason);
	EXPECT_EQ(3, times);
}

/* Looks at the signals of its thread of the process, and gives another one time to take a block. */
static void look_at_signals(struct ptx_thread *thread, const void *parameters)
{
	static const int raised[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
	const struct words *words = parameters;
	sigset_t blocked;

	(void)thread;
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	for (size_t i = 0; i < sizeof(raised) / sizeof(*raised); i++)
		words->word[0] += sigismember(&blocked, raised[i]);
	words->word[1]++;
	for (int i = 0; i < 1000 && words->word[1] < 2; i++)
		usleep(1000);
}

/* Signals that an instruction raises would end the process where they are blocked. */
TEST(signals_of_all_threads)
{
	static const struct ptx_kernel kernel = {
		.thread = look_at_signals, .name = "look_at_signals", .frame = 512, .waits = true,
	};
	static atomic_uint word[2];
	struct words words = { word };

	EXPECT_RAN(run(kernel, 2, 1, &words));
	EXPECT_EQ(0, (int)word[0]);
	EXPECT_EQ(2, (int)word[1]);
}

static __thread uint32_t live_here;
static atomic_uint live_most;

/* Its block gets on by itself, for a thousand rounds of its runner. */
static void go_on(struct ptx_thread *thread, const void *parameters)
{
	(void)parameters;
	if (!thread->tid[0] && ++live_here > live_most)
		live_most = live_here;
	for (uint32_t turn = 0; turn < 1000; turn++)
		ptx_run_bar_sync(thread, 0, 0);
	if (!thread->tid[0])
		live_here--;
}

TEST(blocks_that_go_on_do_not_become_many)
{
	static const struct ptx_kernel kernel = {
		.thread = go_on, .name = "go_on", .frame = 512, .waits = true,
	};

	EXPECT_RAN(run(kernel, 100, 32, NULL));
	EXPECT_GE(8, (int)live_most);
}

/* A barrier of all blocks, as grid.sync() makes it of the workspace */
static void grid_barrier(struct ptx_thread *thread, const void *parameters)
{
	const struct words *words = parameters;
	atomic_uint *barrier = (atomic_uint *)((uintptr_t)thread->envreg[1] << 32 |
					       thread->envreg[2]) + 1;

	words->word[0]++;
	ptx_run_bar_sync(thread, 0, 0);
	if (!thread->tid[0]) {
		(*barrier)++;
		SPIN(thread, *barrier < thread->nctaid[0]);
	}
	ptx_run_bar_sync(thread, 0, 0);
	words->word[1] += words->word[0] == thread->nctaid[0] * thread->ntid[0];
}

TEST(cooperative_grids)
{
	static const struct ptx_kernel kernel = {
		.thread = grid_barrier, .name = "grid_barrier", .frame = 512, .waits = true,
	};
	static atomic_uint word[2];
	struct words words = { word };

	EXPECT_RAN(run_(_metadata, &kernel, 264, 64, true, &words));
	EXPECT_EQ(264 * 64, (int)word[1]);
}

static void bad_store(struct ptx_thread *thread, const void *parameters)
{
	int *volatile nowhere = (int *)16;

	(void)parameters;
	if (thread->ctaid[0] == 3 && thread->tid[0] == 5)
		*nowhere = 1;
	ptx_run_bar_sync(thread, 0, 0);
}

static void overflow(struct ptx_thread *thread, const void *parameters)
{
	char *low = thread->stack_end - 40;

	(void)parameters;
	if (!thread->tid[0])
		*(volatile char *)low = 1;
	ptx_run_bar_sync(thread, 0, 0);
}

static void unequal(struct ptx_thread *thread, const void *parameters)
{
	(void)parameters;
	ptx_run_bar_sync(thread, thread->tid[0] & 1, 64);
}

static void not_whole(struct ptx_thread *thread, const void *parameters)
{
	(void)parameters;
	ptx_run_bar_sync(thread, 1, 33);
}

static void trap(struct ptx_thread *thread, const void *parameters)
{
	(void)parameters;
	SPIN(thread, thread->ctaid[0]);
	ptx_run_trap(thread);
}

TEST(faults)
{
	static const struct {
		struct ptx_kernel kernel;
		int result;
		const char *says;
	} bad[] = {
		{ { .thread = bad_store, .name = "bad_store", .frame = 512, .waits = true },
		  ILLEGAL_ADDRESS, "kernel bad_store, block (3, 0, 0), thread (5, 0, 0): store at 0x10" },
		{ { .thread = overflow, .name = "overflow", .frame = 512, .waits = true },
		  ILLEGAL_ADDRESS, "its stack has overflowed" },
		{ { .thread = unequal, .name = "unequal", .frame = 512, .waits = true },
		  LAUNCH_FAILED, "for ever" },
		{ { .thread = not_whole, .name = "not_whole", .frame = 512, .waits = true },
		  ILLEGAL_INSTRUCTION, "33 threads" },
		{ { .thread = trap, .name = "trap", .frame = 512, .waits = true },
		  LAUNCH_FAILED, "kernel trap, block (0, 0, 0), thread (0, 0, 0): trap" },
	};

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ptx_outcome outcome = run(bad[i].kernel, 8, 32, NULL);

		EXPECT_EQ(bad[i].result, outcome.result);
		EXPECT_NE(NULL, strstr(outcome.reason, bad[i].says)) TH_LOG("it said: %s",
									     outcome.reason);
	}
}

/* Threads have looked at a word whose memory goes. */
static void lose(struct ptx_thread *thread, const void *parameters)
{
	const struct words *words = parameters;

	thread->looked_at = (uintptr_t)words->word | 4UL << PTX_LOOKED_SHIFT;
	ptx_run_poll(thread);
	ptx_run_bar_sync(thread, 0, 0);
	if (!thread->tid[0])
		munmap(words->word, 4096);
	ptx_run_bar_sync(thread, 0, 0);
	ptx_run_poll(thread);
}

TEST(a_word_that_is_gone)
{
	static const struct ptx_kernel kernel = {
		.thread = lose, .name = "lose", .frame = 512, .waits = true,
	};
	struct words words = { mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) };

	ASSERT_NE(MAP_FAILED, (void *)words.word);
	EXPECT_RAN(run(kernel, 1, 3, &words));
}

/* Each thread adds to what earlier blocks have left in shared memory. */
static void add_to_shared(struct ptx_thread *thread, const void *parameters)
{
	const struct words *words = parameters;

	words->word[0] = ++*(uint32_t *)(thread->shared + PTX_SHARED_FIRST);
}

/* A runner keeps the memory of the blocks that it had last. */
TEST(memory_of_the_last_blocks)
{
	static const struct ptx_kernel kernel = {
		.thread = add_to_shared, .name = "add_to_shared", .frame = 512, .waits = true,
	};
	static atomic_uint word[1];
	struct words words = { word };

	for (uint32_t threads = 32; threads <= 512; threads += 32)
		EXPECT_RAN(run(kernel, 1, threads, &words));
	EXPECT_RAN(run(kernel, 1, 512, &words));
	EXPECT_EQ(2 * 512, (int)word[0]);
}

static char *process_stack;		/* an address in it, while a test wants to know; or NULL */
static atomic_uint elsewhere, taken;

/* Counts calls of the process's allocator, and those from other stacks than the process's. */
static void note_stack(void)
{
	char here;

	taken += !!process_stack;
	elsewhere += process_stack && process_stack - &here > 1 << 20;
	elsewhere += process_stack && &here - process_stack > 1 << 20;
}

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes)
{
	note_stack();
	return __real_calloc(count, bytes);
}

void *__real_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes)
{
	note_stack();
	return __real_realloc(memory, bytes);
}

void *__real_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
	note_stack();
	return __real_mmap(at, bytes, protection, flags, file, offset);
}

static const struct ptx_window *a_window(uint64_t address, size_t *offset)
{
	static const struct ptx_window window;

	*offset = address % 4096;
	return &window;
}

static void take_first(struct ptx_thread *thread, const void *parameters)
{
	const struct words *words = parameters;
	size_t offset;

	words->word[0] += ptx_run_malloc(thread, 100) != NULL;
	words->word[0] += ptx_run_view(thread, 4096 * (1 + thread->tid[0]), &offset) != NULL;
	++*thread->operations;
}

/* The process's allocator, which may be any, runs on a stack of the process. */
TEST(allocators_have_room)
{
	static const struct ptx_run_host windows = { .catch = set_catcher, .window_at = a_window };
	static const struct ptx_kernel kernel = {
		.thread = take_first, .name = "take_first", .frame = 512, .waits = true,
	};
	static atomic_uint word;
	struct words words = { &word };
	struct ptx_launch launch = {
		.kernel = &kernel, .parameters = &words, .grid = { 1, 1, 1 }, .block = { 32, 1, 1 },
		.cluster = { 1, 1, 1 }, .multiprocessors = 132, .host = &windows,
		.heap_limit = heap_limit,
	};
	struct ptx_outcome outcome;

	process_stack = (char *)&outcome;
	ptx_run(&launch, &outcome);
	process_stack = NULL;
	EXPECT_EQ(0, outcome.result) TH_LOG("%s", outcome.reason);
	EXPECT_EQ(64, (int)word);
	/* a count of each window, and the heap with its account and its table */
	EXPECT_LE(32 + 3, (int)taken);
	EXPECT_EQ(0, (int)elsewhere);
}

static void heap(struct ptx_thread *thread, const void *parameters)
{
	const struct words *words = parameters;
	char *memory = ptx_run_malloc(thread, 1000);

	if (!memory)
		return;
	memset(memory, thread->tid[0], 1000);
	ptx_run_bar_sync(thread, 0, 0);
	words->word[0] += memory[999] == (char)thread->tid[0];
	ptx_run_free(thread, memory);
	if (words->word[1])
		ptx_run_free(thread, memory);
}

TEST(heap_of_device_code)
{
	static const struct ptx_kernel kernel = {
		.thread = heap, .name = "heap", .frame = 512, .waits = true,
	};
	static atomic_uint word[2];
	struct words words = { word };

	for (int i = 0; i < 30; i++)
		EXPECT_RAN(run(kernel, 4, 64, &words));
	EXPECT_EQ(30 * 256, (int)word[0]);
	word[1] = 1;
	EXPECT_EQ(LAUNCH_FAILED, run(kernel, 1, 1, &words).result);
}

static void take_much(struct ptx_thread *thread, const void *parameters)
{
	const struct words *words = parameters;

	for (int i = 36; i < 64; i++)
		words->word[0] += ptx_run_malloc(thread, 1UL << i) != NULL;
	words->word[0] += ptx_run_malloc(thread, UINT64_MAX) != NULL;
}

/* A program may set a limit of the heap that is larger than all addresses. */
TEST(heap_without_a_limit)
{
	static const struct ptx_kernel kernel = {
		.thread = take_much, .name = "take_much", .frame = 512, .waits = true,
	};
	static atomic_uint word[2];
	struct words words = { word };

	heap_limit = UINT64_MAX;
	EXPECT_RAN(run(kernel, 1, 1, &words));
	EXPECT_EQ(0, (int)word[0]);
}

static void take(struct ptx_thread *thread, const void *parameters)
{
	const struct words *words = parameters;

	words->word[0] += ptx_run_malloc(thread, words->word[1]) != NULL;
}

/* What one context has not freed is no other's, nor that of a later one in its place. */
TEST(heaps_of_contexts)
{
	static const struct ptx_kernel kernel = {
		.thread = take, .name = "take", .frame = 512, .waits = true,
	};
	static const struct {
		uint32_t place, life, threads, bytes, taken;
	} takes[] = {
		{ 0, 0, 1000, 4096, 1000 }, { 0, 0, 1000, 4096, 1000 }, { 0, 0, 1000, 4096, 40 },
		{ 0, 1, 1, 3 << 20, 1 }, { 0, 1, 1, 3 << 20, 1 }, { 0, 1, 1, 3 << 20, 0 }, { 0, 2, 3, 3 << 20, 2 },
		{ 0, 1, 1, 16, 0 }, { 1, 1, 3, 3 << 20, 2 }, { 2, 1, 3, 3 << 20, 2 },
	};
	static atomic_uint word[2];
	struct words words = { word };

	for (size_t i = 0; i < sizeof(takes) / sizeof(*takes); i++) {
		heap_of = &takes[takes[i].place];
		heap_life = takes[i].life;
		word[0] = 0;
		word[1] = takes[i].bytes;
		EXPECT_RAN(run(kernel, 1, takes[i].threads, &words));
		EXPECT_EQ(takes[i].taken, word[0]) TH_LOG("take %zu", i);
	}
}

struct stream {
	struct __test_metadata *metadata;
	pthread_t thread;
	struct words words;
	struct ptx_outcome outcome;
	uint32_t number;
};

/* Threads of launches in 32 threads of the process, which all wait for the others' blocks */
static void meet_all(struct ptx_thread *thread, const void *parameters)
{
	const struct words *words = parameters;

	ptx_run_bar_sync(thread, 0, 0);
	if (!thread->tid[0]) {
		words->word[0]++;
		SPIN(thread, words->word[0] < 32);
	}
	ptx_run_bar_sync(thread, 0, 0);
	words->word[1]++;
}

static void *launch_one(void *data)
{
	static const struct ptx_kernel kernel = {
		.thread = meet_all, .name = "meet_all", .frame = 3000, .waits = true,
	};
	struct ptx_launch launch = {
		.kernel = &kernel, .grid = { 1, 1, 1 }, .block = { 1024, 1, 1 },
		.cluster = { 1, 1, 1 }, .host = &host,
	};
	struct stream *stream = data;

	launch.parameters = &stream->words;
	ptx_run(&launch, &stream->outcome);
	return NULL;
}

TEST(launches_of_32_streams_wait_for_each_other)
{
	static struct stream stream[32];
	static atomic_uint word[2];

	for (int i = 0; i < 32; i++) {
		stream[i].words.word = word;
		ASSERT_EQ(0, pthread_create(&stream[i].thread, NULL, launch_one, &stream[i]));
	}
	for (int i = 0; i < 32; i++) {
		pthread_join(stream[i].thread, NULL);
		EXPECT_EQ(0, stream[i].outcome.result) TH_LOG("%s", stream[i].outcome.reason);
	}
	EXPECT_EQ(32 * 1024, (int)word[1]);
}

TEST_HARNESS_MAIN
