// SPDX-License-Identifier: MIT
/*
 * The stacks of lib/fault/: on which the program's handler is called, and how much of its alternate
 * stack a store takes. host-trap.sh runs this.
 */
#include <setjmp.h>

#include "host-trap.h"

static sigjmp_buf out;

static unsigned char *alternate;
static volatile bool on_alternate;

static void note_stack(int number)
{
	unsigned char here;

	(void)number;
	on_alternate = (uintptr_t)&here - (uintptr_t)alternate < 65536;
	siglongjmp(out, 1);
}

/* Gives the thread an alternate stack; below it is nothing. */
static void *make_alternate(size_t size)
{
	unsigned char *place = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = place + size, .ss_size = size };

	if (place == MAP_FAILED || mprotect(stack.ss_sp, size, PROT_READ | PROT_WRITE) ||
	    sigaltstack(&stack, NULL))
		_exit(99);
	alternate = stack.ss_sp;
	return stack.ss_sp;
}

/* Installs a handler of the program, and then the library's before it. */
static void install_before(const struct sigaction *action)
{
	sigaction(SIGSEGV, action, NULL);
	fault_install();
	if (!fault_attach(&memcast_trap_object))
		_exit(99);
}

static void jump_from(int flags)
{
	struct sigaction action = { .sa_handler = note_stack, .sa_flags = flags };
	unsigned char *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	make_alternate(65536);
	install_before(&action);
	if (!sigsetjmp(out, 1))
		*(volatile unsigned char *)none = 1;
	_exit(on_alternate);
}

static void jump_from_own(void)
{
	jump_from(0);
}

static void jump_from_alternate(void)
{
	jump_from(SA_ONSTACK);
}

/* A handler that was installed before the library's runs on the stack that it asked for. */
TEST(stack_of_the_handler_before)
{
	EXPECT_EQ(0, end_of(jump_from_own));
	EXPECT_EQ(1, end_of(jump_from_alternate));
}

/* Takes a chunk's memory from a replica: a store there raises SIGBUS. */
static void unbind(unsigned char *replica)
{
	int empty = memfd_create("empty", MFD_CLOEXEC);

	if (mmap(replica + 2 * CHUNK, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 empty, 0) == MAP_FAILED)
		_exit(99);
}

#define OF_RUST		8192

static void run_on_small_stack(void)
{
	void *place = make_alternate(OF_RUST);
	stack_t after;

	unbind(all.replica[1]);
	/* more often than there are stacks of the library's */
	for (unsigned int i = 1; i < 100; i++) {
		*(volatile unsigned char *)(all.window + 2 * CHUNK) = i;
		if (all.replica[0][2 * CHUNK] != i || all.replica[3][2 * CHUNK] != i)
			_exit(2);
	}
	/* the thread has its stack again */
	_exit(sigaltstack(NULL, &after) || after.ss_sp != place || after.ss_flags ? 3 : 0);
}

static void run_without_replicas(void)
{
	make_alternate(OF_RUST);
	for (unsigned int i = 0; i < REPLICAS; i++)
		unbind(all.replica[i]);
	*(volatile unsigned char *)(all.window + 2 * CHUNK) = 1;
}

/*
 * The stack for signals of Rust's threads has 8 KiB, which two frames of a signal nearly fill where
 * the processor has AVX-512. The store to a replica without memory raises the second signal.
 */
TEST_F(trap, small_stack)
{
	EXPECT_EQ(0, end_of(run_on_small_stack));
	EXPECT_EQ(-SIGBUS, end_of(run_without_replicas));
}

static volatile unsigned int handled;

/* Stores to a window, whose signal comes to the alternate stack, and goes on behind the fault. */
static void store_and_skip(int number, siginfo_t *info, void *context)
{
	ucontext_t *frame = context;
	unsigned char here;

	(void)number;
	(void)info;
	on_alternate = (uintptr_t)&here - (uintptr_t)alternate < 65536;
	*(volatile unsigned char *)(all.window + 2 * CHUNK) = ++handled;
	frame->uc_mcontext.gregs[REG_RIP] += 3;	/* the movb below */
}

static void run_on_own_stack(void)
{
	struct sigaction action = {
		.sa_sigaction = store_and_skip, .sa_flags = SA_SIGINFO | SA_NODEFER,
	};
	unsigned char *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double before = 1.5, after = 0;

	make_alternate(65536);
	install_before(&action);
	for (unsigned int i = 1; i < 10; i++) {
		on_alternate = true;
		/* with a value in a register of the floating-point state */
		asm volatile("movsd %2, %%xmm5\n\tmovb $1, (%1)\n\tmovsd %%xmm5, %0"
			     : "=m" (after) : "a" (none), "m" (before) : "xmm5", "memory");
		if (on_alternate || handled != i || after != before ||
		    all.replica[3][2 * CHUNK] != i)
			_exit(i);
	}
	_exit(0);
}

/* A handler on the thread's own stack stores to a window, and returns. */
TEST(handler_returns_to_own_stack)
{
	make_area(_metadata);
	EXPECT_EQ(0, end_of(run_on_own_stack));
}

static volatile bool endless = true;

static int use_all(int depth)
{
	volatile int big[1024] = { depth };

	return endless ? use_all(depth + 1) + big[depth % 1024] : depth;
}

static void run_overflow(void)
{
	struct sigaction action = { .sa_handler = note_stack };

	make_alternate(65536);
	install_before(&action);
	if (sigsetjmp(out, 1))
		_exit(1);
	_exit(use_all(0));
}

static void caught_overflow(int number, const siginfo_t *info, bool store, uintptr_t rip,
			    uintptr_t rsp)
{
	(void)rip;
	(void)rsp;
	(void)info;
	(void)store;
	_exit(number);
}

static void run_overflow_of_kernel(void)
{
	fault_catch(caught_overflow);
	run_overflow();
}

/*
 * On a stack that has overflown, no handler can be called that does not ask for another one; a
 * kernel's function ends its launch all the same.
 */
TEST(stack_overflow)
{
	EXPECT_EQ(-SIGSEGV, end_of(run_overflow));
	EXPECT_EQ(SIGSEGV, end_of(run_overflow_of_kernel));
}

TEST_HARNESS_MAIN
