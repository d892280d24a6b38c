// SPDX-License-Identifier: MIT
/*
 * Memory on the host: what it may be, which devices may access it, and for which device it is
 * bound.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include "memcast_test.h"
#include "raw.h"
#include "reason.h"

#define HOST		CU_MEM_LOCATION_TYPE_HOST
#define HOST_NUMA	CU_MEM_LOCATION_TYPE_HOST_NUMA

FIXTURE(host)
{
	char unused;
};

FIXTURE_SETUP(host) { }
NOTHING_LEFT(host)

static CUresult create(CUmemGenericAllocationHandle *handle, CUmemLocationType type,
		       int id, size_t bytes, CUmemAllocationHandleType types)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = types,
		.location = { type, id },
	};

	return cuMemCreate(handle, bytes, &prop, 0);
}

#define new_memory_on_node(node, bytes)	new_memory_on_node_(_metadata, node, bytes)
static CUmemGenericAllocationHandle
new_memory_on_node_(struct __test_metadata *_metadata, int node, size_t bytes)
{
	CUmemGenericAllocationHandle handle = 0;

	ASSERT_OK(create(&handle, HOST_NUMA, node, bytes, SHAREABLE));
	return handle;
}

static CUresult allow_host(CUdeviceptr at, size_t bytes, CUmemAccess_flags access)
{
	CUmemAccessDesc desc = { .location = { HOST_NUMA, 0 }, .flags = access };

	return cuMemSetAccess(at, bytes, &desc, 1);
}

TEST_F(host, create)
{
	CUmemGenericAllocationHandle handle = 77;

	cuda_start(0);
	EXPECT_REASON(create(&handle, HOST_NUMA, 0, CHUNK + PAGE, SHAREABLE),
		      "size # is not a multiple of the granularity #: round it");
	EXPECT_REASON(create(&handle, HOST_NUMA, 0, PAGE, SHAREABLE),
		      "size # is not a multiple of the granularity #: round it");
	EXPECT_REASON(create(&handle, HOST, 0, PAGE, 0),
		      "size # is not a multiple of the granularity #: round it");
	EXPECT_REASON(create(&handle, HOST_NUMA, 0, 0, SHAREABLE), "the size is #");
	EXPECT_REASON(create(&handle, HOST, 0, CHUNK, SHAREABLE),
		      "only host memory of a NUMA node can be shared");
	EXPECT_REASON(create(&handle, CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0, CHUNK, 0),
		      "unknown location type #");
	EXPECT_REASON(create(&handle, HOST_NUMA, 999, CHUNK, SHAREABLE),
		      "no NUMA node # with memory");
	for (unsigned int node = 64; node; node *= 2)
		EXPECT_REASON(create(&handle, HOST_NUMA, node, CHUNK, SHAREABLE),
			      "no NUMA node # with memory");
	EXPECT_REASON(create(&handle, HOST_NUMA, -1, CHUNK, SHAREABLE),
		      "no NUMA node # with memory");
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, create(&handle, HOST_NUMA, 0, 1UL << 60, SHAREABLE));
	EXPECT_EQ(77, handle);
	EXPECT_OK(create(&handle, HOST_NUMA, 0, 3 * CHUNK, SHAREABLE));
}

/* The host at large stands for the node where the memory came to lie; its id is ignored. */
TEST_F(host, create_anywhere)
{
	CUmemAllocationProp prop;
	CUmemGenericAllocationHandle handle;

	cuda_start(0);
	ASSERT_OK(create(&handle, HOST, 12345, CHUNK, 0));
	EXPECT_OK(cuMemGetAllocationPropertiesFromHandle(&prop, handle));
	EXPECT_EQ(HOST_NUMA, prop.location.type);
	EXPECT_LE(0, prop.location.id);
	EXPECT_GT(2, prop.location.id);
}

/* Features of devices' hardware are not for the host's memory. */
TEST_F(host, create_with_flags)
{
	CUmemGenericAllocationHandle handle = 77;
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { HOST_NUMA, 0 },
		.allocFlags.gpuDirectRDMACapable = 1,
	};

	cuda_start(0);
	EXPECT_REASON(cuMemCreate(&handle, CHUNK, &prop, 0),
		      "only device memory can be compressed or capable of RDMA");
	prop.allocFlags.gpuDirectRDMACapable = 0;
	prop.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
	EXPECT_REASON(cuMemCreate(&handle, CHUNK, &prop, 0),
		      "only device memory can be compressed or capable of RDMA");
	EXPECT_EQ(77, handle);
}

