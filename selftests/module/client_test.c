// SPDX-License-Identifier: MIT
/* Clients: each is one open of /dev/memcast by one process. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <uapi/memcast.h>
#include "memcast_test.h"

FIXTURE(client)
{
	int fd;
	char reason[160];
	struct memcast_memory_create create;
};

FIXTURE_SETUP(client)
{
	self->fd = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->create = (struct memcast_memory_create) {
		.header = { sizeof(self->create), sizeof(self->reason),
			    (uintptr_t)self->reason },
		.location = MEMCAST_LOCATION_DEVICE, .bytes = CHUNK,
	};
	strcpy(self->reason, "none");
}
NOTHING_LEFT(client)

#define CREATE()	ERRNO_OF(ioctl(self->fd, MEMCAST_MEMORY_CREATE, &self->create))

TEST_F(client, system_info)
{
	struct memcast_system_info info = { .header.size = sizeof(info) };

	EXPECT_EQ(0, ioctl(self->fd, MEMCAST_SYSTEM_INFO, &info));
	EXPECT_EQ(MEMCAST_ABI_VERSION, info.out_abi);
	EXPECT_EQ(CHUNK, info.out_granularity);
	EXPECT_LE(2, info.out_devices);
	EXPECT_EQ(-1, device_bytes(info.out_devices, "pool_bytes"));
}

#define USED_PRIVILEGE	0x100U	/* PF_SUPERPRIV, of the flags in /proc/PID/stat */

