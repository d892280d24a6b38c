// SPDX-License-Identifier: MIT
/*
 * Logs calls that the runtime itself refuses, in the file of libcuda.so.1's lines:
 * CUDA_LOG_FILE. One line each, written at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime.h"

#define LINE		1024
#define NOT_LOOKED_UP	-2
#define NONE		-1

static atomic_int log_fd = NOT_LOOKED_UP;

static int log_open(void)
{
	const char *path = secure_getenv("CUDA_LOG_FILE");

	if (!path || !*path)
		return NONE;
	if (!strcmp(path, "stderr"))
		return STDERR_FILENO;
	if (!strcmp(path, "stdout"))
		return STDOUT_FILENO;
	/* libcuda.so.1 prints a failure of this */
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

/*
 * The fd that CUDA_LOG_FILE names, or NONE. Several threads may open the file at once, and all
 * but one close it again: opening a pipe may take for ever, and no thread waits for another.
 */
static int log_where(void)
{
	int fd = log_fd, found = NOT_LOOKED_UP;

	if (fd != NOT_LOOKED_UP)
		return fd;
	fd = log_open();
	if (atomic_compare_exchange_strong(&log_fd, &found, fd))
		return fd;
	if (fd > STDERR_FILENO)
		close(fd);
	return found;
}

/*
 * A system call instead of write(), which is a cancellation point: a cancelled thread would end
 * in it.
 */
static void write_line(int fd, const char *line, size_t length)
{
	while (syscall(SYS_write, fd, line, length) < 0 && errno == EINTR)
		;
}

cudaError_t refuse(const char *call, cudaError_t error, const char *format, ...)
{
	char reason[LINE / 2], line[LINE];
	int before, saved = errno;
	va_list arguments;
	int fd, length;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	fd = log_where();
	if (fd != NONE) {
		va_start(arguments, format);
		vsnprintf(reason, sizeof(reason), format, arguments);
		va_end(arguments);
		length = snprintf(line, sizeof(line), "memcast[%d]: %s(): %s: %s\n", getpid(),
				  call, cudaGetErrorName(error), reason);
		write_line(fd, line, length);
	}
	pthread_setcancelstate(before, NULL);
	errno = saved;
	return error;
}

/* Says once on stderr that a call has failed whose result programs rarely check, but depend on. */
void log_aloud(const char *text)
{
	static atomic_bool said;
	int before, saved = errno;
	char line[LINE];
	int length;

	if (atomic_exchange(&said, true))
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	length = snprintf(line, sizeof(line), "memcast[%d]: %.900s\n", getpid(), text);
	if (log_where() != STDERR_FILENO)
		write_line(STDERR_FILENO, line, length);
	pthread_setcancelstate(before, NULL);
	errno = saved;
}
