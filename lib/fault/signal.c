// SPDX-License-Identifier: MIT
/*
 * The signals that faults raise: ours, or the program's own. What stores to windows take is
 * in an object (see load.c); handlers find it here when it is loaded, and never load it.
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

#include "fault.h"
#include "library.h"

#define KEYS		9	/* of the states that xsave knows */
#define PASSED_ON	0x6d656d63	/* where no siginfo_t of the kernel's has anything */

static const int signals[] = { SIGSEGV, SIGBUS };
static struct sigaction before[2];
static bool enabled, strict, taken_over;
static const struct trap_object *_Atomic loaded;
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

/* The text of an instruction, or "" */
static void describe(uintptr_t rip, char *text, size_t size)
{
	const struct trap_object *trap = loaded;

	if (!trap || !trap->text(rip, text, size))
		*text = '\0';
}

__attribute__((noinline))
static void explain(const siginfo_t *info, const ucontext_t *context, bool writes)
{
	uintptr_t rip = context->uc_mcontext.gregs[REG_RIP];
	struct fault_place place;
	char text[TRAP_TEXT];

	if (!fault_place_at((uintptr_t)info->si_addr, &place))
		return;
	describe(rip, text, sizeof(text));
	fault_say_strict(text, rip, (uintptr_t)info->si_addr, &place, writes);
}

static bool store_everywhere(const struct trap_object *trap, siginfo_t *info,
			     ucontext_t *context)
{
	uintptr_t address = (uintptr_t)info->si_addr;
	struct trap_window window;

	if (!fault_window_at(address, &window))
		return false;
	if (!trap) {
		fault_say_cannot("", context->uc_mcontext.gregs[REG_RIP], address,
				 TRAP_OBJECT " was not loaded when the team was mapped");
		return false;
	}
	fault_say_note();
	return trap->store(info, context);
}

static bool reach_all(const struct trap_object *trap, siginfo_t *info, ucontext_t *context)
{
	bool writes = context->uc_mcontext.gregs[REG_ERR] & FAULT_ERROR_WRITE;

	if (strict)
		explain(info, context, writes);
	return !strict && writes && store_everywhere(trap, info, context);
}

static bool handled(int number, siginfo_t *info, ucontext_t *context)
{
	const struct trap_object *trap = loaded;
	int saved = errno;
	uint64_t mask;
	uint32_t keys;
	bool done;

	if (!enabled)
		return false;
	if (trap && trap->caught(number, info, context))
		return true;
	if (number != SIGSEGV || info->si_code <= 0 || info->si_code == SEGV_PKUERR ||
	    context->uc_mcontext.gregs[REG_TRAPNO] != FAULT_OF_A_PAGE)
		return false;
	block_others(&mask);
	/* Allow access by the protection keys that the program had, and by key 0 to our own data. */
	keys = keys_set(0);
	keys_set(keys & keys_of(context));
	done = reach_all(trap, info, context);
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
	bool store = context->uc_mcontext.gregs[REG_ERR] & FAULT_ERROR_WRITE;
	struct fault_place place;
	char why[200], text[TRAP_TEXT];
	uint64_t mask;

	if (info->si_code <= 0 || context->uc_mcontext.gregs[REG_TRAPNO] != FAULT_OF_A_PAGE)
		return;
	if (!fault_reason((uintptr_t)info->si_addr, store, why, sizeof(why)) ||
	    (strict && fault_place_at((uintptr_t)info->si_addr, &place)))
		return;
	block_others(&mask);
	describe(rip, text, sizeof(text));
	fault_say_end(text, rip, (uintptr_t)info->si_addr, why, store);
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

void fault_catch(fault_catcher *new)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_catchers);
	if (have_catchers)
		pthread_setspecific(catchers, (void *)new);
}

static void catch(int number, const siginfo_t *info, const ucontext_t *context)
{
	fault_catcher *chosen = NULL;

	if (have_catchers)
		chosen = (fault_catcher *)pthread_getspecific(catchers);
	if (!chosen || info->si_code <= 0)
		return;
	pthread_setspecific(catchers, NULL);
	chosen(number, info, context->uc_mcontext.gregs[REG_ERR] & FAULT_ERROR_WRITE);
}

static void on_signal(int number, siginfo_t *given, void *context)
{
	siginfo_t info = *given;

	/* A signal that another handler has passed back to this one has been looked at. */
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

bool fault_strict(void)
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

/* Also where plain stores are not wanted, for fault_catch(). Once, by one thread */
void fault_take_over(void)
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

/* Once, by cuInit(): what plain stores need is loaded when there is a team to store to. */
void fault_install(void)
{
	strict = wanted("MEMCAST_STRICT", false);
	if (!wanted("MEMCAST_TRAP", true))
		return;
	keys_find();
	enabled = true;
	fault_take_over();
}

/* Does the program want plain stores to reach all replicas? */
bool fault_wanted(void)
{
	return enabled;
}

/* From now on plain stores go there. Return: can they? Else errno says why not. */
bool fault_attach(const struct trap_object *trap)
{
	static const struct trap_host host = {
		.window_at = fault_window_at,
		.keys_set = keys_set,
		.say_cannot = fault_say_cannot,
		.say_missed = fault_say_missed,
	};

	if (!trap->start(&host))
		return false;
	loaded = trap;
	return true;
}
