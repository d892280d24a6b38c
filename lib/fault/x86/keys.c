// SPDX-License-Identifier: MIT
/* x86-64: protection keys of memory. */
#include <cpuid.h>
#include <string.h>

#include "base/host_access.h"
#include "fault/fault.h"

#define KEYS		9	/* number of the keys' state, for xsave */

static unsigned int keys_offset;	/* offset in a signal's saved state; 0: no keys */

uint32_t fault_keys_set(uint32_t keys)
{
	uint32_t before;

	if (!keys_offset)
		return 0;
	before = thread_keys();
	thread_keys_set(keys);
	return before;
}

uint32_t fault_keys_of(const ucontext_t *context)
{
	const unsigned char *state = (const void *)context->uc_mcontext.fpregs;
	uint64_t present;
	uint32_t keys = 0;

	memcpy(&present, state + 512, sizeof(present));
	if (keys_offset && present >> KEYS & 1)
		memcpy(&keys, state + keys_offset, sizeof(keys));
	return keys;
}

void fault_keys_find(void)
{
	unsigned int a, b, c, d;

	if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && c & bit_OSPKE &&
	    __get_cpuid_count(0xd, KEYS, &a, &b, &c, &d))
		keys_offset = b;
}
