// SPDX-License-Identifier: MIT
/*
 * Handlers of SIGSEGV and SIGBUS. Plain stores to windows are handled by memcast-trap.so (see
 * load.c); handlers use it when it is loaded, and never load it.
 *
 * Handlers that the program installed before cuInit() still get all signals that are not about
 * windows, as if the library had no handler. A program that installs handlers later can call
 * memcastTrap() from them.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault.h"
#include "base/host_access.h"
#include "registers.h"

#define PASSED_ON	0x6d656d63	/* in bytes of a siginfo_t that the kernel leaves 0 */

static const int signals[] = { SIGSEGV, SIGBUS };
static struct sigaction before[2];
static bool enabled, strict, taken_over;
static const struct trap_object *_Atomic loaded;

/*
 * Blocks all signals but those that running an instruction may raise, so that it is done on all
 * replicas before another handler runs. A fault whose signal is blocked would end the process.
 * A system call, as sigprocmask() cannot block the C library's signal that cancels threads.
 */
static void block_others(uint64_t *mask)
{
	static const int raised[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
	uint64_t others = -1ULL;

	for (unsigned int i = 0; i < sizeof(raised) / sizeof(raised[0]); i++)
		others &= ~(1ULL << (raised[i] - 1));
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &others, mask, sizeof(*mask));
}

static void unblock(const uint64_t *mask)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, mask, NULL, sizeof(*mask));
}

/* Writes the text of an instruction, or "" if it cannot be read. */
static void describe(uintptr_t rip, char *text, size_t size)
{
	const struct trap_object *trap = loaded;

	if (!trap || !trap->text(rip, text, size))
		*text = '\0';
}

__attribute__((noinline))
static void explain(const siginfo_t *info, const ucontext_t *context, bool writes)
{
	uintptr_t rip = fault_instruction(context);
	struct fault_place place;
	char text[TRAP_TEXT];

	if (!fault_place_at((uintptr_t)info->si_addr, &place))
		return;
	describe(rip, text, sizeof(text));
	fault_say_strict(text, rip, (uintptr_t)info->si_addr, &place, writes);
}

/* A signal, for functions that run on another stack */
struct event {
	const struct trap_object *trap;
	siginfo_t *info;
	ucontext_t *context;
	bool done;		/* output: the store */
};

static void store_everywhere(void *data)
{
	struct event *event = data;
	uintptr_t address = (uintptr_t)event->info->si_addr;
	struct trap_window window;

	if (!fault_window_at(address, &window))
		return;
	if (!event->trap) {
		fault_say_cannot("", fault_instruction(event->context), address,
				 TRAP_OBJECT " was not loaded when the team was mapped");
		return;
	}
	fault_say_note();
	event->done = event->trap->store(event->info, event->context);
}

/*
 * The function that handles a thread's own faults. Not a thread-local variable: that would be
 * allocated in a handler, or take room that dlopen() lacks.
 */
static pthread_key_t catchers;
static atomic_bool have_catchers;

static void make_catchers(void)
{
	have_catchers = !pthread_key_create(&catchers, NULL);
}

/* The stacks of kernels from PTX are small. Threads that run kernels have one for signals. */
static bool on_stack_of_kernel(const ucontext_t *context)
{
	return have_catchers && pthread_getspecific(catchers) && !fault_on_alternate(context);
}

static bool reach_all(const struct trap_object *trap, siginfo_t *info, ucontext_t *context)
{
	struct event event = { .trap = trap, .info = info, .context = context };
	bool writes = fault_writes(context);

	if (strict) {
		explain(info, context, writes);
	} else if (writes && fault_near((uintptr_t)info->si_addr)) {
		if (on_stack_of_kernel(context))
			fault_say_stack();
		else
			fault_call(context, store_everywhere, &event);
	}
	return event.done;
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
	    !fault_is_of_a_page(context))
		return false;
	block_others(&mask);
	/* Allow what the program's keys allow, and key 0, which the library's own data has. */
	keys = fault_keys_set(0);
	fault_keys_set(keys & fault_keys_of(context));
	done = reach_all(trap, info, context);
	fault_keys_set(keys);
	unblock(&mask);
	errno = saved;
	return done;
}

/* Says why a fault at a reservation is the program's own, before it ends the program. */
static void explain_end(void *data)
{
	const struct event *event = data;
	const ucontext_t *context = event->context;
	const siginfo_t *info = event->info;
	uintptr_t rip = fault_instruction(context);
	bool store = fault_writes(context);
	struct fault_place place;
	char why[200], text[TRAP_TEXT];
	uint64_t mask;

	if (info->si_code <= 0 || !fault_is_of_a_page(context))
		return;
	if (!fault_reason((uintptr_t)info->si_addr, store, why, sizeof(why)) ||
	    (strict && fault_place_at((uintptr_t)info->si_addr, &place)))
		return;
	block_others(&mask);
	describe(rip, text, sizeof(text));
	fault_say_end(text, rip, (uintptr_t)info->si_addr, why, store);
	unblock(&mask);
}

/* Says what a program that may not access device memory has accessed. */
static void explain_forbidden(void *data)
{
	const struct event *event = data;
	const ucontext_t *context = event->context;
	uintptr_t rip = fault_instruction(context);
	char text[TRAP_TEXT];
	uint64_t mask;

	block_others(&mask);
	describe(rip, text, sizeof(text));
	fault_say_forbidden(text, rip, (uintptr_t)event->info->si_addr,
			    fault_writes(context));
	unblock(&mask);
}

