// SPDX-License-Identifier: MIT
/* Plain stores to windows: the effect of each instruction. */
#include <asm/prctl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "trap_setting.h"

FIXTURE(trap)
{
	struct setting setting;
	unsigned char *window;
};

FIXTURE_SETUP(trap)
{
	setting_make(&self->setting);
	self->window = self->setting.all.window + CHUNK;
}
NOTHING_LEFT(trap)

TEST_F(trap, every_form)
{
	const struct area *all = &self->setting.all;
	unsigned int possible = 0, count = 0;
	uint64_t seed = 1;

	EVERY_FORM(form) {
		const char *what = NULL;

		count++;
		if (!form_possible(form, all))
			continue;
		possible++;
		for (unsigned int round = 0; round < loops(12) && !what; round++) {
			size_t offset = 2 * CHUNK + form_random(&seed) % 8192 - 4096;

			what = form_check(all, form, offset - offset % form->align, &seed);
		}
		EXPECT_EQ(NULL, what)
			TH_LOG("%s: %s", form->text, what);
	}
	TH_LOG("%u of %u forms are this processor's", possible, count);
}

TEST_F(trap, over_edges)
{
	static const size_t edges[] = { CHUNK, 3 * CHUNK };
	const struct area *all = &self->setting.all;
	uint64_t seed = 2;

	EVERY_FORM(form) {
		const char *what = NULL;

		if (!form_possible(form, all) || !form_divisible(form))
			continue;
		for (unsigned int round = 0; round < loops(12) && !what; round++) {
			size_t before = form_random(&seed) % 40;

			what = form_check(all, form, edges[round % 2] + 4 - before, &seed);
		}
		EXPECT_EQ(NULL, what)
			TH_LOG("%s: %s", form->text, what);
	}
}

TEST_F(trap, ten_thousand_mixed)
{
	uint64_t seed = 3;
	const char *what = forms_mixed(&self->setting.all, loops(10000), &seed);

	EXPECT_EQ(NULL, what)
		TH_LOG("%s", what);
}

/* Stores that the compiler makes of C */
TEST_F(trap, plain_c)
{
	volatile uint32_t *word = (void *)self->window;
	struct { uint64_t a, b; char c[40]; } *object = (void *)(self->window + 4096);
	unsigned int i;

	*word = 5;
	*word += 3;
	word[1] = *word;
	memset(object, 7, sizeof(*object));
	memcpy(object->c, "as if it were memory", 21);
	__atomic_fetch_add(&object->b, 1, __ATOMIC_SEQ_CST);
	memset(self->window + 8192, 9, 70000);
	for (i = 0; i < DEVICES; i++) {
		EXPECT_EQ(8, ((uint32_t *)REPLICA(i))[0]);
		EXPECT_EQ(8, ((uint32_t *)REPLICA(i))[1]);
		EXPECT_EQ(0, memcmp(REPLICA(i) + 4096, object, sizeof(*object)));
		EXPECT_EQ(9, REPLICA(i)[8192 + 69999]);
		EXPECT_EQ(0, REPLICA(i)[8192 + 70000]);
	}
	EXPECT_STREQ("as if it were memory", object->c);
	EXPECT_EQ(0x0707070707070708, object->b);
}

static void store_nine(void *window)
{
	*(volatile uint32_t *)window = 9;
}

/* A store by a thread of the library */
TEST_F(trap, from_a_host_function)
{
	CUstream stream;

	ASSERT_OK(cuStreamCreate(&stream, 0));
	ASSERT_OK(cuMulticastUnbind(self->setting.team[0], 1, 0, CHUNK));
	ASSERT_OK(cuLaunchHostFunc(stream, store_nine, self->window));
	ASSERT_OK(cuStreamSynchronize(stream));
	EXPECT_EQ(9, *(uint32_t *)REPLICA(3));
	EXPECT_EQ(0, *(uint32_t *)REPLICA(1));
}

#define BELOW	65536

/* In a thread with the room for one signal and 2 KiB. Return: what is below that, untouched */
static void *store_with_little_stack(void *window)
{
	stack_t stack = { .ss_size = sysconf(_SC_MINSIGSTKSZ) + 2048 };
	unsigned char *below = malloc(BELOW + stack.ss_size);

	memset(below, 0xee, BELOW);
	stack.ss_sp = below + BELOW;
	if (sigaltstack(&stack, NULL))
		return NULL;
	store_nine(window);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	for (unsigned int i = 0; i < BELOW; i++)
		if (below[i] != 0xee)
			return NULL;
	return below;
}

/* The first store makes the view of the window as well, and one member has no memory. */
TEST_F(trap, little_stack)
{
	pthread_t thread;
	void *below;

	ASSERT_OK(cuMulticastUnbind(self->setting.team[0], 1, 0, CHUNK));
	ASSERT_EQ(0, pthread_create(&thread, NULL, store_with_little_stack, self->window));
	ASSERT_EQ(0, pthread_join(thread, &below));
	EXPECT_NE(NULL, below);
	EXPECT_EQ(9, *(uint32_t *)REPLICA(3));
	EXPECT_EQ(0, *(uint32_t *)REPLICA(1));
	free(below);
}

#define THREADS	4

static unsigned char *shared;
static unsigned int rounds;

static void *add_many(void *unused)
{
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		__atomic_fetch_add((uint64_t *)shared, 1, __ATOMIC_SEQ_CST);
		asm volatile("lock incl %0; lock xaddw %w1, %2"
			     : "+m" (*(uint32_t *)(shared + 64)) : "r" (3),
			       "m" (*(uint16_t *)(shared + 128)) : "memory");
	}
	return unused;
}

