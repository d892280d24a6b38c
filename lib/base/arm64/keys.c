// SPDX-License-Identifier: MIT
/* arm64: the library does not know the register of protection keys. */
#include "base/host_access.h"

const bool thread_keys_known = false;

uint32_t thread_keys(void)
{
	return 0;
}

void thread_keys_set(uint32_t keys)
{
	(void)keys;
}
