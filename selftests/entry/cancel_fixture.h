/* SPDX-License-Identifier: MIT */
/*
 * Threads that are cancelled in rounds of calls: each test program names its rounds with
 * ROUND(), and lists them in rounds[].
 */
#ifndef CANCEL_FIXTURE_H
#define CANCEL_FIXTURE_H

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "log_lines.h"

/* The objects that the rounds of calls work on */
static struct {
	CUdeviceptr at;					/* a chunk of memory */
	CUmemGenericAllocationHandle memory, team;	/* the team is complete, nothing is bound */
	char log[64];
} on;

/* ---- locks: the libraries' calls of pthread_mutex_lock() come here ---- */

static __thread bool watched;
static unsigned int taken;		/* number of locks that watched threads took */
static void *_Atomic unprotected;	/* code that took a lock in a cancellable thread */

TEST_HELPER bool can_be_cancelled(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_setcancelstate(state, NULL);
	return state == PTHREAD_CANCEL_ENABLE;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static int (*_Atomic next)(pthread_mutex_t *mutex);

	if (!next)
		next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
	if (watched) {
		__atomic_add_fetch(&taken, 1, __ATOMIC_RELAXED);
		if (can_be_cancelled())
			unprotected = __builtin_return_address(0);
	}
	return next(mutex);
}

/* Return: "", or the library and the offset for addr2line of a lock in a cancellable thread */
TEST_HELPER const char *unprotected_lock(void)
{
	static char text[160];
	void *where = unprotected;
	Dl_info info;

	text[0] = '\0';
	if (where && dladdr(where, &info))
		snprintf(text, sizeof(text), "%.100s+%#tx takes a lock, and can be cancelled",
			 info.dli_fname, (char *)where - (char *)info.dli_fbase);
	return text;
}

/* ---- each program with rounds defines these ---- */

/* All rounds of the program; NULL ends them */
extern bool (*const rounds[])(void);

/* Make the objects of the program's rounds; prepare_early() runs before cuInit(), so it may fork */
static void prepare_early(struct __test_metadata *_metadata);
static void prepare(struct __test_metadata *_metadata);

/* ---- helpers of rounds ---- */

/* Closes an fd without close(), in which a cancelled thread would end. */
TEST_HELPER bool shut(int fd)
{
	return !syscall(SYS_close, fd);
}

static void hear_line(void *data, CUlogLevel level, char *message, size_t length)
{
	(void)data;
	(void)level;
	(void)message;
	(void)length;
	/* a thread that the library lets be cancelled here would end */
	pthread_testcancel();
}

static bool use_log(void)
{
	CUlogsCallbackHandle handle;
	CUlogIterator end;
	char lines[4096];
	size_t size = sizeof(lines);

	fail_once();
	if (cuLogsRegisterCallback(hear_line, NULL, &handle))
		return false;
	fail_once();
	return !cuLogsCurrent(&end, 0) && !cuLogsDumpToFile(&end, on.log, 0) &&
	       !cuLogsDumpToMemory(NULL, lines, &size, 0) && !cuLogsUnregisterCallback(handle) &&
	       !truncate(on.log, 0);
}

FIXTURE(cancelled)
{
	CUcontext context;
};

FIXTURE_VARIANT(cancelled)
{
	bool (*round)(void);
};

#define ROUND(name)	FIXTURE_VARIANT_ADD(cancelled, name) { .round = name }

FIXTURE_SETUP(cancelled)
{
	int fd;

	prepare_early(_metadata);
	cuda_start(0);
	ASSERT_OK(cuCtxGetCurrent(&self->context));
	strcpy(on.log, "/tmp/memcast-cancel-XXXXXX");
	fd = mkstemp(on.log);
	ASSERT_LE(0, fd);
	close(fd);
	on.memory = new_memory(0, CHUNK);
	on.at = ADDRESS(mapped(on.memory, CHUNK, 0));
	on.team = complete_team(2, CHUNK);
	prepare(_metadata);
}
NOTHING_LEFT(cancelled)