static bool is_forbidden(const siginfo_t *info)
{
	return host_access_key && info->si_signo == SIGSEGV && info->si_code == SEGV_PKUERR &&
	       info->si_pkey == host_access_key;
}

/*
 * The mark of a signal that this handler has passed on to the handler before it. If that
 * handler was installed again later and passes signals back, a signal would go round for ever:
 * one that comes back with the mark ends the program.
 */
static int *mark_of(siginfo_t *info)
{
	return (int *)(info + 1) - 1;
}

/* Ends the program as the kernel does by default, with the program's registers as they were. */
static void end_program(int number, siginfo_t *info, ucontext_t *context)
{
	struct event event = { .info = info, .context = context };
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t mask;

	*mark_of(info) = 0;
	fault_call(context, explain_end, &event);
	sigemptyset(&mask);
	sigaddset(&mask, number);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	sigaction(number, &action, NULL);
	syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), number, info);
	sigdelset(&context->uc_sigmask, number);
}

/*
 * Calls the program's handler, on the stack that its flags ask for. Without room for a frame on the
 * thread's own stack, the kernel could not call it either. @called: this handler was called by a
 * function of the program, not by the kernel
 */
static void pass_on(int number, siginfo_t *info, ucontext_t *context, bool called)
{
	struct sigaction *place = &before[number == SIGBUS], action = *place;
	bool move = !called && !(action.sa_flags & SA_ONSTACK) && fault_has_moved(context);
	struct fault_frame *frame = NULL;
	sigset_t mask;

	if (action.sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	if (action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL ||
	    *mark_of(info) == PASSED_ON) {
		end_program(number, info, context);
		return;
	}
	if (move)
		frame = fault_frame_place(context);
	if (move && !frame) {
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
	if (move)
		fault_handle_at(frame, (void *)action.sa_sigaction, number, info, context);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
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
	/*
	 * It jumps out of the handler, in which Linux has closed all keys but 0. In a handler of the
	 * program's, which has called memcastTrap(), signals are blocked, too.
	 */
	fault_keys_set(fault_keys_of(context));
	sigprocmask(SIG_SETMASK, &context->uc_sigmask, NULL);
	chosen(number, info, fault_writes(context),
	       fault_instruction(context), fault_stack_pointer(context));
}

/*
 * Says it also if the program handles the signal itself: its handler is called afterwards, as it
 * would be on hardware.
 */
static void say_forbidden(siginfo_t *info, ucontext_t *context)
{
	struct event event = { .info = info, .context = context };

	if (is_forbidden(info) && *mark_of(info) != PASSED_ON)
		fault_call(context, explain_forbidden, &event);
}

static void on_signal(int number, siginfo_t *given, void *context)
{
	bool called = !fault_by_kernel(__builtin_dwarf_cfa(), given, context);
	siginfo_t info = *given;

	/* Another handler has passed this signal back: it has been handled before. */
	if (*mark_of(&info) == PASSED_ON || !handled(number, &info, context)) {
		catch(info.si_signo, &info, context);
		say_forbidden(&info, context);
		pass_on(info.si_signo, &info, context, called);
	}
}

int memcastTrap(int number, void *info, void *context)
{
	bool done = handled(number, info, context);

	if (!done) {
		catch(number, info, context);
		say_forbidden(info, context);
	}
	return done;
}

bool fault_strict(void)
{
	return strict;
}

/*
 * Installs the handler for one signal. It asks for the alternate stack whatever the program's handler
 * does: a kernel's function that overflows its stack leaves no other.
 */
static void take_over(unsigned int i)
{
	struct sigaction action = { .sa_sigaction = on_signal }, found;

	sigaction(signals[i], NULL, &before[i]);
	for (;;) {
		action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
		if (before[i].sa_handler != SIG_DFL && before[i].sa_handler != SIG_IGN)
			action.sa_flags |= before[i].sa_flags & SA_RESTART;
		sigaction(signals[i], &action, &found);
		if (found.sa_sigaction == on_signal ||
		    found.sa_sigaction == before[i].sa_sigaction)
			return;
		/* another thread has installed a handler meanwhile */
		before[i] = found;
	}
}

/* Called once, by one thread; also without plain stores, for fault_catch(). */
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

/* Called once, by cuInit(). memcast-trap.so is loaded later, when there is a team. */
void fault_install(void)
{
	strict = wanted("MEMCAST_STRICT", false);
	fault_keys_find();
	if (host_access_key)
		fault_take_over();
	if (!wanted("MEMCAST_TRAP", true))
		return;
	enabled = true;
	fault_take_over();
}

/* Does the program want plain stores to reach all replicas? */
bool fault_wanted(void)
{
	return enabled;
}

/* Plain stores go to @trap from now on. Return: success; false: errno says why not. */
bool fault_attach(const struct trap_object *trap)
{
	static const struct trap_host host = {
		.window_at = fault_window_at,
		.keys_set = fault_keys_set,
		.say_cannot = fault_say_cannot,
		.say_missed = fault_say_missed,
	};

	if (!trap->start(&host))
		return false;
	fault_stacks_make();
	loaded = trap;
	return true;
}
