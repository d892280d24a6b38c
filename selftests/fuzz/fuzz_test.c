// SPDX-License-Identifier: MIT
/*
 * Several threads and processes make random and spoilt ioctls, mixed with everything else
 * that a kernel lets a program do to fds and addresses: fuzz.h. When they have ended, the
 * module holds nothing of theirs, the keeper's memory is unchanged, new memory reads as
 * zero, and the next team works. memcast-vm reads the kernel's log.
 *
 * MEMCAST_TEST_SEED=N MEMCAST_TEST_SEQUENCES=1 repeats a round, with the same calls if the
 * round has a single thread; MEMCAST_TEST_TRACE=1 prints the calls.
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include "fuzz.h"
#include "importer.h"
#include "memcast_test.h"

#define ROUNDS		20
#define STEPS		1500
#define ENOUGH		20000
#define MOST_THREADS	4

static const char *const counters[] = {
	"clients", "memories", "teams", "bindings", "reservations", "mappings", "blocks",
	"foreign", "staging_pages",
};

/* ---- a round */

struct round {
	unsigned int seed, threads;
	struct fuzz_counts *counts;
};

struct worker {
	struct fuzz f;
	unsigned int steps;
	pthread_barrier_t *start;
};

static void *work(void *argument)
{
	struct worker *w = argument;

	pthread_barrier_wait(w->start);
	fuzz_steps(&w->f, w->steps);
	return NULL;
}

/* Plays a round in a process of its own; half of the rounds have one thread, and repeat. */
static void play(struct round *round)
{
	/* not shared memory: a child of fork() goes on with a copy */
	static struct fuzz_things things;
	struct fuzz f = { .random = round->seed, .things = &things,
			  .counts = round->counts, .trace = getenv("MEMCAST_TEST_TRACE") };
	struct worker worker[MOST_THREADS];
	pthread_t thread[MOST_THREADS];
	pthread_barrier_t start;
	unsigned int i, end;

	/* or the C library would put a new arena where a thread has unmapped something */
	mallopt(M_ARENA_MAX, 1);
	round->threads = fuzz_any(&f, 2) ? 1 : 2 + fuzz_any(&f, MOST_THREADS - 1);
	things.nobody_waits = round->threads > 1;
	end = fuzz_any(&f, 5);
	pthread_barrier_init(&start, NULL, round->threads);
	for (i = 0; i < round->threads; i++) {
		worker[i] = (struct worker){ f, fuzz_any(&f, STEPS) + STEPS / 2, &start };
		worker[i].f.random = f.random ^ (uint64_t)(i + 1) << 32;
	}
	for (i = 1; i < round->threads; i++)
		if (pthread_create(&thread[i], NULL, work, &worker[i]))
			_exit(73);
	fuzz_start(&f);
	work(&worker[0]);
	/* other threads' calls are under way at these ends */
	if (end == 0)
		_exit(0);
	if (end == 1)
		kill(getpid(), SIGKILL);
	if (end == 2)
		execl("/bin/true", "true", NULL);
	for (i = 1; i < round->threads; i++)
		pthread_join(thread[i], NULL);
	if (end == 3)
		munmap((void *)things.arena, FUZZ_ARENA);
	_exit(0);
}

#define LOOKED_AT	64	/* devices: no machine for tests has more */

FIXTURE(fuzz)
{
	struct fuzz_counts *counts;
	long before[ARRAY_SIZE(counters)], free_bytes[LOOKED_AT];
	int keeper;
	char timeout[16];
};

static const char timeout_parameter[] = "/sys/module/memcast/parameters/team_timeout_ms";

static int file(const char *path, int flags, char *text, size_t size)
{
	int fd = open(path, flags | O_CLOEXEC);
	ssize_t ret = -1;

	if (fd < 0)
		return -1;
	ret = flags == O_RDONLY ? read(fd, text, size - 1) : write(fd, text, strlen(text));
	close(fd);
	if (flags == O_RDONLY)
		text[ret > 0 ? ret : 0] = '\0';
	return ret > 0 ? 0 : -1;
}

/* As in fail_test, all allocations may fail, and the kernel does not log it. */
static void allow_failures(void)
{
	static const char *const settings[][2] = {
		{ "failslab/ignore-gfp-wait", "N" }, { "failslab/verbose", "0" },
		{ "fail_page_alloc/ignore-gfp-wait", "N" },
		{ "fail_page_alloc/ignore-gfp-highmem", "N" },
		{ "fail_page_alloc/min-order", "0" }, { "fail_page_alloc/verbose", "0" },
		{ "fail_usercopy/verbose", "0" }, { "fail_futex/verbose", "0" },
	};
	char path[80];

	for (unsigned int i = 0; i < ARRAY_SIZE(settings); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s", settings[i][0]);
		file(path, O_WRONLY, (char *)settings[i][1], 0);
	}
}

