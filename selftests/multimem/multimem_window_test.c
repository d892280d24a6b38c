// SPDX-License-Identifier: MIT
/* multimem.h's name_at() functions, on a window's addresses */
#include <setjmp.h>
#include <signal.h>
#include <memcast/multimem.h>
#include "memcast_test.h"

FIXTURE(window)
{
	CUmemGenericAllocationHandle team, memory[3];
	volatile uint32_t *plain[3], *window;
};

FIXTURE_SETUP(window)
{
	unsigned int i;

	cuda_start(0);
	self->team = complete_team(3, CHUNK);
	for (i = 0; i < 3; i++) {
		self->memory[i] = new_memory(i, CHUNK);
		self->plain[i] = mapped(self->memory[i], CHUNK, i);
		*self->plain[i] = 100 + i;
		ASSERT_OK(cuMulticastBindMem(self->team, 0, self->memory[i], 0, CHUNK, 0));
	}
	self->window = mapped(self->team, CHUNK, 0);
}
NOTHING_LEFT(window)

TEST_F(window, on_addresses)
{
	volatile uint32_t *const *plain = self->plain;
	CUdeviceptr at = ADDRESS(self->window) + 4096;
	struct multimem_v4_f32 vector = { { 1, 2, 3, 4 } };

	EXPECT_EQ(303, multimem_ld_reduce_add_u32_at(self->window));
	EXPECT_EQ(102, multimem_ld_reduce_acquire_max_u32_at(self->window));
	multimem_st_u32_at(self->window + 1, 7);
	multimem_red_release_add_u32_at(&self->window[1], 3);
	EXPECT_EQ(10, plain[0][1]);
	EXPECT_EQ(10, plain[1][1]);
	EXPECT_EQ(10, plain[2][1]);

	multimem_st_v4_f32_at(at, vector);
	multimem_red_add_v4_f32_at(at, vector);
	vector = multimem_ld_reduce_relaxed_add_v4_f32_at(at);
	EXPECT_EQ(6, vector.v[0]);
	EXPECT_EQ(24, vector.v[3]);
	EXPECT_EQ(8, *(float *)(uintptr_t)(ADDRESS(plain[1]) + 4096 + 12));
}

/* For signal_of(): the operation's target, and the point to which the handler jumps back */
static volatile uint32_t *target;
static sigjmp_buf back;

static void go_back(int signal)
{
	siglongjmp(back, signal);
}

static int signal_of(void (*operation)(void))
{
	const int signals[] = { SIGSEGV, SIGBUS, SIGILL };
	struct sigaction action = { .sa_handler = go_back }, before[3];
	int number, i;

	for (i = 0; i < 3; i++)
		sigaction(signals[i], &action, &before[i]);
	number = sigsetjmp(back, 1);
	if (!number)
		operation();
	for (i = 0; i < 3; i++)
		sigaction(signals[i], &before[i], NULL);
	return number;
}

static void store(void)
{
	multimem_st_u32_at(target, 1);
}

static void reduce(void)
{
	multimem_red_add_u32_at(target, 1);
}

static void load(void)
{
	multimem_ld_reduce_add_u32_at(target);
}

TEST_F(window, where_it_cannot_be)
{
	uint32_t mine;

	target = self->window;
	EXPECT_EQ(0, signal_of(load));
	ASSERT_OK(cuMulticastUnbind(self->team, 2, 0, CHUNK));
	EXPECT_EQ(SIGBUS, signal_of(load));
	ASSERT_OK(cuMulticastBindMem(self->team, 0, self->memory[2], 0, CHUNK, 0));
	EXPECT_EQ(0, signal_of(load));
	ASSERT_OK(allow(ADDRESS(target), CHUNK, 0, READ));
	EXPECT_EQ(0, signal_of(load));
	EXPECT_EQ(SIGSEGV, signal_of(store));
	EXPECT_EQ(SIGSEGV, signal_of(reduce));
	ASSERT_OK(allow(ADDRESS(target), CHUNK, 0, NONE));
	EXPECT_EQ(SIGSEGV, signal_of(load));
	ASSERT_OK(cuMemUnmap(ADDRESS(target), CHUNK));
	EXPECT_EQ(SIGILL, signal_of(load));
	target = &mine;
	EXPECT_EQ(SIGILL, signal_of(store));
	target = self->plain[0];
	EXPECT_EQ(SIGILL, signal_of(reduce));
	EXPECT_EQ(100, *self->plain[0]);
}

/* A program without CUDA_LOG_FILE still says on stderr why an operation failed. */
TEST_F(window, says_why)
{
	int pipes[2], kept = dup(STDERR_FILENO);
	char text[1000] = "";
	uint32_t mine;

	target = &mine;
	ASSERT_EQ(0, pipe(pipes));
	dup2(pipes[1], STDERR_FILENO);
	EXPECT_EQ(SIGILL, signal_of(store));
	dup2(kept, STDERR_FILENO);
	close(kept);
	close(pipes[1]);
	EXPECT_LT(0, read(pipes[0], text, sizeof(text) - 1));
	close(pipes[0]);
	EXPECT_SAYS(text, "a multimem operation on 0x");
	EXPECT_SAYS(text, "cuMemMap()");
}

TEST_HARNESS_MAIN
