// SPDX-License-Identifier: MIT
/* x86-64: protection keys of memory, in a register of each thread. */
#include "base/host_access.h"

const bool thread_keys_known = true;

uint32_t thread_keys(void)
{
	uint32_t keys, zero;

	asm volatile(".byte 0x0f, 0x01, 0xee" : "=a" (keys), "=d" (zero) : "c" (0));	/* rdpkru */
	return keys;
}

void thread_keys_set(uint32_t keys)
{
	asm volatile(".byte 0x0f, 0x01, 0xef" : : "a" (keys), "c" (0), "d" (0) : "memory");	/* wrpkru */
}
