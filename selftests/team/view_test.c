// SPDX-License-Identifier: MIT
/* memcastViewAt(): finds the replicas of a window's address. */
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <memcast/view.h>
#include "memcast_test.h"
#include "raw.h"
#include "reason.h"

/* A team of three devices and two chunks, of which the first is bound, on two of the devices */
FIXTURE(view)
{
	CUmemGenericAllocationHandle team, memory[2];
	volatile uint32_t *plain[2], *window;
	const struct memcast_view *view;
	size_t offset;
};

FIXTURE_SETUP(view)
{
	unsigned int i;

	cuda_start(0);
	self->team = complete_team(3, 2 * CHUNK);
	for (i = 0; i < 2; i++) {
		self->memory[i] = new_memory(i, CHUNK);
		self->plain[i] = mapped(self->memory[i], CHUNK, i);
		*self->plain[i] = 100 + i;
		ASSERT_OK(cuMulticastBindMem(self->team, 0, self->memory[i], 0, CHUNK, 0));
	}
	self->window = mapped(self->team, 2 * CHUNK, 0);
}
NOTHING_LEFT(view)

#define REPLICA(view, i)	((volatile uint32_t *)(void *)(view)->replica[i])
#define FIND(address)		memcastViewAt(ADDRESS(address), &self->offset)

TEST_F(view, replicas_of_a_window)
{
	const struct memcast_view *view = FIND(self->window);

	ASSERT_NE(NULL, view);
	EXPECT_EQ(0, self->offset);
	EXPECT_EQ(3, view->replicas);
	EXPECT_EQ(2 * CHUNK, view->bytes);
	EXPECT_EQ(100, *REPLICA(view, 0));
	EXPECT_EQ(101, *REPLICA(view, 1));
	EXPECT_EQ(SIGBUS, try_load(view->replica[2], NULL));
	*REPLICA(view, 1) = 7;
	EXPECT_EQ(7, *self->plain[1]);
	/* a later binding shows at once */
	EXPECT_EQ(SIGBUS, try_load(view->replica[0] + CHUNK, NULL));
	ASSERT_OK(cuMulticastBindMem(self->team, CHUNK, new_memory(0, CHUNK), 0, CHUNK, 0));
	EXPECT_EQ(0, try_load(view->replica[0] + CHUNK, NULL));
}

TEST_F(view, one_for_all_addresses_of_a_mapping)
{
	const struct memcast_view *view = FIND(self->window + CHUNK / 4 + 5);

	EXPECT_EQ(CHUNK + 20, self->offset);
	EXPECT_EQ(view, FIND(self->window));
	EXPECT_EQ(0, self->offset);
	EXPECT_EQ(view, FIND((char *)self->window + 2 * CHUNK - 1));
	EXPECT_EQ(2 * CHUNK - 1, self->offset);
	EXPECT_EQ(NULL, FIND((char *)self->window + 2 * CHUNK));
	EXPECT_EQ(NULL, FIND((char *)self->window - 1));
}

/* Mappings of parts of teams, in the middle of a reservation */
TEST_F(view, mappings_in_a_reservation)
{
	CUmemGenericAllocationHandle other = complete_team(2, 2 * CHUNK);
	CUdeviceptr at = reserve(4 * CHUNK);
	const struct memcast_view *view[3];
	unsigned int i;

	ASSERT_OK(cuMemMap(at, CHUNK, 0, self->team, 0));
	ASSERT_OK(cuMemMap(at + CHUNK, 2 * CHUNK, 0, other, 0));
	ASSERT_OK(cuMemMap(at + 3 * CHUNK, CHUNK, 0, self->team, 0));
	for (i = 0; i < 3; i++)
		view[i] = memcastViewAt(at + (i + 1) * CHUNK + 4, &self->offset);
	EXPECT_EQ(view[0], view[1]);
	EXPECT_NE(view[1], view[2]);
	EXPECT_EQ(4, self->offset);
	EXPECT_EQ(2, view[1]->replicas);
	EXPECT_EQ(2 * CHUNK, view[1]->bytes);
	EXPECT_EQ(CHUNK, view[2]->bytes);
	view[0] = memcastViewAt(at, &self->offset);
	EXPECT_NE(view[0], view[2]);
	ASSERT_OK(cuMemUnmap(at, 4 * CHUNK));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(NULL, memcastViewAt(at + i * CHUNK, &self->offset));
}

