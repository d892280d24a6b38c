// SPDX-License-Identifier: MIT
/* Limits on users: the share of each, the limit of all together, and which memory counts. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include "limit_fixture.h"
#include "log_lines.h"
#include "peers.h"

#define USER	1000U
#define OTHER	1001U
/* The last bytes of a limit are too few for the next piece. */
#define CLOSE	(4 * MIB)

FIXTURE(limit)
{
	char reason[160];
	int device;
};

FIXTURE_SETUP(limit)
{
	if (geteuid() || stat_of("charged_bytes") < 0)
		SKIP(return, "parameters are root's");
	/* what the test before closed may still be on its way out */
	ASSERT_STREQ("", left_over());
	ASSERT_EQ(0, set_limit("host_user_mib", 16));
	ASSERT_EQ(0, take_open(&self->device));
}

FIXTURE_TEARDOWN_PARENT(limit)
{
	set_limit("host_user_mib", 0);
	set_limit("host_max_mib", 0);
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

#define take_all_memory(device)	\
	take_host_memory(device, MIB, self->reason, sizeof(self->reason))

/* Two programs of a user have one share; another user, and root, have theirs besides. */
TEST_F(limit, share_of_a_user)
{
	int links[3], i;
	pid_t pids[3];
	long got[3];

	for (i = 0; i < 3; i++) {
		pids[i] = user_fork(i < 2 ? USER : OTHER, &links[i]);
		if (!pids[i]) {
			int device;

			receive_number(links[i]);
			ASSERT_EQ(0, take_open(&device));
			send_number(links[i], take_all_memory(device));
			EXPECT_SAYS(self->reason, "host_user_mib");
			receive_number(links[i]);
			exit(0);
		}
	}
	for (i = 0; i < 3; i++) {
		send_number(links[i], 0);
		got[i] = receive_number(links[i]);
	}
	EXPECT_LE(16 * MIB - CLOSE, got[0]);
	EXPECT_GE(16 * MIB, got[0] + got[1]);
	EXPECT_LE(16 * MIB - CLOSE, got[2]);
	EXPECT_LE(got[0] + got[1], taken_by(USER));
	EXPECT_GE(16 * MIB, taken_by(USER));
	EXPECT_LE(got[2], taken_by(OTHER));
	ASSERT_EQ(0, set_limit("host_max_mib", 64));
	EXPECT_LT(16 * MIB, take_all_memory(self->device));
	EXPECT_SAYS(self->reason, "host_max_mib");
	for (i = 0; i < 3; i++) {
		end_peer(links[i], pids[i]);
	}
	EXPECT_TRUE(gone(USER));
}

/*
 * A user namespace has users of its own, but the user who made it is charged, also for what one of
 * its users does in a namespace within.
 */
TEST_F(limit, share_of_a_namespace)
{
	int link, device;
	pid_t pid = user_fork(USER, &link);
	char folder[32];

	if (!pid) {
		if (unshare(CLONE_NEWUSER)) {
			send_number(link, -1);
			exit(0);
		}
		send_number(link, 0);
		receive_number(link);
		ASSERT_EQ(0, setresuid(1, 1, 1));
		ASSERT_EQ(0, unshare(CLONE_NEWUSER));
		ASSERT_EQ(0, take_open(&device));
		send_number(link, take_all_memory(device));
		receive_number(link);
		exit(0);
	}
	if (receive_number(link) < 0)
		SKIP(return, "users may have no namespaces of their own");
	snprintf(folder, sizeof(folder), "/proc/%d", pid);
	ASSERT_EQ(0, write_in(folder, "uid_map", "0 1000 1\n1 1001 1"));
	ASSERT_EQ(0, write_in(folder, "gid_map", "0 0 1"));
	send_number(link, 0);
	EXPECT_LT(0, receive_number(link));
	EXPECT_LE(16 * MIB - CLOSE, taken_by(USER));
	EXPECT_EQ(-1, taken_by(OTHER));
	EXPECT_EQ(-1, taken_by(65534));
	end_peer(link, pid);
}

static int export_heaps(struct __test_metadata *_metadata)
{
	struct memcast_heap_create create = {
		.location = MEMCAST_LOCATION_DEVICE, .handle_types = MEMCAST_HANDLE_FD,
		.flags = MEMCAST_HEAP_POOL,
	};
	struct memcast_heap_export export = { .handle_type = MEMCAST_HANDLE_FD };
	int device, i;

	ASSERT_EQ(0, take_open(&device));
	ASSERT_EQ(0, RAW(device, HEAP_CREATE, create));
	export.heap = create.out_heap;
	for (i = 0; i < 800; i++)
		ASSERT_EQ(0, RAW(device, HEAP_EXPORT, export));
	return 800 * 512;
}

/* Exports ranges of 2,100 pieces: 65 KiB each, for which kmalloc() takes 128. */
static int export_ranges(struct __test_metadata *_metadata)
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr at;
	int i, fd;

	cuda_start(0);
	handle = new_memory(0, CHUNK);
	at = reserve(2100 * CHUNK);
	for (i = 0; i < 2100; i++)
		ASSERT_OK(cuMemMap(at + i * CHUNK, CHUNK, 0, handle, 0));
	for (i = 0; i < 24; i++)
		ASSERT_OK(cuMemGetHandleForAddressRange(&fd, at, 2100 * CHUNK,
				CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
	return 24 * (128 << 10);
}

/* The memory behind fds is counted as well: files, and the structs that they need. */
static void counted(struct __test_metadata *_metadata,
		    int (*taking)(struct __test_metadata *_metadata))
{
	int link;
	pid_t pid = user_fork(USER, &link);
	long least;

	if (!pid) {
		least = taking(_metadata);
		send_number(link, least);
		receive_number(link);
		exit(0);
	}
	least = receive_number(link);
	EXPECT_LT(0, least);
	EXPECT_LE(least, taken_by(USER));
	end_peer(link, pid);
	EXPECT_TRUE(gone(USER));
}

TEST_F(limit, files_of_heaps_count)
{
	counted(_metadata, export_heaps);
}

TEST_F(limit, buffers_of_ranges_count)
{
	counted(_metadata, export_ranges);
}

/* The library gives the reason in words. cuInit() fails when not even a file can be had. */
TEST_F(limit, words)
{
	char text[4096];
	int link;
	pid_t pid = user_fork(USER, &link);

	if (!pid) {
		void *pointer[32];
		int devices = 0;

		ASSERT_EQ(0, setenv("CUDA_LOG_FILE", "/tmp/limit.log", 1));
		cuda_start(0);
		while (cuMemAllocHost(&pointer[devices], 2 * MIB) == CUDA_SUCCESS)
			devices++;
		EXPECT_LE(6, devices);
		EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocHost(&pointer[0], 2 * MIB));
		read_file(text, sizeof(text), "/tmp/limit.log");
		EXPECT_SAYS(text, "host_user_mib");
		/* after a free there is room again */
		EXPECT_OK(cuMemFreeHost(pointer[devices - 1]));
		EXPECT_OK(cuMemAllocHost(&pointer[devices - 1], 2 * MIB));
		handshake(link);
		exit(0);
	}
	receive_number(link);
	end_peer(link, pid);
	peer_close(link);
	unlink("/tmp/limit.log");

	ASSERT_EQ(0, set_limit("host_user_mib", 1));
	pid = user_fork(USER, &link);
	if (!pid) {
		int device;

		while (!take_open(&device))
			;
		send_number(link, errno);
		EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuInit(0));
		exit(0);
	}
	EXPECT_EQ(ENOMEM, receive_number(link));
	EXPECT_EQ(0, reap_child(pid));
}

