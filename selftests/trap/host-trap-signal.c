// SPDX-License-Identifier: MIT
/*
 * lib/fault/signal.c together with the signals, handlers, stacks, threads and children of programs.
 * host-trap.sh runs this.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "base/log_file.h"
#include "host-trap.h"

static sigjmp_buf out;

/* A message on stderr must not end a program whose stderr nobody reads. */
TEST_F(trap, broken_stderr)
{
	int pipes[2], status;
	pid_t pid;

	ASSERT_EQ(0, pipe(pipes));
	close(pipes[0]);
	pid = fork();
	if (!pid) {
		/* a child may not run in its parent's cells */
		trap_run_init();
		dup2(pipes[1], STDERR_FILENO);
		signal(SIGPIPE, SIG_DFL);
		*(volatile int *)(all.window + 2 * CHUNK) = 1;
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* A child must map nothing of its own where the parent's cells are run. */
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

static void fault(void)
{
	volatile unsigned char *volatile nothing = NULL;

	*nothing = 1;
}

/* Refuses system calls from now on, as a container may. */
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
	fault_install();
	if (fault_attach(&memcast_trap_object))
		_exit(1);
	*(volatile unsigned char *)(all.window + 2 * CHUNK) = 9;
}

static void run_without_file_size(void)
{
	static const struct rlimit none;

	/* not even the note of the first store may be written */
	if (dup2(memfd_create("stderr", MFD_CLOEXEC), STDERR_FILENO) < 0 ||
	    setrlimit(RLIMIT_FSIZE, &none) || !trap_run_init())
		_exit(1);
	*(volatile unsigned char *)(all.window + 2 * CHUNK) = 9;
	_exit(all.replica[3][2 * CHUNK] == 9 ? 0 : 2);
}

/*
 * If a container or a limit refuses files of memory, the library goes without them; if mremap() is
 * refused as well, stores stay faults.
 */
TEST_F(trap, refused)
{
	EXPECT_EQ(0, end_of(run_without_files));
	EXPECT_EQ(0, end_of(run_without_file_size));
	EXPECT_EQ(-SIGSEGV, end_of(run_without_memory));
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
	fault_install();
	chain();
	fault();
}

/*
 * Installs its handler before cuInit(), and once more after it: each handler then chains to the
 * other.
 */
TEST(handler_that_chains_to_us_and_we_to_it)
{
	calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)calls);
	EXPECT_EQ(-SIGSEGV, end_of(run_chained));
	EXPECT_EQ(2, *calls);
}

/*
 * Stands for another thread's sigaction(), right after the library has asked for the old handler.
 */
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
	fault_install();
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

/* A canceled thread ends between its stores, not in the middle of one. */
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

/* Nor does a message unblock the signal that cancels, which sigprocmask() cannot block. */
TEST_F(trap, messages_block_it)
{
	uint64_t all = -1ULL, before, after;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	log_write(-1, "", 0);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, &after, sizeof(all));
	EXPECT_EQ(all & ~(1ULL << (SIGKILL - 1) | 1ULL << (SIGSTOP - 1)), after);
}

static void jump_out(void)
{
	siglongjmp(out, 1);
}

/* The program's handler jumps out in the middle of a store, on either stack. */
TEST_F(trap, jumped_away)
{
	unsigned char *edge = all.window + 3 * CHUNK;
	stack_t stack = { .ss_size = 65536 };

	edge_at = (uintptr_t)edge;
	stack.ss_sp = malloc(stack.ss_size);
	for (volatile int i = 0; i < 200; i++) {
		if (i == 100)
			ASSERT_EQ(0, sigaltstack(&stack, NULL));
		in_between = jump_out;
		if (!sigsetjmp(out, 1)) {
			*(volatile uint32_t *)(edge - 2) = 1;
			EXPECT_TRUE(false);
		}
		in_between = NULL;
		*(volatile uint32_t *)edge = i;
		ASSERT_EQ(i, all.replica[3][3 * CHUNK]);
	}
}

/* Tasks between which the program's handlers switch, each on a stack of its own */
#define TASKS	40

static ucontext_t task[TASKS], outside;
static unsigned char (*task_code)[16];
static unsigned int tasks_begun;
static bool task_wrong;

/* mov $number, (%rdi): the code differs by task, so running another task's code shows. */
static void store_number(unsigned int number)
{
	static const unsigned char code[] = { 0xc7, 0x07, 0, 0, 0, 0x5a, 0xc3 };

	memcpy(task_code[number], code, sizeof(code));
	task_code[number][2] = number;
	asm volatile("call *%0" : : "r" (task_code[number]), "D" (edge_at - 2) : "memory");
}

/* In the middle of its store, each task starts the next; they go on after all have started. */
static void switch_task(void)
{
	unsigned int number = tasks_begun++;

	if (number + 1 < TASKS)
		swapcontext(&task[number], &task[number + 1]);
	else
		in_between = NULL;
}

static void task_run(int number)
{
	static const unsigned char expected[4] = { 0, 0, 0, 0x5a };
	unsigned char got[4];

	store_number(number);
	for (int i = 0; i < REPLICAS; i++) {
		memcpy(got, all.replica[i] + 3 * CHUNK - 2, 4);
		task_wrong |= got[0] != number || memcmp(got + 1, expected + 1, 3);
	}
	if (number)
		setcontext(&task[number - 1]);
	setcontext(&outside);
}

/*
 * A store under way has not ended because the next store comes on another stack, higher or lower: a
 * handler that came in between may have switched to another task.
 */
TEST_F(trap, switched_away)
{
	const size_t bytes = 64 << 10;
	unsigned char *stacks = mmap(NULL, TASKS * bytes, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	task_code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)stacks);
	ASSERT_NE(MAP_FAILED, (void *)task_code);
	for (unsigned int i = 0; i < TASKS; i++) {
		ASSERT_EQ(0, getcontext(&task[i]));
		task[i].uc_stack.ss_sp = stacks + (i * 7 % TASKS) * bytes;
		task[i].uc_stack.ss_size = bytes;
		makecontext(&task[i], (void (*)(void))task_run, 1, i);
	}
	edge_at = (uintptr_t)all.window + 3 * CHUNK;
	in_between = switch_task;
	ASSERT_EQ(0, swapcontext(&outside, &task[0]));
	EXPECT_EQ(TASKS, tasks_begun);
	EXPECT_FALSE(task_wrong);
	munmap(stacks, TASKS * bytes);

	/* no cell is lost: as many stores again, one by one */
	for (unsigned int i = 0; i < 2 * TASKS; i++)
		store_number(i % TASKS);
	EXPECT_EQ(TASKS - 1, all.replica[3][3 * CHUNK - 2]);
}

TEST_HARNESS_MAIN
