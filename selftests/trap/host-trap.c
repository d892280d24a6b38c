// SPDX-License-Identifier: MIT
/*
 * lib/trap/ runs instructions: here those that emulated machines do not have. host-trap.sh runs
 * this.
 */
#include <cpuid.h>
#include <setjmp.h>
#include <sys/syscall.h>
#include <asm/ldt.h>

#include "host-trap.h"

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

/* The edges between ordinary memory and a window, and between two windows */
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

/*
 * Runs a child that stores an inexact half with that exception unmasked; its stderr is in @text.
 * Return: the signal that ended it, or 0
 */
static int end_of_inexact_store(void *address, char *text, size_t size)
{
	unsigned int mxcsr = 0x1f80 & ~0x1000;	/* the precision exception */
	int pipes[2], status;
	FILE *said;
	pid_t pid;

	*text = '\0';
	if (pipe(pipes))
		return -1;
	pid = fork();
	if (!pid) {
		trap_run_init();
		dup2(pipes[1], STDERR_FILENO);
		asm volatile("ldmxcsr %1; vpcmpeqd %%xmm1, %%xmm1, %%xmm1;"
			     "vpsrld $8, %%xmm1, %%xmm1; vcvtps2ph $0, %%xmm1, (%0)"
			     : : "r" (address), "m" (mxcsr) : "xmm1", "memory");
		_exit(0);
	}
	close(pipes[1]);
	said = fdopen(pipes[0], "r");
	text[fread(text, 1, size - 1, said)] = '\0';
	fclose(said);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/*
 * A SIGFPE in the middle of a store would surprise the program. AMD's processors find the page
 * fault of such a store first, so the library has to refuse it. Intel's find the exception first:
 * the program gets its own SIGFPE, and the library sees no store. Ordinary memory that may not be
 * written tells which processor this is.
 */
TEST_F(trap, exceptions_that_are_not_masked)
{
	static const struct form needs = { .needs = "f16c" };
	void *read_only = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char text[1000];
	int first, ended;

	if (!form_possible(&needs, &all))
		SKIP(return, "no F16C");
	ASSERT_NE(MAP_FAILED, read_only);
	first = end_of_inexact_store(read_only, text, sizeof(text));
	ASSERT_TRUE(first == SIGSEGV || first == SIGFPE)
		TH_LOG("signal %d, said: %s", first, text);
	ended = end_of_inexact_store(all.window + CHUNK, text, sizeof(text));
	EXPECT_EQ(first, ended);
	if (first == SIGFPE) {
		TH_LOG("this processor raises the exception before the page fault");
		EXPECT_STREQ("", text);
	} else {
		EXPECT_NE(NULL, strstr(text, "not masked"))
			TH_LOG("said: %s", text);
	}
	munmap(read_only, 4096);
}

/* Without XSAVE, as on a kernel with "noxsave"; the checks above need XSAVE themselves. */
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

/* A processor ignores a REX that is not the last prefix, and so must the library. */
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

/* lcall to push $0x12345678; pop %ss:(%edi); lret: stores 4 bytes in 32-bit code, else 8 */
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

/* The library refuses 32-bit code: only most of its instructions mean the same. */
TEST_F(trap, code_of_32_bits)
{
	memset(all.replica[0] + 2 * CHUNK, 0, 8);
	EXPECT_EQ(-SIGSEGV, end_of(run_32_bit));
	EXPECT_EQ(0, all.replica[0][2 * CHUNK]);
}

/* The handler pretends that the fault came from code in this segment. */
static volatile unsigned int segment;
static volatile int done;

static void in_segment(int number, siginfo_t *info, void *context)
{
	greg_t *greg = ((ucontext_t *)context)->uc_mcontext.gregs, kept = greg[REG_CSGSFS];

	greg[REG_CSGSFS] = (kept & ~0xffffL) | segment;
	done = memcastTrap(number, info, context);
	greg[REG_CSGSFS] = kept;
	if (!done)
		greg[REG_RIP] += 2;
}

static int done_in(unsigned int selector)
{
	segment = selector;
	done = -1;
	asm volatile("movl %0, (%1)" : : "a" (selector), "D" (all.window + 2 * CHUNK) : "memory");
	return done;
}

/* Xen runs 64-bit programs in a segment of its own: the segment's type counts, not its number. */
TEST_F(trap, code_segments)
{
	struct sigaction action = { .sa_sigaction = in_segment, .sa_flags = SA_SIGINFO };
	struct user_desc low = { .seg_32bit = 1, .contents = MODIFY_LDT_CONTENTS_CODE };

	sigaction(SIGSEGV, &action, NULL);
	EXPECT_EQ(1, done_in(0x33));
	EXPECT_EQ(1, done_in(0x30));	/* a 64-bit code segment by another number */
	EXPECT_EQ(0x30, all.replica[3][2 * CHUNK]);
	EXPECT_EQ(0, done_in(0x23));
	EXPECT_EQ(0, done_in(0x20));
	EXPECT_EQ(0, done_in(0x2b));	/* a data segment */
	EXPECT_EQ(0, done_in(0));
	EXPECT_EQ(0, done_in(0xff00));
	low.limit = 0xfffff;
	if (!syscall(SYS_modify_ldt, 1, &low, sizeof(low)))
		EXPECT_EQ(0, done_in(7));
	EXPECT_EQ(0x30, all.replica[3][2 * CHUNK]);
}

/* The fault as the program's handler sees it */
static volatile unsigned long seen_error, seen_cr2;
static void *volatile seen_address;
static sigjmp_buf out;

static void note_fault(int number, siginfo_t *info, void *context)
{
	const greg_t *greg = ((ucontext_t *)context)->uc_mcontext.gregs;

	if (memcastTrap(number, info, context))
		return;
	seen_error = greg[REG_ERR];
	seen_cr2 = greg[REG_CR2];
	seen_address = info->si_addr;
	siglongjmp(out, 1);
}

/* Return: the end of a source whose first bytes can be read, so that the window faults first */
static unsigned char *source_end(void)
{
	unsigned char *source = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (source == MAP_FAILED || mprotect(source + 4096, 4096, PROT_NONE))
		_exit(1);
	return source + 4096;
}

static void copy_over(const unsigned char *end)
{
	unsigned char *to = all.window + 2 * CHUNK;
	const unsigned char *from = end - 5;
	long count = 10;

	asm volatile("rep movsb" : "+D" (to), "+S" (from), "+c" (count) : : "memory");
}

#define ERROR_WRITE	2UL

/* A copy's source faults: the program sees a load, although it stores to the window. */
TEST_F(trap, fault_of_a_load)
{
	struct sigaction action = { .sa_sigaction = note_fault, .sa_flags = SA_SIGINFO };
	unsigned char *end = source_end();

	sigaction(SIGSEGV, &action, NULL);
	if (!sigsetjmp(out, 1))
		copy_over(end);
	EXPECT_EQ(end, (unsigned char *)seen_address);
	EXPECT_EQ((uintptr_t)end, seen_cr2);
	EXPECT_EQ(0, seen_error & ERROR_WRITE);

	/* a store over the edge to where nothing is mapped */
	if (!sigsetjmp(out, 1))
		*(volatile uint32_t *)(all.window + 4 * CHUNK - 1) = -1;
	EXPECT_EQ(all.window + 4 * CHUNK, (unsigned char *)seen_address);
	EXPECT_EQ(ERROR_WRITE, seen_error & ERROR_WRITE);
}

static void run_copy_over(void)
{
	copy_over(source_end());
}

/* stderr calls such a fault a load. */
TEST_F(trap, load_that_ends_the_program)
{
	char text[2000] = "";
	int pipes[2], kept = dup(STDERR_FILENO);

	ASSERT_EQ(0, pipe(pipes));
	dup2(pipes[1], STDERR_FILENO);
	close(pipes[1]);
	EXPECT_EQ(-SIGSEGV, end_of(run_copy_over));
	dup2(kept, STDERR_FILENO);
	EXPECT_LT(0, read(pipes[0], text, sizeof(text) - 1));
	EXPECT_NE(NULL, strstr(text, "a load ends the program: 'rep movsb"))
		TH_LOG("said: %s", text);
	EXPECT_NE(NULL, strstr(text, "it is a load"));
	/* with the place of the instruction in its file */
	EXPECT_NE(NULL, strstr(text, "host-trap+0x"));
}

/* A scatter's elements may be anywhere: a high base, in addresses of 32 bits */
#define BASE	0xf0000000U

static unsigned char *closed;		/* closed until the first fault */
static uint64_t seen_mask;
static unsigned char seen_window[2];

static void open_it(int number, siginfo_t *info, void *context)
{
	const unsigned char *state = (void *)((ucontext_t *)context)->uc_mcontext.fpregs;
	unsigned int size, offset, c, d;

	if (memcastTrap(number, info, context))
		return;
	__cpuid_count(0xd, 5, size, offset, c, d);
	memcpy(&seen_mask, state + offset + 8, sizeof(seen_mask));
	if (seen_address)
		_exit(1);
	seen_address = info->si_addr;
	seen_window[0] = all.replica[3][2 * CHUNK + 64];
	seen_window[1] = all.replica[3][2 * CHUNK + 128];
	if (mprotect(closed, 4096, PROT_READ | PROT_WRITE))
		_exit(1);
}

/* The mask tells which elements are left, and the program can go on with it. */
TEST_F(trap, fault_in_a_scatter)
{
	static const struct form needs = { .needs = "avx512f" };
	struct sigaction action = { .sa_sigaction = open_it, .sa_flags = SA_SIGINFO };
	unsigned char *window = all.window + 2 * CHUNK, *plain;
	uint32_t index[16] = {}, value[16], mask = 0xaf;

	if (!form_possible(&needs, &all))
		SKIP(return, "no AVX-512");
	closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	plain = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)closed);
	ASSERT_NE(MAP_FAILED, (void *)plain);
	/* Elements 4 and 6 are masked out, and those from 8 on as well. */
	unsigned char *const place[8] = {
		window, plain, window + 64, closed, NULL, window + 128, NULL, plain + 8
	};

	for (unsigned int i = 0; i < 16; i++) {
		index[i] = (i < 8 ? (uintptr_t)place[i] : 0) - BASE;
		value[i] = 0x41 + i;
	}
	sigaction(SIGSEGV, &action, NULL);
	memset(all.replica[3] + 2 * CHUNK, 0, 256);
	asm volatile("vmovdqu32 (%1), %%zmm1; vmovdqu32 (%2), %%zmm2; kmovw %0, %%k1;"
		     "vpscatterdd %%zmm2, (%k3,%%zmm1,1)%{%%k1%}; kmovw %%k1, %0; vzeroupper"
		     : "+r" (mask) : "r" (index), "r" (value), "r" ((unsigned long)BASE)
		     : "xmm1", "xmm2", "memory");
	EXPECT_EQ(closed, (unsigned char *)seen_address);
	EXPECT_EQ(0xa8, seen_mask & 0xffff);
	EXPECT_EQ(0x43, seen_window[0]);
	EXPECT_EQ(0, seen_window[1]);
	EXPECT_EQ(0, mask);
	for (int i = 0; i < REPLICAS; i++) {
		EXPECT_EQ(0x41, all.replica[i][2 * CHUNK]);
		EXPECT_EQ(0x43, all.replica[i][2 * CHUNK + 64]);
		EXPECT_EQ(0x46, all.replica[i][2 * CHUNK + 128]);
	}
	EXPECT_EQ(0x42, plain[0]);
	EXPECT_EQ(0x44, closed[0]);
	EXPECT_EQ(0x48, plain[8]);
}

/* Prints the cost and judges nothing; it counts processor time, as the machine may be busy. */
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
