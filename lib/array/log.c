// SPDX-License-Identifier: MIT
/* Logs failed calls: the functions of libcuda.so.1 write the lines, among their own. */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <memcast/log.h>

#include "array.h"

static __thread char reason[256];

CUresult fail(CUresult result, const char *format, ...)
{
	va_list arguments;
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	pthread_setcancelstate(before, NULL);
	return result;
}

void log_failure(const char *call, CUresult result, const char *format, ...)
{
	int before, saved = errno;
	char arguments[384];
	va_list list;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	va_start(list, format);
	vsnprintf(arguments, sizeof(arguments), format, list);
	va_end(list);
	memcastLogFailure(call, arguments, result, reason);
	errno = saved;
	pthread_setcancelstate(before, NULL);
}
