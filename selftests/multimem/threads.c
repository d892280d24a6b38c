// SPDX-License-Identifier: MIT
/*
 * Threads at once: red loses no update, of any type, and changes no neighbour; data that is written
 * before a release is visible after the acquire that reads it.
 */
#include <pthread.h>
#include <sched.h>
#include <memcast/multimem.h>
#include "reference.h"

#define THREADS		4
#define REPLICAS	2

static unsigned char memory[REPLICAS][4096] __attribute__((__aligned__(64)));
static struct memcast_view view = {
	.replicas = REPLICAS,
	.bytes = sizeof(memory[0]),
	.replica = { memory[0], memory[1] },
};

const struct memcast_view *memcastViewAt(CUdeviceptr address, size_t *offset)
{
	*offset = (size_t)address;
	return &view;
}

static pthread_barrier_t barrier;

static void run(void *(*function)(void *))
{
	pthread_t thread[THREADS];
	uintptr_t k;

	for (k = 0; k < THREADS; k++)
		if (pthread_create(&thread[k], NULL, function, (void *)k))
			abort();
	for (k = 0; k < THREADS; k++)
		pthread_join(thread[k], NULL);
}

/*
 * Each thread adds one @updates times: to register 0 by the short name, and to register 1 with
 * release. After each turn of @turn updates, whose sum is exact in the type, all threads meet, and
 * thread 0 checks the sums and clears them.
 */
