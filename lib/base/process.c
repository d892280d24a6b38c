// SPDX-License-Identifier: MIT
/*
 * Whether this process may call the driver, also after fork() and at exit.
 *
 * The child of a fork() shares the open file but none of the mappings: every call returns
 * CUDA_ERROR_NOT_INITIALIZED there. The library learns of a fork() without a system call: the
 * state is a page that the kernel clears in a child, however that was made, and ordinary memory
 * remembers that there was a state to lose.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"

static struct state {
	pthread_mutex_t lock;	/* held by cuInit(); after fork(), all zeros: unlocked */
	atomic_int opened;	/* the fd + 1 */
	atomic_bool lost;	/* the host was lost; "ended" is set as well */
	atomic_bool ended;
	pthread_mutex_t failure_lock;	/* protects what follows; innermost */
	char failure[200];		/* reason of the last cuInit()'s failure, or "" */
} *state;

/* Was the file opened in this process, or in one that it was forked from? */
static atomic_bool was_opened;

/* What a child of fork() has of its parent's file */
static struct {
	int fd;			/* -1: nothing */
	dev_t device;
	ino_t inode;
} inherited = { .fd = -1 };

/*
 * A client lives as long as its file is open: a child must not prolong its parent's. The parent may
 * have closed all its files, as daemons do, and the number may be another file's by now.
 */
static void process_forked_child(void)
{
	struct stat file;

	if (inherited.fd >= 0 && !fstat(inherited.fd, &file) &&
	    file.st_dev == inherited.device && file.st_ino == inherited.inode)
		close(inherited.fd);
	inherited.fd = -1;
}

__attribute__((constructor))
static void library_load(void)
{
	size_t size = sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (madvise(page, size, MADV_WIPEONFORK) ||
	    pthread_atfork(NULL, NULL, process_forked_child))
		munmap(page, size);
	else
		state = page;
}

__attribute__((destructor))
static void library_end(void)
{
	if (state)
		state->ended = true;
}

/* The fd of a thread that only looks at devices, in a process that cannot use them; else -1 */
static __thread int borrowed_fd = -1;

static int opened_fd(void)
{
	return atomic_load_explicit(&state->opened, memory_order_acquire) - 1;
}

/* A function of its own, so that the usual path of library_fd() stays short. */
static __attribute__((noinline, cold)) int fd_of_thread(void)
{
	return borrowed_fd;
}

int library_fd(void)
{
	int fd = opened_fd();

	return __builtin_expect(fd < 0, 0) ? fd_of_thread() : fd;
}

/* Is the file open? Loads and stores of the CPU go on after the library's destructor has run. */
bool library_open(void)
{
	return state && opened_fd() >= 0;
}

/* Notes the result of cuInit(), for the reason of later calls. */
void process_note_failure(CUresult result)
{
	if (!state)
		return;
	pthread_mutex_lock(&state->failure_lock);
	state->failure[0] = '\0';
	if (result != CUDA_SUCCESS)
		snprintf(state->failure, sizeof(state->failure), "%s: %s", error_name(result),
			 fail_reason());
	pthread_mutex_unlock(&state->failure_lock);
}

static CUresult fail_uninitialised(void)
{
	char failure[sizeof(state->failure)] = "";
	int before = cancel_hold();

	if (state) {
		pthread_mutex_lock(&state->failure_lock);
		strcpy(failure, state->failure);
		pthread_mutex_unlock(&state->failure_lock);
	}
	cancel_release(before);
	return *failure ? fail(CUDA_ERROR_NOT_INITIALIZED,
			       "cuInit() has failed: %s; mend that and call it again", failure) :
			  fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit() comes first");
}

/* Is this the child of a process that had called cuInit()? */
bool library_forked(void)
{
	return was_opened && state && opened_fd() < 0;
}

void library_lose(void)
{
	state->lost = true;
	state->ended = true;
}

/* Was the host lost? Then all calls fail until the process ends, and work that is left ends. */
bool library_lost(void)
{
	return state && state->lost;
}

CUresult library_ready(void)
{
	if (state && library_fd() >= 0 && !state->ended)
		return CUDA_SUCCESS;
	if (state && state->lost)
		return fail(CUDA_ERROR_UNKNOWN,
			    "the host was lost, and its devices with it: only another process can go on");
	if (state && state->ended)
		return fail(CUDA_ERROR_DEINITIALIZED, "the process is ending");
	if (was_opened)
		return fail(CUDA_ERROR_NOT_INITIALIZED,
			    "a child of the process that called cuInit()");
	return fail_uninitialised();
}

bool process_has_state(void)
{
	return state;
}

bool process_ended(void)
{
	return state->ended;
}

bool process_was_opened(void)
{
	return was_opened;
}

void process_lock(void)
{
	pthread_mutex_lock(&state->lock);
}

void process_unlock(void)
{
	pthread_mutex_unlock(&state->lock);
}

/* In this order, so that a child forked in between knows that the file was opened. */
void process_opened(int fd)
{
	struct stat file;

	was_opened = true;
	if (!fstat(fd, &file)) {
		inherited.device = file.st_dev;
		inherited.inode = file.st_ino;
		inherited.fd = fd;
	}
	atomic_store_explicit(&state->opened, fd + 1, memory_order_release);
}

void process_lend(int fd)
{
	borrowed_fd = fd;
}

int process_take_back(void)
{
	int fd = borrowed_fd;

	borrowed_fd = -1;
	return fd;
}
