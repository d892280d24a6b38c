// SPDX-License-Identifier: MIT
/*
 * What lib/trap.c makes of instructions, without the module: here for those that
 * emulated machines do not have. A window is a read-only mapping of its first
 * replica. host-trap.sh runs this.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "../lib/library.h"
#include "../lib/trap.h"
#include "trap_forms.h"
#include "kselftest_harness.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 300

#define CHUNK		(2UL << 20)
#define REPLICAS	4

/* Ordinary memory, a window of two chunks, one of one chunk, nothing: side by side */
static struct area all;
static const struct {
	size_t start, bytes;
} windows[] = { { CHUNK, 2 * CHUNK }, { 3 * CHUNK, CHUNK } };

/* A signal that comes while a store is under way: what is at its edge is looked up then. */
static sigjmp_buf out;
static volatile uintptr_t out_at;

bool trap_window_at(uintptr_t address, struct trap_window *window)
{
	static unsigned char *replica[2][REPLICAS];
	size_t offset = address - (uintptr_t)all.window;

	if (out_at && out_at == address)
		siglongjmp(out, 1);
	for (unsigned int i = 0; i < 2; i++) {
		if (offset - windows[i].start >= windows[i].bytes)
			continue;
		for (unsigned int j = 0; j < REPLICAS; j++)
			replica[i][j] = all.replica[j] + windows[i].start;
		*window = (struct trap_window) {
			.start = (uintptr_t)all.window + windows[i].start,
			.bytes = windows[i].bytes,
			.replicas = REPLICAS,
			.replica = replica[i],
		};
		return true;
	}
	return false;
}

bool trap_place_at(uintptr_t address, struct trap_place *where)
{
	(void)address;
	(void)where;
	return false;
}

const char *trap_reason(uintptr_t address, int signal, bool store)
{
	(void)address;
	(void)signal;
	(void)store;
	return NULL;
}

FIXTURE(trap)
{
};

/* Low in the address space, for 32-bit addresses */
FIXTURE_SETUP(trap)
{
	unsigned char *place = mmap(NULL, 6 * CHUNK, PROT_NONE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	ASSERT_NE(MAP_FAILED, (void *)place);
	place += -(uintptr_t)place % CHUNK;
	all = (struct area) { place, 4 * CHUNK, CHUNK, REPLICAS, {} };
	for (unsigned int i = 0; i < REPLICAS; i++) {
		int fd = memfd_create("replica", MFD_CLOEXEC);

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, ftruncate(fd, 4 * CHUNK));
		all.replica[i] = mmap(NULL, 4 * CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED,
				      fd, 0);
		ASSERT_NE(MAP_FAILED, (void *)all.replica[i]);
		if (!i)
			ASSERT_EQ(place, mmap(place, 4 * CHUNK, PROT_READ,
					      MAP_SHARED | MAP_FIXED, fd, 0));
		close(fd);
	}
	ASSERT_EQ(0, mprotect(place, CHUNK, PROT_READ | PROT_WRITE));
	trap_install();
}

FIXTURE_TEARDOWN(trap)
{
}

TEST_F(trap, every_form)
{
	unsigned int possible = 0;
	uint64_t seed = 1;

	EVERY_FORM(form) {
		const char *what = NULL;

		if (!form_possible(form, &all)) {
			TH_LOG("not on this processor: %s", form->text);
			continue;
		}
		possible++;
		for (int round = 0; round < 100 && !what; round++) {
			size_t offset = 2 * CHUNK + form_random(&seed) % 8192 - 4096;

			what = form_check(&all, form, offset - offset % form->align, &seed);
		}
		EXPECT_EQ(NULL, what)
			TH_LOG("%s: %s", form->text, what);
	}
	TH_LOG("%u forms", possible);
}

/* Ordinary memory before a window, and two windows */
TEST_F(trap, over_edges)
{
	static const size_t edges[] = { CHUNK, 3 * CHUNK };
	uint64_t seed = 2;

	EVERY_FORM(form) {
		const char *what = NULL;

		if (!form_possible(form, &all) || !form_divisible(form))
			continue;
		for (int round = 0; round < 160 && !what; round++)
			what = form_check(&all, form, edges[round % 2] + 8 - round / 2, &seed);
		EXPECT_EQ(NULL, what)
			TH_LOG("%s: %s", form->text, what);
	}
}

TEST_F(trap, ten_thousand_mixed)
{
	uint64_t seed = 3;
	const char *what = forms_mixed(&all, 10000, &seed);

	EXPECT_EQ(NULL, what)
		TH_LOG("%s", what);
}

