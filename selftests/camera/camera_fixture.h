/* SPDX-License-Identifier: MIT */
/* Fixture of tests with a camera: each runs once for each way that a driver has to its buffers. */
#ifndef MEMCAST_CAMERA_FIXTURE_H
#define MEMCAST_CAMERA_FIXTURE_H

#include "camera.h"
#include "memcast_test.h"

#define CAMERA_VARIANTS(fixture)					\
FIXTURE_VARIANT(fixture)						\
{									\
	enum camera_way way;						\
};									\
									\
FIXTURE_VARIANT_ADD(fixture, vmalloc)					\
{									\
	.way = CAMERA_VMALLOC,						\
};									\
									\
FIXTURE_VARIANT_ADD(fixture, dma)					\
{									\
	.way = CAMERA_DMA,						\
}

/* For a fixture's setup: opens self->camera, which shows bars that do not move, without text. */
#define CAMERA_SETUP()							\
do {									\
	const char *why;						\
									\
	self->camera = camera_open(variant->way, &why);			\
	if (self->camera < 0)						\
		SKIP(return, "%s", why);				\
	ASSERT_EQ(0, camera_menu(self->camera, "Test Pattern", "100% Colorbar"));	\
	ASSERT_EQ(0, camera_menu(self->camera, "OSD Text Mode", "None"));		\
	cuda_start(0);							\
} while (0)

#endif /* MEMCAST_CAMERA_FIXTURE_H */