TEST_F(view, only_windows_have_one)
{
	struct memcast_view replicas;
	CUdeviceptr empty = reserve(CHUNK);
	uint32_t mine;

	EXPECT_EQ(NULL, FIND(self->plain[0]));
	EXPECT_EQ(NULL, FIND(&mine));
	EXPECT_EQ(NULL, FIND(NULL));
	EXPECT_EQ(NULL, memcastViewAt(empty, &self->offset));
	EXPECT_EQ(NULL, memcastViewAt(~0ULL, &self->offset));
	EXPECT_EQ(NULL, memcastViewAt(1ULL << 47, &self->offset));
	EXPECT_EQ(NULL, memcastViewAt(ADDRESS(self->window), NULL));
	ASSERT_OK(memcastViewCreate(&replicas, self->team, 0, CHUNK));
	EXPECT_EQ(NULL, FIND(replicas.replica[0]));
	ASSERT_NE(NULL, FIND(self->window));
	EXPECT_EQ(NULL, FIND(FIND(self->window)->replica[0]));
	EXPECT_OK(memcastViewDestroy(&replicas));
}

/* The library asks for good numbers alone; the module links a mapping into the member. */
TEST_F(view, replicas_of_members_only)
{
	static const struct {
		bool of_team;
		uint32_t flags, member;
		int error;
	} maps[] = {
		{ true, MEMCAST_MAP_REPLICA, 3, EINVAL }, { true, MEMCAST_MAP_REPLICA, ~0U, EINVAL },
		{ true, 0, 1, EINVAL }, { false, MEMCAST_MAP_REPLICA, 0, ENOENT },
		{ true, MEMCAST_MAP_REPLICA, 2, 0 },
	};
	CUdeviceptr at = reserve(CHUNK);

	for (unsigned int i = 0; i < ARRAY_SIZE(maps); i++) {
		struct memcast_map map = {
			.handle = maps[i].of_team ? self->team : self->memory[0],
			.flags = maps[i].flags, .member = maps[i].member,
			.address = at, .bytes = CHUNK,
		};

		EXPECT_EQ(maps[i].error, RAW(raw_library_fd(), MAP, map))
			TH_LOG("case %u", i);
	}
}

TEST_F(view, needs_no_handle)
{
	const struct memcast_view *view;
	CUmemGenericAllocationHandle again;

	ASSERT_OK(cuMemRelease(self->team));
	view = FIND(self->window);
	ASSERT_NE(NULL, view);
	EXPECT_EQ(101, *REPLICA(view, 1));
	/* finding the view leaves no handle either */
	EXPECT_REASON(cuMemRelease(self->team), "no handle #: never given out, or released");
	ASSERT_OK(cuMemRetainAllocationHandle(&again, (void *)self->window));
	EXPECT_OK(cuMemRelease(again));
	EXPECT_REASON(cuMemRelease(again), "no handle #: never given out, or released");
}

/* A view gives no access that cuMemSetAccess() has not given to the window. */
TEST_F(view, access_as_the_window_has)
{
	CUdeviceptr at = reserve(CHUNK);
	const struct memcast_view *view;

	ASSERT_OK(cuMemMap(at, CHUNK, 0, self->team, 0));
	view = memcastViewAt(at, &self->offset);
	ASSERT_NE(NULL, view);
	EXPECT_EQ(SIGSEGV, try_load(view->replica[0], NULL));
	ASSERT_OK(allow(at, CHUNK, 2, READ));
	EXPECT_EQ(0, try_load(view->replica[0], NULL));
	EXPECT_EQ(0, try_load(view->replica[1], NULL));
	EXPECT_EQ(SIGSEGV, try_store(view->replica[0], 1));
	ASSERT_OK(allow(at, CHUNK, 1, READWRITE));
	EXPECT_EQ(0, try_store(view->replica[0], 1));
	EXPECT_EQ(1, *self->plain[0]);
	ASSERT_OK(allow(at, CHUNK, 1, READ));
	EXPECT_EQ(SIGSEGV, try_store(view->replica[0], 2));
	ASSERT_OK(allow(at, CHUNK, 1, NONE));
	EXPECT_EQ(0, try_load(view->replica[0], NULL));
	ASSERT_OK(allow(at, CHUNK, 2, NONE));
	EXPECT_EQ(SIGSEGV, try_load(view->replica[0], NULL));
	EXPECT_EQ(view, memcastViewAt(at, &self->offset));
	EXPECT_EQ(0, try_store(FIND(self->window)->replica[0], 3));
}

