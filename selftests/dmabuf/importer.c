// SPDX-License-Identifier: MIT
/* The importer of selftests/kmod, from a test's side. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "importer.h"

#define NODE	"/dev/memcast-importer"

int load_test_module(const char *module)
{
	char path[PATH_MAX], self[PATH_MAX / 2] = "";
	struct utsname name;
	int fd, ret;

	if (uname(&name) || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/%s-%s.ko", dirname(self), module, name.release);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ret = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	/* EEXIST: another process has loaded the module meanwhile */
	return ret && errno != EEXIST ? -1 : 0;
}

bool importer_is_debugged(void)
{
	FILE *file = fopen("/sys/kernel/debug/dma-api/disabled", "re");
	bool is = file && fgetc(file) == 'N';

	if (file)
		fclose(file);
	return is;
}

int importer_open(const char **why)
{
	int fd;

	*why = "";
	if (geteuid()) {
		*why = "needs root";
		return -1;
	}
	if (access(NODE, F_OK) && load_test_module("memcast_importer")) {
		*why = "no memcast_importer.ko for this kernel";
		return -1;
	}
	fd = open(NODE, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		*why = "no " NODE;
	return fd;
}

static int call(int importer, unsigned long command, struct memcast_importer *arg)
{
	return ioctl(importer, command, arg) ? -errno : 0;
}

static int attach(int importer, int fd, uint32_t single_pages, uint32_t *id)
{
	struct memcast_importer arg = { .fd = fd, .single_pages = single_pages };
	int ret = call(importer, MEMCAST_IMPORTER_ATTACH, &arg);

	if (!ret)
		*id = arg.id;
	return ret;
}

int importer_attach(int importer, int fd, uint32_t *id)
{
	return attach(importer, fd, 0, id);
}

int importer_attach_pages(int importer, int fd, uint32_t *id)
{
	return attach(importer, fd, 1, id);
}

int importer_detach(int importer, uint32_t id)
{
	struct memcast_importer arg = { .id = id };

	return call(importer, MEMCAST_IMPORTER_DETACH, &arg);
}

int importer_map(int importer, uint32_t id, uint32_t slot,
		 enum memcast_importer_direction direction, uint32_t *segments)
{
	struct memcast_importer arg = { .id = id, .slot = slot, .direction = direction };
	int ret = call(importer, MEMCAST_IMPORTER_MAP, &arg);

	if (!ret && segments)
		*segments = arg.out_segments;
	return ret;
}

int importer_unmap(int importer, uint32_t id, uint32_t slot)
{
	struct memcast_importer arg = { .id = id, .slot = slot };

	return call(importer, MEMCAST_IMPORTER_UNMAP, &arg);
}

int importer_write(int importer, uint32_t id, uint32_t slot, uint64_t offset,
		   const void *data, size_t bytes)
{
	struct memcast_importer arg = {
		.id = id, .slot = slot, .offset = offset, .bytes = bytes,
		.data = (uintptr_t)data,
	};

	return call(importer, MEMCAST_IMPORTER_WRITE, &arg);
}

int importer_read(int importer, uint32_t id, uint32_t slot, uint64_t offset,
		  void *data, size_t bytes)
{
	struct memcast_importer arg = {
		.id = id, .slot = slot, .offset = offset, .bytes = bytes,
		.data = (uintptr_t)data,
	};

	return call(importer, MEMCAST_IMPORTER_READ, &arg);
}