FIXTURE_SETUP(fuzz)
{
	self->counts = mmap(NULL, sizeof(*self->counts), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->counts);
	if (device_bytes(FUZZ_DEVICES - 1, "pool_bytes") < 0)
		SKIP(return, "needs %u devices: memcast-vm --devices %u", FUZZ_DEVICES,
		     FUZZ_DEVICES);
	/* calls wait 1 ms at most for a team's missing members */
	if (file(timeout_parameter, O_RDONLY, self->timeout, sizeof(self->timeout)) ||
	    file(timeout_parameter, O_WRONLY, "1", 0))
		SKIP(return, "needs root");
	allow_failures();
	load_test_module("memcast_importer");
	load_test_module("memcast_exporter");
}

FIXTURE_TEARDOWN_PARENT(fuzz)
{
	if (self->timeout[0])
		file(timeout_parameter, O_WRONLY, self->timeout, 0);
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

static void look(long *values, long *free_bytes)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counters); i++)
		values[i] = stat_of(counters[i]);
	for (i = 0; i < LOOKED_AT; i++)
		free_bytes[i] = device_bytes(i, "free_bytes");
}

static bool is_as_before(FIXTURE_DATA(fuzz) *self, long *now, long *free_bytes)
{
	look(now, free_bytes);
	return !memcmp(now, self->before, sizeof(self->before)) &&
	       !memcmp(free_bytes, self->free_bytes, sizeof(self->free_bytes));
}

/* Waits for the counters of before the round: the last holder's exit may take a moment. */
static void expect_as_before(struct __test_metadata *_metadata, FIXTURE_DATA(fuzz) *self)
{
	long now[ARRAY_SIZE(counters)], free_bytes[LOOKED_AT];
	unsigned int i;

	if (comes_true(is_as_before(self, now, free_bytes)))
		return;
	for (i = 0; i < ARRAY_SIZE(counters); i++) {
		EXPECT_EQ(self->before[i], now[i]) TH_LOG("%s", counters[i]);
	}
	for (i = 0; i < LOOKED_AT; i++) {
		EXPECT_EQ(self->free_bytes[i], free_bytes[i]) TH_LOG("device %u", i);
	}
}

static void keeper_is_content(struct __test_metadata *_metadata, int link)
{
	const char *wrong;

	send_number(link, 0);
	wrong = (const char *)receive_number(link);
	EXPECT_STREQ("", wrong ?: "");
}

/* Prints the counts; after enough steps, each command has to have succeeded once. */
static void report(struct __test_metadata *_metadata, const struct fuzz_counts *counts)
{
	bool channels = !access("/dev/memcast-imex/channel0", F_OK);
	unsigned int i;

	for (i = 0; i < FUZZ_COMMANDS; i++) {
		const char *name = fuzz_command_name(i);

		TH_LOG("%s: %lu of %lu succeeded", name, counts->good[i], counts->calls[i]);
		/* IPC_OPEN needs a key, which no random argument contains */
		if (counts->steps > ENOUGH && (strcmp(name, "CHANNEL") || channels) &&
		    strcmp(name, "IPC_OPEN"))
			EXPECT_LT(0, counts->good[i]);
	}
	for (i = 0; fuzz_act_name(i); i++)
		TH_LOG("%s: %lu of %lu succeeded", fuzz_act_name(i), counts->good_acts[i],
		       counts->acts[i]);
}

static unsigned int number_of(const char *name, unsigned int otherwise)
{
	const char *given = getenv(name);

	return given ? strtoul(given, NULL, 0) : otherwise;
}

static bool more_to_do(unsigned int done, unsigned int count)
{
	return count ? done < count : another_round(done, ROUNDS);
}

TEST_F(fuzz, rounds)
{
	unsigned int i, seed = number_of("MEMCAST_TEST_SEED", 1);
	unsigned int count = number_of("MEMCAST_TEST_SEQUENCES", 0);
	struct round *round = mmap(NULL, sizeof(*round), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;
	int link;

	ASSERT_NE(MAP_FAILED, round);
	pid = peer_fork(&link);
	if (!pid)
		fuzz_keep_memory(link);
	keeper_is_content(_metadata, link);
	look(self->before, self->free_bytes);
	for (i = 0; more_to_do(i, count) && !_metadata->exit_code; i++) {
		int status, unused;

		memset(round, 0, sizeof(*round));
		round->seed = seed + i;
		round->counts = self->counts;
		pid = peer_fork(&unused);
		if (!pid)
			play(round);
		status = reap_child(pid);
		peer_close(unused);
		EXPECT_TRUE(!status || status == SIGKILL) TH_LOG("status %#x", status);
		expect_as_before(_metadata, self);
		keeper_is_content(_metadata, link);
		if (_metadata->exit_code)
			TH_LOG("in a round of %u threads: MEMCAST_TEST_SEED=%u "
			       "MEMCAST_TEST_SEQUENCES=1", round->threads, round->seed);
	}
	TH_LOG("seeds %u to %u, %lu steps", seed, seed + i - 1, self->counts->steps);
	report(_metadata, self->counts);
	peer_close(link);
}

TEST_HARNESS_MAIN