TEST_F(view, ends_with_the_mapping)
{
	CUmemGenericAllocationHandle other = complete_team(2, 2 * CHUNK);
	CUdeviceptr at = ADDRESS(self->window);
	struct memcast_view before;
	unsigned int round;

	ASSERT_NE(NULL, FIND(self->window));
	before = *FIND(self->window);
	EXPECT_REASON(cuMemUnmap(at, CHUNK), "only a part of the mapping of # bytes at # is in");
	EXPECT_EQ(0, try_load(before.replica[0], NULL));
	ASSERT_OK(cuMemUnmap(at, 2 * CHUNK));
	EXPECT_EQ(NULL, FIND(self->window));
	EXPECT_EQ(SIGSEGV, try_load(before.replica[0], NULL));
	for (round = 0; round < loops(200); round++) {
		CUmemGenericAllocationHandle now = round & 1 ? other : self->team;

		ASSERT_OK(cuMemMap(at, 2 * CHUNK, 0, now, 0));
		ASSERT_NE(NULL, FIND(self->window + CHUNK / 4));
		EXPECT_EQ(CHUNK, self->offset);
		EXPECT_EQ(round & 1 ? 2 : 3, FIND(self->window)->replicas);
		ASSERT_OK(cuMemUnmap(at, 2 * CHUNK));
		ASSERT_EQ(NULL, FIND(self->window));
	}
	ASSERT_OK(cuMemAddressFree(at, 2 * CHUNK));
	EXPECT_EQ(NULL, FIND(self->window));
}

TEST_F(view, a_forked_child_has_none)
{
	pid_t child;

	ASSERT_NE(NULL, FIND(self->window));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(FIND(self->window) ? 1 : 0);
	EXPECT_EQ(0, reap_child(child));
	EXPECT_NE(NULL, FIND(self->window));
}

/* The handler returns no value; volatile, as the compiler cannot know when it runs. */
static const struct memcast_view *volatile found_by_handler;
static volatile size_t found_offset;

