// SPDX-License-Identifier: MIT
/* Plain stores to windows: what each instruction does, and where it cannot. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <memcast/trap.h>
#include "trap_forms.h"
#include "memcast_test.h"

#define DEVICES	4

/*
 * Side by side: the first device's memory, a window of two chunks, another of
 * one, nothing. Each device's memory has a chunk for each of these.
 */
struct setting {
	struct area all;
	CUmemGenericAllocationHandle team[2], memory[DEVICES];
	CUdeviceptr place;
};

#define setting_make(setting)	setting_make_(_metadata, setting)
static void setting_make_(struct __test_metadata *_metadata, struct setting *setting)
{
	struct area *all = &setting->all;

	cuda_start(0);
	setting->place = reserve(5 * CHUNK);
	setting->team[0] = full_team(DEVICES, 2 * CHUNK);
	setting->team[1] = full_team(DEVICES, CHUNK);
	*all = (struct area) { (void *)setting->place, 4 * CHUNK, CHUNK, DEVICES, {} };
	for (unsigned int i = 0; i < DEVICES; i++) {
		setting->memory[i] = memory(i, 4 * CHUNK);
		all->replica[i] = (void *)mapped(setting->memory[i], 4 * CHUNK, i);
		for (unsigned int chunk = 0; chunk < 3; chunk++)
			ASSERT_OK(cuMulticastBindMem(setting->team[chunk / 2],
						     chunk % 2 * CHUNK, setting->memory[i],
						     (chunk + 1) * CHUNK, CHUNK, 0));
	}
	ASSERT_OK(cuMemMap(setting->place, CHUNK, 0, setting->memory[0], 0));
	ASSERT_OK(cuMemMap(setting->place + CHUNK, 2 * CHUNK, 0, setting->team[0], 0));
	ASSERT_OK(cuMemMap(setting->place + 3 * CHUNK, CHUNK, 0, setting->team[1], 0));
	ASSERT_OK(allow(setting->place, 4 * CHUNK, 0, READWRITE));
}

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

#define REPLICA(i)	(self->setting.all.replica[i] + CHUNK)

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

/* What the compiler makes of C */
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

/* Instructions that have an address in themselves */
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

/* Longer than a trap's turn, over chunks and out of the window into the next */
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

	/* a pattern that grows out of itself, as it does in memory */
	to = self->window + 3;
	from = self->window;
	count = 1000;
	memcpy(self->window, "abc", 3);
	asm volatile("rep movsb" : "+D" (to), "+S" (from), "+c" (count) : : "memory");
	/* and down, over itself */
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

/* A handler that was there before cuInit(), in a process of its own */
static volatile siginfo_t seen;
static volatile uint64_t seen_count, seen_rip;
static sigjmp_buf out;

static void on_fault(int number, siginfo_t *info, void *context)
{
	const ucontext_t *frame = context;

	seen = *info;
	seen.si_signo = number == info->si_signo ? number : -1;
	seen_count = frame->uc_mcontext.gregs[REG_RCX];
	seen_rip = frame->uc_mcontext.gregs[REG_RIP];
	siglongjmp(out, 1);
}

static void on_fault_of_ours(int number, siginfo_t *info, void *context)
{
	if (!memcastTrap(number, info, context))
		on_fault(info->si_signo, info, context);
}

static void handle(void (*handler)(int number, siginfo_t *info, void *context))
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

FIXTURE(chained)
{
	struct setting setting;
	unsigned char *window;
};

/* Before cuInit(), or after it and by memcastTrap() */
FIXTURE_VARIANT(chained)
{
	bool before;
};

FIXTURE_VARIANT_ADD(chained, before)
{
	.before = true,
};

FIXTURE_VARIANT_ADD(chained, after)
{
	.before = false,
};

FIXTURE_SETUP(chained)
{
	if (variant->before)
		handle(on_fault);
	setting_make(&self->setting);
	if (!variant->before)
		handle(on_fault_of_ours);
	self->window = self->setting.all.window + CHUNK;
}
NOTHING_LEFT(chained)

