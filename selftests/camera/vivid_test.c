// SPDX-License-Identifier: MIT
/*
 * vivid, a camera with no hardware, streams into memory of memcast: by vmap(), and by an sg_table
 * as a driver of a device does.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "camera_fixture.h"
#include "memcast_test.h"
#include "peers.h"

#define BUFFERS		3

FIXTURE(vivid)
{
	int camera;
};

CAMERA_VARIANTS(vivid);

FIXTURE_SETUP(vivid)
{
	CAMERA_SETUP();
}
NOTHING_LEFT(vivid)

struct screen {
	int fd[BUFFERS];
	uint8_t *at[BUFFERS];
};

static struct screen screen(struct __test_metadata *_metadata)
{
	struct screen made;

	for (int i = 0; i < BUFFERS; i++) {
		CUmemGenericAllocationHandle own = new_memory(0, CHUNK);

		made.fd[i] = exported(own);
		made.at[i] = (uint8_t *)mapped(own, CHUNK, 0);
		memset(made.at[i], 0x5a, CHUNK);
	}
	return made;
}

/* Is no byte behind the frame written? */
static bool ends_there(const uint8_t *at)
{
	for (size_t i = CAMERA_BYTES; i < CHUNK; i++)
		if (at[i] != 0x5a)
			return false;
	return true;
}

/* Waits for a frame and begins a bracket, within which the CPU sees the device's writes. */
static int frame_from(int camera, const struct screen *made, uint32_t *sequence)
{
	int i = camera_take(camera, sequence);

	if (i >= 0 && dma_buf_sync(made->fd[i], DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW))
		return -1;
	return i;
}

static int give_back(int camera, const struct screen *made, int i)
{
	if (dma_buf_sync(made->fd[i], DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW))
		return -1;
	return camera_queue(camera, i, made->fd[i]);
}

/* Bars that do not move, over and over */
TEST_F(vivid, still)
{
	struct screen made = screen(_metadata);
	uint32_t sequence = 0;

	ASSERT_EQ(0, camera_start(self->camera, made.fd, BUFFERS));
	for (int frame = 0; frame < 2 * BUFFERS; frame++) {
		int i = frame_from(self->camera, &made, &sequence);

		ASSERT_LE(0, i);
		EXPECT_TRUE(camera_is_bars(made.at[i]));
		EXPECT_TRUE(ends_there(made.at[i]));
		memset(made.at[i], 0x5a, CAMERA_BYTES);
		ASSERT_EQ(0, give_back(self->camera, &made, i));
	}
	EXPECT_EQ(0, camera_stop(self->camera));
}

/* Bars that move: each frame is another, and none is half of the one before. */
TEST_F(vivid, moving)
{
	uint8_t *last = calloc(1, CAMERA_LINE);
	struct screen made = screen(_metadata);
	uint32_t sequence = 0, before;

	ASSERT_NE(NULL, last);
	ASSERT_EQ(0, camera_menu(self->camera, "Horizontal Movement", "Move Right Fast"));
	ASSERT_EQ(0, camera_start(self->camera, made.fd, BUFFERS));
	for (int frame = 0; frame < 4 * BUFFERS; frame++) {
		int i;

		before = sequence;
		i = frame_from(self->camera, &made, &sequence);
		ASSERT_LE(0, i);
		EXPECT_TRUE(!frame || sequence > before);
		EXPECT_TRUE(camera_is_whole(made.at[i]));
		EXPECT_NE(0, memcmp(last, made.at[i], CAMERA_LINE));
		memcpy(last, made.at[i], CAMERA_LINE);
		ASSERT_EQ(0, give_back(self->camera, &made, i));
	}
	EXPECT_EQ(0, camera_stop(self->camera));
	EXPECT_EQ(0, camera_menu(self->camera, "Horizontal Movement", "No Movement"));
	free(last);
}

/* A clock and the frame's number, over the bars' upper lines */
TEST_F(vivid, counting)
{
	const size_t text = 32 * CAMERA_LINE;
	uint8_t *last = calloc(1, text), *line = malloc(CAMERA_LINE);
	struct screen made = screen(_metadata);
	uint32_t sequence = 0;

	ASSERT_TRUE(last && line);
	ASSERT_EQ(0, camera_menu(self->camera, "OSD Text Mode", "Counters Only"));
	ASSERT_EQ(0, camera_start(self->camera, made.fd, BUFFERS));
	for (int frame = 0; frame < 2 * BUFFERS; frame++) {
		int i = frame_from(self->camera, &made, &sequence);
		uint8_t *at;

		ASSERT_LE(0, i);
		at = made.at[i];
		EXPECT_NE(0, memcmp(last, at, text));
		memcpy(last, at, text);
		/* with the text painted over, the frame is the bars */
		for (size_t y = 0; y < 32; y++)
			memcpy(at + y * CAMERA_LINE, at + CAMERA_BYTES - CAMERA_LINE, CAMERA_LINE);
		EXPECT_TRUE(camera_is_bars(at));
		ASSERT_EQ(0, give_back(self->camera, &made, i));
	}
	EXPECT_EQ(0, camera_stop(self->camera));
	free(last);
	free(line);
}

/* The program may give up the memory: the camera's buffers keep it, and the camera writes on. */
TEST_F(vivid, memory_released_while_streaming)
{
	long all = device_bytes(0, "pool_bytes");
	struct screen made = screen(_metadata);
	uint32_t sequence;

	ASSERT_EQ(0, camera_start(self->camera, made.fd, BUFFERS));
	for (int i = 0; i < BUFFERS; i++) {
		CUmemGenericAllocationHandle own;

		ASSERT_OK(cuMemRetainAllocationHandle(&own, made.at[i]));
		ASSERT_OK(cuMemRelease(own));
		ASSERT_OK(cuMemRelease(own));
		ASSERT_OK(cuMemUnmap(ADDRESS(made.at[i]), CHUNK));
		ASSERT_EQ(0, close(made.fd[i]));
	}
	for (int i = 0; i < BUFFERS; i++)
		ASSERT_LE(0, camera_take(self->camera, &sequence));
	EXPECT_EQ(0, camera_stop(self->camera));
	EXPECT_EQ(all, device_bytes(0, "free_bytes"));
}

/* A page-aligned part of a chunk, and nothing before it or after it */
TEST_F(vivid, into_a_range)
{
	const size_t from = 5 * PAGE, bytes = (CAMERA_BYTES + PAGE - 1) & -PAGE;
	uint8_t *at = (uint8_t *)mapped(new_memory(0, CHUNK), CHUNK, 0);
	uint32_t sequence;
	int fd = -1;

	memset(at, 0x5a, CHUNK);
	ASSERT_OK(cuMemGetHandleForAddressRange(&fd, ADDRESS(at) + from, bytes,
						CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
	/* vivid needs two buffers to begin: both are this range */
	ASSERT_EQ(0, camera_start(self->camera, (int[]){ fd, fd }, 2));
	ASSERT_LE(0, camera_take(self->camera, &sequence));
	EXPECT_EQ(0, camera_stop(self->camera));
	EXPECT_TRUE(camera_is_bars(at + from));
	for (size_t i = 0; i < from; i++)
		at[i] ^= 0x5a;
	for (size_t i = from + CAMERA_BYTES; i < CHUNK; i++)
		at[i] ^= 0x5a;
	memset(at + from, 0, CAMERA_BYTES);
	for (size_t i = 0; i < CHUNK; i++)
		ASSERT_EQ(0, at[i]);
}

TEST_HARNESS_MAIN
