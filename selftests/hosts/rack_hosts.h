/* SPDX-License-Identifier: MIT */
/*
 * What tests of several hosts share: they need root, the module's hosts= above 1, two devices
 * per host and an IMEX channel; host-rack.sh has such machines.
 */
#ifndef MEMCAST_RACK_HOSTS_H
#define MEMCAST_RACK_HOSTS_H

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include "fabric_peers.h"
#include "memcast_test.h"
#include "raw.h"
#include "reason.h"

#define HOST_FILE	"/dev/memcast-host/%u"
/* CU_MEM_LOCATION_TYPE_INVISIBLE, where cuda.h has it */
#define INVISIBLE	5

FIXTURE(hosts)
{
	unsigned int hosts;	/* how many there are */
	int each;		/* devices of one */
	int machine;		/* devices of all */
};

TEST_HELPER unsigned int number_in(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned int number = 0;

	if (file && fscanf(file, "%u", &number) != 1)
		number = 0;
	if (file)
		fclose(file);
	return number;
}

FIXTURE_SETUP(hosts)
{
	self->hosts = number_in("/sys/module/memcast/parameters/hosts");
	self->machine = number_in("/sys/module/memcast/parameters/devices");
	self->each = self->machine / (self->hosts ?: 1);
	if (geteuid() || self->hosts < 2 || self->each < 2 ||
	    access("/dev/memcast-imex/channel0", F_OK))
		SKIP(return, "needs root, hosts=2, devices=4 and imex_channels=1");
}
NOTHING_LEFT(hosts)

/*
 * This process is on a host from now on: what it opens as /dev/memcast is that host's file. All
 * else it shares with processes on other hosts: users, processes, other files.
 */
#define go_to(host)		go_to_(_metadata, host)
TEST_HELPER void go_to_(struct __test_metadata *_metadata, unsigned int host)
{
	char path[32];

	snprintf(path, sizeof(path), HOST_FILE, host);
	ASSERT_EQ(0, unshare(CLONE_NEWNS));
	ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	ASSERT_EQ(0, mount(path, "/dev/memcast", NULL, MS_BIND, NULL));
}

/* Another process, on a host, with one of its devices current: as peer_fork() */
#define host_fork(host, link)	host_fork_(_metadata, host, link)
TEST_HELPER pid_t host_fork_(struct __test_metadata *_metadata, unsigned int host, int *link)
{
	pid_t pid = peer_fork(link);

	ASSERT_LE(0, pid);
	if (!pid) {
		go_to(host);
		cuda_start(0);
	}
	return pid;
}

/* Whatever has no pointers, to or from a process that shares nothing else */
#define give(link, what)	ASSERT_EQ(sizeof(what), send(link, &(what), sizeof(what), 0))
#define take(link, what)	ASSERT_EQ(sizeof(what), recv(link, &(what), sizeof(what), 0))

#define new_shared(device, types)	new_shared_(_metadata, device, types)
TEST_HELPER CUmemGenericAllocationHandle
new_shared_(struct __test_metadata *_metadata, CUdevice device, int types)
{
	CUmemAllocationProp prop = memory_on(device);
	CUmemGenericAllocationHandle handle = 0;

	prop.requestedHandleTypes = (CUmemAllocationHandleType)types;
	ASSERT_OK(cuMemCreate(&handle, CHUNK, &prop, 0));
	return handle;
}

/* What the other side of a link gives as a CUmemFabricHandle */
#define take_object(link)		take_object_(_metadata, link)
TEST_HELPER CUmemGenericAllocationHandle take_object_(struct __test_metadata *_metadata, int link)
{
	CUmemGenericAllocationHandle handle = 0;
	CUmemFabricHandle shareable;

	take(link, shareable);
	ASSERT_OK(cuMemImportFromShareableHandle(&handle, &shareable, FABRIC));
	return handle;
}

#endif /* MEMCAST_RACK_HOSTS_H */
