// SPDX-License-Identifier: MIT
/*
 * The namespaces of an emulated host. Its files are the machine's, but for its own /proc, /dev/shm,
 * /etc/hosts and /dev/memcast, which are mounted in a mount namespace that ends with the host.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hosts.h"

#define DEVICE	"/dev/memcast"

static void write_file(const char *path, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void write_file(const char *path, const char *format, ...)
{
	char text[64];
	va_list args;
	int fd = open(path, O_WRONLY | O_CLOEXEC), length;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (fd < 0 || write(fd, text, (size_t)length) != length)
		die("cannot write %s: %s", path, strerror(errno));
	close(fd);
}

/* A user who may not make a network namespace may make one together with a user namespace. */
void namespace_enter(struct settings *settings)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (!unshare(CLONE_NEWNET))
		return;
	if (errno != EPERM)
		die("cannot make a network namespace: %s", strerror(errno));
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		die("cannot make namespaces: %s. That takes root, or a kernel that lets users make "
		    "them: sysctl user.max_user_namespaces=10000, on Debian "
		    "kernel.unprivileged_userns_clone=1, on Ubuntu "
		    "kernel.apparmor_restrict_unprivileged_userns=0; a container has to be "
		    "started with --privileged", strerror(errno));
	settings->own_users = true;
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", "%u %u 1", uid, uid);
	write_file("/proc/self/gid_map", "%u %u 1", gid, gid);
}

pid_t namespace_fork(void)
{
	return (pid_t)syscall(SYS_clone, CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC |
			      CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
}

static void must_mount(const char *what, const char *where, const char *type, unsigned long flags,
		       const char *options)
{
	if (mount(what, where, type, flags, options))
		die("cannot mount %s: %s", where, strerror(errno));
}

static void write_names(const struct settings *settings, const char *path)
{
	FILE *file = fopen(path, "we");
	char address[16];
	unsigned int i;

	if (!file)
		die("cannot write %s: %s", path, strerror(errno));
	fputs("127.0.0.1 localhost\n::1 localhost\n", file);
	for (i = 0; i < settings->hosts; i++) {
		network_address(i, address);
		fprintf(file, "%s host%u\n", address, i);
	}
	if (fclose(file))
		die("cannot write %s: %s", path, strerror(errno));
}

/* Writes a list of hosts for an mpirun on the first host. */
static void write_slots(const struct settings *settings, const char *path)
{
	FILE *file = fopen(path, "we");
	unsigned int i;

	if (!file)
		die("cannot write %s: %s", path, strerror(errno));
	for (i = 0; i < settings->hosts; i++)
		fprintf(file, "host%u slots=%u\n", i, settings->devices[i] ?: 1);
	if (fclose(file))
		die("cannot write %s: %s", path, strerror(errno));
}

static void furnish_etc(const struct settings *settings)
{
	/* The file is in /proc, which exists everywhere, and is about to be the host's own. */
	must_mount("none", "/proc", "tmpfs", 0, "mode=0755");
	write_names(settings, "/proc/hosts");
	if (mount("/proc/hosts", "/etc/hosts", NULL, MS_BIND, NULL))
		die("cannot mount /etc/hosts: %s%s", strerror(errno),
		    errno == ENOENT ? "; make an empty file of that name" : "");
	umount2("/proc", MNT_DETACH);
}

static void furnish_device(const struct settings *settings, unsigned int host)
{
	char file[4096];

	if (!settings->folder)
		return;
	snprintf(file, sizeof(file), "%s/%u", settings->folder, host);
	if (mount(file, DEVICE, NULL, MS_BIND, NULL))
		die("cannot put %s in the place of " DEVICE ": %s", file, strerror(errno));
	/* Hide the device files of the other hosts. */
	must_mount("none", settings->folder, "tmpfs", MS_RDONLY, "mode=0755,size=4k");
}

void namespace_furnish(const struct settings *settings, unsigned int host)
{
	char name[16];

	snprintf(name, sizeof(name), "host%u", host);
	if (sethostname(name, strlen(name)))
		die("cannot name %s: %s", name, strerror(errno));
	must_mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
	furnish_etc(settings);
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		die("cannot mount a host's /proc: %s%s", strerror(errno), errno == EPERM ?
		    "; a container that hides parts of /proc has to be started with --privileged" :
		    "");
	if (!access("/dev/shm", F_OK))
		must_mount("none", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
	if (settings->way == ONCE && !host && !access("/dev/shm", F_OK))
		write_slots(settings, "/dev/shm/memcast-hosts");
	furnish_device(settings, host);
}
