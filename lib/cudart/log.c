// SPDX-License-Identifier: MIT
/*
 * Reasons of what the runtime refuses itself, in the file that the driver library's lines go
 * to as well: CUDA_LOG_FILE. One line each, written whole.
 */
#define _GNU_SOURCE
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

#define LINE	1024

static int log_fd = -1;

static void log_open(void)
{
	const char *path = secure_getenv("CUDA_LOG_FILE");

	if (!path || !*path)
		return;
	if (!strcmp(path, "stderr"))
		log_fd = STDERR_FILENO;
	else if (!strcmp(path, "stdout"))
		log_fd = STDOUT_FILENO;
	else	/* the driver library says so where this fails */
		log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

static int log_where(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, log_open);
	return log_fd;
}

/* Not write(): a thread that is cancelled would end in it. */
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
	int length;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	if (log_where() >= 0) {
		va_start(arguments, format);
		vsnprintf(reason, sizeof(reason), format, arguments);
		va_end(arguments);
		length = snprintf(line, sizeof(line), "memcast[%d]: %s(): %s: %s\n", getpid(),
				  call, cudaGetErrorName(error), reason);
		write_line(log_where(), line, length);
	}
	pthread_setcancelstate(before, NULL);
	errno = saved;
	return error;
}

/* Says once on stderr that a call has failed which programs rarely check and cannot do without. */
void log_aloud(const char *text)
{
	static atomic_bool said;
	int before, saved = errno;
	char line[LINE];
	int length;

	if (atomic_exchange(&said, true) || log_where() == STDERR_FILENO)
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	length = snprintf(line, sizeof(line), "memcast[%d]: %.900s\n", getpid(), text);
	write_line(STDERR_FILENO, line, length);
	pthread_setcancelstate(before, NULL);
	errno = saved;
}
