// SPDX-License-Identifier: MIT
/*
 * arm64: protection keys. The library leaves them as the kernel sets them for a handler: plain stores
 * to windows, which would need the program's, are not done here.
 */
#include "fault/fault.h"

void fault_keys_find(void)
{
}

uint32_t fault_keys_set(uint32_t keys)
{
	(void)keys;
	return 0;
}

uint32_t fault_keys_of(const ucontext_t *context)
{
	(void)context;
	return 0;
}
