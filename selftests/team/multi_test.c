// SPDX-License-Identifier: MIT
/* Four processes, each with a device and a replica: all of them see what one does. */
#include <sched.h>
#include <sys/mman.h>
#include <memcast/multimem.h>
#include "memcast_test.h"

#define RANKS	4
#define BYTES	(2 * CHUNK)
#define ROUNDS	20000

/* Shared by the ranks beside memcast: ordinary memory, made before the fork */
struct meeting {
	uint32_t arrived, failed;
};

FIXTURE(multi)
{
	struct meeting meeting;
};

FIXTURE_SETUP(multi) { }
NOTHING_LEFT(multi)

struct rank {
	struct meeting *meeting;
	int index, links[RANKS];	/* rank 0: links to all; others: to rank 0 */
	pid_t pid[RANKS];
	uint32_t target;
	CUmemGenericAllocationHandle team;
	volatile uint32_t *plain, *window;	/* the rank's memory, and the team */
	struct memcast_view view;
};

/* Waits until all ranks have come; a rank that failed lets all go. */
static void meet(struct __test_metadata *_metadata, struct rank *rank)
{
	rank->target += RANKS;
	__atomic_add_fetch(&rank->meeting->arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&rank->meeting->arrived, __ATOMIC_SEQ_CST) < rank->target) {
		ASSERT_FALSE(_metadata->aborted);
		sched_yield();
	}
}

/* Forks; each process returns as one of ranks 0 to 3, joined, bound and mapped. */
static void start(struct __test_metadata *_metadata, struct rank *rank,
		  struct meeting *meeting)
{
	CUmemGenericAllocationHandle own;
	int i, fd;

	*rank = (struct rank) { .meeting = meeting };
	for (i = 1; i < RANKS; i++) {
		int link;
		pid_t pid = peer_fork(&link);

		if (!pid) {
			rank->index = i;
			rank->links[0] = link;
			break;
		}
		rank->pid[i] = pid;
		rank->links[i] = link;
	}
	cuda_start(rank->index);
	if (rank->index) {
		rank->team = imported(receive_fd(rank->links[0]));
	} else {
		rank->team = new_team(RANKS, BYTES);
		fd = exported(rank->team);
		for (i = 1; i < RANKS; i++)
			send_fd(rank->links[i], fd);
		close(fd);
	}
	ASSERT_OK(cuMulticastAddDevice(rank->team, rank->index));
	own = new_memory(rank->index, BYTES);
	rank->plain = mapped(own, BYTES, rank->index);
	ASSERT_OK(cuMulticastBindMem(rank->team, 0, own, 0, BYTES, 0));
	rank->window = mapped(rank->team, BYTES, rank->index);
	ASSERT_OK(memcastViewCreate(&rank->view, rank->team, 0, BYTES));
	ASSERT_EQ(RANKS, rank->view.replicas);
	meet(_metadata, rank);
}

static void finish(struct __test_metadata *_metadata, struct rank *rank)
{
	int i;

	meet(_metadata, rank);
	if (rank->index)
		_exit(0);
	for (i = 1; i < RANKS; i++)
		EXPECT_EQ(0, reap_child(rank->pid[i]));
}

/* The ranks store in turn; each reads the value through its device's plain mapping. */
#define SEEN_BY_ALL(store)						\
do {									\
	struct rank rank;						\
	uint32_t turn;							\
									\
	start(_metadata, &rank, &self->meeting);			\
	for (turn = 0; turn < RANKS; turn++) {				\
		size_t at = CHUNK / 4 - 2 + turn;			\
		uint32_t value = 1000 + turn;				\
									\
		if (rank.index == (int)turn)				\
			store;						\
		meet(_metadata, &rank);					\
		EXPECT_EQ(value, rank.plain[at]);			\
		EXPECT_EQ(value, rank.window[at]);			\
		EXPECT_EQ(0, rank.plain[at + 1]);			\
		meet(_metadata, &rank);					\
	}								\
	finish(_metadata, &rank);					\
} while (0)

TEST_F(multi, st)
{
	SEEN_BY_ALL(multimem_st_u32(&rank.view, at * 4, value));
}

TEST_F(multi, st_array)
{
	SEEN_BY_ALL(multimem_st_u32_n(&rank.view, at * 4, &value, 1));
}

TEST_F(multi, copy_to_the_team)
{
	SEEN_BY_ALL(ASSERT_OK(cuMemcpyHtoD(ADDRESS(rank.window + at), &value, 4)));
}

TEST_F(multi, fill_the_team)
{
	SEEN_BY_ALL(ASSERT_OK(cuMemsetD32(ADDRESS(rank.window + at), value, 1)));
}

/* All ranks add at once, on every replica: no update is lost. */
TEST_F(multi, red_loses_nothing)
{
	const uint32_t rounds = loops(ROUNDS);
	struct rank rank;
	uint32_t i;

	start(_metadata, &rank, &self->meeting);
	for (i = 0; i < rounds; i++) {
		multimem_red_add_u32(&rank.view, 0, 1);
		multimem_red_add_u64(&rank.view, 8, 1ULL << 32 | 1);
		multimem_red_add_f32(&rank.view, CHUNK, 1);
	}
	meet(_metadata, &rank);
	EXPECT_EQ(RANKS * rounds, rank.plain[0]);
	EXPECT_EQ(RANKS * rounds * (1ULL << 32 | 1), *(volatile uint64_t *)&rank.plain[2]);
	EXPECT_EQ(RANKS * rounds, *(volatile float *)&rank.plain[CHUNK / 4]);
	finish(_metadata, &rank);
}

static uint32_t contribution(int rank, size_t i)
{
	return (i + 1) * 2654435761U + rank * 40503U;
}

/* Each rank fills its plain mapping; a read from the team gives the sum. */
TEST_F(multi, ld_reduce_equals_the_reference)
{
	const size_t count = 3 * 4096 + 5, first = CHUNK / 4 - 4096;
	uint32_t *sums = calloc(count, 4), expected;
	struct rank rank;
	size_t i, bad = 0;
	int r;

	start(_metadata, &rank, &self->meeting);
	for (i = 0; i < count; i++)
		rank.plain[first + i] = contribution(rank.index, i);
	meet(_metadata, &rank);
	multimem_ld_reduce_add_u32_n(&rank.view, first * 4, sums, count);
	for (i = 0; i < count; i++) {
		for (r = 0, expected = 0; r < RANKS; r++)
			expected += contribution(r, i);
		bad += sums[i] != expected;
	}
	EXPECT_EQ(0, bad);
	EXPECT_EQ(sums[77], multimem_ld_reduce_add_u32(&rank.view, (first + 77) * 4));
	finish(_metadata, &rank);
}

TEST_HARNESS_MAIN
