// SPDX-License-Identifier: MIT
/*
 * Reasons of failures, and the log that CUDA_LOG_FILE asks for: one line per
 * failed call, written at once and whole, so that processes can share a file.
 * logs.c keeps the last ones in memory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "library.h"

static __thread char reason[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int log_fd = -1;

/* Where the kernel is to put the reason of the ioctl that follows. */
char *reason_buffer(size_t *size)
{
	reason[0] = '\0';
	*size = sizeof(reason);
	return reason;
}

CUresult fail(CUresult result, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	return result;
}

void memcastNoView(CUdeviceptr address)
{
	char line[LOG_LINE];
	int length = snprintf(line, sizeof(line),
			      "memcast[%d]: a multimem operation on %#llx: %s. Operations named "
			      "…_at() take an address that cuMemMap() was given for a team; those "
			      "without _at take a view and an offset (memcast/view.h)\n",
			      getpid(), address, reason[0] ? reason : "no reason given");

	while (write(STDERR_FILENO, line, length) < 0 && errno == EINTR)
		;
}

static void log_open(void)
{
	const char *path = secure_getenv("CUDA_LOG_FILE");

	if (!path || !*path)
		return;
	if (!strcmp(path, "stderr")) {
		log_fd = STDERR_FILENO;
	} else if (!strcmp(path, "stdout")) {
		log_fd = STDOUT_FILENO;
	} else {
		log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		if (log_fd < 0)
			fprintf(stderr, "memcast: CUDA_LOG_FILE=%s: %m\n", path);
	}
}

void log_failure(const char *call, CUresult result, const char *format, ...)
{
	char arguments[384], line[LOG_LINE];
	int saved = errno;
	va_list list;
	int length;

	pthread_once(&once, log_open);
	va_start(list, format);
	vsnprintf(arguments, sizeof(arguments), format, list);
	va_end(list);
	length = snprintf(line, sizeof(line), "memcast[%d]: %s(%s): %s: %s\n",
			  getpid(), call, arguments, error_name(result),
			  reason[0] ? reason : "no reason given");
	while (log_fd >= 0 && write(log_fd, line, length) < 0 && errno == EINTR)
		;
	logs_add(line, length);
	errno = saved;
}
