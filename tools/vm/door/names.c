// SPDX-License-Identifier: MIT
/*
 * Names of running machines: sockets in a folder that their user alone can enter. A name is
 * taken as long as a process listens at its socket, so a killed machine's name is free.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "door.h"

/* Return: NULL if $XDG_RUNTIME_DIR is no folder of this user */
static char *below_runtime_dir(void)
{
	const char *base = getenv("XDG_RUNTIME_DIR");
	struct stat is;
	char *path;

	if (!base || *base != '/' || stat(base, &is) || !S_ISDIR(is.st_mode) ||
	    is.st_uid != geteuid() || asprintf(&path, "%s/memcast", base) < 0)
		return NULL;
	return path;
}

const char *names_folder(void)
{
	static char *path;
	struct stat is;

	if (path)
		return path;
	path = below_runtime_dir();
	if (!path && asprintf(&path, "/tmp/memcast-%u", geteuid()) < 0)
		abort();
	if (mkdir(path, 0700) && errno != EEXIST)
		die("cannot make %s: %s", path, strerror(errno));
	/* In /tmp another user may have made it first. */
	if (lstat(path, &is) || !S_ISDIR(is.st_mode))
		die("%s is not a folder", path);
	if (is.st_uid != geteuid())
		die("%s is not this user's but of user %u; set XDG_RUNTIME_DIR", path, is.st_uid);
	if (is.st_mode & 077 && chmod(path, 0700))
		die("others can enter %s: %s", path, strerror(errno));
	return path;
}

bool names_valid(const char *name)
{
	size_t length = strlen(name);

	for (const char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("._-", *at))
			return false;
	return length && length < 64 && isalnum((unsigned char)*name);
}

/* A socket's path has at most 108 bytes, and the folder's may be longer: name it by its fd. */
static struct sockaddr_un address_of(int folder, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", folder, name);
	return address;
}

static int open_folder(void)
{
	int folder = open(names_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0)
		die("%s: %s", names_folder(), strerror(errno));
	return folder;
}

static int connect_in(int folder, const char *name)
{
	struct sockaddr_un address = address_of(folder, name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	close(fd);
	return -1;
}

int names_connect(const char *name)
{
	int folder = open_folder(), fd = connect_in(folder, name);

	close(folder);
	return fd;
}

int names_listen(const char *name)
{
	int folder = open_folder(), fd = -1, taken;
	struct sockaddr_un address = address_of(folder, name);

	/* One process at a time, so that none removes a socket that another has just made. */
	flock(folder, LOCK_EX);
	taken = connect_in(folder, name);
	if (taken < 0) {
		unlinkat(folder, name, 0);
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 64))
			die("%s/%s: %s", names_folder(), name, strerror(errno));
	} else {
		close(taken);
	}
	close(folder);
	return fd;
}

void names_remove(const char *name)
{
	int folder = open_folder(), taken;

	flock(folder, LOCK_EX);
	/* Another machine may have the name already. */
	taken = connect_in(folder, name);
	if (taken < 0)
		unlinkat(folder, name, 0);
	else
		close(taken);
	close(folder);
}
