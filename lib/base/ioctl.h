/* SPDX-License-Identifier: MIT */
/* The ioctls of /dev/memcast. <uapi/memcast.h> describes their arguments. */
#ifndef LIBRARY_IOCTL_H
#define LIBRARY_IOCTL_H

#include "base.h"

/* The reason of an ENOMEM for which the kernel cannot give one */
#define SHARE_HINT	"(the machine has too little: memcast-vm --memory; or this user's share is taken: module parameter host_user_mib)"

CUresult result_of_errno(int error);
CUresult device_open(int *fd);
CUresult device_ioctl_fd(int fd, unsigned long request,
			 struct memcast_header *header, size_t size);
bool device_ask_fd(int fd, unsigned long request, struct memcast_header *header, size_t size);

#define device_ask(request, argument) \
	device_ask_fd(library_fd(), request, &(argument)->header, sizeof(*(argument)))
#define device_ioctl(request, argument) \
	device_ioctl_fd(library_fd(), request, &(argument)->header, sizeof(*(argument)))

static inline void handle_release(uint32_t handle)
{
	struct memcast_handle_release arg = { .handle = handle };

	device_ioctl(MEMCAST_HANDLE_RELEASE, &arg);
}

#endif /* LIBRARY_IOCTL_H */
