// SPDX-License-Identifier: MIT
/* IMEX channels: the nodes that this process may open let it use fabric handles. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "library.h"

#define CHANNEL_PATH	"/dev/memcast-imex/channel%u"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool opened;

static CUresult open_channel(unsigned int channel)
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
	opened = opened || result == CUDA_SUCCESS;
	return result;
}

/*
 * Before the first use of a fabric handle. That there is no channel is for the
 * kernel to say; a node that comes later is found by the next use. A container
 * may have any of them, so all numbers are tried.
 */
CUresult fabric_open_channels(void)
{
	CUresult result = CUDA_SUCCESS;

	pthread_mutex_lock(&lock);
	if (!opened)
		for (unsigned int i = 0; i < MEMCAST_MAX_CHANNELS && result == CUDA_SUCCESS; i++)
			result = open_channel(i);
	pthread_mutex_unlock(&lock);
	return result;
}
