// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cgroup.h"
#include "helpers.h"

bool cgroup_make(struct cgroup *cgroup, const char *controllers)
{
	strcpy(cgroup->mounted, "/tmp/cgroup.XXXXXX");
	if (!mkdtemp(cgroup->mounted)) {
		cgroup->mounted[0] = '\0';
		return false;
	}
	if (mount("none", cgroup->mounted, "cgroup2", 0, NULL) ||
	    (controllers && write_in(cgroup->mounted, "cgroup.subtree_control", controllers)))
		return false;
	snprintf(cgroup->path, sizeof(cgroup->path), "%s/test", cgroup->mounted);
	return !mkdir(cgroup->path, 0755);
}

bool cgroup_says(const struct cgroup *cgroup, const char *file, const char *line)
{
	char path[80], text[512], *at;
	ssize_t bytes;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", cgroup->path, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	bytes = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	close(fd);
	if (bytes < 0)
		return false;
	text[bytes] = '\0';
	for (at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		if (!strncmp(at, line, strlen(line)))
			return true;
	return false;
}

bool cgroup_end(struct cgroup *cgroup, pid_t child)
{
	bool ended;

	if (child > 0) {
		write_in(cgroup->path, "cgroup.freeze", "0");
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	/* it is empty a moment after its last process has ended */
	ended = !cgroup->path[0] || comes_true(!rmdir(cgroup->path));
	if (cgroup->mounted[0]) {
		umount(cgroup->mounted);
		rmdir(cgroup->mounted);
	}
	return ended;
}
