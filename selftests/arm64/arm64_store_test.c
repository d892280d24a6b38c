// SPDX-License-Identifier: MIT
/* Plain stores to windows on arm64: the effect of each instruction on memory and on its registers. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "memcast/trap.h"
#include "memcast_test.h"

#define BYTES	1024		/* compared around a store */
#define MIDDLE	512

FIXTURE(arm64_store)
{
	unsigned char *window, *replica[2];
};

FIXTURE_SETUP(arm64_store)
{
	CUmemGenericAllocationHandle team, memory;

	cuda_start(0);
	team = complete_team(2, 2 * CHUNK);
	for (int i = 0; i < 2; i++) {
		memory = new_memory(i, 2 * CHUNK);
		self->replica[i] = (void *)mapped(memory, 2 * CHUNK, i);
		ASSERT_OK(cuMulticastBindMem(team, 0, memory, 0, 2 * CHUNK, 0));
	}
	self->window = (void *)mapped(team, 2 * CHUNK, 0);
}
NOTHING_LEFT(arm64_store)

/*
 * An instruction with its address in x0, offsets of 24 in x1 and -6 in x2, and data in x3, x4 and v0
 * to v3. x0 is told afterwards. Forms that begin with a predicate are of scalable vectors.
 */
struct form {
	const char *text;
	uint64_t (*run)(void *at, const unsigned char *data);
};

#define FORM(number, instruction)							\
	static uint64_t run_##number(void *at, const unsigned char *data)		\
	{										\
		register void *x0 __asm__("x0") = at;					\
		register const unsigned char *x5 __asm__("x5") = data;			\
											\
		__asm__ volatile("ldp x3, x4, [x5]\n"					\
				 "ld1 {v0.16b, v1.16b, v2.16b, v3.16b}, [x5]\n"		\
				 "mov x1, #24\n"					\
				 "mov x2, #-6\n"					\
				 ".arch armv8.4-a+sve\n"				\
				 instruction						\
				 : "+r" (x0) : "r" (x5)					\
				 : "x1", "x2", "x3", "x4", "v0", "v1", "v2", "v3", "cc", "memory"); \
		return (uintptr_t)x0 - (uintptr_t)at;					\
	}

#define FORMS(X)									\
	X(1, "strb w3, [x0]") X(2, "strh w3, [x0, #2]") X(3, "str w3, [x0, #4]")	\
	X(4, "str x3, [x0, #16]") X(5, "stur x3, [x0, #-5]") X(6, "str x3, [x0], #-16")	\
	X(7, "str w3, [x0, #-12]!") X(8, "str x3, [x0, x1]") X(9, "str x3, [x0, x2, lsl #3]") \
	X(10, "str w3, [x0, w2, sxtw #2]") X(11, "strb w3, [x0, w1, uxtw]")		\
	X(12, "str xzr, [x0]") X(13, "str b0, [x0]") X(14, "str h1, [x0]")		\
	X(15, "str s2, [x0, #4]") X(16, "str d3, [x0], #8") X(17, "str q1, [x0, #-16]!")	\
	X(18, "stur q2, [x0, #3]") X(19, "str q3, [x0, x1]") X(20, "stp w3, w4, [x0]")	\
	X(21, "stp x3, xzr, [x0, #-32]!") X(22, "stp x4, x3, [x0], #32")		\
	X(23, "stnp x3, x4, [x0, #16]") X(24, "stp s0, s1, [x0, #8]")			\
	X(25, "stp d2, d3, [x0, #-8]") X(26, "stp q0, q1, [x0, #-32]!")			\
	X(27, "stlr x3, [x0]") X(28, "stlrb w3, [x0]") X(29, "stlrh w4, [x0]")		\
	X(30, "stlur w3, [x0, #-8]") X(31, "st1 {v0.16b}, [x0]")			\
	X(32, "st1 {v0.8h, v1.8h}, [x0], #32") X(33, "st1 {v0.2s, v1.2s, v2.2s}, [x0]")	\
	X(34, "st1 {v0.2d, v1.2d, v2.2d, v3.2d}, [x0], x1")				\
	X(35, "st2 {v0.4s, v1.4s}, [x0]") X(36, "st3 {v0.8b, v1.8b, v2.8b}, [x0]")	\
	X(37, "st4 {v0.8h, v1.8h, v2.8h, v3.8h}, [x0], #64")				\
	X(38, "st1 {v0.b}[11], [x0]") X(39, "st1 {v1.h}[5], [x0], #2")			\
	X(40, "st1 {v2.s}[3], [x0]") X(41, "st1 {v3.d}[1], [x0], x1")			\
	X(42, "st2 {v0.s, v1.s}[2], [x0]") X(43, "st3 {v0.d, v1.d, v2.d}[1], [x0]")	\
	X(44, "st4 {v0.b, v1.b, v2.b, v3.b}[9], [x0], #4") X(45, "dc zva, x0")		\
	X(46, "sttr x3, [x0, #8]") X(47, "stllr w3, [x0]")				\
	X(48, "ptrue p0.b\nst1b {z0.b}, p0, [x0]")					\
	X(49, "whilelo p1.b, xzr, x1\nst1b {z1.b}, p1, [x0, #1, mul vl]")		\
	X(50, "whilelo p2.s, xzr, x1\nst1w {z2.s}, p2, [x0, x1, lsl #2]")		\
	X(51, "ptrue p3.s, vl3\nst1h {z3.s}, p3, [x0, #-2, mul vl]")			\
	X(52, "ptrue p4.d, vl2\nst1d {z0.d}, p4, [x0, x2, lsl #3]")			\
	X(53, "ptrue p7.d, vl1\nst1b {z1.d}, p7, [x0, x1]")				\
	X(54, "ptrue p0.h, vl5\nstr z2, [x0, #-1, mul vl]")