/* 0, or the signal. (The parts of a fixture change only outside of this.) */
#define SIGNAL_OF(statement)						\
({									\
	seen.si_signo = 0;						\
	if (!sigsetjmp(out, 1)) {					\
		statement;						\
	}								\
	(int)seen.si_signo;						\
})

static void store_at(void *at, uint32_t value)
{
	*(volatile uint32_t *)at = value;
}

TEST_F(chained, faults_of_the_program)
{
	volatile uint32_t *nothing = (void *)(self->window + 3 * CHUNK);

	EXPECT_EQ(SIGSEGV, SIGNAL_OF(store_at(NULL, 1)));
	EXPECT_EQ(NULL, seen.si_addr);
	EXPECT_EQ(SEGV_MAPERR, seen.si_code);
	EXPECT_EQ(SIGSEGV, SIGNAL_OF(store_at((void *)nothing, 1)));
	EXPECT_EQ((void *)nothing, seen.si_addr);
	EXPECT_EQ(0, SIGNAL_OF(store_at(self->window, 5)));
	EXPECT_EQ(5, *(uint32_t *)REPLICA(3));
	EXPECT_EQ(SIGSEGV, SIGNAL_OF(raise(SIGSEGV)));
	EXPECT_EQ(SI_TKILL, seen.si_code);
}

TEST_F(chained, no_access)
{
	CUdeviceptr at = ADDRESS(self->window);

	EXPECT_EQ(0, SIGNAL_OF(store_at(self->window, 5)));
	ASSERT_OK(allow(at, 2 * CHUNK, 0, READ));
	EXPECT_EQ(SIGSEGV, SIGNAL_OF(store_at(self->window + 4, 6)));
	EXPECT_EQ(self->window + 4, (unsigned char *)seen.si_addr);
	EXPECT_EQ(0, *(uint32_t *)(REPLICA(0) + 4));
	ASSERT_OK(allow(at, 2 * CHUNK, 0, NONE));
	EXPECT_EQ(SIGSEGV, SIGNAL_OF(store_at(self->window + 4, 6)));
	ASSERT_OK(allow(at, 2 * CHUNK, 2, READWRITE));
	EXPECT_EQ(0, SIGNAL_OF(store_at(self->window + 4, 7)));
	EXPECT_EQ(7, *(uint32_t *)(REPLICA(0) + 4));
	ASSERT_OK(cuMemUnmap(at, 2 * CHUNK));
	EXPECT_EQ(SIGSEGV, SIGNAL_OF(store_at(self->window + 4, 8)));
}

/* A replica that is not bound is left out; the last one is missed. */
TEST_F(chained, unbound)
{
	CUmemGenericAllocationHandle team = self->setting.team[0];
	uint64_t old = 1;
	unsigned int i;

	for (i = 0; i < DEVICES; i++)
		*(uint64_t *)REPLICA(i) = 10 + i;
	ASSERT_OK(cuMulticastUnbind(team, 2, 0, CHUNK));
	EXPECT_EQ(0, SIGNAL_OF(store_at(self->window + 8, 5)));
	ASSERT_OK(cuMulticastUnbind(team, 0, 0, CHUNK));
	/* the first that is bound says what there was */
	asm volatile("lock xaddq %0, %1" : "+r" (old), "+m" (*(uint64_t *)self->window));
	EXPECT_EQ(11, old);
	EXPECT_EQ(10, *(uint64_t *)REPLICA(0));
	EXPECT_EQ(12, *(uint64_t *)REPLICA(1));
	EXPECT_EQ(12, *(uint64_t *)REPLICA(2));
	EXPECT_EQ(14, *(uint64_t *)REPLICA(3));
	EXPECT_EQ(5, REPLICA(0)[8]);
	EXPECT_EQ(0, REPLICA(2)[8]);
	EXPECT_EQ(5, REPLICA(3)[8]);

	/* over the border of a chunk: wholly or not at all */
	EXPECT_EQ(0, SIGNAL_OF(store_at(self->window + CHUNK - 2, 0x01020304)));
	EXPECT_EQ(0x01020304, *(uint32_t *)(REPLICA(1) + CHUNK - 2));
	EXPECT_EQ(0, *(uint32_t *)(REPLICA(0) + CHUNK - 2));
	ASSERT_OK(cuMulticastUnbind(team, 1, 0, CHUNK));
	ASSERT_OK(cuMulticastUnbind(team, 3, 0, CHUNK));
	EXPECT_EQ(SIGBUS, SIGNAL_OF(store_at(self->window + 16, 6)));
	EXPECT_EQ(self->window + 16, (unsigned char *)seen.si_addr);
	EXPECT_EQ(BUS_ADRERR, seen.si_code);
	EXPECT_EQ(0, SIGNAL_OF(store_at(self->window + CHUNK, 6)));
}