/* Host memory is zero at first, and maps side by side. */
TEST_F(host, pages)
{
	const size_t small = CHUNK, large = 2 * CHUNK;
	CUdeviceptr at;
	volatile char *bytes;

	cuda_start(0);
	at = reserve(4 * CHUNK);
	bytes = (volatile char *)at;
	ASSERT_OK(cuMemMap(at, small, 0, new_memory_on_node(0, small), 0));
	ASSERT_OK(cuMemMap(at + small, large, 0, new_memory_on_node(0, large), 0));
	EXPECT_REASON(cuMemMap(at + large, CHUNK, 0, new_memory_on_node(0, CHUNK), 0),
		      "something is mapped there already");
	EXPECT_REASON(cuMemMap(at + small + large - PAGE, CHUNK, 0,
			       new_memory_on_node(0, CHUNK), 0),
		      "address # is not a multiple of the granularity #");
	EXPECT_EQ(SIGSEGV, try_load(bytes, NULL));
	ASSERT_OK(allow_host(at, small + large, READWRITE));
	for (size_t i = 0; i < small + large; i += PAGE)
		ASSERT_EQ(0, bytes[i]);
	for (size_t i = 0; i < small + large; i += PAGE)
		bytes[i] = i / PAGE % 100 + 1;
	for (size_t i = 0; i < small + large; i += PAGE)
		ASSERT_EQ((char)(i / PAGE % 100 + 1), bytes[i]);
	EXPECT_EQ(SIGSEGV, try_load(bytes + small + large, NULL));
	EXPECT_REASON(cuMemUnmap(at + small, PAGE),
		      "only a part of the mapping of # bytes at # is in the");
	EXPECT_OK(cuMemUnmap(at, PAGE));
	EXPECT_EQ(SIGSEGV, try_load(bytes, NULL));
	EXPECT_EQ((char)(small / PAGE % 100 + 1), bytes[small]);
}

/* The CPU may do what the host or any device may. */
TEST_F(host, access)
{
	CUmemLocation location = { HOST_NUMA, 0 };
	CUmemGenericAllocationHandle team;
	unsigned long long flags = 42;
	volatile uint32_t *at;
	CUdeviceptr mapping;

	cuda_start(0);
	mapping = reserve(CHUNK);
	at = (volatile uint32_t *)mapping;
	ASSERT_OK(cuMemMap(mapping, CHUNK, 0, new_memory_on_node(0, CHUNK), 0));
	ASSERT_OK(allow_host(mapping, CHUNK, READ));
	EXPECT_OK(cuMemGetAccess(&flags, &location, mapping));
	EXPECT_EQ(READ, flags);
	EXPECT_EQ(0, try_load(at, NULL));
	EXPECT_EQ(SIGSEGV, try_store(at, 1));
	EXPECT_REASON(cuMemsetD8(mapping, 1, 1),
		      "device # cannot write # bytes at #: unmapped, unbound");
	ASSERT_OK(allow(mapping, CHUNK, 0, READWRITE));
	EXPECT_EQ(0, try_store(at, 1));
	EXPECT_OK(cuMemsetD8(mapping, 1, PAGE));
	EXPECT_EQ(0x01010101, *at);
	ASSERT_OK(allow(mapping, CHUNK, 0, NONE));
	EXPECT_EQ(SIGSEGV, try_store(at, 1));
	ASSERT_OK(allow_host(mapping, CHUNK, NONE));
	EXPECT_EQ(SIGSEGV, try_load(at, NULL));

	/* the host cannot be given access to a device's memory */
	mapping = ADDRESS(mapped(new_memory(0, CHUNK), CHUNK, 0));
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, allow_host(mapping, CHUNK, READ));
	EXPECT_OK(cuMemGetAccess(&flags, &location, mapping));
	EXPECT_EQ(NONE, flags);
	/* nor to a team, whatever it shows */
	team = complete_team(2, CHUNK);
	mapping = ADDRESS(mapped(team, CHUNK, 0));
	ASSERT_OK(cuMulticastBindMem(team, 0, new_memory(0, CHUNK), 0, CHUNK, 0));
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, allow_host(mapping, CHUNK, READ));
}

/*
 * Host memory is bound for a device that the call names; the memory has to be on that device's
 * node.
 */
TEST_F(host, bind)
{
	CUmemGenericAllocationHandle team, own, large;
	int node = device_bytes(0, "numa_node");
	volatile uint32_t *window;

	cuda_start(0);
	team = complete_team(2, 4 * CHUNK);
	own = new_memory_on_node(node, 2 * CHUNK);
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuMulticastBindMem(team, 0, own, 0, 2 * CHUNK, 0));
	EXPECT_REASON(cuMulticastBindMem_v2(team, 0, 0, own, 0, PAGE, 0),
		      "size # is not a multiple of the granularity #: round it");
	ASSERT_OK(cuMulticastBindMem_v2(team, 0, 0, own, 0, 2 * CHUNK, 0));
	window = mapped(team, 4 * CHUNK, 0);
	ASSERT_OK(cuMemsetD32(ADDRESS(window), 7, CHUNK / 2));
	EXPECT_EQ(7, window[CHUNK / 2 - 1]);

	/* by address: whole chunks only */
	large = new_memory_on_node(node, 2 * CHUNK);
	ASSERT_OK(cuMulticastBindAddr_v2(team, 0, 2 * CHUNK,
					 ADDRESS(mapped(large, 2 * CHUNK, 0)), CHUNK, 0));
	EXPECT_OK(cuMemRelease(own));
	EXPECT_EQ(SIGBUS, try_load(window, NULL));
}