/* Return: does a command need a chunk, 2 MiB, of the machine's memory? */
static bool takes_chunk(const char *command)
{
	static const char * const those[] = {
		"chunk", "bind", "bind_address", "block", "block_import",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(those); i++)
		if (!strcmp(command, those[i]))
			return true;
	return false;
}

/* Each command stops at the user's share, with a reason, and gives all memory back. */
TEST_F(limit, every_command)
{
	const struct take *what;
	unsigned int n, i;
	int error, link;
	long limit;
	pid_t pid;

	for (n = 0; (what = take_at(n)); n++) {
		/* open files of /proc are Linux's, and in the memory cgroup: charge_test */
		if (!strcmp(what->name, "fdinfo"))
			continue;
		/* a machine that does few loops takes long to fill three */
		limit = loops(300) < 100 && !takes_chunk(what->name) ? 1 : 3;
		ASSERT_EQ(0, set_limit("host_user_mib", limit));
		pid = user_fork(USER, &link);
		if (!pid) {
			error = what->prepare();
			for (i = 0; !error; i++)
				error = what->once(i);
			send_number(link, error);
			receive_number(link);
			exit(0);
		}
		error = receive_number(link);
		/* EFAULT: the kernel read a page for which there was no room */
		EXPECT_TRUE(error == ENOMEM || error == ENOTSUP ||
			    (error == EFAULT && !strcmp(what->name, "staging"))) {
			TH_LOG("%s: errno %d", what->name, error);
		}
		EXPECT_GE(limit * MIB, taken_by(USER));
		EXPECT_TRUE(error == ENOTSUP || taken_by(USER) > limit * MIB / 3) {
			TH_LOG("%s: %ld bytes", what->name, taken_by(USER));
		}
		end_peer(link, pid);
		peer_close(link);
		EXPECT_TRUE(gone(USER));
	}
}