static unsigned int process_flags(void)
{
	unsigned int flags = 0;
	FILE *file = fopen("/proc/self/stat", "re");

	if (file && fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		flags = 0;
	if (file)
		fclose(file);
	return flags;
}

/* To find out whose limits hold is no use of a privilege, and nothing for the audit log. */
TEST_F(client, open_uses_no_privilege)
{
	int link;
	pid_t pid;

	if (geteuid())
		SKIP(return, "only root has a privilege to use");
	/* a child begins without the mark */
	pid = peer_fork(&link);
	if (!pid) {
		ASSERT_NE(0, process_flags());
		ASSERT_EQ(0, process_flags() & USED_PRIVILEGE);
		ASSERT_LE(0, open("/dev/memcast", O_RDWR | O_CLOEXEC));
		EXPECT_EQ(0, process_flags() & USED_PRIVILEGE);
		_exit(_metadata->exit_code);
	}
	EXPECT_EQ(0, reap_child(pid));
}

TEST_F(client, unknown_requests)
{
	unsigned int nr;

	EXPECT_EQ(ENOTTY, ERRNO_OF(ioctl(self->fd, _IO(MEMCAST_IOC_MAGIC, 0x7f), &self->create)));
	EXPECT_EQ(ENOTTY, ERRNO_OF(ioctl(self->fd, _IO(MEMCAST_IOC_MAGIC, 0xff), &self->create)));
	EXPECT_EQ(ENOTTY, ERRNO_OF(ioctl(self->fd, _IO(0xEE, MEMCAST_NR_FILL), &self->create)));
	EXPECT_EQ(ENOTTY, ERRNO_OF(ioctl(self->fd, 0, &self->create)));
	/* the struct's own field has its size; the ioctl's number never does */
	for (nr = MEMCAST_NR_BASE; nr <= MEMCAST_NR_FILL; nr++)
		EXPECT_EQ(ENOTTY, ERRNO_OF(ioctl(self->fd,
			  _IOC(_IOC_READ | _IOC_WRITE, MEMCAST_IOC_MAGIC, nr, 16),
			  &self->create)));
}

TEST_F(client, reason)
{
	self->create.bytes = 4096;
	EXPECT_EQ(EINVAL, CREATE());
	EXPECT_STREQ("size 4096 is not a multiple of the granularity 2097152: round it up",
		     self->reason);
	/* the text is cut to the buffer, and no byte is written behind it */
	strcpy(self->reason, "0123456789");
	self->create.header.reason_size = 5;
	EXPECT_EQ(EINVAL, CREATE());
	EXPECT_STREQ("size", self->reason);
	EXPECT_STREQ("56789", self->reason + 5);
	self->create.header.reason_size = 1;
	EXPECT_EQ(EINVAL, CREATE());
	EXPECT_STREQ("", self->reason);
	/* a call that succeeds writes no reason */
	self->create.bytes = CHUNK;
	self->create.header.reason_size = sizeof(self->reason);
	strcpy(self->reason, "none");
	EXPECT_EQ(0, CREATE());
	EXPECT_STREQ("none", self->reason);
}

TEST_F(client, reason_nowhere)
{
	self->create.bytes = 4096;
	self->create.header.reason_size = 0;
	EXPECT_EQ(EINVAL, CREATE());
	EXPECT_STREQ("none", self->reason);
	self->create.header.reason_size = ~0U;
	self->create.header.reason = 0;
	EXPECT_EQ(EINVAL, CREATE());
	self->create.header.reason = 4096;
	EXPECT_EQ(EINVAL, CREATE());
	self->create.header.reason = -4096UL;
	EXPECT_EQ(EINVAL, CREATE());
}

TEST_F(client, errno_of_each_meaning)
{
	struct memcast_import import = {
		.header.size = sizeof(import), .handle_type = MEMCAST_HANDLE_FD, .fd = 0,
	};
	struct memcast_handle_release release = {
		.header.size = sizeof(release), .handle = 12345,
	};

	self->create.location_id = 99;
	EXPECT_EQ(ENODEV, CREATE());
	self->create.location_id = 0;
	self->create.bytes = 1UL << 50;
	EXPECT_EQ(ENOMEM, CREATE());
	self->create.bytes = CHUNK;
	self->create.handle_types = MEMCAST_HANDLE_FABRIC;
	EXPECT_EQ(EPERM, CREATE());
	self->create.handle_types = 1U << 31;
	EXPECT_EQ(EINVAL, CREATE());
	EXPECT_EQ(ENOENT, ERRNO_OF(ioctl(self->fd, MEMCAST_HANDLE_RELEASE, &release)));
	EXPECT_EQ(EBADF, ERRNO_OF(ioctl(self->fd, MEMCAST_IMPORT, &import)));
}

/* After fork, a call's addresses would be those of another process. */
TEST_F(client, of_another_process)
{
	pid_t child = fork();

	ASSERT_LE(0, child);
	if (!child) {
		EXPECT_EQ(ESRCH, CREATE());
		EXPECT_EQ(MAP_FAILED, mmap(NULL, CHUNK, PROT_READ | PROT_WRITE,
					   MAP_SHARED, self->fd, 0));
		EXPECT_EQ(ESRCH, errno);
		_exit(0);
	}
	EXPECT_EQ(0, reap_child(child));
	EXPECT_EQ(0, CREATE());
}

/* A handle belongs to one client. */
TEST_F(client, handles)
{
	struct memcast_handle_info info = { .header.size = sizeof(info) };
	int other = open("/dev/memcast", O_RDWR | O_CLOEXEC);

	ASSERT_EQ(0, CREATE());
	info.handle = self->create.out_handle;
	EXPECT_EQ(0, ioctl(self->fd, MEMCAST_HANDLE_INFO, &info));
	EXPECT_EQ(MEMCAST_TYPE_MEMORY, info.out_type);
	EXPECT_EQ(CHUNK, info.out_bytes);
	EXPECT_EQ(ENOENT, ERRNO_OF(ioctl(other, MEMCAST_HANDLE_INFO, &info)));
	EXPECT_EQ(2, stat_of("clients"));
	EXPECT_EQ(0, close(other));
	EXPECT_EQ(1, stat_of("clients"));
}

/* The file may be closed while a memory is mapped: the mapping keeps the client. */
TEST_F(client, closed_while_mapped)
{
	unsigned char *room = mmap(NULL, 2 * CHUNK, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *at = (void *)(((uintptr_t)room + CHUNK - 1) & -CHUNK);

	ASSERT_EQ(at, mmap(at, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			   self->fd, 0));
	EXPECT_EQ(0, close(self->fd));
	EXPECT_EQ(1, stat_of("clients"));
	EXPECT_EQ(0, munmap(at, CHUNK));
	EXPECT_EQ(0, stat_of("clients"));
}

TEST_HARNESS_MAIN
