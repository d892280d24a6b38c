/* SPDX-License-Identifier: MIT */
/*
 * Fixture and helpers of tests with several hosts. They need root, the module's hosts= above 1,
 * two devices per host and an IMEX channel; host-rack.sh starts such machines.
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
/* CU_MEM_LOCATION_TYPE_INVISIBLE, for a cuda.h that lacks it */
#define INVISIBLE	5

FIXTURE(hosts)
{
	unsigned int hosts;	/* number of the machine's hosts */
	int each;		/* number of each host's devices */
	int machine;		/* number of all hosts' devices */
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
 * Puts this process on a host: /dev/memcast is that host's file for it from now on. It shares
 * everything else with processes on other hosts: users, processes, other files.
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

/* Like peer_fork(), but the child is on a host, with the host's device 0 current. */
#define host_fork(host, link)	host_fork_(_metadata, host, link)
TEST_HELPER pid_t host_fork_(struct __test_metadata *_metadata, unsigned int host, int *link)
{
	pid_t pid = peer_fork(link);

	if (!pid) {
		go_to(host);
		cuda_start(0);
	}
	return pid;
}

/* Send and receive a value without pointers; the processes may share nothing but the link. */
#define SEND_VALUE(link, value)		\
	ASSERT_EQ(sizeof(value), send(link, &(value), sizeof(value), 0))
#define RECEIVE_VALUE(link, value)	\
	ASSERT_EQ(sizeof(value), recv(link, &(value), sizeof(value), 0))

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

/* Receives a fabric handle through a link, and imports its object. */
#define take_object(link)		take_object_(_metadata, link)
TEST_HELPER CUmemGenericAllocationHandle take_object_(struct __test_metadata *_metadata, int link)
{
	CUmemGenericAllocationHandle handle = 0;
	CUmemFabricHandle shareable;

	RECEIVE_VALUE(link, shareable);
	ASSERT_OK(cuMemImportFromShareableHandle(&handle, &shareable, FABRIC));
	return handle;
}

#endif /* MEMCAST_RACK_HOSTS_H */
