// SPDX-License-Identifier: MIT
/*
 * Memory of a device that is taken while signals interrupt the call, or kill the program: what it
 * has taken so far goes back to the pool, once.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <uapi/memcast.h>
#include "memcast_test.h"
#include "raw.h"

#define KILLS	10
/* so many signals in one call that some of them find chunks taken, and more to take */
#define ENOUGH	8

FIXTURE(take)
{
	int device;
	long bytes;		/* that the pool has */
};

FIXTURE_SETUP(take)
{
	self->device = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->device);
	self->bytes = device_bytes(0, "pool_bytes");
	ASSERT_LE(4 * (long)CHUNK, self->bytes);
}
NOTHING_LEFT(take)

static volatile sig_atomic_t handled, done;

static void handler(int number)
{
	(void)number;
	handled++;
}

/*
 * Takes all of the pool, whose chunks are zeroed as the last owner left them dirty; gives it back.
 * Return: the signals while it was being taken
 */
#define take_all(device)	take_all_(_metadata, self, device)
static int take_all_(struct __test_metadata *_metadata, FIXTURE_DATA(take) *self, int device)
{
	struct memcast_memory_create create = {
		.location = MEMCAST_LOCATION_DEVICE, .bytes = self->bytes,
	};
	struct memcast_handle_release release = {};
	int signals = -handled;

	ASSERT_EQ(0, RAW(device, MEMORY_CREATE, create));
	signals += handled;
	EXPECT_EQ(0, device_bytes(0, "free_bytes"));
	release.handle = create.out_handle;
	ASSERT_EQ(0, RAW(device, HANDLE_RELEASE, release));
	EXPECT_EQ(self->bytes, device_bytes(0, "free_bytes"));
	return signals;
}

static void *interrupt(void *main_thread)
{
	while (!done)
		pthread_kill(*(pthread_t *)main_thread, SIGUSR1);
	return NULL;
}

/* Signals of another thread; the call is made again after each, and gets all chunks in the end. */
TEST_F(take, interrupted)
{
	struct sigaction action = { .sa_handler = handler };
	pthread_t main_thread = pthread_self(), other;
	int signals, tries = 0;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	handled = done = 0;
	ASSERT_EQ(0, pthread_create(&other, NULL, interrupt, &main_thread));
	do {
		signals = take_all(self->device);
	} while (signals < ENOUGH && tries++ < 1000 && !_metadata->exit_code);
	done = 1;
	ASSERT_EQ(0, pthread_join(other, NULL));
	EXPECT_LE(ENOUGH, signals);
}

/* A program that does nothing but take memory is killed: then the pool has all its chunks. */
TEST_F(take, killed)
{
	for (int i = 0; i < KILLS; i++) {
		int link, device, status;
		pid_t pid = peer_fork(&link);

		if (!pid) {
			device = open("/dev/memcast", O_RDWR | O_CLOEXEC);
			ASSERT_LE(0, device);
			take_all(device);
			send_number(link, 0);
			while (!_metadata->exit_code)
				take_all(device);
			_exit(_metadata->exit_code);
		}
		receive_number(link);
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(SIGKILL, WTERMSIG(status));
		EXPECT_TRUE(comes_true(device_bytes(0, "free_bytes") == self->bytes));
		close(link);
	}
}

TEST_HARNESS_MAIN