static void look_up(int signal, siginfo_t *info, void *context)
{
	size_t offset = 0;

	(void)signal, (void)context;
	found_by_handler = memcastViewAt(ADDRESS(info->si_addr), &offset);
	found_offset = offset;
	/* puts ordinary memory in place of the window, so that the store can go on */
	if (mmap((void *)((uintptr_t)info->si_addr & -CHUNK), CHUNK, PROT_READ | PROT_WRITE,
		 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		_exit(1);
}

TEST_F(view, found_in_a_signal_handler)
{
	struct sigaction action = { .sa_sigaction = look_up, .sa_flags = SA_SIGINFO };
	volatile uint32_t *again = mapped(self->team, CHUNK, 0);
	const struct memcast_view *known = FIND(again);
	volatile uint32_t *first = mapped(self->team, CHUNK, 0);

	ASSERT_NE(NULL, known);
	ASSERT_EQ(0, sigaction(SIGSEGV, &action, NULL));
	again[3] = 1;
	EXPECT_EQ(known, found_by_handler);
	EXPECT_EQ(12, found_offset);
	first[5] = 1;
	ASSERT_NE(NULL, found_by_handler);
	EXPECT_NE(known, found_by_handler);
	EXPECT_EQ(20, found_offset);
	EXPECT_EQ(101, *REPLICA(found_by_handler, 1));
}

/* In strict seccomp mode a system call ends the thread, before it stores @found_offset. */
static void *look_up_without_calls(void *address)
{
	static size_t offset;
	unsigned int i;

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		return address;
	for (i = 0; i < 1000; i++)
		memcastViewAt(ADDRESS(address) + 4 * i, &offset);
	found_offset = offset;
	syscall(SYS_exit, 0);
	return NULL;
}

TEST_F(view, found_again_without_a_system_call)
{
	pthread_t thread;
	void *refused;

	ASSERT_NE(NULL, FIND(self->window));
	ASSERT_EQ(0, pthread_create(&thread, NULL, look_up_without_calls,
				    (void *)self->window));
	ASSERT_EQ(0, pthread_join(thread, &refused));
	if (refused == (void *)self->window)
		SKIP(return, "this kernel has no strict seccomp mode");
	EXPECT_EQ(4 * 999, found_offset);
}

/* Threads that look a window up for the first time at once find the same view. */
#define LOOKERS	8

struct looker {
	pthread_barrier_t *start;
	CUdeviceptr at;
	unsigned int later;
	const struct memcast_view *view;
};

static void *look(void *argument)
{
	struct looker *looker = argument;
	size_t offset;

	pthread_barrier_wait(looker->start);
	looker->view = memcastViewAt(looker->at, &offset);
	/* the view can be used at once */
	if (looker->view)
		*REPLICA(looker->view, 0);
	return NULL;
}

TEST_F(view, first_looks_at_once)
{
	long mappings = stat_of("mappings"), reservations = stat_of("reservations");
	CUdeviceptr at = reserve(2 * CHUNK);
	pthread_barrier_t start;
	unsigned int round, i;

	ASSERT_EQ(0, pthread_barrier_init(&start, NULL, LOOKERS));
	for (round = 0; round < loops(100); round++) {
		struct looker looker[LOOKERS];
		pthread_t thread[LOOKERS];

		ASSERT_OK(cuMemMap(at, 2 * CHUNK, 0, self->team, 0));
		ASSERT_OK(allow(at, 2 * CHUNK, 0, READWRITE));
		for (i = 0; i < LOOKERS; i++) {
			looker[i] = (struct looker) { &start, at + i % 2 * CHUNK, 0, NULL };
			ASSERT_EQ(0, pthread_create(&thread[i], NULL, look, &looker[i]));
		}
		for (i = 0; i < LOOKERS; i++)
			ASSERT_EQ(0, pthread_join(thread[i], NULL));
		ASSERT_NE(NULL, looker[0].view);
		for (i = 1; i < LOOKERS; i++)
			ASSERT_EQ(looker[0].view, looker[i].view);
		ASSERT_EQ(100, *REPLICA(looker[0].view, 0));
		ASSERT_OK(cuMemUnmap(at, 2 * CHUNK));
		ASSERT_EQ(NULL, memcastViewAt(at + CHUNK, &self->offset));
	}
	if (mappings >= 0) {
		EXPECT_EQ(mappings, stat_of("mappings"));
		EXPECT_EQ(reservations + 1, stat_of("reservations"));
	}
}

/* Access that is taken away during the first look-up is not to be had through the view. */
static void *set_access(void *argument)
{
	CUmemLocation location = { CU_MEM_LOCATION_TYPE_DEVICE, 1 };
	struct looker *looker = argument;
	unsigned long long flags;
	CUresult result;

	pthread_barrier_wait(looker->start);
	/* At another moment each time: a look-up is a good dozen of system calls. */
	while (looker->later--)
		cuMemGetAccess(&flags, &location, looker->at);
	result = allow(looker->at, CHUNK, 0, READ);
	if (result == CUDA_SUCCESS)
		result = allow(looker->at, CHUNK, 1, NONE);
	return result == CUDA_SUCCESS ? argument : NULL;
}

TEST_F(view, access_changes_at_the_first_look)
{
	CUdeviceptr at = reserve(CHUNK);
	pthread_barrier_t start;
	unsigned int round;

	ASSERT_EQ(0, pthread_barrier_init(&start, NULL, 3));
	for (round = 0; round < loops(100); round++) {
		struct looker looker[3];
		pthread_t thread[3];
		void *done[3];
		unsigned int i;

		ASSERT_OK(cuMemMap(at, CHUNK, 0, self->team, 0));
		ASSERT_OK(allow(at, CHUNK, 1, READWRITE));
		for (i = 0; i < 3; i++) {
			looker[i] = (struct looker) { &start, at, round % 32, NULL };
			ASSERT_EQ(0, pthread_create(&thread[i], NULL, i ? look : set_access,
						    &looker[i]));
		}
		for (i = 0; i < 3; i++)
			ASSERT_EQ(0, pthread_join(thread[i], &done[i]));
		ASSERT_NE(NULL, done[0]);
		ASSERT_EQ(looker[1].view, looker[2].view);
		ASSERT_EQ(0, try_load(looker[1].view->replica[0], NULL));
		ASSERT_EQ(SIGSEGV, try_store(looker[1].view->replica[0], 1));
		ASSERT_OK(cuMemUnmap(at, CHUNK));
	}
}

TEST_HARNESS_MAIN
