/* SPDX-License-Identifier: MIT */
/* reason.c: why this thread's last call failed, in the words of the library's log */
#ifndef MEMCAST_REASON_H
#define MEMCAST_REASON_H

#include <stdbool.h>

void reason_forget(void);
/* Return: the last failed call's reason, or "" if none has failed since reason_forget() */
const char *reason_heard(void);
/* Does the reason begin with @text? A # in @text stands for any number or address. */
bool reason_begins(const char *text);

/* @call fails with CUDA_ERROR_INVALID_VALUE, for a reason that begins with @text. */
#define EXPECT_REASON(call, text)					\
	EXPECT_CU_REASON(CUDA_ERROR_INVALID_VALUE, call, text)

/* @call fails with @result, for a reason that begins with @text. */
#define EXPECT_CU_REASON(result, call, text)				\
do {									\
	reason_forget();						\
	EXPECT_CU(result, call);					\
	EXPECT_TRUE(reason_begins(text))				\
		TH_LOG("the reason is: %s", reason_heard());		\
} while (0)

#endif /* MEMCAST_REASON_H */
