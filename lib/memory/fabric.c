// SPDX-License-Identifier: MIT
/* IMEX channels: a process that may open a channel's device node may use fabric handles. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "handle.h"
#include "base/ioctl.h"

#define CHANNEL_PATH	"/dev/memcast-imex/channel%u"

static atomic_bool opened;

static CUresult open_channel(unsigned int channel, bool *any)
{
	struct memcast_channel arg = {};
	char path[sizeof(CHANNEL_PATH) + 8];
	CUresult result;

	snprintf(path, sizeof(path), CHANNEL_PATH, channel);
	arg.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (arg.fd < 0)
		return CUDA_SUCCESS;
	result = device_ioctl(MEMCAST_CHANNEL, &arg);
	close(arg.fd);
	*any |= result == CUDA_SUCCESS;
	return result;
}

/*
 * Opens channels before the first use of a fabric handle. If there is none, the kernel refuses
 * the handle; a node that appears later is found at the next use, or, if others are open, after
 * a refusal (@again). A container may have any of the channels, so this tries all numbers.
 * Several threads may do so at once: opening a channel twice changes nothing.
 */
CUresult fabric_open_channels(bool again)
{
	CUresult result = CUDA_SUCCESS;
	bool any = false;
	int before;

	if (opened && !again)
		return CUDA_SUCCESS;
	before = cancel_hold();
	for (unsigned int i = 0; i < MEMCAST_MAX_CHANNELS && result == CUDA_SUCCESS; i++)
		result = open_channel(i, &any);
	cancel_release(before);
	if (any)
		opened = true;
	return result;
}