TEST_F(host, bind_other_node)
{
	CUmemGenericAllocationHandle team;
	int here = device_bytes(0, "numa_node"), there = device_bytes(1, "numa_node");

	if (here == there)
		SKIP(return, "devices 0 and 1 are on one node: memcast-vm --numa 2");
	cuda_start(0);
	team = complete_team(2, CHUNK);
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE,
		  cuMulticastBindMem_v2(team, 0, 0, new_memory_on_node(there, CHUNK), 0, CHUNK, 0));
	EXPECT_OK(cuMulticastBindMem_v2(team, 0, 0, new_memory_on_node(here, CHUNK), 0, CHUNK, 0));
	EXPECT_OK(cuMulticastBindMem_v2(team, 1, 0, new_memory_on_node(there, CHUNK), 0, CHUNK, 0));
}

/* ---- the memory cgroup of the process that creates a memory pays ---- */

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return done;
}

static long current_of(const char *path)
{
	long value = -1;
	FILE *file = fopen(path, "r");

	if (!file || fscanf(file, "%ld", &value) != 1)
		value = -1;
	if (file)
		fclose(file);
	return value;
}

#define CGROUPS		"/tmp/memcast-cgroups"
#define CGROUP		CGROUPS "/memcast-test"

/* Return: is the process in a cgroup of its own now, which pays for its memory? */
static bool enter_cgroup(void)
{
	mkdir(CGROUPS, 0755);
	if (mount("none", CGROUPS, "cgroup2", 0, NULL))
		return false;
	put(CGROUPS "/cgroup.subtree_control", "+memory");
	mkdir(CGROUP, 0755);
	return put(CGROUP "/cgroup.procs", "0") && current_of(CGROUP "/memory.current") >= 0;
}

static void leave_cgroup(void)
{
	put(CGROUPS "/cgroup.procs", "0");
	rmdir(CGROUP);
	umount2(CGROUPS, MNT_DETACH);
}

TEST_F(host, charged)
{
	CUmemGenericAllocationHandle own;
	long before, with;

	if (!enter_cgroup())
		SKIP(return, "needs root and cgroup2 with the memory controller");
	cuda_start(0);
	before = current_of(CGROUP "/memory.current");
	own = new_memory_on_node(0, 16 * CHUNK);
	with = current_of(CGROUP "/memory.current");
	EXPECT_LE(before + 16 * (long)CHUNK, with);
	EXPECT_OK(cuMemRelease(own));
	EXPECT_GE(with - 15 * (long)CHUNK, current_of(CGROUP "/memory.current"));
	leave_cgroup();
}

/* Counts the cgroup's pages of which Linux says nothing: no list, cache or block has them. */
static long pages_without_flags(void)
{
	static uint64_t flags[4096], owners[4096];
	int file = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	int cgroups = open("/proc/kpagecgroup", O_RDONLY | O_CLOEXEC);
	struct stat cgroup = {};
	long count = 0;
	ssize_t bytes;

	stat(CGROUP, &cgroup);
	while ((bytes = read(file, flags, sizeof(flags))) > 0 &&
	       read(cgroups, owners, bytes) == bytes)
		for (size_t i = 0; i < bytes / sizeof(*flags); i++)
			count += !flags[i] && owners[i] == cgroup.st_ino;
	close(file);
	close(cgroups);
	return count;
}

/*
 * A single page without references looks free to memory hotplug, which would wait for ever for it
 * to come back. So memory of a page has a block of two, which Linux takes for a block in use.
 */
TEST_F(host, small_memory_does_not_look_free)
{
	struct memcast_memory_create create = { .location = MEMCAST_LOCATION_HOST, .bytes = PAGE };
	const int memories = 256;
	long before;
	int device;

	if (access("/proc/kpagecgroup", R_OK) || !enter_cgroup())
		SKIP(return, "needs root, and pages that say which cgroup pays for them");
	device = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, device);
	before = pages_without_flags();
	for (int i = 0; i < memories; i++)
		ASSERT_EQ(0, RAW(device, MEMORY_CREATE, create));
	EXPECT_GT(before + memories / 2, pages_without_flags());
	close(device);
	leave_cgroup();
}

TEST_HARNESS_MAIN
