/* SPDX-License-Identifier: MIT */
/* Makes hosts lose their devices and return, by the module's files in /sys. */
#ifndef MEMCAST_LOST_HOST_H
#define MEMCAST_LOST_HOST_H

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>
#include "helpers.h"

#define PARAMETERS	"/sys/module/memcast/parameters"
#define LOST_FILES	"/sys/class/misc/memcast"

/* The host that a test loses: the second one, or the only one */
struct lost_host {
	unsigned int hosts;		/* number of the machine's hosts */
	unsigned int number;
	char name[12];			/* its number, as text */
	unsigned int first, devices;	/* its first device's number in the machine; their count */
};

static inline unsigned int lost_parameter(const char *name, unsigned int otherwise)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), PARAMETERS "/%s", name);
	file = fopen(path, "re");
	if (file && fscanf(file, "%u", &otherwise) != 1)
		otherwise = 0;
	if (file)
		fclose(file);
	return otherwise;
}

/* Return: may this process lose a host, and has the host enough devices for a team? */
static inline bool lost_host_find(struct lost_host *host)
{
	host->hosts = lost_parameter("hosts", 1);
	host->devices = lost_parameter("devices", 0) / (host->hosts ? host->hosts : 1);
	host->number = host->hosts > 1;
	host->first = host->number * host->devices;
	snprintf(host->name, sizeof(host->name), "%u", host->number);
	return !geteuid() && host->devices >= 2 && !access(LOST_FILES "/lose_host", F_OK);
}

/* @file: lose_host or return_host */
static inline int host_change(const char *file, unsigned int number)
{
	char name[12];

	snprintf(name, sizeof(name), "%u", number);
	return write_in(LOST_FILES, file, name);
}

static inline int host_lose(const struct lost_host *host)
{
	return write_in(LOST_FILES, "lose_host", host->name);
}

static inline int host_return(const struct lost_host *host)
{
	return write_in(LOST_FILES, "return_host", host->name);
}

/* Return: 0 if the module says that exactly these hosts are lost, else -1 */
static inline int lost_hosts(const char *numbers)
{
	char said[64] = "";
	FILE *file = fopen(LOST_FILES "/lost_hosts", "re");

	if (file && fgets(said, sizeof(said), file))
		said[strcspn(said, "\n")] = '\0';
	if (file)
		fclose(file);
	return file && !strcmp(said, numbers) ? 0 : -1;
}

/* Makes /dev/memcast the host's file, for this process, if the machine has several hosts. */
static inline int host_enter(const struct lost_host *host, unsigned int number)
{
	char path[32];

	if (host->hosts < 2)
		return 0;
	snprintf(path, sizeof(path), "/dev/memcast-host/%u", number);
	return unshare(CLONE_NEWNS) ||
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount(path, "/dev/memcast", NULL, MS_BIND, NULL) ? -1 : 0;
}

#endif /* MEMCAST_LOST_HOST_H */
