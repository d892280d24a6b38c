// SPDX-License-Identifier: MIT
/*
 * vivid streams into the dma-bufs of teams: each frame is in all replicas, to the byte. With
 * MEMCAST_TEST_PICTURES=FOLDER the test writes a picture of the replicas into FOLDER, which
 * `make docs-pictures` uses for docs/.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <memcast/view.h>
#include "camera_fixture.h"
#include "memcast_test.h"
#include "peers.h"

#define BUFFERS		3
#define MEMBERS		4

FIXTURE(vivid_team)
{
	int camera;
	int fd[BUFFERS];
	struct memcast_view view[BUFFERS];
};

CAMERA_VARIANTS(vivid_team);

FIXTURE_SETUP(vivid_team)
{
	CAMERA_SETUP();
	for (int i = 0; i < BUFFERS; i++) {
		CUmemGenericAllocationHandle team = complete_team(MEMBERS, CHUNK);

		for (int member = 0; member < MEMBERS; member++)
			ASSERT_OK(cuMulticastBindMem(team, 0, new_memory(member, CHUNK), 0, CHUNK,
						     0));
		self->fd[i] = exported(team);
		ASSERT_OK(memcastViewCreate(&self->view[i], team, 0, CHUNK));
		ASSERT_EQ(MEMBERS, self->view[i].replicas);
	}
}
NOTHING_LEFT(vivid_team)

/*
 * Waits for a frame and broadcasts it, by the end of a bracket that writes: V4L2 leaves buffers
 * mapped from frame to frame. Return: the index of its buffer
 */
static int next(struct __test_metadata *_metadata, FIXTURE_DATA(vivid_team) *self,
		uint32_t *sequence)
{
	int which = camera_take(self->camera, sequence);

	ASSERT_LE(0, which);
	ASSERT_EQ(0, dma_buf_sync(self->fd[which], DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW));
	ASSERT_EQ(0, dma_buf_sync(self->fd[which], DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW));
	return which;
}

/* Are all replicas the same, also behind the frame? */
static bool all_same(const struct memcast_view *view)
{
	for (int member = 1; member < MEMBERS; member++)
		if (memcmp(view->replica[0], view->replica[member], CHUNK))
			return false;
	return true;
}

TEST_F(vivid_team, still)
{
	uint32_t sequence;

	/* fills each replica in another way, so that no byte is right by chance */
	for (int i = 0; i < BUFFERS; i++)
		for (int member = 0; member < MEMBERS; member++)
			memset(self->view[i].replica[member], member + 1, CAMERA_BYTES);
	ASSERT_EQ(0, camera_start(self->camera, self->fd, BUFFERS));
	for (int frame = 0; frame < 2 * BUFFERS; frame++) {
		int which = next(_metadata, self, &sequence);

		EXPECT_TRUE(camera_is_bars(self->view[which].replica[0]));
		EXPECT_TRUE(all_same(&self->view[which]));
		ASSERT_EQ(0, camera_queue(self->camera, which, self->fd[which]));
	}
	EXPECT_EQ(0, camera_stop(self->camera));
}

/* Bars that move, and a counter: every frame is complete, in all replicas. */
TEST_F(vivid_team, moving)
{
	uint8_t *last = calloc(1, CAMERA_BYTES);
	uint32_t sequence = 0, before;

	ASSERT_NE(NULL, last);
	ASSERT_EQ(0, camera_menu(self->camera, "Horizontal Movement", "Move Right Fast"));
	ASSERT_EQ(0, camera_menu(self->camera, "OSD Text Mode", "Counters Only"));
	ASSERT_EQ(0, camera_start(self->camera, self->fd, BUFFERS));
	for (int frame = 0; frame < 3 * BUFFERS; frame++) {
		const uint8_t *picture;
		int which;

		before = sequence;
		which = next(_metadata, self, &sequence);
		picture = self->view[which].replica[0];
		/* vivid counts by its clock: two frames may have one number on a slow machine */
		EXPECT_TRUE(!frame || sequence >= before)
			TH_LOG("frame %d is number %u, after %u", frame, sequence, before);
		EXPECT_TRUE(all_same(&self->view[which]));
		EXPECT_NE(0, memcmp(last, picture, CAMERA_BYTES));
		memcpy(last, picture, CAMERA_BYTES);
		/* with the text painted over, all lines are those of one frame */
		for (size_t y = 0; y < 32; y++)
			memcpy(last + y * CAMERA_LINE, picture + 32 * CAMERA_LINE, CAMERA_LINE);
		EXPECT_TRUE(camera_is_whole(last));
		memcpy(last, picture, CAMERA_BYTES);
		ASSERT_EQ(0, camera_queue(self->camera, which, self->fd[which]));
	}
	EXPECT_EQ(0, camera_stop(self->camera));
	EXPECT_EQ(0, camera_menu(self->camera, "Horizontal Movement", "No Movement"));
	free(last);
}

/* A frame without a bracket is broadcast when the camera stops, which unmaps its buffers. */
TEST_F(vivid_team, stopped)
{
	uint32_t sequence;
	int which;

	ASSERT_EQ(0, camera_start(self->camera, self->fd, BUFFERS));
	which = camera_take(self->camera, &sequence);
	ASSERT_LE(0, which);
	EXPECT_EQ(0, camera_stop(self->camera));
	EXPECT_TRUE(camera_is_bars(self->view[which].replica[0]));
	EXPECT_TRUE(all_same(&self->view[which]));
}

TEST_F(vivid_team, picture)
{
	const char *folder = getenv("MEMCAST_TEST_PICTURES");
	uint32_t sequence;
	char path[256];
	int which;

	ASSERT_EQ(0, camera_menu(self->camera, "Test Pattern", "75% Colorbar"));
	ASSERT_EQ(0, camera_set(self->camera, "Show Border", 1));
	ASSERT_EQ(0, camera_start(self->camera, self->fd, BUFFERS));
	which = next(_metadata, self, &sequence);
	EXPECT_TRUE(all_same(&self->view[which]));
	EXPECT_FALSE(camera_is_whole(self->view[which].replica[0]));
	if (folder) {
		snprintf(path, sizeof(path), "%s/camera-replicas.png", folder);
		ASSERT_EQ(0, camera_write(self->view[which].replica[0], path));
	}
	EXPECT_EQ(0, camera_stop(self->camera));
	EXPECT_EQ(0, camera_set(self->camera, "Show Border", 0));
}

TEST_HARNESS_MAIN
