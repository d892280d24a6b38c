// SPDX-License-Identifier: MIT
/*
 * Makes the host's files the root of memcast-vm's virtual machine: read through 9p, under an
 * overlay, so that files that the program writes stay in the machine's memory. Only folders
 * of memcast-vm's option --rw are written to on the host.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include "init.h"

#define NINE_P	"trans=virtio,version=9p2000.L,msize=524288,"

static void must_mount(const char *what, const char *where, const char *type,
		       unsigned long flags, const char *options)
{
	if (mount(what, where, type, flags, options))
		fail(where);
}

/* Makes the folders of a path that do not exist, in the machine's memory. */
static void make_folder(char *path)
{
	for (char *end = strchr(path + 1, '/'); end; end = strchr(end + 1, '/')) {
		*end = '\0';
		mkdir(path, 0755);
		*end = '/';
	}
	mkdir(path, 0755);
}

/* Mounts those folders that are, or are not, below /dev, which is this machine's own. */
static void mount_writable(char *const *folders, bool below_dev)
{
	char path[4096], tag[16];

	for (unsigned int i = 0; folders && folders[i]; i++) {
		if (!strncmp(folders[i], "/dev/", 5) != below_dev)
			continue;
		snprintf(path, sizeof(path), "/files/root%s", folders[i]);
		snprintf(tag, sizeof(tag), "rw%u", i);
		make_folder(path);
		must_mount(tag, path, "9p", 0, NINE_P "cache=mmap");
	}
}

void files_from_host(char *const *writable)
{
	static const char *const kept[] = { "proc", "sys", "dev", "memcast-vm" };
	char path[64];

	mkdir("/files", 0755);
	must_mount("none", "/files", "tmpfs", 0, "mode=0755");
	mkdir("/files/host", 0755);
	mkdir("/files/written", 0755);
	mkdir("/files/work", 0755);
	mkdir("/files/root", 0755);
	/* With this cache a file that changes on the host may be seen old; --help says so. */
	must_mount("host", "/files/host", "9p", MS_RDONLY, NINE_P "cache=loose");
	must_mount("none", "/files/root", "overlay", 0, "lowerdir=/files/host,"
		   "upperdir=/files/written,workdir=/files/work");
	mkdir("/files/root/memcast-vm", 0755);
	must_mount("none", "/files/root/run", "tmpfs", 0, "mode=0755");
	mount_writable(writable, false);
	for (unsigned int i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		snprintf(path, sizeof(path), "/files/root/%s", kept[i]);
		/* The archive's folder is no mount that could be moved. */
		must_mount(path + strlen("/files/root"), path, NULL,
			   strcmp(kept[i], "memcast-vm") ? MS_MOVE : MS_BIND, NULL);
	}
	mount_writable(writable, true);
	if (chdir("/files/root") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot("."))
		fail("cannot make the host's files the root");
}
