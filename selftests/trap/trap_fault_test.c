// SPDX-License-Identifier: MIT
/* Plain stores to windows that the library cannot do, and signals that are the program's own. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <memcast/trap.h>
#include "trap_setting.h"

/* A handler from before cuInit(), in a process of its own */
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

/* Installed before cuInit(); or after it, calling memcastTrap() */
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

/* Return: 0, or the signal. (The parts of a fixture change only outside of this.) */
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

/* A store leaves unbound replicas out; only without any bound replica does it raise a signal. */
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
	/* the first bound replica gives the old value */
	asm volatile("lock xaddq %0, %1" : "+r" (old), "+m" (*(uint64_t *)self->window));
	EXPECT_EQ(11, old);
	EXPECT_EQ(10, *(uint64_t *)REPLICA(0));
	EXPECT_EQ(12, *(uint64_t *)REPLICA(1));
	EXPECT_EQ(12, *(uint64_t *)REPLICA(2));
	EXPECT_EQ(14, *(uint64_t *)REPLICA(3));
	EXPECT_EQ(5, REPLICA(0)[8]);
	EXPECT_EQ(0, REPLICA(2)[8]);
	EXPECT_EQ(5, REPLICA(3)[8]);

	/* over the border of a chunk, a replica gets all of a store or nothing */
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

/* The source of a copy faults: the bytes before are copied, and the registers say so. */
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

/*
 * The memory behind the window's edge cannot be written: nothing is stored, and the fault is there.
 */
TEST_F(chained, edge_to_nothing)
{
	unsigned char *end = self->window + 3 * CHUNK;

	EXPECT_EQ(SIGSEGV, SIGNAL_OF(store_at(end - 1, -1)));
	EXPECT_EQ(end, (unsigned char *)seen.si_addr);
	EXPECT_EQ(0, (REPLICA(0) + 3 * CHUNK)[-1]);
	EXPECT_EQ(0, SIGNAL_OF(store_at(end - 4, -1)));
	EXPECT_EQ(255, (REPLICA(3) + 3 * CHUNK)[-1]);
}

/* Return: how a process that calls @run ends; its stderr is in @text */
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

static void *store_on(void *window)
{
	for (uint32_t value = 0; window; value++)
		store_at(window, value);
	return NULL;
}

/* exit() waits until somebody reads the rest of stdout. */
static void run_exit(unsigned char *window)
{
	static const struct timespec while_exiting = { .tv_nsec = 300000000 };
	static char full[1 << 16];
	pthread_t thread;
	int pipes[2];

	if (pipe(pipes) || fcntl(pipes[1], F_SETPIPE_SZ, sizeof(full)) < 0 ||
	    write(pipes[1], full, sizeof(full)) != sizeof(full) ||
	    pthread_create(&thread, NULL, store_on, window))
		_exit(1);
	if (!fork()) {
		nanosleep(&while_exiting, NULL);
		_exit(0);
	}
	close(pipes[0]);
	dup2(pipes[1], STDOUT_FILENO);
	close(pipes[1]);
	signal(SIGPIPE, SIG_IGN);
	printf("written by exit()");
	exit(0);
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

/* The kernel does not ignore faults either, even if SIGSEGV is ignored. */
TEST(ignored)
{
	signal(SIGSEGV, SIG_IGN);
	EXPECT_EQ(SIGSEGV, END_OF(run_ignored, NULL, NULL));
	signal(SIGSEGV, SIG_DFL);
}

/* Other threads go on storing while the process exits. */
TEST(exiting)
{
	EXPECT_EQ(0, END_OF(run_exit, NULL, NULL));
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

TEST_HARNESS_MAIN