/* The source of a copy faults: what came before is there, and the registers say so. */
TEST_F(chained, source_ends)
{
	unsigned char *source = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *volatile from = source + 4096 - 1000;
	unsigned int i;

	memset(source, 3, 4096);
	ASSERT_EQ(0, mprotect(source + 4096, 4096, PROT_NONE));
	EXPECT_EQ(SIGSEGV, SIGNAL_OF(({
		void *to = self->window;
		const void *read = from;
		long count = 500;

		asm volatile("rep movsl" : "+D" (to), "+S" (read), "+c" (count) : : "memory");
	})));
	EXPECT_EQ(source + 4096, (unsigned char *)seen.si_addr);
	EXPECT_EQ(250, seen_count);
	for (i = 0; i < DEVICES; i++) {
		EXPECT_EQ(3, REPLICA(i)[999]);
		EXPECT_EQ(0, REPLICA(i)[1000]);
	}
}

/* Its other side cannot be written: nothing is, and the fault is there. */
TEST_F(chained, edge_to_nothing)
{
	unsigned char *end = self->window + 3 * CHUNK;

	EXPECT_EQ(SIGSEGV, SIGNAL_OF(store_at(end - 1, -1)));
	EXPECT_EQ(end, (unsigned char *)seen.si_addr);
	EXPECT_EQ(0, (REPLICA(0) + 3 * CHUNK)[-1]);
	EXPECT_EQ(0, SIGNAL_OF(store_at(end - 4, -1)));
	EXPECT_EQ(255, (REPLICA(3) + 3 * CHUNK)[-1]);
}

