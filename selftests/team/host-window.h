/* SPDX-License-Identifier: MIT */
/* Lets another thread act before each atomic access of the code that is included after this. */
#ifndef MEMCAST_HOST_WINDOW_H
#define MEMCAST_HOST_WINDOW_H

#include <stdatomic.h>

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

#endif /* MEMCAST_HOST_WINDOW_H */