/* A store to several addresses is none that can be done: it says so, and faults. */
TEST_F(trap, scatter_is_named)
{
	static const struct form needs = { .needs = "avx512f" };
	char text[1000] = "";
	int pipes[2], status;
	pid_t pid;

	if (!form_possible(&needs, &all))
		SKIP(return, "no AVX-512");
	ASSERT_EQ(0, pipe(pipes));
	pid = fork();
	if (!pid) {
		/* the parent's cells are not a child's */
		trap_run_init();
		dup2(pipes[1], STDERR_FILENO);
		asm volatile("vpxorq %%zmm0, %%zmm0, %%zmm0; kxnorw %%k1, %%k1, %%k1;"
			     "vpscatterdd %%zmm1, (%0,%%zmm0,4)%{%%k1%}"
			     : : "r" (all.window + CHUNK) : "memory");
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	EXPECT_LT(0, read(pipes[0], text, sizeof(text) - 1));
	EXPECT_NE(NULL, strstr(text, "'vpscatterdd"))
		TH_LOG("said: %s", text);
	EXPECT_EQ(0, all.replica[0][CHUNK]);
}

/* A SIGFPE in the middle of a store would not be where the program has its own. */
TEST_F(trap, exceptions_that_are_not_masked)
{
	static const struct form needs = { .needs = "f16c" };
	unsigned int mxcsr = 0x1f80 & ~0x1000;	/* precision */
	char text[1000] = "";
	int pipes[2], status;
	pid_t pid;

	if (!form_possible(&needs, &all))
		SKIP(return, "no F16C");
	ASSERT_EQ(0, pipe(pipes));
	pid = fork();
	if (!pid) {
		trap_run_init();
		dup2(pipes[1], STDERR_FILENO);
		asm volatile("ldmxcsr %1; vpcmpeqd %%xmm1, %%xmm1, %%xmm1;"
			     "vpsrld $8, %%xmm1, %%xmm1; vcvtps2ph $0, %%xmm1, (%0)"
			     : : "r" (all.window + CHUNK), "m" (mxcsr) : "xmm1", "memory");
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	EXPECT_LT(0, read(pipes[0], text, sizeof(text) - 1));
	EXPECT_NE(NULL, strstr(text, "not masked"))
		TH_LOG("said: %s", text);
}

/* The checks above need XSAVE themselves: this is for a kernel with "noxsave". */
TEST_F(trap, sse_and_x87)
{
	unsigned char *window = all.window + 2 * CHUNK;
	double two = 2, got[3];

	asm volatile("movsd %1, %%xmm7; unpcklpd %%xmm7, %%xmm7; movups %%xmm7, (%0);"
		     "fldl %1; fstpl 16(%0)" : : "r" (window), "m" (two)
		     : "xmm7", "memory");
	for (int i = 0; i < REPLICAS; i++) {
		memcpy(got, all.replica[i] + 2 * CHUNK, sizeof(got));
		EXPECT_TRUE(got[0] == two && got[1] == two && got[2] == two);
	}
}

/* A REX that is not the last prefix means nothing, and must not begin to. */
TEST_F(trap, rex_before_a_prefix)
{
	unsigned char *window = all.window + 2 * CHUNK;
	uint64_t got;

	for (int i = 0; i < REPLICAS; i++)
		memset(all.replica[i] + 2 * CHUNK, 0x11, 8);
	asm volatile(".byte 0x48, 0x3e, 0x89, 0x07" : : "D" (window), "a" (-1L) : "memory");
	for (int i = 0; i < REPLICAS; i++) {
		memcpy(&got, all.replica[i] + 2 * CHUNK, sizeof(got));
		EXPECT_EQ(0x11111111ffffffffUL, got);
	}
}

/* What is said must not end a program whose stderr nobody reads. */
TEST_F(trap, broken_stderr)
{
	int pipes[2], status;
	pid_t pid;

	ASSERT_EQ(0, pipe(pipes));
	close(pipes[0]);
	pid = fork();
	if (!pid) {
		/* the parent's cells are not a child's */
		trap_run_init();
		dup2(pipes[1], STDERR_FILENO);
		signal(SIGPIPE, SIG_DFL);
		*(volatile int *)(all.window + 2 * CHUNK) = 1;
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* In a child, nothing of its own may come where the parent's cells are run. */
TEST_F(trap, cells_of_a_child)
{
	char line[300], rights[5];
	unsigned long start = 0, end;
	FILE *maps = fopen("/proc/self/maps", "r");
	int status;
	pid_t pid;

	ASSERT_NE(NULL, maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "memcast-trap") &&
		    sscanf(line, "%lx-%lx %4s", &start, &end, rights) == 3 &&
		    !strcmp(rights, "r-xs"))
			break;
	fclose(maps);
	ASSERT_NE(0, start);
	pid = fork();
	if (!pid)
		_exit(mmap((void *)start, end - start, PROT_READ, MAP_PRIVATE |
			   MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != MAP_FAILED);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

static unsigned char *alternate;
static volatile bool on_alternate;

static void note_stack(int number)
{
	unsigned char here;

	(void)number;
	on_alternate = (uintptr_t)&here - (uintptr_t)alternate < 65536;
	siglongjmp(out, 1);
}

static void fault_at(unsigned char *place)
{
	if (!sigsetjmp(out, 1))
		*(volatile unsigned char *)place = 1;
}

/* A handler that was there before has the stack that it asked for. */
TEST(stack_of_the_handler_before)
{
	static const int flags[] = { 0, SA_ONSTACK };
	stack_t stack = { .ss_size = 65536 };
	unsigned char *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, (void *)none);
	stack.ss_sp = alternate = malloc(stack.ss_size);
	ASSERT_EQ(0, sigaltstack(&stack, NULL));
	for (int i = 0; i < 2; i++) {
		struct sigaction action = { .sa_handler = note_stack, .sa_flags = flags[i] };

		sigaction(SIGSEGV, &action, NULL);
		trap_install();
		on_alternate = !i;
		fault_at(none);
		EXPECT_EQ(i, on_alternate);
	}
}

/* How a child of @run's ends: its exit status, or the negative signal */
static int end_of(void (*run)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		/* the parent's cells are not a child's */
		trap_run_init();
		run();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void fault(void)
{
	volatile unsigned char *volatile nothing = NULL;

	*nothing = 1;
}

/* System calls that are refused from now on, as a container may */
static void refuse(const int *numbers, unsigned int count)
{
	struct sock_filter code[8] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .len = 2 * count + 2, .filter = code };

	for (unsigned int i = 0; i < count; i++) {
		code[2 * i + 1] = (struct sock_filter)
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], 0, 1);
		code[2 * i + 2] = (struct sock_filter)
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	}
	code[2 * count + 1] = (struct sock_filter)
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(99);
}

static const int refused[] = { SYS_memfd_create, SYS_mremap };

static void run_without_files(void)
{
	refuse(refused, 1);
	if (!trap_run_init())
		_exit(1);
	*(volatile unsigned char *)(all.window + 2 * CHUNK) = 9;
	_exit(all.replica[3][2 * CHUNK] == 9 ? 0 : 2);
}

static void run_without_memory(void)
{
	signal(SIGSEGV, SIG_DFL);
	refuse(refused, 2);
	trap_install();
	*(volatile unsigned char *)(all.window + 2 * CHUNK) = 9;
}

/* A container lets no program make files of memory: it goes without; else it is said. */
TEST_F(trap, refused)
{
	char text[1000] = "";
	int pipes[2], kept;

	EXPECT_EQ(0, end_of(run_without_files));
	ASSERT_EQ(0, pipe(pipes));
	kept = dup(STDERR_FILENO);
	dup2(pipes[1], STDERR_FILENO);
	EXPECT_EQ(-SIGSEGV, end_of(run_without_memory));
	dup2(kept, STDERR_FILENO);
	close(pipes[1]);
	EXPECT_LT(0, read(pipes[0], text, sizeof(text) - 1));
	EXPECT_NE(NULL, strstr(text, "stay faults"))
		TH_LOG("said: %s", text);
}

/* lcall to push $0x12345678; pop %ss:(%edi); lret: of 4 bytes there, of 8 in 64-bit code */
static void run_32_bit(void)
{
	static const unsigned char code[] = {
		0x68, 0x78, 0x56, 0x34, 0x12, 0x36, 0x8f, 0x07, 0xcb
	};
	unsigned char *low = mmap(NULL, 1 << 17, PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	const struct {
		uint32_t offset;
		uint16_t segment;
	} there = { (uintptr_t)low + 64, 0x23 };
	uint32_t pointer = (uintptr_t)low + 128;

	memcpy(low, "\xff\x1c\x25", 3);
	memcpy(low + 3, &pointer, 4);
	low[7] = 0xc3;
	memcpy(low + 64, code, sizeof(code));
	memcpy(low + 128, &there, 6);
	asm volatile("mov %%rsp, %%r12; mov %1, %%rsp; call *%0; mov %%r12, %%rsp"
		     : : "r" (low), "r" (low + (1 << 17)), "D" (all.window + 2 * CHUNK)
		     : "r12", "memory", "cc");
}

/* It is another language, of which only most words are the same. */
TEST_F(trap, code_of_32_bits)
{
	memset(all.replica[0] + 2 * CHUNK, 0, 8);
	EXPECT_EQ(-SIGSEGV, end_of(run_32_bit));
	EXPECT_EQ(0, all.replica[0][2 * CHUNK]);
}

static struct sigaction chained_to;
static volatile unsigned int *calls;

static void on_any(int number, siginfo_t *info, void *context)
{
	++*calls;
	if (chained_to.sa_flags & SA_SIGINFO)
		chained_to.sa_sigaction(number, info, context);
	else
		signal(number, SIG_DFL);
}

static void chain(void)
{
	struct sigaction action = { .sa_sigaction = on_any, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &action, &chained_to);
}

static void run_chained(void)
{
	chain();
	trap_install();
	chain();
	fault();
}

/* Installed before cuInit() and once more after it: then all know each other. */
TEST(handler_that_chains_to_us_and_we_to_it)
{
	calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)calls);
	EXPECT_EQ(-SIGSEGV, end_of(run_chained));
	EXPECT_EQ(2, *calls);
}

/* Another thread's sigaction(), right after we have asked what there was */
static void (*volatile intruder)(int number);

int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	int (*next)(int number, const struct sigaction *action, struct sigaction *old) =
		dlsym(RTLD_NEXT, "sigaction");
	struct sigaction in_between = { .sa_handler = intruder };
	int result = next(number, action, old);

	if (!action && intruder)
		next(number, &in_between, NULL);
	return result;
}

