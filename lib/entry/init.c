// SPDX-License-Identifier: MIT
/*
 * Initialisation, and what becomes of it after fork() and at exit.
 *
 * The child of a fork() shares the open file but none of the mappings: every
 * call answers NOT_INITIALIZED there. To know without a system call, the state
 * is a page that the kernel clears in a child, however that was made; ordinary
 * memory remembers that there was a state to lose.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "visible.h"

static struct state {
	pthread_mutex_t lock;	/* of cuInit(); a cleared one is unlocked */
	atomic_int opened;	/* the fd + 1 */
	atomic_bool ended;
	pthread_mutex_t failure_lock;	/* protects what follows; innermost */
	char failure[200];		/* what the last cuInit() said, or "" */
} *state;

/* In this process, or in one that it was forked from. */
static atomic_bool was_opened;
static int inherited_fd = -1;

/* The client's life is the file's: a child must not prolong its parent's. */
static void forked_child(void)
{
	if (inherited_fd >= 0)
		close(inherited_fd);
	inherited_fd = -1;
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
	    pthread_atfork(NULL, NULL, forked_child))
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

/* Of a thread that only looks at devices, in a process that cannot use them; else -1 */
static __thread int borrowed_fd = -1;

static int opened_fd(void)
{
	return atomic_load_explicit(&state->opened, memory_order_acquire) - 1;
}

/* Apart, so that the usual way through library_fd() is as short as without it. */
static __attribute__((noinline, cold)) int fd_of_thread(void)
{
	return borrowed_fd;
}

int library_fd(void)
{
	int fd = opened_fd();

	return __builtin_expect(fd < 0, 0) ? fd_of_thread() : fd;
}

/* For what the CPU does at addresses: that goes on until the process has ended. */
bool library_open(void)
{
	return state && opened_fd() >= 0;
}

/* What cuInit() answered, for the calls that come after it all the same */
static void failure_note(CUresult result)
{
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

CUresult library_ready(void)
{
	if (state && library_fd() >= 0 && !state->ended)
		return CUDA_SUCCESS;
	if (state && state->ended)
		return fail(CUDA_ERROR_DEINITIALIZED, "the process is ending");
	if (was_opened)
		return fail(CUDA_ERROR_NOT_INITIALIZED,
			    "a child of the process that called cuInit()");
	return fail_uninitialised();
}

/*
 * A file of the device that this library understands, under the lock. From then on it is
 * known what MEMCAST_PROFILE, MEMCAST_ATTR and CUDA_VISIBLE_DEVICES say.
 */
static CUresult open_checked(int *opened, int *devices)
{
	static bool overrides_read;
	struct memcast_system_info info = {};
	CUresult result;
	int fd;

	result = device_open(&fd);
	if (result != CUDA_SUCCESS)
		return result;
	result = device_ioctl_fd(fd, MEMCAST_SYSTEM_INFO, &info.header, sizeof(info));
	if (result == CUDA_SUCCESS && info.out_abi != MEMCAST_ABI_VERSION)
		result = fail(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
			      "the module's interface is version %u, the library's %u",
			      info.out_abi, MEMCAST_ABI_VERSION);
	if (result == CUDA_SUCCESS && !info.out_devices)
		result = fail(CUDA_ERROR_NO_DEVICE, "the module has no devices");
	if (result == CUDA_SUCCESS && !overrides_read)
		result = visible_read(fd, info.out_devices);
	if (result != CUDA_SUCCESS) {
		close(fd);
		return result;
	}
	if (!overrides_read) {
		profile_read();
		attribute_overrides_read(info.out_devices);
	}
	overrides_read = true;
	*opened = fd;
	*devices = info.out_devices;
	return CUDA_SUCCESS;
}

/* Return: how many devices there are is in *@devices, if it succeeds. */
static CUresult open_and_check(int *devices)
{
	int fd;
	CUresult result = open_checked(&fd, devices);

	if (result != CUDA_SUCCESS)
		return result;
	result = visible_check();
	if (result != CUDA_SUCCESS) {
		close(fd);
		return result;
	}
	/* In this order: a fork() in between gives a child that knows. */
	was_opened = true;
	inherited_fd = fd;
	atomic_store_explicit(&state->opened, fd + 1, memory_order_release);
	fault_install();
	return CUDA_SUCCESS;
}

/*
 * Until library_return() this thread may ask what devices are, whatever the process has
 * done. Return: CUDA_SUCCESS; *@borrowed says whether there is anything to return.
 */
CUresult library_borrow(bool *borrowed)
{
	CUresult result;
	int fd, devices;

	*borrowed = false;
	if (!state)
		return fail(CUDA_ERROR_OPERATING_SYSTEM, "no page that fork() clears");
	if (state->ended)
		return library_ready();
	if (opened_fd() >= 0)
		return CUDA_SUCCESS;
	pthread_mutex_lock(&state->lock);
	result = open_checked(&fd, &devices);
	pthread_mutex_unlock(&state->lock);
	if (result != CUDA_SUCCESS)
		return result;
	borrowed_fd = fd;
	*borrowed = true;
	return CUDA_SUCCESS;
}

void library_return(void)
{
	close(borrowed_fd);
	borrowed_fd = -1;
}

static CUresult init(unsigned int flags)
{
	CUresult result = CUDA_SUCCESS;
	int devices = 0;

	if (!state)
		return fail(CUDA_ERROR_OPERATING_SYSTEM,
			    "no page that fork() clears (Linux before 4.14?)");
	/* Without the lock, too: what is loaded may do anything, and is loaded once. */
	if (!was_opened && !flags)
		result = kernels_load();
	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&state->lock);
	if (state->ended || (opened_fd() < 0 && was_opened))
		result = library_ready();
	else if (flags)
		result = fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	else if (opened_fd() < 0)
		result = open_and_check(&devices);
	pthread_mutex_unlock(&state->lock);
	/* Without the lock: whoever is to read this may be slow. */
	if (devices) {
		profile_complain();
		attribute_overrides_complain(devices);
	}
	return result;
}

CUresult cuInit(unsigned int flags)
{
	int before = cancel_hold();
	CUresult result = LOGGED(init(flags), "flags=%#x", flags);

	/* what MEMCAST_INJECT makes fail as well */
	if (state)
		failure_note(result);
	cancel_release(before);
	return result;
}

static CUresult driver_version(int *version)
{
	if (!version)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	*version = DRIVER_VERSION;
	return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
	return LOGGED(driver_version(version), "version=%p", (void *)version);
}
