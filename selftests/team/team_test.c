// SPDX-License-Identifier: MIT
/* Teams: creating them, joining, and waiting for the last member. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include "memcast_test.h"
#include "reason.h"

FIXTURE(team)
{
	int devices;
	CUmulticastObjectProp prop;
	CUmemGenericAllocationHandle handle;
};

FIXTURE_SETUP(team)
{
	self->prop = (CUmulticastObjectProp) {
		.numDevices = 2,
		.size = CHUNK,
		.handleTypes = SHAREABLE,
	};
	self->handle = 77;
}
NOTHING_LEFT(team)

#define CREATE()	cuMulticastCreate(&self->handle, &self->prop)

TEST_F(team, granularity)
{
	const CUmulticastGranularity_flags minimum = CU_MULTICAST_GRANULARITY_MINIMUM;
	size_t bytes = 77;

	cuda_start(0);
	/* clients ask for the granularity before they know size and handle types */
	self->prop.size = 0;
	self->prop.handleTypes = 0;
	EXPECT_REASON(cuMulticastGetGranularity(NULL, &self->prop, minimum), "NULL pointer");
	EXPECT_REASON(cuMulticastGetGranularity(&bytes, NULL, minimum), "NULL pointer");
	EXPECT_REASON(cuMulticastGetGranularity(&bytes, &self->prop, 2), "no such option");
	self->prop.flags = 1;
	EXPECT_REASON(cuMulticastGetGranularity(&bytes, &self->prop, minimum), "flags must be #");
	self->prop.flags = 0;
	self->prop.numDevices = 0;
	EXPECT_REASON(cuMulticastGetGranularity(&bytes, &self->prop, minimum),
		      "a team is for # to # devices, not #");
	self->prop.numDevices = 1000;
	EXPECT_REASON(cuMulticastGetGranularity(&bytes, &self->prop, minimum),
		      "a team is for # to # devices, not #");
	EXPECT_EQ(77, bytes);
	/* what a program asks that sees one device of many */
	self->prop.numDevices = 1;
	EXPECT_OK(cuMulticastGetGranularity(&bytes, &self->prop, minimum));
	self->prop.numDevices = 2;
	EXPECT_OK(cuMulticastGetGranularity(&bytes, &self->prop, minimum));
	EXPECT_EQ(CHUNK, bytes);
	EXPECT_OK(cuMulticastGetGranularity(&bytes, &self->prop,
					    CU_MULTICAST_GRANULARITY_RECOMMENDED));
	EXPECT_LE(CHUNK, bytes);
	EXPECT_EQ(0, bytes % CHUNK);
}

TEST_F(team, create)
{
	cuda_start(0);
	ASSERT_OK(cuDeviceGetCount(&self->devices));
	EXPECT_REASON(cuMulticastCreate(NULL, &self->prop), "NULL pointer");
	EXPECT_REASON(cuMulticastCreate(&self->handle, NULL), "NULL pointer");
	self->prop.numDevices = 0;
	EXPECT_REASON(CREATE(), "a team is for # to # devices, not #");
	self->prop.numDevices = 1;
	EXPECT_REASON(CREATE(), "a team is for # to # devices, not #");
	self->prop.numDevices = self->devices + 1;
	EXPECT_REASON(CREATE(), "a team is for # to # devices, not #");
	self->prop.numDevices = self->devices;
	self->prop.size = 0;
	EXPECT_REASON(CREATE(), "the size is #");
	self->prop.size = CHUNK + 4096;
	EXPECT_REASON(CREATE(), "size # is not a multiple of the granularity #: round it up");
	self->prop.size = CHUNK;
	self->prop.flags = 1;
	EXPECT_REASON(CREATE(), "flags must be #");
	self->prop.flags = 0;
	self->prop.handleTypes = 64;
	EXPECT_REASON(CREATE(), "unknown handle types in #");
	self->prop.handleTypes = CU_MEM_HANDLE_TYPE_WIN32;
	EXPECT_REASON(CREATE(), "handle types #: there are no Windows handles here");
	EXPECT_EQ(77, self->handle);

	self->prop.handleTypes = 0;
	EXPECT_OK(CREATE());
	EXPECT_NE(77, self->handle);
	/* a team takes no memory, so it may be larger than the pools */
	self->prop.size = 1UL << 40;
	EXPECT_OK(CREATE());
	EXPECT_OK(cuMemRelease(self->handle));
	EXPECT_REASON(cuMulticastAddDevice(self->handle, 0), "no handle #: never given out, or");
}

