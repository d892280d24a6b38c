/* SPDX-License-Identifier: MIT */
/*
 * MEMCAST_HOST_ACCESS=forbid: the program's own loads and stores do not reach device memory, as on
 * hardware.
 *
 * Page-table entries of device memory and of windows have a protection key (pkeys(7)) that a thread
 * cannot use, unless the library opens it: while the thread runs a kernel, or writes a module's
 * variables. Copies and fills are the module's, which needs no key. Views of teams and memory of the
 * host have no key.
 */
#ifndef LIBRARY_HOST_ACCESS_H
#define LIBRARY_HOST_ACCESS_H

#include "base.h"

extern unsigned int host_access_key;	/* 0: the program may access device memory */

CUresult host_access_start(int fd);

/*
 * This thread's access to each key: two bits a key, which forbid stores, and loads and stores. Where
 * the library does not know a processor's keys, there are none.
 */
extern const bool thread_keys_known;
uint32_t thread_keys(void);
void thread_keys_set(uint32_t keys);

uint32_t host_access_change(uint32_t bits);

/* Lets this thread access device memory. Return: what host_access_close() restores. */
static inline uint32_t host_access_open(void)
{
	return __builtin_expect(host_access_key, 0) ? host_access_change(0) : 0;
}

static inline void host_access_close(uint32_t before)
{
	if (__builtin_expect(host_access_key, 0))
		host_access_change(before);
}

#endif /* LIBRARY_HOST_ACCESS_H */
