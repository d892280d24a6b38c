// SPDX-License-Identifier: MIT
/*
 * The signals that plain accesses to windows raise: ours, or the program's own.
 *
 * Whoever handled SIGSEGV and SIGBUS before cuInit() still gets all that is not
 * ours, as if we were not there. A program that takes them over later can give
 * them to memcastTrap().
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "library.h"
#include "trap.h"

#define PAGE_FAULT	14
#define KEYS		9	/* of the states that xsave knows */
#define PASSED_ON	0x6d656d63	/* where no siginfo_t of the kernel's has anything */

static const int signals[] = { SIGSEGV, SIGBUS };
static struct sigaction before[2];
static bool enabled, strict, taken_over;
static int cannot_run;		/* instructions: errno */
static unsigned int keys_offset;	/* in the state that a signal saves; 0: no keys */

/*
 * Others wait, so that an instruction is on all replicas before a handler runs.
 * What a run may raise must not be blocked: the kernel would kill us. The C library
 * would leave out the signal that cancels a thread.
 */
static void block_others(uint64_t *mask)
{
	static const int raised[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };
	uint64_t others = -1ULL;

	for (unsigned int i = 0; i < sizeof(raised) / sizeof(raised[0]); i++)
		others &= ~(1ULL << (raised[i] - 1));
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &others, mask, sizeof(*mask));
}

static void unblock(const uint64_t *mask)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, mask, NULL, sizeof(*mask));
}

/* Protection keys: may what they say. Return: what they said before. */
static uint32_t keys_set(uint32_t keys)
{
	uint32_t before = 0, zero;

	if (!keys_offset)
		return 0;
	asm volatile(".byte 0x0f, 0x01, 0xee" : "=a" (before), "=d" (zero) : "c" (0));
	asm volatile(".byte 0x0f, 0x01, 0xef" : : "a" (keys), "c" (0), "d" (0) : "memory");
	return before;
}

static uint32_t keys_of(const ucontext_t *context)
{
	const unsigned char *state = (const void *)context->uc_mcontext.fpregs;
	uint64_t present;
	uint32_t keys = 0;

	memcpy(&present, state + 512, sizeof(present));
	if (keys_offset && present >> KEYS & 1)
		memcpy(&keys, state + keys_offset, sizeof(keys));
	return keys;
}

static void keys_find(void)
{
	unsigned int a, b, c, d;

	if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && c & bit_OSPKE &&
	    __get_cpuid_count(0xd, KEYS, &a, &b, &c, &d))
		keys_offset = b;
}

/* Where there is code, it may be that nobody can read it: that has a key, too. */
static bool read_code(struct trap_op *op, uintptr_t rip)
{
	uint32_t keys = keys_set(0);
	bool done = trap_read(op, rip);

	keys_set(keys);
	return done;
}

/* A fault of the program's that we came across, as the kernel would say it */
static void become(siginfo_t *info, ucontext_t *context, const struct trap_fault *fault)
{
	greg_t *greg = context->uc_mcontext.gregs;

	memset(info, 0, sizeof(*info));
	info->si_signo = fault->signal;
	info->si_code = fault->code;
	info->si_addr = (void *)fault->address;
	greg[REG_TRAPNO] = fault->trap;
	greg[REG_ERR] = fault->error;
	if (fault->trap == PAGE_FAULT)
		greg[REG_CR2] = fault->address;
}

/* Is a code segment one of 64 bits? Which that is depends: Xen has another than Linux. */
static bool is_64_bit(unsigned int selector)
{
	const unsigned int long_mode = 1 << 21;
	unsigned int rights = 0;

	asm("lar %1, %0" : "+r" (rights) : "r" (selector) : "cc");
	return rights & long_mode;
}

/*
 * Return: was it done? Else @info is what the program is to see.
 *
 * Its kilobytes must not stand below a handler of the program's, whose alternate
 * stack may have no room for both.
 */
