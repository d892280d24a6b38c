// SPDX-License-Identifier: MIT
/* The only file that opens /dev/memcast and that translates an errno into a result. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "activity.h"
#include "ioctl.h"
#include "log_file.h"
#include "process.h"
#include "visible.h"

#define DEVICE_PATH	"/dev/memcast"

static const struct {
	int error;
	CUresult result;
} results[] = {
	{ EINVAL,		CUDA_ERROR_INVALID_VALUE },
	{ EFAULT,		CUDA_ERROR_INVALID_VALUE },
	/* only memory/wait.c gets these two */
	{ EAGAIN,		CUDA_ERROR_NOT_READY },
	{ ETIME,		CUDA_ERROR_TIMEOUT },
	{ ENOENT,		CUDA_ERROR_INVALID_VALUE },
	{ EBADF,		CUDA_ERROR_INVALID_VALUE },
	{ ENODEV,		CUDA_ERROR_INVALID_DEVICE },
	{ EALREADY,		CUDA_ERROR_UNKNOWN },
	{ EEXIST,		CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED },
	{ ENOMEM,		CUDA_ERROR_OUT_OF_MEMORY },
	{ EPERM,		CUDA_ERROR_NOT_PERMITTED },
	{ EACCES,		CUDA_ERROR_NOT_PERMITTED },
	{ ENETDOWN,		CUDA_ERROR_SYSTEM_NOT_READY },
	{ ENOTRECOVERABLE,	CUDA_ERROR_ILLEGAL_STATE },
	{ EOPNOTSUPP,		CUDA_ERROR_NOT_SUPPORTED },
	{ ENOTTY,		CUDA_ERROR_NOT_SUPPORTED },
	{ E2BIG,		CUDA_ERROR_NOT_SUPPORTED },
	{ ESRCH,		CUDA_ERROR_NOT_INITIALIZED },
	{ ESHUTDOWN,		CUDA_ERROR_DEINITIALIZED },
	{ ENXIO,		CUDA_ERROR_DEINITIALIZED },
	/*
	 * results as programs get them of a GPU that has fallen off its bus, and of a link to
	 * one
	 */
	{ EHOSTDOWN,		CUDA_ERROR_UNKNOWN },
	{ EHOSTUNREACH,		CUDA_ERROR_NVLINK_UNCORRECTABLE },
};

CUresult result_of_errno(int error)
{
	for (size_t i = 0; i < ARRAY_SIZE(results); i++)
		if (results[i].error == error)
			return results[i].result;
	return CUDA_ERROR_OPERATING_SYSTEM;
}

CUresult device_open(int *fd)
{
	int opened;

	do {
		opened = above_stderr(open(DEVICE_PATH, O_RDWR | O_CLOEXEC));
	} while (opened < 0 && errno == EINTR);
	if (opened >= 0) {
		*fd = opened;
		return CUDA_SUCCESS;
	}
	if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
		return fail(CUDA_ERROR_NO_DEVICE,
			    DEVICE_PATH ": %m (is the module loaded? memcast-vm runs programs where it is)");
	if (errno == EHOSTDOWN)
		return fail(CUDA_ERROR_NO_DEVICE, DEVICE_PATH
			    ": the host was lost (/sys/class/misc/memcast/return_host)");
	if (errno == ENOMEM)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, DEVICE_PATH ": %m " SHARE_HINT);
	return fail(CUDA_ERROR_OPERATING_SYSTEM, DEVICE_PATH ": %m");
}

/* As ioctl(); @translate: the argument has the program's device numbers, not the module's. */
static int call(int fd, unsigned long request, struct memcast_header *header, bool translate)
{
	int done;

	if (__builtin_expect(!translate, 1))
		return ioctl(fd, request, header);
	visible_before(request, header);
	done = ioctl(fd, request, header);
	visible_after(request, header, done >= 0);
	return done;
}

/*
 * An ioctl for signal handlers, whose thread may be in malloc(). It asks for no reason: reasons
 * are in thread-local memory, and the first use of that may be a malloc().
 */
bool device_ask_fd(int fd, unsigned long request, struct memcast_header *header, size_t size)
{
	header->size = size;
	return call(fd, request, header, visible_set) >= 0;
}

/*
 * The reason has the module's device numbers, and a program with others would look at the wrong
 * device.
 */
static void say_whose_numbers(char *reason, size_t size)
{
	size_t length = strlen(reason);

	if (strstr(reason, "device "))
		snprintf(reason + length, size - length,
			 " (devices numbered as without CUDA_VISIBLE_DEVICES)");
}

/*
 * Says what a copy or fill that was done has noticed. A member is missed on purpose by some programs,
 * in each of their copies: so that is said once in a process.
 */
__attribute__((cold))
static void say_noticed(int noticed, char *reason, size_t size, bool translate)
{
	static atomic_bool said;
	char text[400];

	if (noticed == MEMCAST_UNMAPPED) {
		snprintf(text, sizeof(text),
			 "%s; a GPU would go on with the pages that were there, and memcast uses those that are there now: call cuMemHostUnregister() first",
			 reason);
		log_notice(text, true);
	} else if (!atomic_exchange(&said, true)) {
		if (translate)
			say_whose_numbers(reason, size);
		snprintf(text, sizeof(text),
			 "a copy or fill does not reach every replica: %s (said once)", reason);
		log_notice(text, true);
	}
	*reason = '\0';
}

CUresult device_ioctl_fd(int fd, unsigned long request,
			 struct memcast_header *header, size_t size)
{
	/* not asked in a signal handler: the answer is in thread-local memory, too */
	bool translate = visible_set && (reason_quiet() || visible_translates());
	size_t reason_size;
	char *reason = reason_buffer(&reason_size);
	int error, done;

	header->size = size;
	header->reason = (uintptr_t)reason;
	header->reason_size = reason_size;
	/* A signal that was handled while the call waited does not end the wait. */
	do {
		done = call(fd, request, header, translate);
	} while (done < 0 && errno == EINTR);
	activity_done();
	if (__builtin_expect(done > 0, 0))
		say_noticed(done, reason, reason_size, translate);
	if (done >= 0)
		return CUDA_SUCCESS;
	error = errno;
	if (error == EHOSTDOWN)
		library_lose();
	if (!*reason)
		return fail(result_of_errno(error), "%m");
	if (translate)
		say_whose_numbers(reason, reason_size);
	return result_of_errno(error);
}
