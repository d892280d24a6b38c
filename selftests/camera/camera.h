/* SPDX-License-Identifier: MIT */
/* camera.c: V4L2 capture from vivid, a camera with no hardware, into dma-bufs. */
#ifndef MEMCAST_CAMERA_H
#define MEMCAST_CAMERA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAMERA_WIDTH	640
#define CAMERA_HEIGHT	360

/* Frames of CAMERA_HEIGHT lines of RGB24, with nothing in between */
#define CAMERA_LINE	(CAMERA_WIDTH * 3)
#define CAMERA_BYTES	(CAMERA_LINE * CAMERA_HEIGHT)

/* The way that a driver has to its buffers: by vmap(), or by an sg_table for DMA */
enum camera_way { CAMERA_VMALLOC, CAMERA_DMA };

/*
 * All answer -1 and errno where V4L2 does.
 *
 * camera_open: @why says what is missing. vivid writes by vmap() even if it has
 * mapped a buffer for DMA, with addresses of 32 bits: so memory beyond 4 GiB, which
 * the DMA API bounces, would lose what it wrote. CAMERA_DMA keeps this thread, and
 * the memory that it gets, to node 0, and there must be none beyond there.
 * camera_menu, camera_set: by the name that the driver gives to a control.
 * camera_start: for as many buffers as are to be queued.
 * camera_take: waits for a frame, the index of its buffer; which frame it is since
 * streaming began is in @sequence.
 */
int camera_open(enum camera_way way, const char **why);
int camera_menu(int camera, const char *name, const char *item);
int camera_set(int camera, const char *name, int value);
int camera_start(int camera, const int *fds, unsigned int count);
int camera_queue(int camera, unsigned int index, int fd);
int camera_take(int camera, uint32_t *sequence);
int camera_stop(int camera);

/* Eight bars, white to black, to the edge of the frame, on every line */
bool camera_is_bars(const uint8_t *frame);
/* Every line is the same: of bars that move, it is one frame's and not two's. */
bool camera_is_whole(const uint8_t *frame);

/* As a PNG file. Return: 0, or -1 */
int camera_write(const uint8_t *frame, const char *path);

#endif /* MEMCAST_CAMERA_H */
