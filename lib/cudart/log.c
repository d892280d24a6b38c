// SPDX-License-Identifier: MIT
/*
 * Logs calls that the runtime itself refuses, in the file of libcuda.so.1's lines:
 * CUDA_LOG_FILE. One line each, written at once.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "../base/log_file.h"
#include "runtime.h"

#define LINE		1024

cudaError_t refuse(const char *call, cudaError_t error, const char *format, ...)
{
	char reason[LINE / 2], line[LINE];
	int before, saved = errno;
	va_list arguments;
	int fd, length;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	fd = log_where(false);
	if (fd != LOG_NONE) {
		va_start(arguments, format);
		vsnprintf(reason, sizeof(reason), format, arguments);
		va_end(arguments);
		length = snprintf(line, sizeof(line), "memcast[%d]: %s(): %s: %s\n", getpid(),
				  call, cudaGetErrorName(error), reason);
		log_write(fd, line, length);
	}
	pthread_setcancelstate(before, NULL);
	errno = saved;
	return error;
}