__attribute__((noinline))
static bool store(siginfo_t *info, ucontext_t *context)
{
	uintptr_t rip = context->uc_mcontext.gregs[REG_RIP];
	struct trap trap = { .context = context };

	trap_registers_get(context, trap.reg);
	if (!is_64_bit(context->uc_mcontext.gregs[REG_CSGSFS] & 0xffff)) {
		trap_say_cannot(NULL, rip, (uintptr_t)info->si_addr, "it is not 64-bit code");
		return false;
	}
	if (!read_code(&trap.op, rip)) {
		trap_say_cannot(NULL, rip, (uintptr_t)info->si_addr, "its code cannot be read");
		return false;
	}
	trap.why = trap_decode(&trap.op, trap.reg, rip);
	switch (trap.why ? TRAP_CANNOT : trap_store(&trap, (uintptr_t)info->si_addr)) {
	case TRAP_DONE:
		return true;
	case TRAP_FAULT:
		become(info, context, &trap.fault);
		return false;
	default:
		trap_say_cannot(&trap.op, rip, (uintptr_t)info->si_addr, trap.why);
		return false;
	}
}

__attribute__((noinline))
static void explain(const siginfo_t *info, const ucontext_t *context, bool writes)
{
	uintptr_t rip = context->uc_mcontext.gregs[REG_RIP];
	struct trap_place place;
	struct trap_op op;

	if (trap_place_at((uintptr_t)info->si_addr, &place))
		trap_say_strict(read_code(&op, rip) ? &op : NULL, rip,
				(uintptr_t)info->si_addr, &place, writes);
}

static bool look(siginfo_t *info, ucontext_t *context)
{
	const greg_t *greg = context->uc_mcontext.gregs;
	bool writes = greg[REG_ERR] & TRAP_ERROR_WRITE;
	struct trap_window window;

	if (strict)
		explain(info, context, writes);
	if (strict || !writes || !trap_window_at((uintptr_t)info->si_addr, &window))
		return false;
	trap_say_note();
	return store(info, context);
}

static bool handled(int number, siginfo_t *info, ucontext_t *context)
{
	int saved = errno;
	uint64_t mask;
	uint32_t keys;
	bool done;

	if (!enabled)
		return false;
	if (trap_run_caught(number, info, context))
		return true;
	if (number != SIGSEGV || info->si_code <= 0 || info->si_code == SEGV_PKUERR ||
	    context->uc_mcontext.gregs[REG_TRAPNO] != PAGE_FAULT)
		return false;
	block_others(&mask);
	/* What the program may touch is touched for it; and our own things as well. */
	keys = keys_set(0);
	keys_set(keys & keys_of(context));
	done = look(info, context);
	keys_set(keys);
	unblock(&mask);
	errno = saved;
	return done;
}

/* Nobody else will: why the program's own fault at an address of ours is one */
__attribute__((noinline))
static void explain_end(const siginfo_t *info, const ucontext_t *context)
{
	uintptr_t rip = context->uc_mcontext.gregs[REG_RIP];
	bool store = context->uc_mcontext.gregs[REG_ERR] & TRAP_ERROR_WRITE;
	struct trap_place place;
	struct trap_op op;
	uint64_t mask;
	char why[200];

	if (info->si_code <= 0 || context->uc_mcontext.gregs[REG_TRAPNO] != PAGE_FAULT)
		return;
	if (!trap_reason((uintptr_t)info->si_addr, store, why, sizeof(why)) ||
	    (strict && trap_place_at((uintptr_t)info->si_addr, &place)))
		return;
	block_others(&mask);
	trap_say_end(read_code(&op, rip) ? &op : NULL, rip, (uintptr_t)info->si_addr, why, store);
	unblock(&mask);
}

/* As the kernel does it by default, once the program's registers are back */
static void end_program(int number, siginfo_t *info, ucontext_t *context)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, number);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	sigaction(number, &action, NULL);
	syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), number, info);
	sigdelset(&context->uc_sigmask, number);
}

/*
 * To whoever was there before. If that is also who gave it to us, having installed
 * itself once more since, it would go round: what comes back marked is nobody's.
 */
static int *mark_of(siginfo_t *info)
{
	return (int *)(info + 1) - 1;
}

