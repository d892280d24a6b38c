// SPDX-License-Identifier: MIT
/*
 * When one process unbinds, unmaps or releases memory, no other process can reach it from the
 * moment at which the call returns, every time, while the other process never stops trying.
 */
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <memcast/view.h>
#include "memcast_test.h"

/*
 * @phase goes 0 bound, 1 changing, 2 unbound, 3 changing, and on. The reader judges an access only
 * if the phase was the same before and after, so that no verdict depends on timing; the writer goes
 * on when the reader has judged the phase, so that each phase gets a verdict.
 */
struct stage {
	uint32_t phase, judged, bad, stop;
};

#define GET(field)		__atomic_load_n(&stage->field, __ATOMIC_SEQ_CST)

/* A thread that waits sleeps, as it would otherwise take the processor from the one that acts. */
#define SET(field, value)						\
do {									\
	__atomic_store_n(&stage->field, value, __ATOMIC_SEQ_CST);	\
	syscall(SYS_futex, &stage->field, FUTEX_WAKE, INT_MAX);		\
} while (0)

/* Returns early now and then: the other side may have failed. */
static void wait_while(uint32_t *field, uint32_t value)
{
	struct timespec second = { .tv_sec = 1 };

	syscall(SYS_futex, field, FUTEX_WAIT, value, &second);
}

FIXTURE(revoke)
{
	struct stage stage;
};

FIXTURE_VARIANT(revoke)
{
	unsigned int rounds;
	bool window;		/* the reader reads the window, not a replica */
	bool by_release;	/* the memory is released instead of unbound */
};

FIXTURE_VARIANT_ADD(revoke, replica_unbound) { .rounds = 4000, };
FIXTURE_VARIANT_ADD(revoke, window_unbound) { .rounds = 1000, .window = true, };
FIXTURE_VARIANT_ADD(revoke, replica_memory_ends) { .rounds = 1000, .by_release = true, };

FIXTURE_SETUP(revoke) { }
NOTHING_LEFT(revoke)

/*
 * Bound memory is accessed until it goes. Unbound memory is accessed only in some rounds: endless
 * faults would hold up the thread that binds it again.
 */
static void judged(struct stage *stage, uint32_t phase)
{
	if (GET(judged) != phase)
		SET(judged, phase);
	while (phase % 4 == 2 && phase / 4 % 16 && GET(phase) == phase && !GET(stop))
		wait_while(&stage->phase, phase);
}

static void reader(struct __test_metadata *_metadata, struct stage *stage,
		   const FIXTURE_VARIANT(revoke) *variant, int link)
{
	CUmemGenericAllocationHandle team;
	struct memcast_view view;
	volatile void *at;

	run_on_cpu(1);
	cuda_start(1);
	team = imported(receive_fd(link));
	ASSERT_OK(memcastViewCreate(&view, team, 0, CHUNK));
	at = variant->window ? (volatile void *)mapped(team, CHUNK, 1) : view.replica[0];
	send_number(link, 0);
	while (!GET(stop)) {
		uint32_t before = GET(phase), value = 0;
		int number = try_load(at, &value);

		if (GET(phase) != before || before % 2)
			continue;
		if (before % 4 == 0 ? number || value != before + 1 : number != SIGBUS)
			SET(bad, before + 1);
		judged(stage, before);
	}
	_exit(0);
}

static void wait_for_verdict(struct __test_metadata *_metadata, struct stage *stage)
{
	uint32_t judged;

	while ((judged = GET(judged)) != GET(phase)) {
		ASSERT_FALSE(_metadata->aborted);
		wait_while(&stage->judged, judged);
	}
}