/* Memory that another process still has stays charged to the user who created it. */
TEST_F(limit, outlives_its_process)
{
	struct memcast_memory_create create = {
		.location = MEMCAST_LOCATION_HOST_NUMA, .bytes = 8 * MIB,
		.handle_types = MEMCAST_HANDLE_FD,
	};
	struct memcast_export export = { .handle_type = MEMCAST_HANDLE_FD };
	struct memcast_import import = { .handle_type = MEMCAST_HANDLE_FD };
	struct memcast_handle_release release = {};
	int link, device;
	pid_t pid = user_fork(USER, &link);

	if (!pid) {
		ASSERT_EQ(0, take_open(&device));
		ASSERT_EQ(0, RAW(device, MEMORY_CREATE, create));
		export.handle = create.out_handle;
		ASSERT_EQ(0, RAW(device, EXPORT, export));
		send_fd(link, export.out_fd);
		exit(0);
	}
	import.fd = receive_fd(link);
	EXPECT_EQ(0, reap_child(pid));
	EXPECT_LE(8 * MIB, taken_by(USER));
	ASSERT_EQ(0, RAW(self->device, IMPORT, import));
	close(import.fd);
	EXPECT_LE(8 * MIB, taken_by(USER));

	/* the user's next programs cannot take it either */
	pid = user_fork(USER, &link);
	if (!pid) {
		ASSERT_EQ(0, take_open(&device));
		EXPECT_GE(8 * MIB, take_host_memory(device, MIB, NULL, 0));
		exit(0);
	}
	EXPECT_EQ(0, reap_child(pid));
	release.handle = import.out_handle;
	ASSERT_EQ(0, RAW(self->device, HANDLE_RELEASE, release));
	EXPECT_TRUE(gone(USER));
}

/*
 * A store to a team's dma-buf that finds no room for a page gets a SIGBUS, and nothing else
 * happens.
 */
TEST_F(limit, staging_pages)
{
	int link;
	pid_t pid = user_fork(USER, &link);

	if (!pid) {
		size_t bytes = 64 * MIB, i;
		volatile uint32_t *at;
		CUmemGenericAllocationHandle team;
		int fd, number = 0;

		cuda_start(0);
		team = complete_team(2, bytes);
		fd = exported(team);
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		ASSERT_NE(MAP_FAILED, at);
		for (i = 0; i < bytes && !number; i += TAKE_PAGE)
			number = try_store(at + i / 4, i);
		EXPECT_EQ(SIGBUS, number);
		i -= TAKE_PAGE;
		EXPECT_LE(16UL * MIB - CLOSE, i);
		EXPECT_GE(16UL * MIB, i);
		/* pages that were there before stay */
		EXPECT_EQ(0, try_store(at, 7));
		EXPECT_EQ(7, at[0]);
		EXPECT_EQ(TAKE_PAGE, at[TAKE_PAGE / 4]);
		handshake(link);
		EXPECT_EQ(0, try_store(at + i / 4, 1));
		exit(0);
	}
	receive_number(link);
	ASSERT_EQ(0, set_limit("host_user_mib", 17));
	end_peer(link, pid);
}

/* The importer is charged for the page table that another driver makes for a memcast device. */
TEST_F(limit, table_of_an_exporter)
{
	struct memcast_import import = {
		.handle_type = MEMCAST_HANDLE_FD, .flags = MEMCAST_IMPORT_FOREIGN,
		.device = MEMCAST_DEVICE_NONE, .fd = udmabuf_scattered_buffer(),
	};
	struct memcast_handle_release release = {};
	long before = taken_by(0);

	if (import.fd < 0)
		SKIP(return, "needs /dev/udmabuf");
	ASSERT_EQ(0, RAW(self->device, IMPORT, import));
	/* for each page, 8 bytes of memcast and 32 of the other driver */
	EXPECT_LE(UDMABUF_SCATTERED_PAGES * 40, taken_by(0) - before);
	release.handle = import.out_handle;
	ASSERT_EQ(0, RAW(self->device, HANDLE_RELEASE, release));
	EXPECT_EQ(before, taken_by(0));
	close(import.fd);
}

/* A limit below what is taken refuses more, and leaves what is there alone. */
TEST_F(limit, lowered)
{
	struct memcast_memory_create create = {
		.header = { .reason = (uintptr_t)self->reason,
			    .reason_size = sizeof(self->reason) },
		.location = MEMCAST_LOCATION_HOST, .bytes = 8 * MIB,
	};

	ASSERT_EQ(0, RAW(self->device, MEMORY_CREATE, create));
	ASSERT_EQ(0, set_limit("host_max_mib", 4));
	EXPECT_EQ(ENOMEM, RAW(self->device, MEMORY_CREATE, create));
	EXPECT_SAYS(self->reason, "8 of 4 MiB");
	/* some room for files was charged in advance */
	while (open("/dev/memcast", O_RDWR | O_CLOEXEC) >= 0)
		;
	EXPECT_EQ(ENOMEM, errno);
	ASSERT_EQ(0, set_limit("host_max_mib", 32));
	EXPECT_EQ(0, RAW(self->device, MEMORY_CREATE, create));
}

TEST_HARNESS_MAIN
