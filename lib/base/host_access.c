// SPDX-License-Identifier: MIT
/* Reads MEMCAST_HOST_ACCESS, and takes the protection key of device memory. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "host_access.h"
#include "ioctl.h"

#define VARIABLE	"MEMCAST_HOST_ACCESS"

unsigned int host_access_key;

/*
 * Changes this thread's two bits of the key: 0 allows everything. Other threads keep theirs, and
 * threads that this one starts begin with the same. Return: the bits before, for a later call.
 */
uint32_t host_access_change(uint32_t bits)
{
	const unsigned int shift = 2 * host_access_key;
	const uint32_t ours = 3U << shift;
	uint32_t before = thread_keys();

	thread_keys_set((before & ~ours) | bits << shift);
	return (before & ours) >> shift;
}

/* Takes a key that no thread can use: Linux has started the program with access to key 0 only. */
static CUresult take_key(int fd)
{
	struct memcast_client_protect protect = {};
	CUresult result;
	int key;

	if (!thread_keys_known)
		return fail(CUDA_ERROR_NOT_SUPPORTED,
			    VARIABLE "=forbid: memcast does that on x86-64 only");
	key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
	if (key <= 0)
		return fail(CUDA_ERROR_NOT_SUPPORTED,
			    VARIABLE "=forbid takes a protection key, and this machine has none left: %m (pkeys(7); memcast-vm without KVM has them)");
	protect.key = key;
	result = device_ioctl_fd(fd, MEMCAST_CLIENT_PROTECT, &protect.header, sizeof(protect));
	if (result == CUDA_SUCCESS)
		host_access_key = key;
	else
		pkey_free(key);
	return result;
}

/* Called once, by cuInit(). @fd: of the open file */
CUresult host_access_start(int fd)
{
	const char *value = secure_getenv(VARIABLE);

	if (!value || !*value || !strcmp(value, "allow"))
		return CUDA_SUCCESS;
	if (strcmp(value, "forbid"))
		return fail(CUDA_ERROR_INVALID_VALUE, VARIABLE "=%.40s: must be allow or forbid",
			    value);
	return take_key(fd);
}