static void pass_on(int number, siginfo_t *info, ucontext_t *context)
{
	struct sigaction *place = &before[number == SIGBUS], action = *place;
	sigset_t mask;

	if (action.sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	if (action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL ||
	    *mark_of(info) == PASSED_ON) {
		*mark_of(info) = 0;
		explain_end(info, context);
		end_program(number, info, context);
		return;
	}
	*mark_of(info) = PASSED_ON;
	sigorset(&mask, &context->uc_sigmask, &action.sa_mask);
	if (!(action.sa_flags & SA_NODEFER))
		sigaddset(&mask, number);
	if (action.sa_flags & SA_RESETHAND)
		place->sa_handler = SIG_DFL;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

/*
 * By thread: what it does is watched, and a fault of its own goes there, and not on. A
 * thread-local variable would be allocated in a handler, or take room that dlopen() lacks.
 */
static pthread_key_t catchers;
static atomic_bool have_catchers;

static void make_catchers(void)
{
	have_catchers = !pthread_key_create(&catchers, NULL);
}

void trap_catch(trap_catcher *new)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_catchers);
	if (have_catchers)
		pthread_setspecific(catchers, (void *)new);
}

static void catch(int number, const siginfo_t *info, const ucontext_t *context)
{
	trap_catcher *chosen = NULL;

	if (have_catchers)
		chosen = (trap_catcher *)pthread_getspecific(catchers);
	if (!chosen || info->si_code <= 0)
		return;
	pthread_setspecific(catchers, NULL);
	chosen(number, info, context->uc_mcontext.gregs[REG_ERR] & TRAP_ERROR_WRITE);
}

static void on_signal(int number, siginfo_t *given, void *context)
{
	siginfo_t info = *given;

	/* What comes round in a circle has been looked at. */
	if (*mark_of(&info) == PASSED_ON || !handled(number, &info, context)) {
		catch(info.si_signo, &info, context);
		pass_on(info.si_signo, &info, context);
	}
}

int memcastTrap(int number, void *info, void *context)
{
	bool done = handled(number, info, context);

	if (!done)
		catch(number, info, context);
	return done;
}

bool trap_strict(void)
{
	return strict;
}

/*
 * The handler of a run's own faults is needed first. A program's handler gets the
 * stack that it asked for.
 */
static void take_over(unsigned int i)
{
	struct sigaction action = { .sa_sigaction = on_signal }, found;

	sigaction(signals[i], NULL, &before[i]);
	for (;;) {
		action.sa_flags = SA_SIGINFO | SA_NODEFER;
		if (before[i].sa_handler == SIG_DFL || before[i].sa_handler == SIG_IGN)
			action.sa_flags |= SA_ONSTACK;
		else
			action.sa_flags |= before[i].sa_flags & (SA_RESTART | SA_ONSTACK);
		sigaction(signals[i], &action, &found);
		if (found.sa_sigaction == on_signal ||
		    found.sa_sigaction == before[i].sa_sigaction)
			return;
		/* Another thread's, that came in between */
		before[i] = found;
	}
}

/* Also where plain stores are not wanted, for trap_catch(). Once, by one thread */
void trap_take_over(void)
{
	if (taken_over)
		return;
	taken_over = true;
	take_over(1);
	take_over(0);
}

static bool wanted(const char *variable, bool otherwise)
{
	const char *value = secure_getenv(variable);

	return value && *value ? strcmp(value, "0") : otherwise;
}

/* Once, by cuInit() */
void trap_install(void)
{
	strict = wanted("MEMCAST_STRICT", false);
	if (!wanted("MEMCAST_TRAP", true))
		return;
	keys_find();
	trap_init_decoder();
	trap_scatter_init();
	trap_say_init();
	if (!trap_run_init()) {
		cannot_run = errno;
		return;
	}
	enabled = true;
	trap_take_over();
}

/* What went wrong in trap_install(): apart from it, as writing may take for ever. */
void trap_complain(void)
{
	if (cannot_run)
		fprintf(stderr, "memcast: plain stores to a team's address stay faults: no memory "
			"to run instructions in: %s\n", strerror(cannot_run));
}