FORMS(FORM)
#define ROW(number, instruction)	{ instruction, run_##number },
static const struct form forms[] = { FORMS(ROW) };

/* Each form does to both replicas and to its address register what it does in ordinary memory. */
TEST_F(arm64_store, every_form)
{
	static unsigned char plain[BYTES] __attribute__((aligned(BYTES)));
	unsigned int possible = 0;
	unsigned char data[64];

	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = 3 * i + 1;
	for (unsigned int i = 0; i < ARRAY_SIZE(forms); i++) {
		uint64_t moved;

		if (strstr(forms[i].text, " p") && !(getauxval(AT_HWCAP) & HWCAP_SVE))
			continue;
		possible++;
		for (unsigned int at = 0; at < BYTES; at++)
			plain[at] = self->replica[0][at] = self->replica[1][at] = ~at;
		moved = forms[i].run(plain + MIDDLE, data);
		EXPECT_EQ(moved, forms[i].run(self->window + MIDDLE, data))
			TH_LOG("%s", forms[i].text);
		for (int j = 0; j < 2; j++) {
			EXPECT_EQ(0, memcmp(plain, self->replica[j], BYTES))
				TH_LOG("%s, replica %d", forms[i].text, j);
		}
	}
	TH_LOG("%u of %zu forms are this processor's", possible, ARRAY_SIZE(forms));
}

/* What compilers and the C library make of C */
TEST_F(arm64_store, plain_c)
{
	volatile uint16_t *halves = (void *)self->window;
	void *(*volatile copy)(void *to, const void *from, size_t bytes) = memcpy;
	static const unsigned char data[50] = { 1, 2, 3, [49] = 50 };
	unsigned char plain[8192];

	memset(plain, 0xa5, sizeof(plain));
	memset(self->window + CHUNK - 4096, 0xa5, sizeof(plain));
	memset(plain + 100, 0, 5000);
	memset(self->window + CHUNK - 4096 + 100, 0, 5000);
	copy(plain + 7000, data, 3);
	copy(self->window + CHUNK - 4096 + 7000, data, 3);
	copy(plain + 7100, data, 50);
	copy(self->window + CHUNK - 4096 + 7100, data, 50);
	for (int i = 0; i < 100; i++)
		plain[i] = i;
	memcpy(self->window + CHUNK - 4096, plain, 100);
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(0, memcmp(plain, self->replica[i] + CHUNK - 4096, sizeof(plain)));
	halves[7]++;
	__atomic_store_n((uint64_t *)(self->window + 64), 9, __ATOMIC_SEQ_CST);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(1, self->replica[i][14]);
		EXPECT_EQ(9, self->replica[i][64]);
	}
}

static void add_atomically(void *at)
{
	__asm__ volatile(".arch armv8.4-a\n"
			 "stadd %w0, [%1]" : : "r" (1), "r" (at) : "memory");
}

static void store_two(void *at)
{
	__asm__ volatile("stp %w0, %w0, [%1]" : : "r" (1), "r" (at) : "memory");
}

static sigjmp_buf way_out;
static unsigned int done;

static void on_fault(int number, siginfo_t *info, void *context)
{
	if (!memcastTrap(number, info, context))
		siglongjmp(way_out, info->si_signo);
	done++;
}

/* Return: the signal that the library leaves to the program, or 0 */
static int left(void (*store)(void *at), void *at)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO }, before;
	int number;

	sigaction(SIGSEGV, &action, &before);
	number = sigsetjmp(way_out, 1);
	if (!number)
		store(at);
	sigaction(SIGSEGV, &before, NULL);
	return number;
}

/* What cannot be done is the program's fault, and changes no replica. */
TEST_F(arm64_store, others)
{
	EXPECT_EQ(0, left(store_two, self->window));
	EXPECT_EQ(1, done);
	EXPECT_EQ(1, self->replica[1][4]);
	EXPECT_EQ(SIGSEGV, left(add_atomically, self->window));
	EXPECT_EQ(1, self->replica[0][0]);
	EXPECT_EQ(SIGSEGV, left(store_two, self->window + 2 * CHUNK - 4));
	EXPECT_EQ(0, self->replica[1][2 * CHUNK - 4]);
}

static atomic_bool enough;

static void *send(void *to)
{
	while (!enough) {
		pthread_kill(*(pthread_t *)to, SIGBUS);
		usleep(100);
	}
	return NULL;
}

static void on_sent(int number, siginfo_t *info, void *context)
{
	if (memcastTrap(number, info, context))
		done++;
}

/* A signal that a thread sends in the middle of a store is the program's, and no replica is missed. */
TEST_F(arm64_store, sent_signals)
{
	struct sigaction action = { .sa_sigaction = on_sent, .sa_flags = SA_SIGINFO }, before;
	pthread_t own = pthread_self(), thread;

	done = 0;
	sigaction(SIGBUS, &action, &before);
	ASSERT_EQ(0, pthread_create(&thread, NULL, send, &own));
	for (int i = 0; i < 5000; i++)
		__asm__ volatile("dup v0.16b, %w0\n"
				 "st1 {v0.16b}, [%1]" : : "r" (i), "r" (self->window) : "v0", "memory");
	enough = true;
	pthread_join(thread, NULL);
	sigaction(SIGBUS, &before, NULL);
	EXPECT_EQ(0, done);
}

TEST_HARNESS_MAIN