TEST_F(trap, locked_ones_lose_nothing)
{
	pthread_t thread[THREADS];
	unsigned int i;

	rounds = loops(1000);
	shared = self->window;
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, add_many, NULL));
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < DEVICES; i++) {
		EXPECT_EQ(THREADS * rounds, *(uint64_t *)(REPLICA(i)));
		EXPECT_EQ(THREADS * rounds, *(uint32_t *)(REPLICA(i) + 64));
	}
}

/* Instructions that contain an address */
TEST_F(trap, other_addresses)
{
	static const unsigned char relative[] = { 0xc7, 0x05, 0, 0, 0, 0, 1, 2, 3, 4, 0xc3 };
	static const unsigned char absolute[] = { 0x48, 0xa3, 0, 0, 0, 0, 0, 0, 0, 0, 0xc3 };
	unsigned char *code = mmap(self->window - 64 * CHUNK, 4096,
				   PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t target = (uintptr_t)self->window + 24;
	unsigned long kept;
	unsigned int i;
	int32_t distance;

	ASSERT_NE(MAP_FAILED, (void *)code);
	distance = self->window + 16 - (code + 10);
	memcpy(code, relative, sizeof(relative));
	memcpy(code + 2, &distance, 4);
	memcpy(code + 64, absolute, sizeof(absolute));
	memcpy(code + 66, &target, 8);
	((void (*)(void))code)();
	asm volatile("call *%0" : : "r" (code + 64), "a" (0x1122334455667788) : "memory");

	ASSERT_EQ(0, syscall(SYS_arch_prctl, ARCH_GET_GS, &kept));
	ASSERT_EQ(0, syscall(SYS_arch_prctl, ARCH_SET_GS, self->window));
	asm volatile("movl $0xabcd, %%gs:32; movl %0, %%gs:(%1)"
		     : : "r" (0x4321), "r" (36L) : "memory");
	ASSERT_EQ(0, syscall(SYS_arch_prctl, ARCH_SET_GS, kept));
	for (i = 0; i < DEVICES; i++) {
		EXPECT_EQ(0x04030201, *(uint32_t *)(REPLICA(i) + 16));
		EXPECT_EQ(0x1122334455667788, *(uint64_t *)(REPLICA(i) + 24));
		EXPECT_EQ(0xabcd, *(uint32_t *)(REPLICA(i) + 32));
		EXPECT_EQ(0x4321, *(uint32_t *)(REPLICA(i) + 36));
	}
}

/* Longer than one trap copies at once, over chunks and out of the window into the next */
TEST_F(trap, long_strings)
{
	size_t bytes = 2 * CHUNK + CHUNK / 2, i;
	unsigned char *source = malloc(bytes), *to = self->window + CHUNK / 4, *from = source;
	size_t count = bytes;

	ASSERT_NE(NULL, source);
	for (i = 0; i < bytes; i++)
		source[i] = i * 7 + i / 251;
	asm volatile("rep movsb" : "+D" (to), "+S" (from), "+c" (count) : : "memory");
	EXPECT_EQ(0, count);
	EXPECT_EQ(self->window + CHUNK / 4 + bytes, to);
	EXPECT_EQ(source + bytes, from);
	for (i = 0; i < DEVICES; i++)
		EXPECT_EQ(0, memcmp(source, REPLICA(i) + CHUNK / 4, bytes));

	/* a pattern that grows out of itself, as it does in ordinary memory */
	to = self->window + 3;
	from = self->window;
	count = 1000;
	memcpy(self->window, "abc", 3);
	asm volatile("rep movsb" : "+D" (to), "+S" (from), "+c" (count) : : "memory");
	/* downwards, over itself */
	memmove(source, self->window, 1003);
	memmove(source + 8, source, 800);
	to = self->window + 8 + 792;
	from = self->window + 792;
	count = 100;
	asm volatile("std; rep movsq; cld" : "+D" (to), "+S" (from), "+c" (count)
		     : : "memory");
	for (i = 0; i < DEVICES; i++)
		EXPECT_EQ(0, memcmp(source, REPLICA(i), 1003));
	free(source);
}

/* A handler may not access memory under a protection key by default, but the program may. */
TEST_F(trap, protection_keys)
{
	unsigned char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *from = memory, *to = self->window;
	static const unsigned char code[] = { 0x89, 0x07, 0xc3 };
	int key = pkey_alloc(0, 0);
	size_t count = 100;

	ASSERT_NE(MAP_FAILED, (void *)memory);
	if (key < 0)
		SKIP(return, "no protection keys");
	memset(memory, 5, 4096);
	memcpy(memory + 4096, code, sizeof(code));
	ASSERT_EQ(0, pkey_mprotect(memory, 4096, PROT_READ | PROT_WRITE, key));
	asm volatile("rep movsb" : "+D" (to), "+S" (from), "+c" (count) : : "memory");
	EXPECT_EQ(5, REPLICA(3)[99]);

	/* code that nobody can read */
	ASSERT_EQ(0, mprotect(memory + 4096, 4096, PROT_EXEC));
	asm volatile("call *%0" : : "r" (memory + 4096), "D" (self->window + 200), "a" (77)
		     : "memory");
	EXPECT_EQ(77, REPLICA(3)[200]);
	pkey_free(key);
}

/* Prints the cost and judges nothing; it counts processor time, as the machine may be busy. */
TEST_F(trap, cost)
{
	volatile uint32_t *word = (void *)self->window;
	unsigned int i, count = 2000;
	double start;

	*word = 0;
	start = processor_seconds();
	for (i = 0; i < count; i++)
		word[i % 64] = i;
	TH_LOG("a movl to a window of %u replicas: %.0f ns", DEVICES,
	       (processor_seconds() - start) / count * 1e9);
}

TEST_HARNESS_MAIN
