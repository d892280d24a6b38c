/* SPDX-License-Identifier: MIT */
/* Shared by the tests of streams. */
#ifndef STREAM_FIXTURE_H
#define STREAM_FIXTURE_H

#include <dirent.h>
#include <pthread.h>
#include "memcast_test.h"

/*
 * Two blocking streams, and a non-blocking one, which is independent of the legacy stream. HOLD()
 * makes a stream wait for the gate.
 */
FIXTURE(stream)
{
	volatile uint32_t *at;		/* a chunk of device memory, zero at first */
	volatile uint32_t *gate;	/* last words of the chunk */
	CUstream first, second, free;
};

FIXTURE_SETUP(stream)
{
	cuda_start(0);
	self->at = mapped(new_memory(0, CHUNK), CHUNK, 0);
	self->gate = self->at + CHUNK / 4 - 8;
	ASSERT_OK(cuStreamCreate(&self->first, CU_STREAM_DEFAULT));
	ASSERT_OK(cuStreamCreate(&self->second, CU_STREAM_DEFAULT));
	ASSERT_OK(cuStreamCreate(&self->free, CU_STREAM_NON_BLOCKING));
}
NOTHING_LEFT(stream)

#define AT(word)		ADDRESS(self->at + (word))
#define HOLD(stream)		\
	ASSERT_OK(cuStreamWaitValue32(stream, ADDRESS(self->gate), 1, CU_STREAM_WAIT_VALUE_EQ))
#define LET_GO()		(*self->gate = 1)
#define EXPECT_WAITS(stream)	EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(stream))
#define SET(word, value, stream) ASSERT_OK(cuMemsetD32Async(AT(word), value, 1, stream))

/* Opens the gate a little later, from another thread. */
static inline void *let_go(void *gate)
{
	usleep(50000);
	*(volatile uint32_t *)gate = 1;
	return NULL;
}

#define LET_GO_LATER()							\
({									\
	pthread_t thread;						\
									\
	ASSERT_EQ(0, pthread_create(&thread, NULL, let_go, (void *)self->gate)); \
	thread;								\
})

static inline unsigned int threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count - 2;
}

static inline void add_one(void *data)
{
	__atomic_add_fetch((int *)data, 1, __ATOMIC_RELAXED);
}

#endif /* STREAM_FIXTURE_H */
