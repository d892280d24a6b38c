/* SPDX-License-Identifier: MIT */
/*
 * Lets another thread act before each atomic access of the code that is included after this; what
 * that needs of lib/base/.
 */
#ifndef MEMCAST_HOST_WINDOW_H
#define MEMCAST_HOST_WINDOW_H

#include <stdatomic.h>

#include "../lib/base/base.h"

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#define atomic_load_explicit(at, ...)						\
	(another_may_come(), __atomic_load_n(at, __VA_ARGS__))
#define atomic_store_explicit(at, ...)						\
	(another_may_come(), __atomic_store_n(at, __VA_ARGS__))
#define atomic_exchange_explicit(at, ...)					\
	(another_may_come(), __atomic_exchange_n(at, __VA_ARGS__))
#define atomic_compare_exchange_strong_explicit(at, old, new, ...)		\
	(another_may_come(), __atomic_compare_exchange_n(at, old, new, 0, __VA_ARGS__))
#define atomic_compare_exchange_weak_explicit(at, old, new, ...)		\
	(another_may_come(), __atomic_compare_exchange_n(at, old, new, 1, __VA_ARGS__))
#define atomic_fetch_add_explicit(at, ...)					\
	(another_may_come(), __atomic_fetch_add(at, __VA_ARGS__))
#define atomic_fetch_sub_explicit(at, ...)					\
	(another_may_come(), __atomic_fetch_sub(at, __VA_ARGS__))

static void another_may_come(void);

unsigned int inject_count;
CUresult fail(CUresult result, const char *format, ...)
{
	(void)format;
	return result;
}

bool reason_quiet_begin(void)
{
	return false;
}

void reason_quiet_end(void)
{
}

void log_failure(const char *call, CUresult result, const struct argument *arguments)
{
	(void)call;
	(void)result;
	(void)arguments;
}

CUresult (*inject_result)(const char *symbol);

int library_fd(void)
{
	return 0;
}

bool library_open(void)
{
	return true;
}

CUresult library_ready(void)
{
	return CUDA_SUCCESS;
}

#endif /* MEMCAST_HOST_WINDOW_H */
