/* SPDX-License-Identifier: MIT */
/* A cgroup of version 2 for processes of a test */
#ifndef CGROUP_H
#define CGROUP_H

#include <stdbool.h>
#include <sys/types.h>

struct cgroup {
	char mounted[32], path[48];	/* of all of the test's cgroups, of this one; "": none */
};

/*
 * Mounts cgroups, and makes one. @controllers: those that it needs, as "+memory"; or NULL.
 *
 * Return: false: this user or this kernel has none, or not these.
 */
bool cgroup_make(struct cgroup *cgroup, const char *controllers);

/* Does a file of the cgroup have a line that begins so? */
bool cgroup_says(const struct cgroup *cgroup, const char *file, const char *line);

/*
 * Ends a cgroup that cgroup_make() has begun to make, and @child (0: none), which may be frozen in it.
 *
 * Return: false: it is not empty.
 */
bool cgroup_end(struct cgroup *cgroup, pid_t child);

#endif /* CGROUP_H */