struct looper {
	bool (*round)(void);
	CUcontext context;
	unsigned int rounds;
};

/*
 * Makes the calls of a round until cancelled, which happens in pthread_testcancel(): the C
 * library's calls promise no cancellation elsewhere.
 */
static void *go_round(void *arg)
{
	struct looper *looper = arg;

	cuCtxSetCurrent(looper->context);
	for (;;) {
		pthread_testcancel();
		looper->round();
		__atomic_add_fetch(&looper->rounds, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* The thread is cancelled before the first call of its round, and must not end before the last. */
static void *go_once(void *arg)
{
	struct looper *looper = arg;

	cuCtxSetCurrent(looper->context);
	pthread_cancel(pthread_self());
	watched = true;
	looper->rounds = looper->round() ? 1 : 2;
	watched = false;
	pthread_testcancel();
	looper->rounds = 3;
	return NULL;
}

/* A child of fork() can use the log; cuInit() fails there. */
static void child_works(struct __test_metadata *_metadata)
{
	pid_t child = fork();

	if (!child) {
		if (!use_log())
			_exit(1);
		_exit(cuInit(0) != CUDA_ERROR_NOT_INITIALIZED);
	}
	ASSERT_LT(0, child);
	EXPECT_EQ(0, reap_child(child));
}

/* Return: NULL, or the number of the round that failed, from 1 on */
static void *do_all(void *context)
{
	unsigned long i = 0;

	cuCtxSetCurrent(context);
	watched = true;
	while (rounds[i] && rounds[i]())
		i++;
	/* locks that the thread takes as it ends do not count */
	watched = false;
	return (void *)(rounds[i] ? i + 1 : 0);
}

/* A cancelled thread ends in none of the library's calls, and takes no lock while cancellable. */
TEST_F(cancelled, in_no_call)
{
	struct looper looper = { variant->round, self->context, 0 };
	pthread_t thread;
	void *ends;

	ASSERT_EQ(0, pthread_create(&thread, NULL, go_once, &looper));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(1, looper.rounds)
		TH_LOG("%s", looper.rounds ? "a call failed" : "the thread ended in a call");
	EXPECT_STREQ("", unprotected_lock());
	/* a single round may take no locks, all rounds together do */
	ASSERT_EQ(0, pthread_create(&thread, NULL, do_all, self->context));
	ASSERT_EQ(0, pthread_join(thread, &ends));
	EXPECT_EQ(NULL, ends);
	EXPECT_LT(0, taken);
	EXPECT_STREQ("", unprotected_lock());
	unlink(on.log);
}

/* Two threads that share objects are cancelled wherever they are, a little later each time. */
TEST_F(cancelled, while_it_calls)
{
	enum { THREADS = 2 };
	struct looper looper[THREADS];
	pthread_t thread[THREADS], last;
	void *ends;

	EXPECT_TRUE(variant->round());
	for (unsigned int i = 0; i < loops(12); i++) {
		for (int t = 0; t < THREADS; t++) {
			looper[t] = (struct looper) { variant->round, self->context, 0 };
			ASSERT_EQ(0, pthread_create(&thread[t], NULL, go_round, &looper[t]));
		}
		for (int t = 0; t < THREADS; t++) {
			while (__atomic_load_n(&looper[t].rounds, __ATOMIC_RELAXED) < 1 + i % 2)
				sched_yield();
			for (volatile unsigned int wait = 0; wait < 977 * i * (t + 1); wait++)
				;
			ASSERT_EQ(0, pthread_cancel(thread[t]));
		}
		child_works(_metadata);
		/* glibc 2.36 may not return PTHREAD_CANCELED; the threads end in no other way */
		for (int t = 0; t < THREADS; t++)
			ASSERT_EQ(0, pthread_join(thread[t], NULL));
	}
	child_works(_metadata);
	ASSERT_EQ(0, pthread_create(&last, NULL, do_all, self->context));
	ASSERT_EQ(0, pthread_join(last, &ends));
	EXPECT_EQ(NULL, ends);
	unlink(on.log);
}

#endif /* CANCEL_FIXTURE_H */