static void leave(int number)
{
	_exit(number);
}

static void run_intruded(void)
{
	intruder = leave;
	trap_install();
	fault();
}

TEST(handler_of_another_thread)
{
	EXPECT_EQ(SIGSEGV, end_of(run_intruded));
}

static void *store_on(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (unsigned int i = 0;; i++)
		((volatile uint32_t *)(all.window + 2 * CHUNK))[i % 64] = i;
	return unused;
}

/* A thread ends between its stores, not in the middle of one. */
TEST_F(trap, cancelled)
{
	for (int i = 0; i < 150; i++) {
		volatile uint32_t *first = (void *)(all.replica[0] + 2 * CHUNK);
		pthread_t thread;

		*first = -1;
		ASSERT_EQ(0, pthread_create(&thread, NULL, store_on, NULL));
		while (*first == -1U)
			sched_yield();
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		for (int j = 1; j < REPLICAS; j++)
			ASSERT_EQ(0, memcmp((void *)first, all.replica[j] + 2 * CHUNK, 256));
	}
	((volatile uint32_t *)(all.window + 2 * CHUNK))[0] = 9;
	EXPECT_EQ(9, all.replica[3][2 * CHUNK]);
}

/* The program's handler leaves in the middle of a store, from either stack. */
TEST_F(trap, jumped_away)
{
	unsigned char *edge = all.window + 3 * CHUNK;
	stack_t stack = { .ss_size = 65536 };

	stack.ss_sp = malloc(stack.ss_size);
	for (volatile int i = 0; i < 200; i++) {
		if (i == 100)
			ASSERT_EQ(0, sigaltstack(&stack, NULL));
		out_at = (uintptr_t)edge;
		if (!sigsetjmp(out, 1))
			*(volatile uint32_t *)(edge - 2) = 1;
		EXPECT_NE(0, out_at);
		out_at = 0;
		*(volatile uint32_t *)edge = i;
		ASSERT_EQ(i, all.replica[3][3 * CHUNK]);
	}
}

/* Not a check: for the record, and in time that was ours on a busy machine */
TEST_F(trap, cost)
{
	volatile uint32_t *word = (void *)(all.window + 2 * CHUNK);
	unsigned int i, count = 20000;
	double start;

	*word = 0;
	start = processor_seconds();
	for (i = 0; i < count; i++)
		word[i % 64] = i;
	TH_LOG("a movl to a window of %u replicas: %.0f ns", REPLICAS,
	       (processor_seconds() - start) / count * 1e9);
}

TEST_HARNESS_MAIN
