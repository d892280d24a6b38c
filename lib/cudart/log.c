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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime.h"

#define LINE		1024
#define NOT_LOOKED_UP	-2
#define NONE		-1

struct log_file {
	int fd;
	uint32_t file;			/* file_of(fd) when it was opened */
};

static _Atomic struct log_file log_file = { NOT_LOOKED_UP, 0 };

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
 * Return: a number of the file that an fd shows; 0: a stream, or none. A program may close fds that
 * it does not know, and have a file of its own at the same number.
 */
static uint32_t file_of(int fd)
{
	struct stat file;

	return fd > STDERR_FILENO && !fstat(fd, &file) ? file.st_ino ^ file.st_dev : 0;
}

/*
 * The fd that CUDA_LOG_FILE names, or NONE. Several threads may open the file at once, and all
 * but one close it again: opening a pipe may take for ever, and no thread waits for another.
 */
static int log_where(void)
{
	struct log_file found = log_file, new;

	if (found.fd != NOT_LOOKED_UP && file_of(found.fd) == found.file)
		return found.fd;
	new.fd = log_open();
	new.file = file_of(new.fd);
	if (atomic_compare_exchange_strong(&log_file, &found, new))
		return new.fd;
	if (new.fd > STDERR_FILENO)
		close(new.fd);
	return found.fd;
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