#define COUNTED(T, type, one, total, turn, updates)				\
static void *add_##T(void *number)						\
{										\
	type *at[REPLICAS] = { (type *)(void *)memory[0], (type *)(void *)memory[1] }; \
	unsigned int done, i, k;						\
										\
	for (done = 0; done < (updates); done += (turn)) {			\
		pthread_barrier_wait(&barrier);					\
		for (k = 0; k < (turn); k++) {					\
			multimem_red_add_##T(&view, 0, one);			\
			multimem_red_release_add_##T(&view, sizeof(type), one);	\
		}								\
		pthread_barrier_wait(&barrier);					\
		for (i = 0; !number && i < REPLICAS; i++) {			\
			if (at[i][0] != (total) || at[i][1] != (total))		\
				complain("%s: an update is lost", #T);		\
			at[i][0] = at[i][1] = 0;				\
		}								\
	}									\
	return NULL;								\
}

/* 4 * 500 in f16 and 4 * 60 in bf16 are exact; the lanes count 1 and 2. */
#define F16(n)		memcast_f16_of_f32(n)
#define BF16(n)		memcast_bf16_of_f32(n)
#define BOTH(low, high)	((uint32_t)(low) | (uint32_t)(high) << 16)

COUNTED(u32, uint32_t, 3, 3 * THREADS * 500000, 500000, 500000)
COUNTED(s32, int32_t, -3, -3 * THREADS * 500000, 500000, 500000)
COUNTED(u64, uint64_t, 1ULL << 33, (1ULL << 33) * THREADS * 500000, 500000, 500000)
COUNTED(f32, float, 1, THREADS * 500000, 500000, 500000)
COUNTED(f64, double, 0.5, THREADS * 250000, 500000, 500000)
COUNTED(f16x2, uint32_t, BOTH(F16(1), F16(0.5f)),
	BOTH(F16(THREADS * 500), F16(THREADS * 250)), 500, 500000)
COUNTED(bf16x2, uint32_t, BOTH(BF16(1), BF16(-1)),
	BOTH(BF16(THREADS * 60), BF16(-THREADS * 60)), 60, 120000)

/*
 * Single f16s: each thread adds to its own half of a word, and changes nothing of the other half.
 */
#define HALVES(T, narrow, turn, turns)						\
static void *halves_##T(void *number)						\
{										\
	size_t mine = (uintptr_t)number % 2;					\
	struct multimem_v2_##T value = { { 0, 0 } };				\
	unsigned int round, k, i;						\
	uint16_t *at;								\
										\
	value.v[mine] = narrow(1);						\
	for (round = 0; round < (turns); round++) {				\
		pthread_barrier_wait(&barrier);					\
		for (k = 0; k < (turn); k++)					\
			multimem_red_add_v2_##T(&view, 64, value);		\
		pthread_barrier_wait(&barrier);					\
		for (i = 0; !number && i < REPLICAS; i++) {			\
			at = (uint16_t *)(void *)(memory[i] + 64);		\
			if (at[0] != narrow(THREADS / 2 * (turn)) || at[1] != at[0]) \
				complain("%s: an update is lost", #T);		\
			at[0] = at[1] = 0;					\
		}								\
	}									\
	return NULL;								\
}

HALVES(f16, F16, 500, 500)
HALVES(bf16, BF16, 60, 1000)

/* The extreme of all threads' values; the values of each thread differ from all others'. */
#define EXTREMES(T, type)							\
static void *extremes_##T(void *number)						\
{										\
	type *at[REPLICAS] = { (type *)(void *)memory[0], (type *)(void *)memory[1] }; \
	type mine = (type)(uintptr_t)number, i;					\
	unsigned int k;								\
										\
	if (!number)								\
		for (k = 0; k < REPLICAS; k++) {				\
			at[k][0] = (type)-1 > 0 ? (type)~(type)0 : 1000000;	\
			at[k][1] = (type)-1 > 0 ? 0 : (type)-1000000;		\
		}								\
	pthread_barrier_wait(&barrier);						\
	for (i = 0; i < 20000; i++) {						\
		multimem_red_min_##T(&view, 0, (type)(40000 - i) * THREADS - mine); \
		multimem_red_release_max_##T(&view, sizeof(type), i * THREADS + mine); \
	}									\
	pthread_barrier_wait(&barrier);						\
	for (k = 0; !number && k < REPLICAS; k++)				\
		if (at[k][0] != (type)20001 * THREADS - (THREADS - 1) ||	\
		    at[k][1] != (type)19999 * THREADS + THREADS - 1)		\
			complain("%s: an extreme is lost", #T);			\
	return NULL;								\
}

EXTREMES(u32, uint32_t)
EXTREMES(s32, int32_t)
EXTREMES(u64, uint64_t)
EXTREMES(s64, int64_t)

/* Each thread changes bits of its own, an odd number of times in all. */
#define BITWISE(T, type)							\
static void *bits_##T(void *number)						\
{										\
	type *at[REPLICAS] = { (type *)(void *)memory[0], (type *)(void *)memory[1] }; \
	type mine = 0, bit;							\
	unsigned int k;								\
										\
	for (k = (unsigned int)(uintptr_t)number; k < 8 * sizeof(type); k += THREADS) \
		mine |= (type)1 << k;						\
	for (k = 0; !number && k < REPLICAS; k++) {				\
		at[k][0] = at[k][1] = 0;					\
		at[k][2] = ~(type)0;						\
	}									\
	pthread_barrier_wait(&barrier);						\
	for (k = 0; k < 20001; k++)						\
		multimem_red_xor_##T(&view, 0, mine);				\
	for (bit = 1; bit; bit <<= 1) {						\
		multimem_red_or_##T(&view, sizeof(type), mine & bit);		\
		multimem_red_release_and_##T(&view, 2 * sizeof(type), ~(mine & bit)); \
	}									\
	pthread_barrier_wait(&barrier);						\
	for (k = 0; !number && k < REPLICAS; k++)				\
		if (at[k][0] != (type)~(type)0 || at[k][1] != at[k][0] || at[k][2]) \
			complain("%s: bits are lost", #T);			\
	return NULL;								\
}

BITWISE(b32, uint32_t)
BITWISE(b64, uint64_t)

/*
 * Thread 0 writes data and then sets a flag with release, by st or red; the other threads wait for
 * the flag with acquire, and must see the data.
 */
#define MESSAGES	20000
#define FLAG		0
#define DATA		1024
#define READ		2048

static void *pass_messages(void *number)
{
	uint32_t k, sum;

	for (k = 1; k <= MESSAGES; k++) {
		if (!number) {
			while (multimem_ld_reduce_acquire_add_u32(&view, READ) !=
			       REPLICAS * (THREADS - 1) * (k - 1))
				sched_yield();
			multimem_st_weak_v4_f32(&view, DATA, (struct multimem_v4_f32) {
						{ (float)k, 1, 2, (float)k } });
			multimem_st_weak_u64(&view, DATA + 64, k);
			if (k % 2)
				multimem_st_release_u32(&view, FLAG, k);
			else
				multimem_red_release_max_u32(&view, FLAG, k);
			continue;
		}
		while (multimem_ld_reduce_acquire_min_u32(&view, FLAG) != k)
			sched_yield();
		if (multimem_ld_reduce_weak_add_v4_f32(&view, DATA).v[3] != (float)(REPLICAS * k) ||
		    multimem_ld_reduce_weak_add_u64(&view, DATA + 64) != REPLICAS * k)
			complain("message %u came before what it is about", k);
		multimem_red_release_add_u32(&view, READ, 1);
	}
	sum = multimem_ld_reduce_add_u32(&view, FLAG);
	return (void *)(uintptr_t)sum;
}

#define RUN(kind, T) {				\
	memset(memory, 0, sizeof(memory));	\
	run(kind##_##T);			\
	result(build, "red_" #kind "_" #T);	\
}

int main(int argc, char **argv)
{
	const char *build = argc > 1 ? argv[1] : "";

	pthread_barrier_init(&barrier, NULL, THREADS);
	printf("1..16\n");
	RUN(add, u32)
	RUN(add, s32)
	RUN(add, u64)
	RUN(add, f32)
	RUN(add, f64)
	RUN(add, f16x2)
	RUN(add, bf16x2)
	RUN(halves, f16)
	RUN(halves, bf16)
	RUN(extremes, u32)
	RUN(extremes, s32)
	RUN(extremes, u64)
	RUN(extremes, s64)
	RUN(bits, b32)
	RUN(bits, b64)
	memset(memory, 0, sizeof(memory));
	run(pass_messages);
	result(build, "release_acquire");
	return failures > 0;
}
