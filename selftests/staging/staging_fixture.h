/* SPDX-License-Identifier: MIT */
/* Shared by the tests of a team's dma-buf. */
#ifndef STAGING_FIXTURE_H
#define STAGING_FIXTURE_H

#include <linux/dma-buf.h>
#include <sys/mman.h>
#include "memcast_test.h"
#include "peers.h"

#define DEVICES	3
#define BYTES	(2 * CHUNK)

#define START	DMA_BUF_SYNC_START
#define END	DMA_BUF_SYNC_END
#define RD	DMA_BUF_SYNC_READ
#define WR	DMA_BUF_SYNC_WRITE
#define RW	DMA_BUF_SYNC_RW

/* A team of three, bound everywhere, and one fd of the team */
FIXTURE(staging)
{
	CUmemGenericAllocationHandle team, own[DEVICES];
	/* each member's memory, in a mapping of its own */
	volatile char *replica[DEVICES];
	int fd;
};

/* Makes a team, binds memory everywhere and exports the team, for a fixture with these fields. */
#define staging_start()								\
do {										\
	cuda_start(0);								\
	self->team = complete_team(DEVICES, BYTES);					\
	for (int i_ = 0; i_ < DEVICES; i_++) {					\
		self->own[i_] = new_memory(i_, BYTES);				\
		self->replica[i_] = (volatile char *)mapped(self->own[i_], BYTES, i_); \
		ASSERT_OK(cuMulticastBindMem(self->team, 0, self->own[i_], 0, BYTES, 0)); \
	}									\
	self->fd = exported(self->team);						\
} while (0)

FIXTURE_SETUP(staging)
{
	staging_start();
}
NOTHING_LEFT(staging)

#define map_fd(fd, bytes)	map_fd_(_metadata, fd, bytes, PROT_READ | PROT_WRITE)
#define map_fd_read_only(fd, bytes)	map_fd_(_metadata, fd, bytes, PROT_READ)
TEST_HELPER volatile char *map_fd_(struct __test_metadata *_metadata, int fd, size_t bytes,
				   int prot)
{
	void *at = mmap(NULL, bytes, prot, MAP_SHARED, fd, 0);

	ASSERT_NE(MAP_FAILED, at);
	return at;
}

#define sync_fd(fd, flags)	ASSERT_EQ(0, dma_buf_sync(fd, flags))
/* Expects @value in all replicas; @value may depend on _i, the replica's index. */
#define EXPECT_ALL(value, offset)					\
	do {								\
		for (int _i = 0; _i < DEVICES; _i++) {			\
			EXPECT_EQ(value, self->replica[_i][offset]);	\
		}							\
	} while (0)

#endif /* STAGING_FIXTURE_H */