TEST_F(team, add_device)
{
	cuda_start(0);
	ASSERT_OK(CREATE());
	EXPECT_REASON(cuMulticastAddDevice(12345, 0), "no handle #: never given out, or released");
	EXPECT_REASON(cuMulticastAddDevice(new_memory(0, CHUNK), 0), "# is the handle of a");
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuMulticastAddDevice(self->handle, 99));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuMulticastAddDevice(self->handle, -1));
	EXPECT_OK(cuMulticastAddDevice(self->handle, 2));
	EXPECT_CU_REASON(CUDA_ERROR_UNKNOWN, cuMulticastAddDevice(self->handle, 2),
			 "device # is a member already: this process added it");
	EXPECT_OK(cuMulticastAddDevice(self->handle, 0));
	EXPECT_CU(CUDA_ERROR_UNKNOWN, cuMulticastAddDevice(self->handle, 0));
	EXPECT_REASON(cuMulticastAddDevice(self->handle, 1), "all # devices have joined");
}

/* A process that adds a device again is told which process added it, if it may see that process. */
TEST_F(team, add_device_of_another)
{
	int link;
	pid_t peer = peer_fork(&link);

	if (!peer) {
		int fd = receive_fd(link);
		pid_t child;

		/* root can make a namespace of processes, which begins with the next child */
		if (!geteuid())
			ASSERT_EQ(0, unshare(CLONE_NEWPID));
		child = fork();
		ASSERT_LE(0, child);
		cuda_start(1);
		self->handle = imported(fd);
		EXPECT_CU_REASON(CUDA_ERROR_UNKNOWN, cuMulticastAddDevice(self->handle, 0),
				 !child && !geteuid() ?
				 "device # is a member already: a process out of sight (" :
				 "device # is a member already: # (");
		EXPECT_OK(cuMemRelease(self->handle));
		if (child)
			EXPECT_EQ(0, reap_child(child));
		_exit(_metadata->exit_code);
	}
	cuda_start(0);
	ASSERT_OK(CREATE());
	ASSERT_OK(cuMulticastAddDevice(self->handle, 0));
	send_fd(link, exported(self->handle));
	EXPECT_EQ(0, reap_child(peer));
}

TEST_F(team, is_not_memory)
{
	CUmemAllocationProp prop;

	cuda_start(0);
	self->handle = complete_team(2, CHUNK);
	EXPECT_REASON(cuMemGetAllocationPropertiesFromHandle(&prop, self->handle),
		      "a team has no such properties");
	EXPECT_REASON(cuMulticastBindMem(self->handle, 0, self->handle, 0, CHUNK, 0),
		      "# is the handle of a team, not of a memory");
	EXPECT_REASON(cuMulticastBindMem(new_memory(0, CHUNK), 0, self->handle, 0, CHUNK, 0),
		      "# is the handle of a memory, not of a team");
	EXPECT_REASON(cuMulticastUnbind(new_memory(0, CHUNK), 0, 0, CHUNK), "# is the handle of a");
}

/* ---- waiting: @blocked makes the call that waits for the team's last member ---- */

struct waiter {
	CUresult (*blocked)(const struct waiter *waiter);
	CUmemGenericAllocationHandle team, memory;
	CUdeviceptr at;
	CUresult result;
	int done;
	pid_t thread;
};

static CUresult bind_memory(const struct waiter *waiter)
{
	return cuMulticastBindMem(waiter->team, 0, waiter->memory, 0, CHUNK, 0);
}

static CUresult bind_address(const struct waiter *waiter)
{
	return cuMulticastBindAddr(waiter->team, 0, waiter->at, CHUNK, 0);
}

static CUresult map_window(const struct waiter *waiter)
{
	return cuMemMap(waiter->at + CHUNK, CHUNK, 0, waiter->team, 0);
}

FIXTURE(waiting)
{
	struct waiter waiter;
};

FIXTURE_VARIANT(waiting)
{
	CUresult (*blocked)(const struct waiter *waiter);
};

FIXTURE_VARIANT_ADD(waiting, bind_memory) { .blocked = bind_memory, };
FIXTURE_VARIANT_ADD(waiting, bind_address) { .blocked = bind_address, };
FIXTURE_VARIANT_ADD(waiting, map_window) { .blocked = map_window, };

FIXTURE_SETUP(waiting) { }
NOTHING_LEFT(waiting)