TEST_F(revoke, at_once_every_time)
{
	const uint32_t rounds = loops(variant->rounds);
	struct stage *stage = &self->stage;
	CUmemGenericAllocationHandle team, own;
	volatile uint32_t *plain;
	uint32_t phase = 0;
	int link;
	pid_t peer;

	SET(phase, 3);
	peer = peer_fork(&link);
	if (!peer)
		reader(_metadata, stage, variant, link);
	run_on_cpu(0);
	cuda_start(0);
	team = complete_team(2, CHUNK);
	send_fd(link, exported(team));
	receive_number(link);
	own = new_memory(0, CHUNK);
	plain = variant->by_release ? NULL : mapped(own, CHUNK, 0);
	for (phase = 0; phase < 4 * rounds; phase += 4) {
		uint32_t value = phase + 1;

		if (variant->by_release) {
			CUdeviceptr at = ADDRESS(mapped(own, CHUNK, 0));

			*(volatile uint32_t *)at = value;
			ASSERT_OK(cuMemUnmap(at, CHUNK));
			ASSERT_OK(cuMemAddressFree(at, CHUNK));
		} else {
			*plain = value;
		}
		ASSERT_OK(cuMulticastBindMem(team, 0, own, 0, CHUNK, 0));
		SET(phase, phase);
		wait_for_verdict(_metadata, stage);
		SET(phase, phase + 1);
		ASSERT_OK(variant->by_release ? cuMemRelease(own) :
						cuMulticastUnbind(team, 0, 0, CHUNK));
		SET(phase, phase + 2);
		wait_for_verdict(_metadata, stage);
		ASSERT_EQ(0, GET(bad));
		SET(phase, phase + 3);
		if (variant->by_release)
			own = new_memory(0, CHUNK);
	}
	SET(stop, 1);
	EXPECT_EQ(0, reap_child(peer));
	EXPECT_EQ(0, GET(bad));
}

/* ---- within one process, two threads ---- */

FIXTURE(threads)
{
	char unused;
};

FIXTURE_SETUP(threads) { }
NOTHING_LEFT(threads)

struct racer {
	struct stage stage;
	volatile void *at;
	bool store;
};

/* Accesses memory as reader() does; the other thread takes away the mapping or its access. */
static void *race(void *arg)
{
	struct racer *racer = arg;
	struct stage *stage = &racer->stage;

	run_on_cpu(1);
	while (!GET(stop)) {
		uint32_t before = GET(phase);
		int number = racer->store ? try_store(racer->at, 1) :
					    try_load(racer->at, NULL);

		if (GET(phase) != before || before % 2)
			continue;
		if (number != (before % 4 ? SIGSEGV : 0))
			SET(bad, before + 1);
		judged(stage, before);
	}
	return NULL;
}

static void run(struct __test_metadata *_metadata, bool store, bool unmap)
{
	const uint32_t rounds = loops(2500);
	CUdeviceptr at;
	struct racer racer = { .store = store, .stage.phase = 3 };
	struct stage *stage = &racer.stage;
	CUmemGenericAllocationHandle own;
	pthread_t thread;
	uint32_t phase;

	run_on_cpu(0);
	cuda_start(0);
	own = new_memory(0, CHUNK);
	at = reserve(CHUNK);
	racer.at = (volatile void *)at;
	ASSERT_OK(unmap ? CUDA_SUCCESS : cuMemMap(at, CHUNK, 0, own, 0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, race, &racer));
	for (phase = 0; phase < 4 * rounds; phase += 4) {
		ASSERT_OK(unmap ? cuMemMap(at, CHUNK, 0, own, 0) : CUDA_SUCCESS);
		ASSERT_OK(allow(at, CHUNK, 0, READWRITE));
		SET(phase, phase);
		wait_for_verdict(_metadata, stage);
		SET(phase, phase + 1);
		ASSERT_OK(unmap ? cuMemUnmap(at, CHUNK) :
				  allow(at, CHUNK, 0, store ? READ : NONE));
		SET(phase, phase + 2);
		wait_for_verdict(_metadata, stage);
		ASSERT_EQ(0, GET(bad));
		SET(phase, phase + 3);
	}
	SET(stop, 1);
	ASSERT_EQ(0, pthread_join(thread, NULL));
}

TEST_F(threads, unmap_against_loads)
{
	run(_metadata, false, true);
}

TEST_F(threads, no_access_against_loads)
{
	run(_metadata, false, false);
}

TEST_F(threads, read_only_against_stores)
{
	run(_metadata, true, false);
}

TEST_HARNESS_MAIN
