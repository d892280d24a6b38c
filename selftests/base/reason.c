// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <string.h>
#include <cuda.h>

#include "reason.h"

static __thread char heard[1024];

/* A line of the log: memcast[PID]: CALL(ARGUMENTS): CUDA_ERROR_…: REASON */
static void hear(void *unused, CUlogLevel level, char *line, size_t length)
{
	const char *result = strstr(line, "): CUDA_ERROR_");
	const char *reason = result ? strstr(result + strlen("): "), ": ") : NULL;

	(void)unused;
	(void)level;
	(void)length;
	if (reason)
		snprintf(heard, sizeof(heard), "%s", reason + strlen(": "));
}

void reason_forget(void)
{
	static CUlogsCallbackHandle listener;

	if (!listener)
		cuLogsRegisterCallback(hear, NULL, &listener);
	heard[0] = '\0';
}

const char *reason_heard(void)
{
	return heard;
}

/* Return: how many characters at @at are a number or an address */
static size_t number_at(const char *at)
{
	if (!strncmp(at, "(nil)", 5))
		return 5;
	if (!strncmp(at, "0x", 2))
		return 2 + strspn(at + 2, "0123456789abcdef");
	return strspn(at, "0123456789");
}

bool reason_begins(const char *text)
{
	const char *at = heard;

	for (; *text; text++) {
		size_t length = *text == '#' ? number_at(at) : *text == *at;

		if (!length)
			return false;
		at += length;
	}
	return at != heard;
}