/* A team of two whose first member, device 0, this process adds */
static void start_team(struct __test_metadata *_metadata, struct waiter *waiter,
		       CUresult (*blocked)(const struct waiter *waiter))
{
	cuda_start(0);
	waiter->blocked = blocked;
	waiter->team = new_team(2, CHUNK);
	ASSERT_OK(cuMulticastAddDevice(waiter->team, 0));
	waiter->memory = new_memory(0, CHUNK);
	waiter->at = reserve(2 * CHUNK);
	ASSERT_OK(cuMemMap(waiter->at, CHUNK, 0, waiter->memory, 0));
}

/* Another process adds the last member: the call returns, and succeeds. */
TEST_F(waiting, for_another_process)
{
	struct waiter *waiter = &self->waiter;
	int link;
	pid_t peer = peer_fork(&link);

	if (!peer) {
		CUmemGenericAllocationHandle handle;

		cuda_start(1);
		handle = imported(receive_fd(link));
		ASSERT_TRUE(sleeps(getppid(), getppid()));
		EXPECT_EQ(0, waiter->done);
		ASSERT_OK(cuMulticastAddDevice(handle, 1));
		_exit(0);
	}
	start_team(_metadata, waiter, variant->blocked);
	send_fd(link, exported(waiter->team));
	EXPECT_OK(waiter->blocked(waiter));
	waiter->done = 1;
	EXPECT_EQ(0, reap_child(peer));
}

static void *wait_in_thread(void *arg)
{
	struct waiter *waiter = arg;

	__atomic_store_n(&waiter->thread, gettid(), __ATOMIC_SEQ_CST);
	waiter->result = waiter->blocked(waiter);
	__atomic_store_n(&waiter->done, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Return: a thread that waits in the module */
#define wait_aside(waiter)	wait_aside_(_metadata, waiter)
static pthread_t wait_aside_(struct __test_metadata *_metadata, struct waiter *waiter)
{
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_in_thread, waiter));
	while (!__atomic_load_n(&waiter->thread, __ATOMIC_SEQ_CST))
		usleep(1000);
	ASSERT_TRUE(sleeps(getpid(), waiter->thread));
	return thread;
}

static void on_signal(int number)
{
	(void)number;
}

/* A handled signal, even without SA_RESTART, does not end the wait. */
TEST_F(waiting, goes_on_after_signals)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct waiter *waiter = &self->waiter;
	pthread_t thread;
	int i;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	start_team(_metadata, waiter, variant->blocked);
	thread = wait_aside(waiter);
	for (i = 0; i < 50; i++) {
		usleep(1000);
		ASSERT_EQ(0, pthread_kill(thread, SIGUSR1));
	}
	usleep(20000);
	EXPECT_EQ(0, __atomic_load_n(&waiter->done, __ATOMIC_SEQ_CST));
	ASSERT_OK(cuMulticastAddDevice(waiter->team, 1));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_OK(waiter->result);
}

/* A fatal signal ends the process at once, and all its objects are gone. */
TEST_F(waiting, is_killable)
{
	struct waiter *waiter = &self->waiter;
	int link, status;
	pid_t peer = peer_fork(&link);

	if (!peer) {
		start_team(_metadata, waiter, variant->blocked);
		send_number(link, 1);
		waiter->blocked(waiter);
		waiter->done = 1;
		_exit(0);
	}
	ASSERT_EQ(1, receive_number(link));
	ASSERT_TRUE(sleeps(peer, peer));
	ASSERT_EQ(0, kill(peer, SIGKILL));
	/* nobody adds the last member: only the signal can end the call */
	status = reap_child(peer);
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(0, waiter->done);
	EXPECT_STREQ("", left_over());
}

/* The team's handles may be released meanwhile: the waiting call keeps the team. */
TEST_F(waiting, while_the_handle_is_released)
{
	struct waiter *waiter = &self->waiter;
	CUmemGenericAllocationHandle other;
	pthread_t thread;

	start_team(_metadata, waiter, variant->blocked);
	other = imported(exported(waiter->team));
	thread = wait_aside(waiter);
	EXPECT_EQ(0, __atomic_load_n(&waiter->done, __ATOMIC_SEQ_CST));
	ASSERT_OK(cuMemRelease(waiter->team));
	ASSERT_OK(cuMulticastAddDevice(other, 1));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_OK(waiter->result);
}

TEST_HARNESS_MAIN