/* What a process of its own ends with; it says it on stderr, in @text. */
static int end_of(void (*run)(unsigned char *window), const char *variable,
		  const char *value, char *text, size_t size)
{
	int status = -1, pipes[2];
	ssize_t length = 0, got;
	pid_t pid;

	if (pipe(pipes))
		return -1;
	pid = fork();
	if (!pid) {
		struct __test_metadata metadata = {}, *_metadata = &metadata;
		struct setting setting;

		dup2(pipes[1], STDERR_FILENO);
		if (variable)
			setenv(variable, value, 1);
		setting_make(&setting);
		run(setting.all.window + CHUNK);
		_exit(0);
	}
	close(pipes[1]);
	while ((got = read(pipes[0], text + length, size - 1 - length)) > 0)
		length += got;
	text[length] = '\0';
	close(pipes[0]);
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void run_store(unsigned char *window)
{
	store_at(window + 16, 1);
}

static void run_two_stores(unsigned char *window)
{
	store_at(window + 16, 1);
	store_at(window + 16, 2);
}

static void run_load(unsigned char *window)
{
	*(volatile unsigned char *)window;
}

static void run_null(unsigned char *window)
{
	store_at(window, 1);
	store_at(NULL, 1);
}

static void run_raise(unsigned char *window)
{
	(void)window;
	raise(SIGSEGV);
}

static void run_ignored(unsigned char *window)
{
	run_raise(window);
	run_null(window);
}

static void run_unbound(unsigned char *window)
{
	CUmemGenericAllocationHandle team;
	unsigned int i;

	cuMemRetainAllocationHandle(&team, window);
	for (i = 0; i < DEVICES; i++)
		cuMulticastUnbind(team, i, 0, CHUNK);
	store_at(window, 1);
}

static void run_xsave(unsigned char *window)
{
	asm volatile("xsave64 (%0)" : : "r" (window), "a" (1), "d" (0) : "memory");
}

static void run_split_lock(unsigned char *window)
{
	asm volatile("lock incl (%0)" : : "r" (window - 2) : "memory");
}

static void run_forked(unsigned char *window)
{
	int status = 0;

	store_at(window, 1);
	if (!fork()) {
		store_at(window, 2);
		_exit(0);
	}
	wait(&status);
	_exit(WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void run_copy(unsigned char *window)
{
	uint32_t value = 77, back = 0;

	if (cuMemcpyHtoD((CUdeviceptr)window, &value, 4) ||
	    cuMemcpyDtoH(&back, (CUdeviceptr)window, 4) || back != 77)
		_exit(1);
}

static char text[2000];

#define END_OF(run, ...)	end_of(run, ##__VA_ARGS__, text, sizeof(text))
#define EXPECT_SAID(words)	EXPECT_NE(NULL, strstr(text, words)) TH_LOG("said: %s", text)

TEST(default_actions)
{
	EXPECT_EQ(0, END_OF(run_store, NULL, NULL));
	EXPECT_EQ(SIGSEGV, END_OF(run_null, NULL, NULL));
	EXPECT_EQ(SIGSEGV, END_OF(run_raise, NULL, NULL));
	EXPECT_EQ(SIGBUS, END_OF(run_unbound, NULL, NULL));
	EXPECT_EQ(-SIGSEGV, END_OF(run_forked, NULL, NULL));
}

/* The kernel does not ignore faults either. */
TEST(ignored)
{
	signal(SIGSEGV, SIG_IGN);
	EXPECT_EQ(SIGSEGV, END_OF(run_ignored, NULL, NULL));
	signal(SIGSEGV, SIG_DFL);
}

TEST(one_note)
{
	EXPECT_EQ(0, END_OF(run_two_stores, NULL, NULL));
	EXPECT_SAID("memcast/multimem.h");
	EXPECT_EQ(NULL, strstr(strchr(text, '\n'), "multimem"));
	EXPECT_EQ(0, END_OF(run_load, NULL, NULL));
	EXPECT_STREQ("", text);
}

TEST(turned_off)
{
	EXPECT_EQ(SIGSEGV, END_OF(run_store, "MEMCAST_TRAP", "0"));
	EXPECT_STREQ("", text);
	EXPECT_EQ(0, END_OF(run_load, "MEMCAST_TRAP", "0"));
}

TEST(strict)
{
	EXPECT_EQ(SIGSEGV, END_OF(run_store, "MEMCAST_STRICT", "1"));
	EXPECT_SAID("MEMCAST_STRICT: a plain store");
	EXPECT_SAID("byte 16 of team ");
	EXPECT_SAID("'mov");
	EXPECT_EQ(SIGSEGV, END_OF(run_load, "MEMCAST_STRICT", "1"));
	EXPECT_SAID("MEMCAST_STRICT: a plain load");
	EXPECT_EQ(0, END_OF(run_copy, "MEMCAST_STRICT", "1"));
	EXPECT_STREQ("", text);
}

TEST(what_cannot_be_done_is_named)
{
	EXPECT_EQ(SIGSEGV, END_OF(run_xsave, NULL, NULL));
	EXPECT_SAID("'xsave64 (");
	EXPECT_EQ(SIGSEGV, END_OF(run_split_lock, NULL, NULL));
	EXPECT_SAID("'lock inc (");
}

/* Not a check: for the record */
TEST_F(trap, cost)
{
	volatile uint32_t *word = (void *)self->window;
	unsigned int i, count = 2000;
	double start;

	*word = 0;
	start = now();
	for (i = 0; i < count; i++)
		word[i % 64] = i;
	TH_LOG("a movl to a window of %u replicas: %.0f ns", DEVICES,
	       (now() - start) / count * 1e9);
}

TEST_HARNESS_MAIN
